//! What the threads of a server used: one a session, all of them in one process.
//!
//! Source: kernel documentation, `proc` (`/proc/PID/status`, `/proc/PID/task`, fields 14 and 15 of
//! `/proc/PID/stat`).

use crate::connection::{MariadbConnection, MariadbFacts};
use assay_dbserver::CpuUsage;
use assay_dbserver::processes::{threads, usage_at};

/// Names of the processes of a server.
const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];

/// A thread of a server on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number of the server's process.
    pub process: u32,
    /// Number of the thread.
    pub thread: u32,
}

impl Thread {
    /// The thread that serves a session; none where the server is not on this machine or does not
    /// say.
    pub fn of(connection: &mut MariadbConnection) -> Option<Self> {
        let sql = question(connection.facts());
        let thread = u32::try_from(connection.one(&sql).ok()?.count(0)?).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
        let process = server_of(&status)?;
        Some(Self { process, thread })
    }

    /// What it used in its whole life.
    pub fn usage(self) -> Option<CpuUsage> {
        usage_at(&format!("/proc/{}/task/{}", self.process, self.thread))
    }
}

fn question(facts: &MariadbFacts) -> String {
    if facts.is_mariadb() {
        "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()".to_owned()
    } else {
        "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()"
            .to_owned()
    }
}

/// The process in the status of one of its threads, when it is a server's.
fn server_of(status: &str) -> Option<u32> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim())
    };
    let process: u32 = field("Tgid")?.parse().ok()?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    SERVERS.contains(&name.trim_end()).then_some(process)
}

/// What a server's process used in its whole life, its ended threads among it; the time that ended
/// threads waited for a processor is not known.
pub fn whole_usage(process: u32) -> Option<CpuUsage> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 =
        rest.split_whitespace().skip(11).take(2).map_while(|word| word.parse::<u64>().ok()).sum();
    let places = threads(process).map(|thread| format!("/proc/{process}/task/{thread}"));
    Some(CpuUsage {
        cpu_ns: ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)),
        queue_ns: places.filter_map(|place| usage_at(&place)).map(|used| used.queue_ns).sum(),
        ..usage_at(&format!("/proc/{process}"))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_is_one() {
        let me = std::process::id();
        assert_eq!(server_of(&format!("Name:\tx\nTgid:\t{me}\n")), None);
        assert_eq!(server_of("Name:\tx\n"), None);
        let used = whole_usage(me).unwrap();
        assert!(used.storage_read_bytes.is_some());
        assert_eq!(whole_usage(0), None);
    }
}
