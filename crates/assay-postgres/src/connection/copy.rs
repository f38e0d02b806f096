//! Rows in bulk: `COPY … FROM STDIN` in binary form.

use super::PostgresConnection;
use super::messages::{message, query, refusal, unexpected};
use crate::failure::Answer;

/// Signature, flags and length of the extension of the binary form.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Stands behind the last row.
const TRAILER: [u8; 2] = [0xff, 0xff];

/// Rows on their way to the server.
#[derive(Debug)]
pub struct CopyIn<'a> {
    connection: &'a mut PostgresConnection,
}

impl PostgresConnection {
    /// Begins to send rows with a statement `COPY … FROM STDIN (FORMAT binary)`.
    pub fn copy_in(&mut self, sql: &str) -> Answer<CopyIn<'_>> {
        self.scratch.clear();
        query(&mut self.scratch, sql);
        self.messages.send(&self.scratch)?;
        loop {
            match self.messages.next()? {
                (b'G', _) => break,
                (b'E', body) => {
                    let refused = refusal(body);
                    self.rows()?;
                    return Err(refused);
                }
                (b'N' | b'S', _) => {}
                (other, _) => return Err(unexpected(other)),
            }
        }
        let mut copy = CopyIn { connection: self };
        copy.send(HEADER)?;
        Ok(copy)
    }
}

impl CopyIn<'_> {
    /// Sends whole or cut rows in binary form.
    ///
    /// # Errors
    /// When the server closed the connection; [`finish`](Self::finish) reports what it refused.
    pub fn send(&mut self, rows: &[u8]) -> Answer<()> {
        let mut head = vec![b'd'];
        let length = u32::try_from(rows.len() + 4).unwrap_or(u32::MAX);
        head.extend(length.to_be_bytes());
        self.connection.messages.send(&head)?;
        self.connection.messages.send(rows)
    }

    /// Ends the rows and waits until the server has taken them.
    ///
    /// # Errors
    /// What the server says to the rows, for example that its storage is full.
    pub fn finish(mut self) -> Answer<()> {
        self.send(&TRAILER)?;
        let mut end = Vec::new();
        message(&mut end, b'c', |_| {});
        self.connection.messages.send(&end)?;
        self.connection.rows().map(drop)
    }

    /// Breaks off: no row remains.
    pub fn abort(self) {
        let mut end = Vec::new();
        message(&mut end, b'f', |body| body.push(0));
        // The refusal that follows is the one that was asked for.
        if self.connection.messages.send(&end).is_ok() {
            let _ = self.connection.rows();
        }
    }
}
