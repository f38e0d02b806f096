//! Rows in bulk: `LOAD DATA LOCAL INFILE`, whose file is what we send.
//!
//! Source: MariaDB documentation, "`LOCAL_INFILE` Packet", "LOAD DATA INFILE".

use super::MariadbConnection;
use super::packets::new_packet;
use super::results::{ResultHead, head, text_rows};
use crate::failure::{Answer, Failure};

/// Rows on their way to the server: columns with tabs between them, a line end behind each row.
#[derive(Debug)]
pub struct Bulk<'a> {
    connection: &'a mut MariadbConnection,
}

impl MariadbConnection {
    /// Begins to send the rows of a table; `columns` names those that are sent, in brackets, or all
    /// by nothing.
    ///
    /// # Errors
    /// What the server says, for example that it takes no rows from clients.
    pub fn bulk(&mut self, table: &str, columns: &str) -> Answer<Bulk<'_>> {
        self.query_head(&format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {table} CHARACTER SET binary {columns}"
        ))?;
        match head(self.packets.next()?)? {
            ResultHead::File => Ok(Bulk { connection: self }),
            _ => Err(Failure::Protocol("an answer without a wish for rows".to_owned())),
        }
    }
}

impl Bulk<'_> {
    /// Sends whole or cut rows.
    ///
    /// # Errors
    /// When the server closed the connection; [`finish`](Self::finish) reports what it refused.
    pub fn send(&mut self, rows: &[u8]) -> Answer<()> {
        // An empty packet is the end.
        if rows.is_empty() { Ok(()) } else { self.packet(rows) }
    }

    fn packet(&mut self, rows: &[u8]) -> Answer<()> {
        let connection = &mut *self.connection;
        new_packet(&mut connection.scratch);
        connection.scratch.extend(rows);
        connection.packets.send(&mut connection.scratch)
    }

    /// Ends the rows and waits until the server has taken them; how many it took.
    ///
    /// # Errors
    /// What the server says to the rows, for example that its storage is full.
    pub fn finish(mut self) -> Answer<u64> {
        self.packet(&[])?;
        text_rows(&mut self.connection.packets).map(|(_, touched)| touched)
    }
}
