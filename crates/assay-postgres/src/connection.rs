//! One session: PostgreSQL's protocol, version 3.0, spoken synchronously with one write and as few
//! reads as the answer has packets.
//!
//! Source: PostgreSQL documentation, chapter "Frontend/Backend Protocol".

mod batch;
mod copy;
mod facts;
mod login;
mod messages;
mod pooling;
mod prepared;
#[cfg(test)]
mod tests;
mod ways;

pub use assay_dbserver::Interrupter;
pub use batch::{PostgresAnswers, PostgresBatch, PostgresFields, PostgresValues};
pub use copy::CopyIn;
pub use facts::PostgresFacts;
pub use messages::Row;
pub use prepared::{Execution, PostgresPrepared};

use crate::address::PostgresAddress;
use crate::failure::{Answer, Failure};
use assay_dbserver::ServerStream;
use assay_model::load::Encryption;
use messages::{Messages, refusal, row};
use std::time::Duration;

/// The first statement of a session on a server of others: functions and operators are those of the
/// server. Whoever may write to `public` can make others there, which would run with the rights of
/// this account.
pub const SYSTEM_NAMES: &str = "SET search_path = pg_catalog, pg_temp";

/// One session on a server.
#[derive(Debug)]
pub struct PostgresConnection {
    messages: Messages,
    facts: PostgresFacts,
    /// Statements are put together here.
    scratch: Vec<u8>,
}

impl PostgresConnection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// When there is no way to the server, it does not answer in time, or it refuses the user.
    pub fn open(address: &PostgresAddress, application: &str) -> Answer<Self> {
        ways::open(address, |stream| Self::over(stream, address, application))
    }

    /// Logs in over a way that is there.
    ///
    /// # Errors
    /// When the server does not answer in time, answers what is not understood, or refuses the
    /// user.
    pub fn over(
        stream: ServerStream,
        address: &PostgresAddress,
        application: &str,
    ) -> Answer<Self> {
        let mut messages = Messages::over(stream);
        let facts = login::login(&mut messages, address, application)?;
        messages.stream_mut().wait_as_needed()?;
        Ok(Self { messages, facts, scratch: Vec::new() })
    }

    /// How it is encrypted; none where it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.messages.stream().encryption()
    }

    /// What the server said about itself.
    pub const fn facts(&self) -> &PostgresFacts {
        &self.facts
    }

    /// The major version, for example 18; 0 where it cannot be read.
    pub fn major(&self) -> u32 {
        let digits = self.facts.version.split(|letter: char| !letter.is_ascii_digit());
        digits.into_iter().next().and_then(|major| major.parse().ok()).unwrap_or(0)
    }

    /// A handle that ends this session from another thread.
    ///
    /// # Errors
    /// When the system gives no second handle.
    pub fn interrupter(&self) -> Answer<Interrupter> {
        Ok(self.messages.stream().interrupter()?)
    }

    /// From now on no answer is waited for longer than this.
    pub fn wait_at_most(&mut self, time: Duration) -> Answer<()> {
        Ok(self.messages.stream_mut().wait_at_most(time)?)
    }

    /// Runs statements as text and gives the rows of all of them.
    ///
    /// # Errors
    /// The first refusal; the session stays usable unless it was lost.
    pub fn query(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.scratch.clear();
        messages::query(&mut self.scratch, sql);
        self.messages.send(&self.scratch)?;
        self.rows()
    }

    /// Runs statements whose rows are of no interest.
    pub fn run(&mut self, sql: &str) -> Answer<()> {
        self.query(sql).map(drop)
    }

    /// The only row of a statement.
    ///
    /// # Errors
    /// As for [`query`](Self::query), and when there is none.
    pub fn one(&mut self, sql: &str) -> Answer<Row> {
        let first = self.query(sql)?.into_iter().next();
        first.ok_or_else(|| Failure::Protocol(format!("no row for {sql}")))
    }

    /// Rows until the server is ready again.
    fn rows(&mut self) -> Answer<Vec<Row>> {
        let (mut rows, mut refused) = (Vec::new(), None);
        loop {
            let (tag, body) = self.messages.next()?;
            match tag {
                b'Z' => return refused.map_or(Ok(rows), Err),
                b'D' => {
                    let row = row(body)?;
                    self.messages.charge(&row)?;
                    rows.push(row);
                }
                b'E' => refused = refused.or_else(|| Some(refusal(body))),
                b'T' | b'C' | b'S' | b'N' | b'I' | b'1' | b'2' | b'3' | b'n' | b't' => {}
                other => return Err(messages::unexpected(other)),
            }
        }
    }

    /// Says good-bye, so that the server writes down what this session did, and waits until it
    /// closes the way.
    pub fn close(mut self) {
        // The end is the end, however the server takes it.
        self.messages.stream_mut().part();
        let _ = self.messages.send(&messages::TERMINATE);
        while self.messages.next().is_ok() {}
    }
}
