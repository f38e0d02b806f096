//! Where runs are kept when nobody says: here, or where the user's own default leads.

use assay_files::{is_foreign, is_writable_by_all, read_plain};
use std::path::{Path, PathBuf};

/// A longer file is not a path.
const BYTES_MAX: u64 = 64 << 10;

/// The store of the directory that one stands in.
pub const HERE: &str = "./assay-runs";

/// The store in this directory where there is one, else the user's default, else the one here that
/// is yet to be made.
pub fn usual(here: &Path) -> PathBuf {
    if here.is_dir() {
        return here.to_owned();
    }
    configuration().and_then(|file| written(&file)).unwrap_or_else(|| here.to_owned())
}

/// The file of the default: in the user's configuration, by the XDG base directory specification.
fn configuration() -> Option<PathBuf> {
    let given = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let given = given.filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    given.or_else(home).map(|folder| folder.join("assay/store"))
}

/// The absolute path in the first line of a file. Under `sudo` the home may still be that of
/// another user, who does not decide where root writes.
fn written(file: &Path) -> Option<PathBuf> {
    let facts = file.metadata().ok()?;
    if is_foreign(&facts) || is_writable_by_all(&facts) {
        return None;
    }
    let text = read_plain(file, BYTES_MAX).ok()?;
    let text = String::from_utf8(text).ok()?;
    let path = PathBuf::from(text.lines().next()?.trim());
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_default_is_an_absolute_path_and_what_is_here_wins() {
        let folder = std::env::temp_dir().join(format!("assay-place-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("store");
        assert_eq!(written(&file), None);
        std::fs::write(&file, "/data/assay-runs\n").unwrap();
        assert_eq!(written(&file), Some(PathBuf::from("/data/assay-runs")));
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o666)).unwrap();
        assert_eq!(written(&file), None);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
        std::fs::write(&file, "assay-runs\n").unwrap();
        assert_eq!(written(&file), None);
        assert_eq!(usual(&folder), folder);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
