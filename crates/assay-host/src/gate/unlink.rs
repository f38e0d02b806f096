//! Removes a name only while it leads to one certain file, whoever changes names in the directory
//! meanwhile.

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::fs::{fstat, fsync, mkdirat, openat, renameat_with, statat, unlinkat};
use rustix::io::{Errno, Result};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;

/// Begin of the name of the directory into which a file is moved before it is removed.
const ASIDE: &str = "assay-removing-";
/// The name of the file there.
const MOVED: &str = "file";
/// Names that are tried for a file that cannot go back under its own.
const RETURNS_MAX: u32 = 100;

/// Removes `name` if it leads to `file`.
///
/// The kernel removes by name alone, and who may write to the directory may exchange the file
/// between the look and the removal. Where others may, the name is therefore moved into a directory
/// that only this user can enter, looked at there, and removed or, when it is something else, moved
/// back.
///
/// # Errors
/// `STALE` when it leads to something else, which then stays; else what the system answered.
pub(super) fn unlink_same(directory: &OwnedFd, name: &OsStr, file: &File) -> Result<()> {
    let own = fstat(file)?;
    if !is_same(&statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?, &own) {
        return Err(Errno::STALE);
    }
    if is_for_this_user(&fstat(directory)?) {
        unlinkat(directory, name, AtFlags::empty())?;
    } else {
        unlink_aside(directory, name, &own)?;
    }
    fsync(directory)
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Whether no other user but root can rename what this user has made there.
fn is_for_this_user(directory: &Stat) -> bool {
    let mode = Mode::from_raw_mode(directory.st_mode);
    // In a sticky directory such as /tmp, other users cannot rename a file that they do not own.
    let is_shared = mode.intersects(Mode::WGRP | Mode::WOTH) && !mode.contains(Mode::SVTX);
    let is_owned = directory.st_uid == 0 || directory.st_uid == geteuid().as_raw();
    is_owned && !is_shared
}

fn unlink_aside(directory: &OwnedFd, name: &OsStr, own: &Stat) -> Result<()> {
    let aside = aside_name()?;
    mkdirat(directory, &aside, Mode::RWXU)?;
    let removed =
        open_own(directory, &aside).and_then(|held| remove_moved(directory, name, &held, own));
    // Only an empty directory goes this way.
    let gone = unlinkat(directory, &aside, AtFlags::REMOVEDIR);
    removed.and(gone)
}

/// The directory that was just made, unless somebody has put another in its place.
fn open_own(directory: &OwnedFd, aside: &OsStr) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = openat(directory, aside, flags, Mode::empty())?;
    let status = fstat(&held)?;
    let is_closed = !Mode::from_raw_mode(status.st_mode).intersects(Mode::RWXG | Mode::RWXO);
    if status.st_uid == geteuid().as_raw() && is_closed { Ok(held) } else { Err(Errno::STALE) }
}

fn remove_moved(directory: &OwnedFd, name: &OsStr, held: &OwnedFd, own: &Stat) -> Result<()> {
    renameat_with(directory, name, held, MOVED, RenameFlags::NOREPLACE)?;
    if is_same(&statat(held, MOVED, AtFlags::SYMLINK_NOFOLLOW)?, own) {
        return unlinkat(held, MOVED, AtFlags::empty());
    }
    for number in 0..RETURNS_MAX {
        let mut free = name.to_owned();
        if number > 0 {
            free.push(format!(".{number}"));
        }
        // Without `NOREPLACE`, a file that was created under this name meanwhile would be lost.
        match renameat_with(held, MOVED, directory, &free, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            other => return other.and(Err(Errno::STALE)),
        }
    }
    Err(Errno::EXIST)
}

