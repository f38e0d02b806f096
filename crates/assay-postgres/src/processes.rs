//! What the processes of a server used: one a session, and those in the background.

pub use assay_dbserver::CpuUsage;
pub use assay_dbserver::processes::ProcessGroup;
pub use assay_dbserver::processes::parent;
use assay_dbserver::processes::{children, name, usage_at};

/// Names of processes that a managed server may consist of.
pub const PROGRAMS: &[&str] = &["postgres", "initdb"];

/// What one process of a server on this machine has used; `None` when there is no such process
/// here.
pub fn usage(process: u32) -> Option<CpuUsage> {
    let is_ours = PROGRAMS.contains(&name(process)?.as_str());
    is_ours.then(|| usage_at(&format!("/proc/{process}"))).flatten()
}

/// What each process of a server has used that serves none of these sessions: writers,
/// checkpointer, I/O workers.
pub fn background(postmaster: u32, sessions: &[u32]) -> ProcessGroup {
    children(postmaster)
        .into_iter()
        .filter(|process| !sessions.contains(process))
        .filter_map(|process| Some((process, usage(process)?)))
        .collect()
}

/// What all processes of a server used, those among them that have ended: the kernel adds what an
/// ended one used to the account of the first process, which started it.
///
/// Source: kernel documentation, `proc` (`/proc/PID/stat`, fields 16 and 17; `/proc/PID/io`).
pub fn whole_usage(postmaster: u32) -> Option<CpuUsage> {
    let living = background(postmaster, &[]).sum();
    let stat = std::fs::read_to_string(format!("/proc/{postmaster}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 =
        rest.split_whitespace().skip(13).take(2).map_while(|word| word.parse::<u64>().ok()).sum();
    let ended = CpuUsage {
        cpu_ns: ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)),
        ..usage(postmaster)?
    };
    Some(living.plus(&ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_a_server_count() {
        assert_eq!(usage(std::process::id()), None);
    }
}
