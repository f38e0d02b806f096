//! What the operating system says of a server's processes: where they work, what they cost, and how
//! they end.

use crate::HeldServer;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a process may take to end after it was asked.
const PATIENCE: Duration = Duration::from_secs(10);

/// CPU time and traffic of processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuUsage {
    /// Time that they ran, ns.
    pub cpu_ns: u64,
    /// Time that they were ready and waited for a processor, ns.
    pub queue_ns: u64,
    /// Bytes that storage had to give for them; the page cache gave the rest. `None` without the
    /// right to know.
    pub storage_read_bytes: Option<u64>,
    /// Bytes that they wrote directly or dirtied in the page cache, less what was never written.
    /// They are not bytes to storage: a page that is dirtied again after a write counts again, and
    /// pages are written later. `None` without the right to know.
    pub storage_write_bytes: Option<u64>,
}

/// A sum or a difference where both sides are known.
fn both(mine: Option<u64>, theirs: Option<u64>, of: fn(u64, u64) -> u64) -> Option<u64> {
    mine.zip(theirs).map(|(mine, theirs)| of(mine, theirs))
}

impl CpuUsage {
    /// Both together; what one side does not know is not known.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            queue_ns: self.queue_ns + other.queue_ns,
            storage_read_bytes: both(
                self.storage_read_bytes,
                other.storage_read_bytes,
                |mine, theirs| mine + theirs,
            ),
            storage_write_bytes: both(
                self.storage_write_bytes,
                other.storage_write_bytes,
                |mine, theirs| mine + theirs,
            ),
        }
    }

    /// What was used after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            queue_ns: self.queue_ns.saturating_sub(earlier.queue_ns),
            storage_read_bytes: both(
                self.storage_read_bytes,
                earlier.storage_read_bytes,
                u64::saturating_sub,
            ),
            storage_write_bytes: both(
                self.storage_write_bytes,
                earlier.storage_write_bytes,
                u64::saturating_sub,
            ),
        }
    }
}

/// What each of several processes has used by a moment, so that two moments can be compared
/// although processes come and go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessGroup(BTreeMap<u32, CpuUsage>);

impl FromIterator<(u32, CpuUsage)> for ProcessGroup {
    fn from_iter<I: IntoIterator<Item = (u32, CpuUsage)>>(processes: I) -> Self {
        Self(processes.into_iter().collect())
    }
}

impl ProcessGroup {
    /// What all of them used in their lives.
    pub fn sum(&self) -> CpuUsage {
        self.since(&Self::default())
    }

    /// What those that live used after `earlier`. Whoever came since then counts from its
    /// beginning, and any that ended counts for nothing: its use before `earlier` must not
    /// be taken off that of others.
    pub fn since(&self, earlier: &Self) -> CpuUsage {
        let none = CpuUsage {
            storage_read_bytes: Some(0),
            storage_write_bytes: Some(0),
            ..CpuUsage::default()
        };
        let passed = self.0.iter().map(|(process, now)| {
            // Less time than before is that of another process which got the same number.
            let then = earlier.0.get(process).filter(|then| then.cpu_ns <= now.cpu_ns);
            then.map_or(*now, |then| now.since(then))
        });
        passed.fold(none, |sum, one| sum.plus(&one))
    }
}

/// What the process or thread under a place of `/proc` has used; `None` when there is no such one
/// here.
///
/// Source: kernel documentation, `sched-stats` (`/proc/PID/schedstat`) and `proc` (`/proc/PID/io`).
pub fn usage_at(place: &str) -> Option<CpuUsage> {
    let times = std::fs::read_to_string(format!("{place}/schedstat")).ok()?;
    let mut fields = times.split_whitespace().map(str::parse);
    let traffic = std::fs::read_to_string(format!("{place}/io")).ok();
    let bytes = |name: &str| -> Option<u64> {
        traffic.as_ref()?.lines().find_map(|line| line.strip_prefix(name))?.parse().ok()
    };
    let cancelled = || bytes("cancelled_write_bytes: ").unwrap_or(0);
    Some(CpuUsage {
        cpu_ns: fields.next()?.ok()?,
        queue_ns: fields.next()?.ok()?,
        storage_read_bytes: bytes("read_bytes: "),
        storage_write_bytes: bytes("write_bytes: ").map(|all| all.saturating_sub(cancelled())),
    })
}

