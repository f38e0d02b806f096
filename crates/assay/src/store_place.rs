//! Where runs are kept when nobody says: here, or where the user's own default leads.

use assay_files::{is_foreign, is_writable_by_all, read_plain};
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// A longer file is not a path.
const BYTES_MAX: u64 = 64 << 10;

/// The store of the directory that one stands in.
pub const HERE: &str = "./assay-runs";

/// Memory that most containers can write to.
const MEMORY: &str = "/dev/shm";

/// The store in this directory where there is one, else the user's default, else the one here that
/// is yet to be made; a temporary one where neither can be made, as on a read-only root.
pub fn usual(here: &Path) -> PathBuf {
    if here.is_dir() {
        return here.to_owned();
    }
    let usual = configuration().and_then(|file| written(&file));
    let usual = usual.unwrap_or_else(|| here.to_owned());
    if can_be_made(&usual) { usual } else { temporary().unwrap_or(usual) }
}

/// Where runs go if they cannot be stored where they usually are.
pub fn temporary() -> Option<PathBuf> {
    let name = format!("assay-runs-{}", rustix::process::geteuid().as_raw());
    let folders = [std::env::temp_dir(), PathBuf::from(MEMORY)];
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| is_free(path))
}

/// Whether a path that others may have taken is this user's, or nobody's.
fn is_free(path: &Path) -> bool {
    let Ok(facts) = path.symlink_metadata() else { return can_be_made(path) };
    let is_own = facts.is_dir() && !is_foreign(&facts) && !is_writable_by_all(&facts);
    is_own && may_write(path)
}

/// Whether a directory exists or may be made, by its nearest parent that exists.
fn can_be_made(path: &Path) -> bool {
    let Ok(path) = std::path::absolute(path) else { return false };
    path.ancestors().find(|parent| parent.exists()).is_some_and(may_write)
}

fn may_write(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
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

    #[test]
    fn a_place_of_others_is_not_taken() {
        let folder = std::env::temp_dir().join(format!("assay-free-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let runs = folder.join("runs");
        assert!(is_free(&runs) && can_be_made(&runs.join("below/it")));
        std::os::unix::fs::symlink("/", &runs).unwrap();
        assert!(!is_free(&runs));
        std::fs::remove_file(&runs).unwrap();
        std::fs::create_dir(&runs).unwrap();
        assert!(is_free(&runs));
        std::fs::set_permissions(&runs, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(!is_free(&runs));
        // Nobody can make a directory there, whoever runs the test.
        assert!(!can_be_made(Path::new("/proc/self/assay-runs")) || cfg!(not(target_os = "linux")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
