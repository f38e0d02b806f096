//! Every reason for which the gate refuses, in words: what was tried, what is in the way, what to
//! do next.

use assay_model::units::Bytes;
use assay_model::{Error, ErrorKind};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Why a path was not opened at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRefusal {
    /// Nothing is there.
    Missing,
    /// The system said no.
    NotOpened {
        /// Its words.
        reason: String,
    },
    /// It is neither a regular file nor a block device.
    WrongKind {
        /// What it is instead.
        kind: &'static str,
    },
    /// It is smaller than anything worth measuring.
    TooSmall {
        /// Size, bytes.
        size_bytes: u64,
        /// Least size, bytes.
        least_bytes: u64,
    },
    /// It was replaced or resized while it was being looked at.
    Changed {
        /// What is different.
        what: String,
    },
    /// A fact that the decision rests on could not be read.
    Unclear {
        /// Which.
        what: String,
        /// What the system answered.
        reason: String,
    },
}

/// Why a file may not be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileRefusal {
    /// It does not begin with our header.
    NotOurs,
    /// It begins with our header, which is damaged.
    Damaged,
    /// It was written by another version.
    Format(u32),
    /// It is a copy of one of our files, or was restored from a backup.
    Copy,
    /// Its size is not what the header says.
    Resized {
        /// Size in the header, bytes.
        header_bytes: u64,
        /// Size now, bytes.
        size_bytes: u64,
    },
    /// The path is a symbolic link.
    Link,
    /// The file has several names.
    HardLinks(u64),
    /// Another process measures on it.
    Locked,
    /// Its file system has no locks, so that nobody can tell whether another process measures on
    /// it.
    NoLocks {
        /// The system's words.
        reason: String,
    },
    /// Another user made it.
    OtherUser(u32),
    /// Another host made it, and may measure on it.
    OtherHost,
    /// A loop device or the swapper uses it.
    InUse {
        /// By what.
        by: String,
    },
    /// It belongs to another owner.
    OtherOwner,
    /// The file system or the file cannot be written to.
    ReadOnly {
        /// The system's words.
        reason: String,
    },
}

/// How a device is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusedUsage {
    /// A file system on it is mounted.
    Mounted {
        /// Where.
        mount_point: String,
    },
    /// It is swapped to.
    Swap,
    /// Another device is built on it.
    Held {
        /// Which, for example `LVM volume /dev/dm-0`.
        by: String,
    },
    /// A process has it open for writing.
    Open {
        /// The process.
        by: String,
    },
    /// A process has it mapped for writing.
    Mapped {
        /// The process.
        by: String,
    },
}

/// A device that is in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// The device that is, for example `partition /dev/sdb1`; none when it is the target itself.
    pub relation: Option<String>,
    /// How.
    pub usage: RefusedUsage,
}

/// Why a block device may not be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceRefusal {
    /// It, or a relation of it, is in use.
    InUse(InUse),
    /// The kernel says that it is busy.
    Busy,
    /// It cannot be written to.
    ReadOnly,
    /// It carries data that is known, and that was not given up by name.
    Occupied {
        /// What it carries.
        names: Vec<&'static str>,
        /// What was typed instead of the names, if anything was.
        typed: Option<String>,
        /// The options that give up exactly this.
        option: String,
    },
    /// A part of it, or the disk that it is a part of, carries data that is known.
    OccupiedAround {
        /// Which, for example `partition /dev/sdb1`.
        relation: String,
        /// What it carries.
        names: Vec<&'static str>,
    },
    /// It is a part of something that others have parts of.
    Member {
        /// What it carries.
        names: Vec<&'static str>,
        /// That of it which others may need.
        shared: Vec<&'static str>,
    },
    /// It carries nothing of what was given up by name.
    NothingToWipe {
        /// What was typed.
        typed: String,
    },
    /// The user did not say that it may be destroyed.
    NoToken {
        /// What the user must type.
        token: String,
        /// What was seen on it.
        seen: String,
    },
    /// What the user typed is not this device.
    WrongToken {
        /// What was typed.
        typed: String,
        /// What the device is called.
        token: String,
    },
}

/// Why no file was created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CreateRefusal {
    /// Something of this name is there.
    Exists,
    /// There is not enough space.
    NoSpace {
        /// Size that was wanted, bytes.
        wanted_bytes: u64,
        /// Free space, bytes.
        free_bytes: u64,
        /// What is left alone, bytes.
        reserve_bytes: u64,
    },
    /// A file of this size is not allowed to this process.
    Limit {
        /// Largest file, bytes.
        limit_bytes: u64,
    },
    /// The system said no.
    Failed {
        /// While doing what.
        doing: &'static str,
        /// Its words.
        reason: String,
    },
}

