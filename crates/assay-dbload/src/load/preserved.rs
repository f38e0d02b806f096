//! What a server that was kept needs to be used again: the secret of its user, and the schema of
//! our tables.

use assay_dbserver::HeldServer;
use assay_model::{Error, Result};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The file in the directory of such a server; only its owner may read it.
const FILE: &str = "assay-kept";
/// Its first line.
const FIRST_LINE: &str = "ASSAY KEPT SERVER 1";

/// No such file is longer, bytes.
const BYTES_MAX: u64 = 4096;
/// Others may write into what has one of these bits.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A server that was kept.
#[derive(Clone)]
pub struct PreservedServer {
    /// Where it is.
    pub(super) place: HeldServer,
    /// The secret of its user.
    pub(super) password: String,
    /// The schema of our tables.
    pub schema: String,
}

impl PreservedServer {
    /// Where it is.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// The kept server in a directory; `None` where there is none. Only what this very user kept is
    /// used: the files of a server may make it run any program.
    ///
    /// # Errors
    /// An environment error when there is one that cannot be read or that another user made.
    pub fn read(directory: &Path) -> Result<Option<Self>> {
        // Its programs work in it, so that a way from here would lead nowhere.
        let path = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let place = HeldServer::named(&path).map_err(|error| unreadable(&path, &error.into()))?;
        let path = path.join(FILE);
        let file = match place.file(FILE, OFlags::RDONLY, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::INVAL) => {
                return Err(strange(&path, "it is not a regular file"));
            }
            Err(error) => return Err(unreadable(&path, &error.into())),
        };
        let looked = place.status().map_err(io::Error::from).and_then(|status| {
            let of_file = file.metadata()?;
            check([(status.st_uid, status.st_mode), (of_file.uid(), of_file.mode())])?;
            let mut text = String::new();
            file.take(BYTES_MAX).read_to_string(&mut text)?;
            Ok(text)
        });
        let text = looked.map_err(|error| unreadable(&path, &error))?;
        let known = Self::parse(&text);
        let (password, schema) =
            known.ok_or_else(|| strange(&path, "it was not written by Assay"))?;
        Ok(Some(Self { place, password, schema }))
    }

    fn parse(text: &str) -> Option<(String, String)> {
        let mut lines = text.lines();
        let first = lines.next().filter(|first| *first == FIRST_LINE);
        let mut named = |name: &str| lines.next()?.strip_prefix(name).map(str::to_owned);
        first?;
        Some((named("password ")?, named("schema ")?))
    }

    /// Writes it down for a later run.
    pub(super) fn write(place: &HeldServer, password: &str, schema: &str) -> Result<()> {
        let text = format!("{FIRST_LINE}\npassword {password}\nschema {schema}\n");
        let written = place
            .new_file(FILE)
            .map_err(io::Error::from)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unreadable(&place.path().join(FILE), &error))
    }
}

/// Refuses what another user made or may change: a directory, and the file in it, by their owner
/// and mode.
fn check(both: [(u32, u32); 2]) -> io::Result<()> {
    let user = geteuid().as_raw();
    let whose = both.iter().map(|(owner, _)| owner).find(|owner| **owner != user);
    let why = match whose {
        Some(owner) => format!("the user {owner} created it, and only that user can use it again"),
        None if both.iter().any(|(_, mode)| mode & WRITABLE_BY_OTHERS != 0) => {
            "other users can write to its directory".to_owned()
        }
        None => return Ok(()),
    };
    Err(io::Error::other(why))
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    strange(path, &error.to_string())
}

fn strange(path: &Path, why: &str) -> Error {
    Error::environment(
        format!("the kept server's {}: {why}", path.display()),
        "specify another directory for a new server",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_was_written_down_is_read_again_and_what_others_wrote_is_not() {
        let place = std::env::temp_dir().join(format!("assay-kept-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        let mode = |bits| fs::set_permissions(&place, fs::Permissions::from_mode(bits)).unwrap();
        mode(0o700);
        assert!(PreservedServer::read(&place).unwrap().is_none());
        let held = HeldServer::named(&place).unwrap();
        PreservedServer::write(&held, "abc", "assay_slob_7").unwrap();
        assert!(
            PreservedServer::write(&held, "abc", "assay_slob_7").is_err(),
            "nothing is written over"
        );
        let kept = PreservedServer::read(&place).unwrap().unwrap();
        assert_eq!((kept.password.as_str(), kept.schema.as_str()), ("abc", "assay_slob_7"));
        let refused = || PreservedServer::read(&place).err().unwrap().message().to_owned();
        mode(0o777);
        assert!(refused().contains("other users can write"));
        mode(0o700);
        fs::rename(place.join(FILE), place.join("other")).unwrap();
        symlink(place.join("other"), place.join(FILE)).unwrap();
        assert!(refused().contains("it is not a regular file"));
        fs::remove_file(place.join(FILE)).unwrap();
        fs::write(place.join(FILE), "something else").unwrap();
        assert!(refused().contains("not written by Assay"));
        let user = geteuid().as_raw();
        assert!(check([(user, 0o700), (user + 1, 0o600)]).is_err());
        fs::remove_dir_all(place).unwrap();
    }
}
