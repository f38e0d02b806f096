//! Whether a running database has its files in a directory: a load there takes the storage away
//! from it.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How deep below a directory is looked: `/var/lib/postgresql/15/main`.
const DEPTH: usize = 3;
/// Directories that are looked into at most.
const DIRECTORIES_MAX: usize = 500;

/// A running database and where its files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveDatabase {
    /// The product.
    pub product: &'static str,
    /// The directory of its files.
    pub directory: PathBuf,
    /// The process that has them open.
    pub process: u32,
}

/// The first running database whose files lie in the directory, above it or a few levels below;
/// `proc` is `/proc`.
pub fn live_database(directory: &Path, proc: &Path) -> Option<LiveDatabase> {
    let directory = fs::canonicalize(directory).ok()?;
    let locks = fs::read_to_string(proc.join("locks")).unwrap_or_default();
    let is_live = |place: &Path| database_at(place, proc, &locks);
    let above = directory.ancestors().find_map(is_live);
    above.or_else(|| below(&directory).iter().find_map(|place| is_live(place)))
}

/// Directories below one, a few levels deep; symbolic links are not followed.
fn below(directory: &Path) -> Vec<PathBuf> {
    let (mut all, mut level) = (Vec::new(), vec![directory.to_owned()]);
    for _ in 0..DEPTH {
        let inside = level.iter().filter_map(|place| fs::read_dir(place).ok()).flatten();
        let found = inside.filter_map(|entry| {
            let entry = entry.ok()?;
            entry.file_type().ok()?.is_dir().then(|| entry.path())
        });
        level = found.take(DIRECTORIES_MAX.saturating_sub(all.len())).collect();
        all.extend(level.iter().cloned());
    }
    all
}

fn database_at(place: &Path, proc: &Path, locks: &str) -> Option<LiveDatabase> {
    let (product, process) = postgres(place, proc)
        .map(|process| ("PostgreSQL", process))
        .or_else(|| innodb(place, proc, locks).map(|process| ("MariaDB or MySQL", process)))
        .or_else(|| oracle(place, proc).map(|process| ("Oracle", process)))?;
    Some(LiveDatabase { product, directory: place.to_owned(), process })
}

/// The first line of `postmaster.pid` is the process of the server; a crashed one leaves the file
/// behind, and its number may be another program's by now, or nobody may have asked yet how it
/// ended.
fn postgres(place: &Path, proc: &Path) -> Option<u32> {
    if !place.join("PG_VERSION").is_file() {
        return None;
    }
    let text = fs::read_to_string(place.join("postmaster.pid")).ok()?;
    let process: u32 = text.lines().next()?.trim().parse().ok()?;
    let stat = match fs::read_to_string(proc.join(process.to_string()).join("stat")) {
        Ok(stat) => stat,
        // There, and hidden from us: it counts as what its file says.
        Err(refusal) => {
            return (refusal.kind() == ErrorKind::PermissionDenied).then_some(process);
        }
    };
    let (_, name) = stat.split_once('(')?;
    let (name, rest) = name.rsplit_once(')')?;
    let has_ended = rest.trim_start().starts_with(['Z', 'X']);
    let is_server = name.contains("postgres") || name.contains("postmaster");
    (!has_ended && is_server).then_some(process)
}

/// `InnoDB` locks its system tablespace while it runs: a line of `/proc/locks` names the process
/// and the inode.
fn innodb(place: &Path, proc: &Path, locks: &str) -> Option<u32> {
    let file = fs::metadata(place.join("ibdata1")).ok()?;
    let inode = format!(":{}", file.ino());
    let holders = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_of_file = |word: &&str| word.ends_with(&inode) && word.matches(':').count() == 2;
        words.iter().any(is_of_file).then(|| words.get(4)?.parse::<u32>().ok())?
    });
    holders.into_iter().find(|process| has_open(&proc.join(process.to_string()), &file))
}

/// Whether a process has a file open, as far as may be seen.
///
/// Another file system may give the same inode number, and the locks of a killed process outlast
/// its descriptors while the kernel closes them.
fn has_open(process: &Path, file: &fs::Metadata) -> bool {
    match fs::read_dir(process.join("fd")) {
        Ok(descriptors) => descriptors.flatten().any(|descriptor| {
            fs::metadata(descriptor.path())
                .is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()))
        }),
        Err(refusal) => refusal.kind() == ErrorKind::PermissionDenied,
    }
}

