//! What the operating system says of a server's processes: where they work, what they cost, and how they end.

use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Names of processes that a server of ours may consist of.
const OURS: [&str; 2] = ["postgres", "initdb"];
/// How long a process may take to end after it was asked.
const PATIENCE: Duration = Duration::from_secs(10);

/// CPU time and traffic of processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time that they ran, ns.
    pub cpu_ns: u64,
    /// Time that they were ready and waited for a processor, ns.
    pub queue_ns: u64,
    /// Bytes that storage had to give for them; the page cache gave the rest. `None` without the right to know.
    pub storage_read_bytes: Option<u64>,
}

impl Usage {
    /// Both together; what one side does not know is not known.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            queue_ns: self.queue_ns + other.queue_ns,
            storage_read_bytes: self
                .storage_read_bytes
                .zip(other.storage_read_bytes)
                .map(|(mine, theirs)| mine + theirs),
        }
    }

    /// What was used after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            queue_ns: self.queue_ns.saturating_sub(earlier.queue_ns),
            storage_read_bytes: self
                .storage_read_bytes
                .zip(earlier.storage_read_bytes)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }
}

/// What one process of a server on this machine has used; `None` when there is no such process here.
///
/// Source: kernel documentation, `sched-stats` (`/proc/PID/schedstat`) and `proc` (`/proc/PID/io`).
pub fn usage(process: u32) -> Option<Usage> {
    if !OURS.contains(&name(process)?.as_str()) {
        return None;
    }
    let times = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    let mut fields = times.split_whitespace().map(str::parse);
    let traffic = std::fs::read_to_string(format!("/proc/{process}/io")).ok();
    Some(Usage {
        cpu_ns: fields.next()?.ok()?,
        queue_ns: fields.next()?.ok()?,
        storage_read_bytes: traffic.and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?;
            line.parse().ok()
        }),
    })
}

/// What the processes of a server use that serve no session: writers, checkpointer, I/O workers.
pub fn background_usage(postmaster: u32, sessions: &[u32]) -> Usage {
    let none = Usage { storage_read_bytes: Some(0), ..Usage::default() };
    children(postmaster)
        .into_iter()
        .filter(|process| !sessions.contains(process))
        .filter_map(usage)
        .fold(none, |sum, one| sum.plus(&one))
}

/// What all processes of a server used, those among them that have ended: the kernel adds what an ended one used to the
/// account of the first process, which started it.
///
/// Source: kernel documentation, `proc` (`/proc/PID/stat`, fields 16 and 17; `/proc/PID/io`).
pub fn whole_usage(postmaster: u32) -> Option<Usage> {
    let living = background_usage(postmaster, &[]);
    let stat = std::fs::read_to_string(format!("/proc/{postmaster}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 =
        rest.split_whitespace().skip(13).take(2).map_while(|word| word.parse::<u64>().ok()).sum();
    let ended = Usage {
        cpu_ns: ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)),
        ..usage(postmaster)?
    };
    Some(living.plus(&ended))
}

/// The process that started another one.
pub fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn children(process: u32) -> Vec<u32> {
    all().filter(|child| parent(*child) == Some(process)).collect()
}

fn name(process: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Processes of a server that work inside a directory: those and no others belong to it.
pub fn inside(directory: &Path) -> Vec<u32> {
    let works_here = |process: &u32| {
        let place: Option<PathBuf> = std::fs::read_link(format!("/proc/{process}/cwd")).ok();
        place.is_some_and(|place| place.starts_with(directory))
            && name(*process).is_some_and(|name| OURS.contains(&name.as_str()))
    };
    all().filter(works_here).collect()
}

/// Ends the processes of a server inside a directory, first as a server ends at once, then by force; says whether
/// none is left.
pub fn end_inside(directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else {
        return true;
    };
    for wanted in [Signal::QUIT, Signal::KILL] {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let left = inside(&directory);
            if left.is_empty() {
                return true;
            }
            for process in left {
                signal(process, wanted);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    inside(&directory).is_empty()
}

/// Sends a signal; a process that is gone needs none.
pub fn signal(process: u32, wanted: Signal) {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    if let Some(number) = number {
        let _ = kill_process(number, wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_a_server_count() {
        assert_eq!(usage(std::process::id()), None);
        assert!(inside(Path::new("/")).iter().all(|process| *process != std::process::id()));
        assert_eq!(parent(std::process::id()), Some(std::os::unix::process::parent_id()));
    }

    #[test]
    fn what_one_side_does_not_know_the_sum_does_not_know() {
        let known = Usage { cpu_ns: 5, queue_ns: 1, storage_read_bytes: Some(8) };
        let unknown = Usage::default();
        assert_eq!(known.plus(&unknown).storage_read_bytes, None);
        assert_eq!(known.plus(&known).since(&known), known);
    }
}
