//! One session: the protocol of MariaDB and MySQL, spoken synchronously with one write for each
//! command and as few reads as the answer has packets.
//!
//! Source: MariaDB documentation, "Client/Server Protocol".

mod batch;
mod bulk;
mod cursor;
mod facts;
mod login;
mod packets;
mod prepared;
mod proof;
mod results;
mod statements;
#[cfg(test)]
mod tests;
mod ways;

pub use assay_dbserver::Interrupter;
pub use batch::MariadbBatch;
pub use bulk::Bulk;
pub use facts::MariadbFacts;
pub use prepared::{MariadbAnswers, MariadbFields, MariadbPrepared, MariadbValues};
pub use results::Row;

use crate::address::MariadbAddress;
use crate::failure::{Answer, Failure, number};
use assay_dbserver::{ServerStream, ask_password};
use assay_model::load::Encryption;
use assay_model::{Error, Result};
use packets::{Packets, new_packet};
use std::time::Duration;

const QUIT: u8 = 1;
const QUERY: u8 = 3;
/// One session on a server.
#[derive(Debug)]
pub struct MariadbConnection {
    packets: Packets,
    facts: MariadbFacts,
    /// Packets are put together here.
    scratch: Vec<u8>,
    answers: MariadbAnswers,
}

impl MariadbConnection {
    /// Connects and logs in; where the address has no password and the server wants one, a person
    /// at the terminal is asked.
    ///
    /// # Errors
    /// When there is no way to the server, it does not answer in time, or it refuses the user.
    pub fn open(address: &MariadbAddress) -> Answer<Self> {
        let opened = ways::open(address).map(Self::of);
        let is_refused = opened.as_ref().is_err_and(|failure| number(failure) == Some(1045));
        if !is_refused || address.password.is_some() {
            return opened;
        }
        match ask_password(&address.to_string()) {
            Some(password) => {
                let known = MariadbAddress { password: Some(password), ..address.clone() };
                ways::open(&known).map(Self::of)
            }
            None => opened,
        }
    }

    /// Logs in, without encryption, over a way that is there.
    ///
    /// # Errors
    /// When the server does not answer in time, answers what is not understood, or refuses the
    /// user.
    pub fn over(stream: ServerStream, address: &MariadbAddress) -> Answer<Self> {
        ways::log_in(stream, address, ways::LoginTry::Plain).map(Self::of)
    }

    fn of((packets, facts): (Packets, MariadbFacts)) -> Self {
        Self { packets, facts, scratch: Vec::new(), answers: MariadbAnswers::default() }
    }

    /// How it is encrypted; none where it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.packets.stream().encryption()
    }

    /// What the server said about itself.
    pub const fn facts(&self) -> &MariadbFacts {
        &self.facts
    }

    /// A handle that ends this session from another thread.
    ///
    /// # Errors
    /// When the system gives no second handle.
    pub fn interrupter(&self) -> Answer<Interrupter> {
        Ok(self.packets.stream().interrupter()?)
    }

    /// From now on no answer is waited for longer than this.
    pub fn wait_at_most(&mut self, time: Duration) -> Answer<()> {
        Ok(self.packets.stream_mut().wait_at_most(time)?)
    }

    /// Runs statements as text and gives the rows of all of them.
    ///
    /// # Errors
    /// The first refusal; the session stays usable unless it was lost.
    pub fn query(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.query_head(sql)?;
        results::text_rows(&mut self.packets).map(|(rows, _)| rows)
    }

    /// Runs statements whose rows are of no interest.
    pub fn run(&mut self, sql: &str) -> Answer<()> {
        self.query(sql).map(drop)
    }

    /// Runs statements that change rows; how many were changed.
    pub fn change(&mut self, sql: &str) -> Answer<u64> {
        self.query_head(sql)?;
        results::text_rows(&mut self.packets).map(|(_, touched)| touched)
    }

    /// The only row of a statement.
    ///
    /// # Errors
    /// As for [`query`](Self::query), and when there is none.
    pub fn one(&mut self, sql: &str) -> Answer<Row> {
        let first = self.query(sql)?.into_iter().next();
        first.ok_or_else(|| Failure::Protocol(format!("no row for {sql}")))
    }

    /// Refuses a proxy: it gives out numbers of sessions of its own, and hands locks of one session
    /// to another.
    ///
    /// # Errors
    /// A usage error that names both sessions, or what the server says.
    pub fn refuse_proxy(&mut self, address: &MariadbAddress) -> Result<()> {
        let row = self.one("SELECT /* assay */ CONNECTION_ID()");
        let row = row.map_err(|failure| failure.of("asking the server"))?;
        let (serving, given) = (row.count(0).unwrap_or(0), self.facts().session);
        // The greeting of a server has four bytes for the number.
        if serving & u64::from(u32::MAX) == u64::from(given) {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "{address} is a proxy, not the server: the login has session {given}, but its \
                 statements run in session {serving}"
            ),
            "specify the host and port of the server itself, usually 3306",
        ))
    }

    fn query_head(&mut self, sql: &str) -> Answer<()> {
        self.command(QUERY, sql.as_bytes())
    }

    fn command(&mut self, letter: u8, rest: &[u8]) -> Answer<()> {
        new_packet(&mut self.scratch);
        self.scratch.push(letter);
        self.scratch.extend(rest);
        self.packets.begin();
        self.packets.send(&mut self.scratch)
    }

    /// Says good-bye and waits until the server closes the way.
    pub fn close(mut self) {
        self.say_good_bye();
        while self.packets.next().is_ok() {}
    }

    /// Says good-bye and does not wait, so that the server counts no session that was broken off.
    pub(crate) fn say_good_bye(&mut self) {
        // The end is the end, however the server takes it.
        self.packets.stream_mut().part();
        let _ = self.command(QUIT, &[]);
    }
}