impl PathRefusal {
    /// The error for this path.
    pub fn of(&self, path: &str) -> Error {
        let error = match self {
            Self::Missing => Error::environment(
                format!("cannot open {path}: it does not exist"),
                "check the spelling; to measure a file system, specify a directory on it",
            ),
            Self::NotOpened { reason } => Error::environment(
                format!("cannot open {path}: {reason}"),
                "check its permissions; block devices need root or the group 'disk'",
            ),
            Self::WrongKind { kind } => Error::environment(
                format!("cannot measure {path}: it is a {kind}"),
                wrong_kind_hint(kind),
            ),
            Self::TooSmall { size_bytes, least_bytes } => Error::environment(
                format!("cannot measure {path}: it has only {size_bytes} bytes"),
                format!("specify a target of at least {}", Bytes(*least_bytes)),
            ),
            Self::Changed { what } => Error::environment(
                format!("refusing {path}: {what} while it was being checked"),
                "make sure that no other program is using it, and try again",
            ),
            Self::Unclear { what, reason } => Error::environment(
                format!(
                    "refusing to write to {path}: {what} cannot be read ({reason}), so it cannot \
                     be shown to be unused"
                ),
                "run where /sys and /proc are complete, or measure a file instead",
            ),
        };
        error.of_kind(match self {
            Self::Missing => ErrorKind::NotFound,
            Self::NotOpened { .. } | Self::TooSmall { .. } => ErrorKind::Environment,
            Self::WrongKind { .. } | Self::Changed { .. } | Self::Unclear { .. } => {
                ErrorKind::Forbidden
            }
        })
    }
}

fn wrong_kind_hint(kind: &str) -> &'static str {
    if kind == "directory" {
        return "a directory is measured with a file that Assay creates in it: use a command that \
                takes a directory";
    }
    if kind == "character device" {
        return "specify a regular file, a block device, a directory, or an NVMe character device \
                such as /dev/ng0n1";
    }
    "specify a regular file, a block device or a directory"
}

impl FileRefusal {
    /// The error for this path.
    pub fn of(&self, path: &str) -> Error {
        let (reason, hint) = self.words();
        Error::environment(format!("refusing to write to {path}: {reason}"), hint)
            .of_kind(ErrorKind::Forbidden)
    }

    fn words(&self) -> (String, &'static str) {
        const FRESH: &str =
            "remove it if it is not needed, and let Assay create a new file in its directory";
        match self {
            Self::NotOurs => (
                "Assay did not create it".into(),
                "Assay only reads your files; specify a directory, in which it creates a new file",
            ),
            Self::Damaged => {
                ("it starts like a file of Assay, but its header is damaged".into(), FRESH)
            }
            Self::Format(format) => {
                (format!("its header has format {format}, unknown to this version"), FRESH)
            }
            Self::Copy => (
                "it is a copy or was restored from a backup: its header names another file".into(),
                FRESH,
            ),
            Self::Resized { header_bytes, size_bytes } => (
                format!("it was created with {header_bytes} bytes and now has {size_bytes}"),
                FRESH,
            ),
            Self::Link => {
                ("it is a symbolic link to a file".into(), "specify the path of the file itself")
            }
            Self::HardLinks(names) => {
                (format!("the file has {names} hard links"), "remove the other links first")
            }
            Self::Locked => (
                "another process is measuring on it".into(),
                "wait until it ends, or use another file",
            ),
            Self::NoLocks { reason } => (
                format!(
                    "its file system has no locks ({reason}), so another process may be measuring \
                     on it"
                ),
                "specify the directory, in which Assay creates a new file; remove this one by hand \
                 when no host uses it",
            ),
            Self::OtherUser(user) => (
                format!("it belongs to the user with id {user}"),
                "Assay only reads files of other users; specify a directory, in which it creates a \
                 new file",
            ),
            Self::OtherHost => (
                "it was created on another host, which may be using it".into(),
                "measure from there, or remove it by hand when it is not in use",
            ),
            Self::InUse { by } => (format!("{by} uses it"), "detach it first"),
            Self::OtherOwner => (
                "it belongs to another store of runs".into(),
                "remove it with the program that created it, or by hand",
            ),
            Self::ReadOnly { reason } => (
                format!("it cannot be opened for writing ({reason})"),
                "check its permissions and whether its file system is mounted read-only",
            ),
        }
    }
}

impl DeviceRefusal {
    /// The error for this path.
    pub fn of(&self, path: &str) -> Error {
        let (reason, hint) = self.words(path);
        Error::environment(format!("refusing to write to {path}: {reason}"), hint)
            .of_kind(ErrorKind::Forbidden)
    }

