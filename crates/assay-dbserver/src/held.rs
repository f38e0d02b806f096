//! A directory that is held open: everything in it is reached from its descriptor by one name at a
//! time, no link is followed, and what is exchanged by name meanwhile changes nothing.

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, fchmod, fchown, fstat,
    mkdirat, openat, openat2, renameat, statat, unlinkat,
};
use rustix::io::{Errno, Result};
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A pipe or a terminal in the place of a file keeps nobody waiting.
const PLAIN: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A directory that is held open.
#[derive(Clone, Debug)]
pub struct HeldServer {
    descriptor: Arc<OwnedFd>,
    path: PathBuf,
}

impl AsFd for HeldServer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl HeldServer {
    /// A directory that a person named: links on the way to it are his.
    pub fn named(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptor = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { descriptor: Arc::new(descriptor), path: path.to_owned() })
    }

    /// Where it was when it was opened, for messages and for programs that take a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes out all that is dirty of its file system, and waits until storage has it.
    pub fn write_out(&self) -> Result<()> {
        rustix::fs::syncfs(self)
    }

    /// What the system says of it.
    pub fn status(&self) -> Result<Stat> {
        fstat(self)
    }

    /// What a name in it stands for; a link is a link here.
    pub fn status_of(&self, name: impl rustix::path::Arg) -> Result<Stat> {
        statat(self, name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// A directory in it on the same file system.
    ///
    /// # Errors
    /// What the system says, `XDEV` where another file system is mounted there.
    pub fn directory(&self, name: impl rustix::path::Arg + Copy) -> Result<Self> {
        let within = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH | ResolveFlags::NO_XDEV;
        let descriptor = match openat2(self, name, DIRECTORY, Mode::empty(), within) {
            // Kernels before 5.6, and filters that know no such call.
            Err(Errno::NOSYS | Errno::PERM) => openat(self, name, DIRECTORY, Mode::empty())?,
            other => other?,
        };
        if fstat(&descriptor)?.st_dev != self.status()?.st_dev {
            return Err(Errno::XDEV);
        }
        let path = self.path.join(&*name.to_string_lossy());
        Ok(Self { descriptor: Arc::new(descriptor), path })
    }

    /// A plain file in it.
    ///
    /// # Errors
    /// What the system says, `LOOP` for a link, `INVAL` for what is not a plain file.
    pub fn file(&self, name: impl rustix::path::Arg, flags: OFlags, mode: Mode) -> Result<File> {
        let file = File::from(openat(self, name, flags | PLAIN, mode)?);
        match FileType::from_raw_mode(fstat(&file)?.st_mode) {
            FileType::RegularFile => Ok(file),
            _ => Err(Errno::INVAL),
        }
    }

    /// A new file in it that only its owner may use.
    pub fn new_file(&self, name: impl rustix::path::Arg) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        self.file(name, flags, Mode::RUSR | Mode::WUSR)
    }

    /// A new directory in it for its owner alone.
    pub fn new_directory(&self, name: impl rustix::path::Arg + Copy) -> Result<Self> {
        mkdirat(self, name, Mode::RWXU)?;
        let made = self.directory(name)?;
        fchmod(&made, Mode::RWXU)?;
        Ok(made)
    }

    /// Gives the directory itself to a user.
    pub fn give(&self, user: u32, group: u32) -> Result<()> {
        fchown(self, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))
    }

    /// Lets a group, or everybody, pass through, and nobody look around or write.
    pub fn let_pass(&self, group: Option<u32>) -> Result<()> {
        match group {
            Some(group) => {
                fchown(self, None, Some(Gid::from_raw(group)))?;
                fchmod(self, Mode::RWXU | Mode::XGRP)
            }
            None => fchmod(self, Mode::RWXU | Mode::XGRP | Mode::XOTH),
        }
    }

    /// Another name for what is in it.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        renameat(self, from, self, to)
    }

    /// Takes a name of a file, link or the like out of it.
    pub fn unlink(&self, name: impl rustix::path::Arg) -> Result<()> {
        unlinkat(self, name, AtFlags::empty())
    }

    /// Names in it with what they stand for, sorted.
    pub fn entries(&self) -> Result<Vec<(OsString, Stat)>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(self)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name == b"." || name == b".." {
                continue;
            }
            match self.status_of(name.as_slice()) {
                // It went meanwhile.
                Err(Errno::NOENT) => {}
                status => found.push((OsString::from_vec(name), status?)),
            }
        }
        found.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(found)
    }

    /// Removes everything in it but one name; nothing behind a link or on another file system.
    ///
    /// # Errors
    /// What the system says, for example `XDEV` where a file system is mounted in it.
    pub fn empty(&self, but: &str) -> Result<()> {
        for (name, status) in self.entries()? {
            if name == but {
                continue;
            }
            if FileType::from_raw_mode(status.st_mode) == FileType::Directory {
                self.remove_directory(name.as_os_str())?;
            } else {
                self.unlink(name.as_os_str())?;
            }
        }
        Ok(())
    }

    /// Removes a directory with everything in it; one that is not there is what was wanted.
    pub fn remove_directory(&self, name: impl rustix::path::Arg + Copy) -> Result<()> {
        match self.directory(name) {
            Err(Errno::NOENT) => return Ok(()),
            directory => directory?.empty("")?,
        }
        unlinkat(self, name, AtFlags::REMOVEDIR)
    }

    /// Removes an empty directory that is held, if its name still leads to it.
    ///
    /// # Errors
    /// What the system says, `STALE` where the name leads elsewhere by now.
    pub fn remove_held(&self, name: &str, held: &Self) -> Result<()> {
        if !held.is(&self.status_of(name)?)? {
            return Err(Errno::STALE);
        }
        unlinkat(self, name, AtFlags::REMOVEDIR)
    }

    /// Whether something that was looked at is this very directory.
    pub fn is(&self, other: &Stat) -> Result<bool> {
        let own = self.status()?;
        Ok((own.st_dev, own.st_ino) == (other.st_dev, other.st_ino))
    }

    /// Whether it is this one or lies in this one, however deep.
    pub fn holds(&self, place: &OwnedFd) -> bool {
        /// So deep no server works.
        const DEPTH_MAX: usize = 64;
        let Ok(mut at) = place.try_clone() else { return false };
        for _ in 0..DEPTH_MAX {
            let Ok(status) = fstat(&at) else { return false };
            if self.is(&status).unwrap_or(false) {
                return true;
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(above) = openat(&at, "..", flags, Mode::empty()) else { return false };
            let is_top = fstat(&above)
                .is_ok_and(|above| (above.st_dev, above.st_ino) == (status.st_dev, status.st_ino));
            if is_top {
                return false;
            }
            at = above;
        }
        false
    }

    /// What everything in it takes on storage, bytes; what cannot be looked into counts for
    /// nothing.
    pub fn disk_bytes(&self) -> u64 {
        let of = |(name, status): &(OsString, Stat)| {
            let own_bytes = u64::try_from(status.st_blocks).unwrap_or(0) * 512;
            let is_directory = FileType::from_raw_mode(status.st_mode) == FileType::Directory;
            let below = is_directory.then(|| self.directory(name.as_os_str()).ok()).flatten();
            own_bytes + below.map_or(0, |below| below.disk_bytes())
        };
        self.entries().unwrap_or_default().iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn scratch(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("assay-held-{name}-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        place
    }

    #[test]
    fn links_and_pipes_are_not_followed_and_not_waited_for() {
        let place = scratch("links");
        fs::create_dir(place.join("elsewhere")).unwrap();
        fs::write(place.join("elsewhere/precious"), "x").unwrap();
        fs::create_dir(place.join("own")).unwrap();
        symlink(place.join("elsewhere"), place.join("own/link")).unwrap();
        symlink(place.join("elsewhere/precious"), place.join("own/file")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(place.join("own/pipe")).status();
        assert!(made.unwrap().success());
        let own = HeldServer::named(&place.join("own")).unwrap();
        assert!(own.directory("link").is_err());
        assert_eq!(own.file("file", OFlags::RDONLY, Mode::empty()).unwrap_err(), Errno::LOOP);
        assert_eq!(own.file("pipe", OFlags::RDONLY, Mode::empty()).unwrap_err(), Errno::INVAL);
        let below = own.new_directory("below").unwrap();
        below.new_file("x").unwrap();
        assert_eq!(below.new_file("x").unwrap_err(), Errno::EXIST);
        let inside = rustix::fs::open(place.join("own/below"), DIRECTORY, Mode::empty()).unwrap();
        assert!(own.holds(&inside) && below.holds(&inside));
        let outside = rustix::fs::open(place.join("elsewhere"), DIRECTORY, Mode::empty()).unwrap();
        assert!(!own.holds(&outside));
        own.empty("file").unwrap();
        let left: Vec<OsString> =
            own.entries().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(left, ["file"]);
        assert!(place.join("elsewhere/precious").exists());
        fs::remove_dir_all(place).unwrap();
    }

    #[test]
    fn a_directory_whose_name_leads_elsewhere_by_now_keeps_its_name() {
        let place = scratch("stale");
        let parent = HeldServer::named(&place).unwrap();
        let own = parent.new_directory("own").unwrap();
        parent.new_directory("other").unwrap();
        parent.rename("own", "moved").unwrap();
        parent.rename("other", "own").unwrap();
        assert_eq!(parent.remove_held("own", &own), Err(Errno::STALE));
        assert!(place.join("own").is_dir());
        parent.remove_held("moved", &own).unwrap();
        fs::remove_dir_all(place).unwrap();
    }
}