/// Data files of Oracle, where an instance runs: its process monitor is called `ora_pmon_SID`.
fn oracle(place: &Path, proc: &Path) -> Option<u32> {
    let names =
        fs::read_dir(place).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_data = |name: String| {
        let end = Path::new(&name).extension();
        end.is_some_and(|end| ["dbf", "ctl"].iter().any(|data| end.eq_ignore_ascii_case(data)))
    };
    if !names.into_iter().any(is_data) {
        return None;
    }
    let processes =
        fs::read_dir(proc).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut numbers = processes.filter_map(|name| name.parse::<u32>().ok());
    numbers.find(|number| {
        let name = fs::read_to_string(proc.join(number.to_string()).join("comm"));
        name.is_ok_and(|name| name.starts_with("ora_pmon_"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A directory for files of databases next to one that stands for `/proc`.
    struct ScratchNeighbour(PathBuf);

    impl ScratchNeighbour {
        fn new(name: &str) -> Self {
            let root =
                std::env::temp_dir().join(format!("assay-live-{name}-{}", std::process::id()));
            fs::create_dir_all(root.join("proc/4711")).unwrap();
            fs::create_dir_all(root.join("data/15/main/base")).unwrap();
            Self(fs::canonicalize(root).unwrap())
        }

        fn write(&self, path: &str, text: &str) {
            fs::write(self.0.join(path), text).unwrap();
        }

        fn found(&self, path: &str) -> Option<(&'static str, u32)> {
            let found = live_database(&self.0.join(path), &self.0.join("proc"))?;
            Some((found.product, found.process))
        }
    }

    impl Drop for ScratchNeighbour {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_running_postgresql_is_found_above_and_below_and_a_stopped_one_is_not() {
        let scratch = ScratchNeighbour::new("postgres");
        scratch.write("data/15/main/PG_VERSION", "15\n");
        assert_eq!(scratch.found("data"), None);
        scratch.write("proc/4711/stat", "4711 (postgres) S 1 4711\n");
        scratch.write("data/15/main/postmaster.pid", "4711\n/data\n");
        assert_eq!(scratch.found("data"), Some(("PostgreSQL", 4711)));
        scratch.write("proc/4711/stat", "4711 (edb-postgres) S 1 4711\n");
        assert_eq!(scratch.found("data"), Some(("PostgreSQL", 4711)));
        assert_eq!(scratch.found("data/15/main/base"), Some(("PostgreSQL", 4711)));
        assert_eq!(scratch.found("proc"), None);
        scratch.write("data/15/main/postmaster.pid", "4712\n");
        assert_eq!(scratch.found("data"), None);
        // Killed, and its parent has not asked how it ended; or its number is another program's
        // after a restart.
        scratch.write("data/15/main/postmaster.pid", "4711\n");
        for stat in ["4711 (postgres) Z 1 4711\n", "4711 (a) b) S 1 4711\n"] {
            scratch.write("proc/4711/stat", stat);
            assert_eq!(scratch.found("data"), None, "{stat}");
        }
    }

    #[test]
    fn innodb_is_found_by_its_lock_on_a_file_that_is_open() {
        let scratch = ScratchNeighbour::new("innodb");
        scratch.write("data/ibdata1", "x");
        scratch.write("data/other", "x");
        scratch.write("proc/locks", "1: POSIX  ADVISORY  WRITE 12 fd:01:1 0 EOF\n");
        assert_eq!(scratch.found("data"), None);
        let inode = fs::metadata(scratch.0.join("data/ibdata1")).unwrap().ino();
        let line = format!("1: POSIX  ADVISORY  WRITE 4711 fd:01:{inode} 0 EOF\n");
        scratch.write("proc/locks", &line);
        // Killed: its descriptors are gone, its locks not yet.
        assert_eq!(scratch.found("data"), None);
        // The same inode number on another file system.
        fs::create_dir(scratch.0.join("proc/4711/fd")).unwrap();
        let descriptor = scratch.0.join("proc/4711/fd/3");
        symlink(scratch.0.join("data/other"), &descriptor).unwrap();
        assert_eq!(scratch.found("data"), None);
        fs::remove_file(&descriptor).unwrap();
        symlink(scratch.0.join("data/ibdata1"), &descriptor).unwrap();
        assert_eq!(scratch.found("data"), Some(("MariaDB or MySQL", 4711)));
    }

    #[test]
    fn data_files_of_oracle_count_while_an_instance_runs() {
        let scratch = ScratchNeighbour::new("oracle");
        scratch.write("data/system01.dbf", "x");
        assert_eq!(scratch.found("data"), None);
        scratch.write("proc/4711/comm", "ora_pmon_ORCL\n");
        assert_eq!(scratch.found("data"), Some(("Oracle", 4711)));
    }
}
