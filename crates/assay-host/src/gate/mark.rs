//! The marker of an Assay directory: whose it is, and which process of which host uses it.

use crate::root::SysRoot;
use rustix::process::geteuid;
use rustix::system::uname;
use std::fmt;

/// First line of a marker.
const FIRST_LINE: &str = "ASSAY DIRECTORY 2";

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DirectoryMark {
    /// 128 random bits as letters, with which the name of the directory ends.
    pub(super) owner: String,
    /// Number of the directory on its file system: a copy has another.
    pub(super) inode: u64,
    user: u32,
    host: String,
    /// The kernel's own number of the time since it was started.
    boot: String,
    process: u32,
    /// When the process began, in ticks since the start of the kernel: a number is given again, a
    /// moment is not.
    began: u64,
}

/// What becomes of a directory with such a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MarkVerdict {
    /// Its program has ended.
    Left,
    /// Its program runs, or somebody holds its lock.
    Used,
    /// Nobody here can know, and why.
    Unknown(String),
}

impl DirectoryMark {
    /// That of this process.
    pub(super) fn new(root: &SysRoot, owner: &str, inode: u64) -> Self {
        let process = std::process::id();
        Self {
            owner: owner.to_owned(),
            inode,
            user: geteuid().as_raw(),
            host: host(root),
            boot: boot(root),
            process,
            began: began(root, process).unwrap_or(0),
        }
    }

    /// Reads a marker; nothing where it was not written by Assay.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        lines.next().filter(|first| *first == FIRST_LINE)?;
        let mut line = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let owner = line("owner")?.to_owned();
        let is_random = owner.len() == 32 && owner.bytes().all(|letter| letter.is_ascii_hexdigit());
        let mark = Self {
            owner,
            inode: line("inode")?.parse().ok()?,
            user: line("user")?.parse().ok()?,
            host: line("host")?.to_owned(),
            boot: line("boot")?.to_owned(),
            process: line("process")?.parse().ok()?,
            began: line("began")?.parse().ok()?,
        };
        (is_random && mark.user == geteuid().as_raw()).then_some(mark)
    }

    /// Judges by the marker, and by the lock on it: nothing where the file system has no locks.
    /// Both must say that nobody is at it.
    pub(super) fn judge(&self, root: &SysRoot, is_locked: Option<bool>) -> MarkVerdict {
        if is_locked == Some(true) {
            return MarkVerdict::Used;
        }
        let is_this_kernel = !self.boot.is_empty() && self.boot == boot(root);
        if is_this_kernel && self.began > 0 && began(root, self.process) == Some(self.began) {
            return MarkVerdict::Used;
        }
        if !is_this_kernel && self.host != host(root) {
            let host = self.host.rsplit(' ').next().unwrap_or_default();
            return MarkVerdict::Unknown(format!("the host {host} created it and may be using it"));
        }
        match is_locked {
            Some(_) => MarkVerdict::Left,
            None => MarkVerdict::Unknown(
                "this file system does not support the locks that show who uses it".to_owned(),
            ),
        }
    }
}

impl fmt::Display for DirectoryMark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{FIRST_LINE}")?;
        writeln!(formatter, "owner {}", self.owner)?;
        writeln!(formatter, "inode {}", self.inode)?;
        writeln!(formatter, "user {}", self.user)?;
        writeln!(formatter, "host {}", self.host)?;
        writeln!(formatter, "boot {}", self.boot)?;
        writeln!(formatter, "process {}", self.process)?;
        writeln!(formatter, "began {}", self.began)
    }
}

/// The number of this installation, where it has one, and the name of the host.
fn host(root: &SysRoot) -> String {
    let number = root.text("/etc/machine-id").unwrap_or_default();
    format!("{} {}", number.trim(), uname().nodename().to_string_lossy()).trim().to_owned()
}

fn boot(root: &SysRoot) -> String {
    root.text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// Field 22 of `/proc/PID/stat`; the name of the process, which may hold anything, ends with the
/// last bracket.
fn began(root: &SysRoot, process: u32) -> Option<u64> {
    let text = root.text(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> DirectoryMark {
        DirectoryMark::new(&SysRoot::live(), &"0123456789abcdef".repeat(2), 7)
    }

    #[test]
    fn a_mark_reads_back_and_a_damaged_one_does_not() {
        let text = mark().to_string();
        assert_eq!(DirectoryMark::parse(&text), Some(mark()));
        assert!(mark().began > 0 && !mark().boot.is_empty());
        for damaged in [
            "",
            "ASSAY DIRECTORY 2\n",
            &text.replace("DIRECTORY 2", "DIRECTORY 1"),
            &text.replace("owner 0", "owner x"),
            &text.replace("user ", "user 1"),
            &text[..text.len() / 2],
        ] {
            assert_eq!(DirectoryMark::parse(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn only_what_mark_and_lock_both_give_free_is_left() {
        let root = SysRoot::live();
        let gone = DirectoryMark { process: 0, ..mark() };
        let there =
            DirectoryMark { host: "other".to_owned(), boot: "other".to_owned(), ..gone.clone() };
        let before = DirectoryMark { boot: "earlier".to_owned(), ..gone.clone() };
        for (mark, is_locked, left) in [
            (mark(), Some(false), false),
            (mark(), None, false),
            (gone.clone(), Some(false), true),
            (gone.clone(), Some(true), false),
            (gone, None, false),
            (there, Some(false), false),
            (before.clone(), Some(false), true),
            (before, None, false),
        ] {
            assert_eq!(
                mark.judge(&root, is_locked) == MarkVerdict::Left,
                left,
                "{mark:?} {is_locked:?}"
            );
        }
    }
}