    fn words(&self, path: &str) -> (String, String) {
        match self {
            Self::NoToken { token, seen } => (
                format!("writing destroys everything on it ({seen})"),
                format!("if all of its data may be destroyed, repeat with --destroy '{token}'"),
            ),
            Self::WrongToken { typed, token } => (
                format!("--destroy '{typed}' does not name this device"),
                format!("this device is '{token}'; check that {path} is the right device"),
            ),
            Self::Occupied { names, typed, option } => occupied(names, typed.as_ref(), option),
            Self::OccupiedAround { relation, names } => (
                format!("{relation} contains: {}", names.join(", ")),
                "--wipe covers only signatures on the device itself: measure on that partition, \
                 or delete it first, for example with wipefs and sfdisk --delete"
                    .into(),
            ),
            Self::Member { names, shared } => (
                format!("it contains: {}", names.join(", ")),
                format!(
                    "other disks or hosts may need the {}, which cannot be checked from here, so \
                     --wipe does not cover it: remove the device with the tool that added it, \
                     then erase the rest with wipefs",
                    shared.join(", ")
                ),
            ),
            Self::NothingToWipe { typed } => (
                format!("--wipe '{typed}': it does not contain known data"),
                format!("check that {path} is the right device, and omit --wipe if it is"),
            ),
            Self::Busy => (
                "the kernel reports that it is in use (a file system, a volume manager or another \
                 program holds it)"
                    .into(),
                "find its users, for example with lsblk and fuser".into(),
            ),
            Self::ReadOnly => (
                "it is read-only".into(),
                "see blockdev --getro; a write-protected device can only be read".into(),
            ),
            Self::InUse(in_use) => in_use.words(),
        }
    }
}

fn occupied(names: &[&str], typed: Option<&String>, option: &str) -> (String, String) {
    let carried = format!("it contains: {}", names.join(", "));
    let reason = match typed {
        Some(typed) => format!("{carried}; --wipe '{typed}' does not match"),
        None => carried,
    };
    (reason, format!("if its data may be destroyed, repeat with {option}"))
}

impl InUse {
    fn words(&self) -> (String, String) {
        let it = named(self.relation.as_ref());
        match &self.usage {
            RefusedUsage::Mounted { mount_point } => (
                format!("{it} is mounted at {mount_point}"),
                format!(
                    "specify a directory under {mount_point} to measure with a file, or unmount it"
                ),
            ),
            RefusedUsage::Swap => (
                format!("{it} is in use as swap"),
                "use another device, or turn off swap with swapoff".into(),
            ),
            RefusedUsage::Held { by } => (
                format!("{it} is held by {by}"),
                "measure on its holder, or remove it from there first".into(),
            ),
            RefusedUsage::Open { by } => {
                (format!("{it} is open for writing in {by}"), "end that program first".into())
            }
            RefusedUsage::Mapped { by } => {
                (format!("{it} is mapped for writing in {by}"), "end that program first".into())
            }
        }
    }
}

fn named(relation: Option<&String>) -> &str {
    relation.map_or("it", String::as_str)
}

impl CreateRefusal {
    /// The error for this path.
    pub fn of(&self, path: &str) -> Error {
        let error = match self {
            Self::Exists => Error::environment(
                format!("cannot create {path}: it exists"),
                "existing files are never overwritten; specify another name or a directory",
            ),
            Self::NoSpace { wanted_bytes, free_bytes, reserve_bytes } => Error::environment(
                format!(
                    "cannot create {path}: it needs {}, but only {} are free and {} must stay free",
                    Bytes(*wanted_bytes),
                    Bytes(*free_bytes),
                    Bytes(*reserve_bytes)
                ),
                "choose a smaller --size (a study: --scale 1/100) or a file system with more free \
                 space",
            ),
            Self::Limit { limit_bytes } => Error::environment(
                format!(
                    "cannot create {path}: this process can write files of at most {limit_bytes} \
                     bytes"
                ),
                "choose a smaller size, or raise the limit with ulimit -f",
            ),
            Self::Failed { doing, reason } => Error::environment(
                format!("cannot create {path}: {doing}: {reason}"),
                "check the permissions of the directory and the state of its file system",
            ),
        };
        error.of_kind(match self {
            Self::Exists => ErrorKind::System(io::ErrorKind::AlreadyExists),
            Self::NoSpace { .. } => ErrorKind::System(io::ErrorKind::StorageFull),
            _ => ErrorKind::Environment,
        })
    }
}

/// What the system answered while a file was made, looked at or removed.
pub(super) fn failed(path: &Path, doing: &'static str, error: Errno) -> Error {
    let reason = io::Error::from(error).to_string();
    CreateRefusal::Failed { doing, reason }.of(&path.display().to_string())
}
