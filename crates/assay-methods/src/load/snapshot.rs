//! The data as it was after loading, so that rungs do not meet what earlier ones left: a copy of the directory of our
//! own server, blocks shared where the file system can, or a database that another server copies.

use super::program::Program;
use super::store::Store;
use super::{Database, OwnDatabase, OwnServer};
use assay_model::{Error, Result};
use rustix::fs::ioctl_ficlone;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Name of the copy beside the data.
const COPY: &str = "loaded";
/// Its name until it is whole.
const PART: &str = "loaded-in-part";

/// A copy that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Snapshot {
    /// A directory beside the data of our own server.
    Directory(PathBuf),
    /// A database on another server, of which ours is made again.
    Template(OwnDatabase),
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull => "free space there: the copy needs as much as the data",
        _ => "check space and rights there",
    };
    Error::environment(format!("copying {}: {error}", path.display()), hint)
}

impl Snapshot {
    /// Keeps the data of our own server as it is; the server rests meanwhile.
    ///
    /// # Errors
    /// What the file system or the server say.
    pub fn of_own<L: Store>(
        own: &mut OwnServer<L::Own>,
        database: &mut Database<L>,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let mut kept = PathBuf::new();
        own.at_rest(stop, |data, directory| {
            kept = directory.join(COPY);
            let part = directory.join(PART);
            remove(&part)?;
            remove(&kept)?;
            copy(data, &part)?;
            fs::rename(&part, &kept).map_err(|error| refused(&kept, &error))
        })?;
        database.come_back()?;
        Ok(Self::Directory(kept))
    }

    /// The copy that an earlier run left with a server of our own that was kept.
    pub fn left_with<P: Program>(own: &OwnServer<P>) -> Option<Self> {
        let kept = own.directory().join(COPY);
        (own.was_kept() && kept.is_dir()).then_some(Self::Directory(kept))
    }

    /// Keeps a database of ours on another server under another name.
    ///
    /// # Errors
    /// What the server says, for example that this user may not create databases.
    pub fn of_database<L: Store>(database: &mut Database<L>) -> Result<Self> {
        L::snapshot(database)
    }

    /// Goes back to it.
    ///
    /// # Errors
    /// What the file system or the server say.
    pub fn restore<L: Store>(
        &self,
        own: Option<&mut OwnServer<L::Own>>,
        database: &mut Database<L>,
        stop: &AtomicBool,
    ) -> Result<()> {
        match (self, own) {
            (Self::Directory(kept), Some(own)) => own.at_rest(stop, |data, _| {
                fs::remove_dir_all(data).map_err(|error| refused(data, &error))?;
                copy(kept, data)
            })?,
            (Self::Directory(_), None) => {}
            (Self::Template(copy), _) => L::back_to(copy, database)?,
        }
        database.come_back()
    }

    /// Removes it.
    ///
    /// # Errors
    /// What the file system or the server say.
    pub fn remove<L: Store>(&self, database: &mut Database<L>) -> Result<()> {
        match self {
            Self::Directory(kept) => remove(kept),
            Self::Template(copy) => L::drop_copy(copy, database),
        }
    }
}

/// Removes a copy; one that is not there is what was wanted.
fn remove(kept: &Path) -> Result<()> {
    match fs::remove_dir_all(kept) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(kept, &error)),
        _ => Ok(()),
    }
}

/// Copies a directory with owners and modes; files share their blocks with the copy where the file system can.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let inside = || -> io::Result<()> {
        fs::create_dir(to)?;
        alike(from, to)?;
        copy_entries(from, to)
    };
    inside().map_err(|error| refused(from, &error))
}

fn copy_entries(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            alike(&source, &target)?;
            copy_entries(&source, &target)?;
        } else if kind.is_file() {
            copy_file(&source, &target)?;
        }
    }
    Ok(())
}

fn copy_file(source: &Path, target: &Path) -> io::Result<()> {
    let (input, output) = (File::open(source)?, File::create_new(target)?);
    if ioctl_ficlone(&output, &input).is_err() {
        drop(output);
        fs::copy(source, target)?;
    }
    alike(source, target)
}

/// The same owner and mode.
fn alike(source: &Path, target: &Path) -> io::Result<()> {
    let known = fs::metadata(source)?;
    fs::set_permissions(target, fs::Permissions::from_mode(known.mode() & 0o7777))?;
    let mine = fs::metadata(target)?;
    if (mine.uid(), mine.gid()) == (known.uid(), known.gid()) {
        return Ok(());
    }
    chown(target, Some(known.uid()), Some(known.gid()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_files_with_the_same_modes() {
        let place = std::env::temp_dir().join(format!("assay-copy-{}", std::process::id()));
        fs::create_dir_all(place.join("a/deep")).unwrap();
        fs::write(place.join("a/deep/file"), b"rows").unwrap();
        fs::set_permissions(place.join("a/deep"), fs::Permissions::from_mode(0o700)).unwrap();
        copy(&place.join("a"), &place.join("b")).unwrap();
        assert_eq!(fs::read(place.join("b/deep/file")).unwrap(), b"rows");
        assert_eq!(fs::metadata(place.join("b/deep")).unwrap().mode() & 0o777, 0o700);
        let again = copy(&place.join("a"), &place.join("b")).unwrap_err();
        assert!(again.message().contains("copying"), "{}", again.message());
        fs::remove_dir_all(&place).unwrap();
    }
}
