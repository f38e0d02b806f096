//! Prepared statements of a session: parsed once, executed often.

use super::MariadbConnection;
use super::cursor::PacketCursor;
use super::packets::new_packet;
use super::prepared::{MariadbAnswers, MariadbPrepared, MariadbValues, put_execution};
use super::results::{columns, refusal};
use crate::failure::Answer;

const PREPARE: u8 = 0x16;

impl MariadbConnection {
    /// Has a statement parsed.
    pub fn prepare(&mut self, sql: &str) -> Answer<MariadbPrepared> {
        self.command(PREPARE, sql.as_bytes())?;
        let body = self.packets.next()?;
        if body.first() == Some(&0xff) {
            return Err(refusal(body));
        }
        let mut rest = PacketCursor(body);
        rest.byte()?;
        let number = rest.four()?;
        let (fields, parameters) = (rest.two()?, rest.two()?);
        for count in [parameters, fields] {
            if count > 0 {
                columns(&mut self.packets, usize::from(count), |_| ())?;
            }
        }
        Ok(MariadbPrepared { number, parameters })
    }

    /// Executes a prepared statement; its rows stand in [`answers`](Self::answers) until the next
    /// execution.
    #[inline]
    pub fn execute(
        &mut self,
        statement: &MariadbPrepared,
        fill: impl FnOnce(&mut MariadbValues<'_>),
    ) -> Answer<&MariadbAnswers> {
        new_packet(&mut self.scratch);
        put_execution(&mut self.scratch, *statement, fill);
        self.packets.begin();
        self.packets.send_execution(&mut self.scratch)?;
        self.answers.receive(&mut self.packets)?;
        Ok(&self.answers)
    }

    /// What the last execution gave.
    pub const fn answers(&self) -> &MariadbAnswers {
        &self.answers
    }
}
