//! Bytes that a server's processes moved to and from storage, by `/proc/PID/io` or their control
//! group.

use crate::CpuUsage;
use crate::processes::children;
use std::path::Path;

/// Bytes by the account of the processes themselves.
const OF_PROCESSES: &str = "/proc/PID/io of the server's processes";
/// Bytes by the account of their control group.
const OF_GROUP: &str = "io.stat of the server's control group";

/// Bytes moved since the server was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerBytes {
    /// Bytes that storage gave.
    pub read_bytes: u64,
    /// Bytes that were written: dirtied in the page cache or written directly by the account of
    /// processes, given to storage by that of a control group.
    pub write_bytes: u64,
    /// Whose account it is.
    pub source: &'static str,
}

impl ServerBytes {
    /// The traffic of a server: that of its processes without Assay's sessions, else that of its
    /// control group, which anybody may read.
    pub fn new(whole: Option<CpuUsage>, own: &[CpuUsage], first_process: u32) -> Option<Self> {
        let whole = whole.and_then(|usage| usage.storage_read_bytes.zip(usage.storage_write_bytes));
        let Some((read_bytes, write_bytes)) = whole else {
            return Self::from_group(first_process, Path::new("/"));
        };
        let sum = |of: fn(&CpuUsage) -> Option<u64>| own.iter().filter_map(of).sum::<u64>();
        Some(Self {
            read_bytes: read_bytes.saturating_sub(sum(|usage| usage.storage_read_bytes)),
            write_bytes: write_bytes.saturating_sub(sum(|usage| usage.storage_write_bytes)),
            source: OF_PROCESSES,
        })
    }

    /// The account of a control group in which nothing runs but the server.
    ///
    /// Source: kernel documentation, "Control Group v2", IO interface files.
    fn from_group(first_process: u32, root: &Path) -> Option<Self> {
        let text = |place: String| std::fs::read_to_string(root.join(place)).ok();
        let groups = text(format!("proc/{first_process}/cgroup"))?;
        let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let group = format!("sys/fs/cgroup/{path}");
        let members = text(format!("{group}/cgroup.procs"))?;
        let own = children(first_process);
        let is_own = |process: u32| process == first_process || own.contains(&process);
        let mut processes = members.lines().map(|line| line.parse::<u32>().ok());
        if !processes.all(|process| process.is_some_and(is_own)) {
            return None;
        }
        let stat = text(format!("{group}/io.stat"))?;
        // Devices that lie on one another count the same bytes, each for itself.
        let most = |name: &str| stat.lines().filter_map(|line| value(line, name)).max();
        Some(Self { read_bytes: most("rbytes")?, write_bytes: most("wbytes")?, source: OF_GROUP })
    }
}

fn value(line: &str, name: &str) -> Option<u64> {
    let mut pairs = line.split_whitespace().filter_map(|word| word.split_once('='));
    pairs.find(|(key, _)| *key == name)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sessions_are_left_out() {
        let used = |read: u64, write: u64| CpuUsage {
            storage_read_bytes: Some(read),
            storage_write_bytes: Some(write),
            ..CpuUsage::default()
        };
        let seen = ServerBytes::new(Some(used(100, 50)), &[used(7, 0), used(3, 1)], 1).unwrap();
        assert_eq!((seen.read_bytes, seen.write_bytes, seen.source), (90, 49, OF_PROCESSES));
    }

    #[test]
    fn a_control_group_counts_where_nothing_else_runs_in_it() {
        let root = std::env::temp_dir().join(format!("assay-traffic-{}", std::process::id()));
        let write = |place: &str, text: &str| {
            let path = root.join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let group = "sys/fs/cgroup/system.slice/db.service";
        write("proc/4000000/cgroup", "0::/system.slice/db.service\n");
        write(&format!("{group}/cgroup.procs"), "4000000\n");
        write(
            &format!("{group}/io.stat"),
            "254:0 rbytes=8192 wbytes=100 rios=2 wios=1\n8:0 rbytes=8192 wbytes=40 rios=2 wios=1\n",
        );
        let seen = ServerBytes::from_group(4_000_000, &root).unwrap();
        assert_eq!((seen.read_bytes, seen.write_bytes, seen.source), (8192, 100, OF_GROUP));
        write(&format!("{group}/cgroup.procs"), "4000000\n4000001\n");
        assert_eq!(ServerBytes::from_group(4_000_000, &root), None);
        std::fs::remove_dir_all(root).unwrap();
    }
}
