//! A directory that is held open: what is in it is reached by its plain name, never through a link,
//! and only where it is a file of its own.
//!
//! A run may have come by mail, and its names may be exchanged while it is read. So each name is a
//! single step from a descriptor (`openat` with `O_NOFOLLOW`), which no kernel or sandbox lacks;
//! what was opened is asked what it is, not its name.

use assay_model::number::count_of;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No Assay document comes near; a file of any length must not fill the memory.
pub(crate) const DOCUMENT_BYTES_MAX: u64 = 64 << 20;
/// Begins the name of a file that is not whole yet.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAccess {
    /// It is read, and must be there.
    Read,
    /// It is read and written in place; it is made where it is missing, for whom the mode says.
    Write(Mode),
    /// It is read and written at its end; it is made where it is missing.
    Append,
}

/// A directory by its descriptor, with the path that people know it by.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    file: Arc<File>,
    path: PathBuf,
    owner: u32,
}

impl Directory {
    /// Opens a directory that a person named; links on the way are the person's.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_as(path, OFlags::empty())
    }

    /// The same for a directory that is named itself and not by a link to it.
    pub(crate) fn open_itself(path: &Path) -> io::Result<Self> {
        Self::open_as(path, OFlags::NOFOLLOW)
    }

    fn open_as(path: &Path, more: OFlags) -> io::Result<Self> {
        let file = File::from(openat(CWD, path, DIRECTORY | more, Mode::empty())?);
        Self::of(file, path.to_owned())
    }

    fn of(file: File, path: PathBuf) -> io::Result<Self> {
        let owner = fstat(&file)?.st_uid;
        Ok(Self { file: Arc::new(file), path, owner })
    }

    /// Opens a directory in this one; a link is refused.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        let found = self.status(name)?.ok_or(ErrorKind::NotFound)?;
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind != FileType::Directory {
            return Err(unexpected(kind, "a directory"));
        }
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let file = File::from(openat(&*self.file, name, flags, Mode::empty())?);
        Self::of(file, self.path.join(name))
    }

    /// Makes a directory in this one.
    pub(crate) fn make(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&*self.file, name, Mode::from_raw_mode(0o777))?)
    }

    /// The path that people know it by.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What a name is, without following it; nothing where there is nothing.
    fn status(&self, name: &str) -> io::Result<Option<Stat>> {
        match statat(&*self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a plain file has this name.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        let found = self.status(name).ok().flatten();
        found.is_some_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile)
    }

    /// Whether anything has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        !matches!(self.status(name), Ok(None))
    }

    /// Opens a plain file in this directory; what is to be written must belong to it alone.
    pub(crate) fn open_file(&self, name: &str, access: FileAccess) -> io::Result<File> {
        // A device may act when it is opened, so its name is asked first; what counts is what was
        // opened.
        if let Some(found) = self.status(name)? {
            plain(&found)?;
        }
        let (flags, mode) = match access {
            FileAccess::Read => (OFlags::RDONLY, Mode::empty()),
            FileAccess::Write(mode) => (OFlags::RDWR | OFlags::CREATE, mode),
            FileAccess::Append => (OFlags::RDWR | OFlags::CREATE | OFlags::APPEND, FOR_READERS),
        };
        let always = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(openat(&*self.file, name, flags | always, mode)?);
        let found = fstat(&file)?;
        plain(&found)?;
        if access != FileAccess::Read {
            self.check_own(&found)?;
        }
        Ok(file)
    }

    /// A file of others must not be written under an Assay name: neither by another name of it, nor
    /// where another put it.
    fn check_own(&self, found: &Stat) -> io::Result<()> {
        if found.st_nlink > 1 {
            return Err(foreign("it has other hard links, so it does not belong only to this run"));
        }
        let mine = rustix::process::geteuid().as_raw();
        if found.st_uid != self.owner && found.st_uid != mine {
            return Err(foreign("its owner is not the owner of its directory"));
        }
        Ok(())
    }

    /// The bytes of a plain file, at most `bytes_max`; nothing where there is none.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open_file(name, FileAccess::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
        if count_of(bytes.len()) > bytes_max {
            return Err(foreign(&format!("it has more than {} MiB", bytes_max >> 20)));
        }
        Ok(Some(bytes))
    }

    /// Puts a file in place, so that a reader, at any moment and after any crash, sees the old or
    /// the new bytes.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.exchange(name, |file| {
            file.write_all(bytes)?;
            file.sync_all()
        })?;
        self.sync()
    }

    /// Puts an empty file in the place of another, which who reads it keeps as it was; for good
    /// when the directory is synced.
    pub(crate) fn empty(&self, name: &str) -> io::Result<()> {
        self.exchange(name, |_| Ok(()))
    }

    fn exchange(
        &self,
        name: &str,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let temporary = format!("{TEMPORARY}{name}");
        let done = self.create_new(&temporary).and_then(|mut file| {
            fill(&mut file)?;
            Ok(renameat(&*self.file, temporary.as_str(), &*self.file, name)?)
        });
        if done.is_err() {
            // The error that counts is the first one; the remains are ours and harmless.
            let _ = self.remove_file(&temporary);
        }
        done
    }

    fn create_new(&self, name: &str) -> io::Result<File> {
        self.remove_file(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&*self.file, name, flags, FOR_READERS)?))
    }

    /// Gives a file another name in it, in the place of what had that name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&*self.file, from, &*self.file, to)?)
    }

    /// Removes a name, if it is there; where it is a link the link goes.
    pub(crate) fn remove_file(&self, name: &str) -> io::Result<()> {
        match unlinkat(&*self.file, name, AtFlags::empty()) {
            Err(Errno::NOENT) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes an empty directory in it.
    pub(crate) fn remove_directory(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&*self.file, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes what was created, renamed or removed in it survive a power failure.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Its entries with their own types, sorted: a link is a link here. A name that is not text is
    /// shown as well as it can be, and then leads nowhere.
    pub(crate) fn entries(&self) -> io::Result<Vec<(String, FileType)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&*self.file)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let status = match statat(&*self.file, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                status => status?,
            };
            if !matches!(name.as_str(), "." | "..") {
                found.push((name, FileType::from_raw_mode(status.st_mode)));
            }
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(found)
    }

    /// Bytes that it and all below it take on the disk; what vanishes while counting counts
    /// nothing.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let blocks = |status: &Stat| u64::try_from(status.st_blocks).unwrap_or(0) * 512;
        let mut bytes = fstat(&*self.file).map_or(0, |status| blocks(&status));
        for (name, kind) in self.entries().unwrap_or_default() {
            bytes += match kind {
                FileType::Directory => self.below(&name).map_or(0, |below| below.disk_bytes()),
                _ => self.status(&name).ok().flatten().map_or(0, |status| blocks(&status)),
            };
        }
        bytes
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Results may be read by all whom the umask lets.
const FOR_READERS: Mode = Mode::from_raw_mode(0o666);

fn plain(found: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        other => Err(unexpected(other, "a regular file")),
    }
}

fn unexpected(kind: FileType, wanted: &str) -> io::Error {
    let name = match kind {
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Directory => "a directory",
        FileType::RegularFile => "a regular file",
        FileType::Unknown => "of no known kind",
    };
    foreign(&format!("it is {name}; expected {wanted}"))
}

/// What no run holds.
fn foreign(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.to_owned())
}
