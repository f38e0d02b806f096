//! The data as it was after loading, so that steps do not meet what earlier ones left: a copy of
//! the directory of a managed server, blocks shared where the file system can, or a database that
//! another server copies.

use super::copies::OwnDatabase;
use super::database::LoadSchema;
use super::own::OwnServer;
use super::owner::in_the_way;
use super::product::Product;
use assay_dbserver::HeldServer;
use assay_dbserver::ServerProgram;
use assay_model::{Error, Result};
use rustix::fs::{FileType, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, ioctl_ficlone};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Name of the data.
const DATA: &str = "data";
/// Name of the copy next to it.
const COPY: &str = "loaded";
/// Its name until it is whole.
const PART: &str = "loaded-in-part";

/// A copy that can be gone back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSnapshot {
    /// A directory next to the data of a managed server.
    Directory(PathBuf),
    /// A database on another server, of which ours is made again.
    Template(OwnDatabase),
}

fn refused(path: &Path, error: &io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull => "free space there: the copy is as large as the data",
        _ => "check free space and permissions there",
    };
    Error::environment(format!("copying {}: {error}", path.display()), hint)
}

impl DataSnapshot {
    /// Keeps a copy of a managed server's data as it is; the server is stopped meanwhile.
    pub fn of_own<L: Product>(
        own: &mut OwnServer<L::Own>,
        database: &mut LoadSchema<L>,
        stop: &AtomicBool,
    ) -> Result<Self> {
        let mut kept = PathBuf::new();
        own.at_rest(stop, |home| {
            kept = home.directory.join(COPY);
            let copied = || -> io::Result<()> {
                home.held.remove_directory(PART)?;
                home.held.remove_directory(COPY)?;
                // It stays with this program: the server's account has no business there.
                copy(&home.held.directory(DATA)?, &home.held.new_directory(PART)?)?;
                Ok(home.held.rename(PART, COPY)?)
            };
            copied().map_err(|error| refused(&kept, &error))
        })?;
        database.come_back()?;
        Ok(Self::Directory(kept))
    }

    /// The copy that an earlier run left with a managed server that was kept.
    pub fn left_with<P: ServerProgram>(own: &OwnServer<P>) -> Option<Self> {
        let kept = own.directory().join(COPY);
        (own.was_kept() && kept.is_dir()).then_some(Self::Directory(kept))
    }

    /// Keeps an Assay database on another server under another name.
    ///
    /// # Errors
    /// What the server says, for example that this user may not create databases.
    pub fn of_database<L: Product>(database: &mut LoadSchema<L>) -> Result<Self> {
        let own = own_of(database)?;
        database.leave();
        let copy = L::copy_database(&database.address, &own)?;
        database.come_back()?;
        Ok(Self::Template(copy))
    }

    /// Goes back to it.
    pub fn restore<L: Product>(
        &self,
        own: Option<&mut OwnServer<L::Own>>,
        database: &mut LoadSchema<L>,
        stop: &AtomicBool,
    ) -> Result<()> {
        match (self, own) {
            (Self::Directory(kept), Some(own)) => own.at_rest(stop, |home| {
                let restored = || -> io::Result<()> {
                    home.held.remove_directory(DATA)?;
                    let data = home.held.new_directory(DATA)?;
                    copy(&home.held.directory(COPY)?, &data)?;
                    // Nobody else reaches into it before it is whole.
                    Ok(home.hand_over(&data)?)
                };
                restored().map_err(|error| refused(kept, &error))
            })?,
            (Self::Directory(_), None) => {}
            (Self::Template(copy), _) => {
                let own = own_of(database)?;
                database.leave();
                L::restore_database(&database.address, &own, copy)?;
            }
        }
        database.come_back()
    }

    /// Removes it.
    pub fn remove<L: Product>(&self, database: &mut LoadSchema<L>) -> Result<()> {
        match self {
            Self::Directory(kept) => {
                let removed = kept.parent().map_or(Ok(()), |home| {
                    HeldServer::named(home).and_then(|home| home.remove_directory(COPY))
                });
                removed.map_err(|error| refused(kept, &error.into()))
            }
            Self::Template(copy) => L::drop_database(&database.address, copy),
        }
    }
}

/// The database of a load, where that is ours alone.
fn own_of<L: Product>(database: &LoadSchema<L>) -> Result<OwnDatabase> {
    let own = database.own_database.clone();
    own.ok_or_else(|| {
        let name = L::database_of(&database.address, &database.schema);
        in_the_way("the database", name, "this load did not create it")
    })
}

/// Copies what is in a directory with owners and modes, by descriptors, so that nobody who may
/// write into it leads this program elsewhere; files share their blocks with the copy where the
/// file system can.
fn copy(from: &HeldServer, to: &HeldServer) -> io::Result<()> {
    for (name, status) in from.entries()? {
        let name = name.as_os_str();
        match FileType::from_raw_mode(status.st_mode) {
            FileType::Directory => {
                let (below, made) = (from.directory(name)?, to.new_directory(name)?);
                copy(&below, &made)?;
                alike(&made, &below.status()?)?;
            }
            FileType::RegularFile => {
                let mut input = from.file(name, OFlags::RDONLY, Mode::empty())?;
                let mut output = to.new_file(name)?;
                let opened = fstat(&input)?;
                if opened.st_uid != status.st_uid || opened.st_nlink != 1 {
                    // A name of a file that lies elsewhere, too.
                    return Err(io::Error::other("a file in it has other hard links"));
                }
                if ioctl_ficlone(&output, &input).is_err() {
                    io::copy(&mut input, &mut output)?;
                }
                alike(&output, &opened)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The same owner and mode.
fn alike(made: impl AsFd, known: &Stat) -> io::Result<()> {
    let mine = fstat(&made)?;
    if (mine.st_uid, mine.st_gid) != (known.st_uid, known.st_gid) {
        fchown(&made, Some(Uid::from_raw(known.st_uid)), Some(Gid::from_raw(known.st_gid)))?;
    }
    Ok(fchmod(&made, Mode::from_raw_mode(known.st_mode & 0o777))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn a_copy_has_the_same_files_with_the_same_modes_and_nothing_from_elsewhere() {
        let place = std::env::temp_dir().join(format!("assay-copy-{}", std::process::id()));
        fs::create_dir_all(place.join("a/deep")).unwrap();
        fs::write(place.join("a/deep/file"), b"rows").unwrap();
        fs::write(place.join("secret"), b"secret").unwrap();
        symlink(place.join("secret"), place.join("a/link")).unwrap();
        fs::set_permissions(place.join("a/deep"), Permissions::from_mode(0o700)).unwrap();
        let held = HeldServer::named(&place).unwrap();
        let from = held.directory("a").unwrap();
        copy(&from, &held.new_directory("b").unwrap()).unwrap();
        assert_eq!(fs::read(place.join("b/deep/file")).unwrap(), b"rows");
        assert_eq!(fs::metadata(place.join("b/deep")).unwrap().mode() & 0o777, 0o700);
        assert!(!place.join("b/link").exists());
        fs::hard_link(place.join("secret"), place.join("a/hard")).unwrap();
        assert!(copy(&from, &held.new_directory("c").unwrap()).is_err());
        fs::remove_dir_all(&place).unwrap();
    }
}
