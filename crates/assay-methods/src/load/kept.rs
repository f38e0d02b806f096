//! What a server that was kept needs to be used again: the secret of its user, and the schema of our tables.

use assay_model::{Error, Result};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The file in the directory of such a server; only its owner may read it.
const FILE: &str = "assay-kept";
/// Its first line.
const FIRST_LINE: &str = "ASSAY KEPT SERVER 1";

/// A server that was kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Kept {
    /// The secret of its user.
    pub(super) password: String,
    /// The schema of our tables.
    pub schema: String,
}

impl Kept {
    /// The kept server in a directory; `None` where there is none.
    ///
    /// # Errors
    /// An environment error when there is one that cannot be read.
    pub fn read(directory: &Path) -> Result<Option<Self>> {
        let path = directory.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path, &error.to_string())),
        };
        let known = Self::parse(&text);
        known.map(Some).ok_or_else(|| unreadable(&path, "it is not what this program writes"))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let first = lines.next().filter(|first| *first == FIRST_LINE);
        let mut named = |name: &str| lines.next()?.strip_prefix(name).map(str::to_owned);
        first?;
        Some(Self { password: named("password ")?, schema: named("schema ")? })
    }

    /// Writes it down for whoever comes back.
    pub(super) fn write(directory: &Path, password: &str, schema: &str) -> Result<()> {
        let path = directory.join(FILE);
        let text = format!("{FIRST_LINE}\npassword {password}\nschema {schema}\n");
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| unreadable(&path, &error.to_string()))
    }
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::environment(
        format!("the kept server's {}: {why}", path.display()),
        "make a server anew: name the directory above",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_down_is_read_again() {
        let place = std::env::temp_dir().join(format!("assay-kept-{}", std::process::id()));
        fs::create_dir(&place).unwrap();
        assert!(Kept::read(&place).unwrap().is_none());
        Kept::write(&place, "abc", "assay_slob_7").unwrap();
        let kept = Kept::read(&place).unwrap().unwrap();
        assert_eq!((kept.password.as_str(), kept.schema.as_str()), ("abc", "assay_slob_7"));
        fs::write(place.join(FILE), "something else").unwrap();
        assert!(Kept::read(&place).is_err());
        fs::remove_dir_all(place).unwrap();
    }
}