fn aside_name() -> Result<OsString> {
    let mut bytes = [0; 8];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(OsString::from(format!("{ASIDE}{:016x}", u64::from_ne_bytes(bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use rustix::fs::{CWD, chmodat, open};
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn directory(path: &Path, mode: u32) -> OwnedFd {
        chmodat(CWD, path, Mode::from_raw_mode(mode), AtFlags::empty()).unwrap();
        open(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
    }

    fn names(path: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_goes_and_another_of_its_name_stays_whoever_may_write_there() {
        for mode in [0o700, 0o777, 0o1777] {
            let scratch = Scratch::new("unlink");
            let place = directory(scratch.path(), mode);
            let (own, other) = (scratch.path().join("own"), scratch.path().join("other"));
            fs::write(&own, "x").unwrap();
            fs::write(&other, "y").unwrap();
            let file = File::open(&own).unwrap();
            assert_eq!(unlink_same(&place, OsStr::new("other"), &file), Err(Errno::STALE));
            unlink_same(&place, OsStr::new("own"), &file).unwrap();
            assert_eq!(names(scratch.path()), ["other"]);
            assert_eq!(unlink_same(&place, OsStr::new("own"), &file), Err(Errno::NOENT));
        }
    }

    #[test]
    fn what_was_exchanged_in_between_goes_back() {
        let scratch = Scratch::new("unlink-back");
        let place = directory(scratch.path(), 0o777);
        fs::write(scratch.path().join("own"), "x").unwrap();
        let own = fstat(File::open(scratch.path().join("own")).unwrap()).unwrap();
        fs::rename(scratch.path().join("own"), scratch.path().join("kept")).unwrap();
        fs::create_dir(scratch.path().join("own")).unwrap();
        fs::write(scratch.path().join("own/precious"), "y").unwrap();
        assert_eq!(unlink_aside(&place, OsStr::new("own"), &own), Err(Errno::STALE));
        assert_eq!(names(scratch.path()), ["kept", "own"]);
        assert!(scratch.path().join("own/precious").exists());
    }

    /// Gives the user's file, which may have had to go back under another name, one of the names
    /// that are exchanged.
    fn put_back(place: &OwnedFd, path: &Path) {
        let aside = names(path).into_iter().filter(|name| name != "ours" && name != "theirs");
        for name in aside {
            if fs::read_to_string(path.join(&name)).is_ok_and(|text| text == "precious") {
                for free in ["ours", "theirs"] {
                    let _ = renameat_with(place, &name, place, free, RenameFlags::NOREPLACE);
                }
            }
        }
    }

    /// Exchanges an Assay file and one of the user under one name, while the former is removed
    /// again and again.
    fn race(removals: u32) -> u64 {
        let scratch = Scratch::new("unlink-race");
        let place = directory(scratch.path(), 0o777);
        let (path, stop) = (scratch.path().to_owned(), AtomicBool::new(false));
        fs::write(path.join("theirs"), "precious").unwrap();
        let swaps = std::thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                let mut swaps = 0_u64;
                while !stop.load(Ordering::Relaxed) {
                    let exchanged =
                        renameat_with(&place, "ours", &place, "theirs", RenameFlags::EXCHANGE);
                    swaps += u64::from(exchanged.is_ok());
                }
                swaps
            });
            for _ in 0..removals {
                put_back(&place, &path);
                fs::write(path.join("new"), "ours").unwrap();
                let file = File::open(path.join("new")).unwrap();
                for free in ["ours", "theirs"] {
                    let _ = renameat_with(&place, "new", &place, free, RenameFlags::NOREPLACE);
                }
                for name in ["ours", "theirs", "ours", "theirs"] {
                    let _ = unlink_same(&place, OsStr::new(name), &file);
                }
            }
            stop.store(true, Ordering::Relaxed);
            swapper.join().unwrap()
        });
        let texts =
            names(&path).into_iter().map(|name| fs::read_to_string(path.join(name)).unwrap());
        assert_eq!(texts.filter(|text| text == "precious").count(), 1, "{:?}", names(&path));
        swaps
    }

    #[test]
    fn nothing_of_the_user_goes_while_names_are_exchanged() {
        let swaps: u64 = (0..20).map(|_| race(100)).sum();
        assert!(swaps > 0, "nothing was exchanged");
    }

    #[test]
    #[ignore = "a hundred thousand exchanges take minutes"]
    fn nothing_of_the_user_goes_in_a_hundred_thousand_exchanges() {
        let mut swaps = 0;
        while swaps < 100_000 {
            swaps += race(2000);
        }
    }
}
