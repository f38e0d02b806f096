//! One session on MariaDB or MySQL.

use super::link::Link;
use assay_dbserver::{Interrupter, Usage};
use assay_mariadb::address::Address;
use assay_mariadb::connection::Connection;
use assay_mariadb::threads::Thread;
use assay_model::failure::{Answer, Failure, Refusal};
use assay_model::row::Row;

/// A session, and the thread that serves it.
pub struct MariadbLink {
    /// The session itself.
    pub(crate) connection: Connection,
    /// With what the thread had used before: it may have served others.
    pub(super) thread: Option<(Thread, Usage)>,
}

impl Link for MariadbLink {
    type Address = Address;

    fn open(address: &Address) -> Answer<Self> {
        let mut connection = Connection::open(address)?;
        let thread = if address.is_local() { Thread::of(&mut connection) } else { None };
        let thread = thread.and_then(|thread| Some((thread, thread.usage()?)));
        Ok(Self { connection, thread })
    }

    fn run(&mut self, sql: &str) -> Answer<()> {
        self.connection.run(sql)
    }

    fn query(&mut self, sql: &str) -> Answer<Vec<Row>> {
        self.connection.query(sql)
    }

    fn interrupter(&self) -> Answer<Interrupter> {
        self.connection.interrupter()
    }

    fn served_by(&self) -> u32 {
        self.thread.map_or(0, |(thread, _)| thread.thread)
    }

    fn usage(&self) -> Option<Usage> {
        let (thread, before) = self.thread?;
        Some(thread.usage()?.since(&before))
    }

    /// A lock that was waited for too long ends a statement only; the whole transaction is rolled back and tried again.
    fn is_for_others(failure: &Failure) -> bool {
        use Refusal::{Conflict, Deadlock, LockTimeout};
        matches!(failure.meaning(), Some(Deadlock | Conflict | LockTimeout))
    }

    fn close(self) {
        self.connection.close();
    }
}

impl MariadbLink {
    pub(super) fn tables(&mut self, schema: &str) -> Answer<Vec<String>> {
        let rows = self.query(&format!(
            "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}'"
        ))?;
        Ok(rows.iter().map(|row| row.text(0).to_owned()).collect())
    }
}
