//! One session on a server, which knows what itself costs.

use crate::model::Version;
use assay_model::{Error, Result};
use postgres::config::Host;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls, Row, Statement};
use std::error::Error as _;
use std::time::{Duration, Instant};

/// By this name a server's own views tell our sessions from others.
const NAME: &str = "assay";
/// A server that does not answer is not waited for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A look must never become a load: no statement of ours may run long, wait for a lock, or write.
const MANNERS: &str = "SET statement_timeout = '10s'; SET lock_timeout = '1s'; SET default_transaction_read_only = on; SET compute_query_id = on";
const MANNERS_OF_ALL: &str = "SET statement_timeout = '10s'; SET lock_timeout = '1s'; SET default_transaction_read_only = on";

/// Reads an address.
pub(super) fn parse(address: &str) -> Result<Config> {
    let mut config: Config = address.parse().map_err(|error: postgres::Error| {
        Error::usage(
            format!("this is no address of a PostgreSQL server: {}", reason(&error)),
            "write postgresql://user:password@host:port/database, or postgresql:///database?host=/directory/of/the/socket",
        )
    })?;
    config.application_name(NAME);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
        config.password(password);
    }
    if config.get_user().is_none() {
        let user = ["PGUSER", "USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
        config.user(user.as_deref().unwrap_or("postgres"));
    }
    if config.get_hosts().is_empty() {
        config.host("/var/run/postgresql");
    }
    Ok(config)
}

/// Whether the address is a socket or a loopback.
pub(super) fn is_near(config: &Config) -> bool {
    let loops = ["localhost", "127.0.0.1", "::1"];
    config.get_hosts().first().is_some_and(|host| match host {
        Host::Tcp(name) => loops.contains(&name.as_str()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// A session.
pub(super) struct Link {
    client: Client,
    pub(super) process_id: u32,
    pub(super) database: String,
    /// Time that its statements took, seen from here, seconds: no less than the server was busy with them.
    pub(super) own_time_s: f64,
    pub(super) own_statements: u64,
}

impl Link {
    /// Connects, to another database if one is named.
    pub(super) fn open(config: &Config, database: Option<&str>) -> Result<Self> {
        let mut config = config.clone();
        if let Some(database) = database {
            config.dbname(database);
        }
        let client = config.connect(NoTls).map_err(|error| refused(&error, &config))?;
        let mut link = Self {
            client,
            process_id: 0,
            database: String::new(),
            own_time_s: 0.0,
            own_statements: 0,
        };
        link.settle()?;
        Ok(link)
    }

    fn settle(&mut self) -> Result<()> {
        // Only an administrator may switch statement ids on; without them statements are not told apart by looks.
        if self.client.batch_execute(MANNERS).is_err() {
            self.client.batch_execute(MANNERS_OF_ALL).map_err(|error| lost(&error))?;
        }
        let rows = self.query("SELECT /* assay */ pg_backend_pid(), current_database()::text")?;
        if let Some(row) = rows.first() {
            self.process_id =
                super::columns::count(row, 0).map_or(0, |id| u32::try_from(id).unwrap_or(0));
            self.database = super::columns::text(row, 1).unwrap_or_default();
        }
        Ok(())
    }

    /// The release; one that does not count the time of sessions is refused.
    pub(super) fn version(&mut self) -> Result<Version> {
        let rows = self.query("SELECT /* assay */ current_setting('server_version_num')::int8")?;
        let number = rows.first().and_then(|row| super::columns::count(row, 0));
        let version = Version(u32::try_from(number.unwrap_or(0)).unwrap_or(0));
        if version.major() < Version::OLDEST {
            return Err(Error::environment(
                format!(
                    "the server is of release {version}, which does not count the time of its sessions"
                ),
                format!("release {} and later do", Version::OLDEST),
            ));
        }
        Ok(version)
    }

    /// Asks something without parameters.
    pub(super) fn query(&mut self, statement: &str) -> Result<Vec<Row>> {
        self.timed(|client| client.query(statement, &[]))
    }

    /// Asks something that was prepared.
    pub(super) fn ask(
        &mut self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        self.timed(|client| client.query(statement, parameters))
    }

    pub(super) fn prepare(&mut self, statement: &str) -> Result<Statement> {
        self.timed(|client| client.prepare(statement))
    }

    fn timed<T>(
        &mut self,
        ask: impl FnOnce(&mut Client) -> std::result::Result<T, postgres::Error>,
    ) -> Result<T> {
        let begun = Instant::now();
        let answer = ask(&mut self.client);
        self.own_time_s += begun.elapsed().as_secs_f64();
        self.own_statements += 1;
        answer.map_err(|error| lost(&error))
    }
}

/// What went wrong, in the words of whoever said it.
pub(super) fn reason(error: &postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Where a server was looked for, without any secret.
fn place(config: &Config) -> String {
    let name = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(name).collect();
    let host = hosts.join(" or ");
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    format!("database '{database}' at {host}, port {port}, as '{user}'")
}

fn refused(error: &postgres::Error, config: &Config) -> Error {
    let hint = match error.code() {
        Some(code)
            if *code == SqlState::INVALID_PASSWORD
                || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            "check user and password, and pg_hba.conf; the password can stand in PGPASSWORD"
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
            "name a database that exists, behind the last / of the address"
        }
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => {
            "two sessions are needed: let some go, or raise max_connections"
        }
        Some(code) if *code == SqlState::CANNOT_CONNECT_NOW => {
            "the server starts, stops or recovers: try again when it is ready"
        }
        _ if reason(error).contains("TLS") => {
            "this program has no TLS: use a socket, or sslmode=disable on a network you trust"
        }
        _ => "check that the server runs and listens there",
    };
    Error::environment(format!("connecting to {}: {}", place(config), reason(error)), hint)
}

/// A statement of ours failed, or the session ended.
fn lost(error: &postgres::Error) -> Error {
    let hint = if error.is_closed() {
        "the server ended the session: look at its log"
    } else {
        "look at the server's log; an account with pg_monitor may ask everything that is asked here"
    };
    Error::environment(format!("asking the server: {}", reason(error)), hint)
}