/// The process that started another one.
pub fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// The processes that another one started.
pub fn children(process: u32) -> Vec<u32> {
    all().filter(|child| parent(*child) == Some(process)).collect()
}

/// The name of a process.
pub fn name(process: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

fn all() -> impl Iterator<Item = u32> {
    numbers_in("/proc")
}

/// The threads of a process.
pub fn threads(process: u32) -> impl Iterator<Item = u32> {
    numbers_in(&format!("/proc/{process}/task"))
}

fn numbers_in(place: &str) -> impl Iterator<Item = u32> + use<> {
    let entries = std::fs::read_dir(place).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Processes of these names that work inside a directory: those and no others belong to a server
/// there.
pub fn inside(directory: &Path, names: &[&str]) -> Vec<u32> {
    let held = HeldServer::named(directory);
    held.map_or_else(|_| Vec::new(), |held| all_inside(&held, names).map(|(id, _)| id).collect())
}

/// The same, each with a handle that stays with the process whoever gets its number.
fn all_inside(
    directory: &HeldServer,
    names: &[&str],
) -> impl Iterator<Item = (u32, Option<OwnedFd>)> {
    let works_here = |process: u32| {
        // The handle comes first: what is looked up by the number may be of another process by
        // then, and that one gets no signal.
        let handle = number(process).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let place = rustix::fs::open(format!("/proc/{process}/cwd"), flags, Mode::empty()).ok()?;
        let is_known = name(process).is_some_and(|name| names.contains(&name.as_str()));
        (is_known && directory.holds(&place)).then_some((process, handle))
    };
    all().filter_map(works_here)
}

/// Ends the processes of a server inside a directory, first as a server ends at once, then by
/// force; says whether none is left.
pub fn end_inside(directory: &HeldServer, names: &[&str]) -> bool {
    for wanted in [Signal::QUIT, Signal::KILL] {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let left: Vec<_> = all_inside(directory, names).collect();
            if left.is_empty() {
                return true;
            }
            for (process, handle) in left {
                match handle {
                    Some(handle) => drop(pidfd_send_signal(handle, wanted)),
                    // A kernel before 5.3.
                    None => signal(process, wanted),
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    all_inside(directory, names).next().is_none()
}

fn number(process: u32) -> Option<Pid> {
    i32::try_from(process).ok().and_then(Pid::from_raw)
}

/// Sends a signal; a process that is gone needs none.
pub fn signal(process: u32, wanted: Signal) {
    if let Some(number) = number(process) {
        let _ = kill_process(number, wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_a_server_count() {
        let me = std::process::id();
        assert!(inside(Path::new("/"), &["postgres"]).iter().all(|process| *process != me));
        assert_eq!(parent(me), Some(std::os::unix::process::parent_id()));
        assert!(threads(me).any(|thread| thread == me));
        assert!(usage_at(&format!("/proc/{me}")).is_some_and(|used| used.cpu_ns > 0));
        assert_eq!(usage_at("/proc/0"), None);
    }

    #[test]
    fn processes_that_come_and_go_take_nothing_off_the_others() {
        let used = |cpu_ns| CpuUsage {
            cpu_ns,
            queue_ns: 0,
            storage_read_bytes: Some(cpu_ns),
            storage_write_bytes: Some(cpu_ns),
        };
        let earlier: ProcessGroup =
            [(1, used(10)), (2, used(1000)), (3, used(50))].into_iter().collect();
        // The second has ended, the third's number is another's now, the fourth is new.
        let later: ProcessGroup = [(1, used(14)), (3, used(5)), (4, used(7))].into_iter().collect();
        assert_eq!(later.since(&earlier), used(4 + 5 + 7));
        assert_eq!(later.sum(), used(14 + 5 + 7));
        assert_eq!(ProcessGroup::default().since(&earlier), used(0));
    }

    #[test]
    fn what_one_side_does_not_know_the_sum_does_not_know() {
        let known = CpuUsage {
            cpu_ns: 5,
            queue_ns: 1,
            storage_read_bytes: Some(8),
            storage_write_bytes: Some(3),
        };
        let unknown = CpuUsage::default();
        assert_eq!(known.plus(&unknown).storage_read_bytes, None);
        assert_eq!(known.plus(&known).since(&known), known);
    }
}
