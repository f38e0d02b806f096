//! Where the programs of a server lie: where a person says, on the path, or where distributions put
//! them.

use assay_model::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The server.
const SERVER: &str = "mariadbd";
/// Makes its first files.
const INSTALLER: &str = "mariadb-install-db";
/// The oldest release whose programs have these names and whose performance schema is known.
pub const RELEASE_MIN: (u32, u32) = (10, 5);

/// Programs of one server version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MariadbBinaries {
    /// The server.
    pub server: PathBuf,
    /// What makes its first files.
    pub installer: PathBuf,
    /// As the server says it, for example `10.11.19`.
    pub version: String,
}

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct MariadbSearchPath {
    /// The directory that a person named; nothing else is looked at then.
    pub named: Option<PathBuf>,
    /// The directories of `PATH` and of distributions.
    pub usual: Vec<PathBuf>,
}

impl MariadbSearchPath {
    /// The places of this process.
    pub fn of_this_program(named: Option<PathBuf>) -> Self {
        let path = std::env::var_os("PATH");
        let mut usual: Vec<PathBuf> =
            path.map_or_else(Vec::new, |path| std::env::split_paths(&path).collect());
        // Distributions put the server where the path of a plain user does not lead.
        let more = [
            "/usr/sbin",
            "/usr/libexec",
            "/usr/bin",
            "/usr/local/mysql/bin",
            "/usr/local/mysql/scripts",
        ];
        usual.extend(more.map(PathBuf::from));
        Self { named, usual }
    }

    /// The programs of a server.
    ///
    /// # Errors
    /// A usage error when the directory that was named holds none, else an environment error.
    pub fn find(&self) -> Result<MariadbBinaries> {
        let places = self.places();
        let program =
            |name: &str| places.iter().map(|place| place.join(name)).find(|path| path.is_file());
        let found = program(SERVER).zip(program(INSTALLER)).and_then(|(server, installer)| {
            Some(MariadbBinaries { version: version_of(&server)?, server, installer })
        });
        match found {
            Some(found) if found.release() < RELEASE_MIN => Err(Error::environment(
                format!(
                    "the server {} is MariaDB {}, which does not report the required counters",
                    found.server.display(),
                    found.version
                ),
                format!(
                    "specify release {}.{} or newer with --bindir",
                    RELEASE_MIN.0, RELEASE_MIN.1
                ),
            )),
            Some(found) => Ok(found),
            None => Err(self.missing()),
        }
    }

    fn places(&self) -> Vec<PathBuf> {
        match &self.named {
            Some(named) => ["", "bin", "sbin", "scripts"].map(|inside| named.join(inside)).to_vec(),
            None => self.usual.clone(),
        }
    }

    fn missing(&self) -> Error {
        if let Some(named) = &self.named {
            return Error::usage(
                format!("{} has no {SERVER} and {INSTALLER} programs that run", named.display()),
                "specify the directory with the programs of a MariaDB server",
            );
        }
        Error::environment(
            "no MariaDB server was found",
            "install mariadb-server, or specify its programs with --bindir",
        )
    }
}

impl MariadbBinaries {
    /// Major and minor version.
    pub fn release(&self) -> (u32, u32) {
        let mut numbers = self.version.split('.').map(|number| number.parse().unwrap_or(0));
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    }
}

fn version_of(server: &Path) -> Option<String> {
    let mut asked = Command::new(server);
    assay_dbserver::clean_environment(&mut asked);
    let said = asked.args(["--no-defaults", "--version"]).output().ok()?;
    version_in(&String::from_utf8(said.stdout).ok()?)
}

/// `mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu …`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("Ver ")?;
    let (version, _) = rest.split_once("-MariaDB")?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretend(directory: &Path, version: &str) {
        std::fs::create_dir_all(directory).unwrap();
        for name in [SERVER, INSTALLER] {
            let text = format!("#!/bin/sh\necho 'mariadbd  Ver {version}-MariaDB for x'\n");
            // Written here, it could not be run while another test starts a program that holds a
            // copy of the open file.
            let mut write = Command::new("sh");
            write.args(["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""]);
            assert!(write.arg(directory.join(name)).arg(text).status().unwrap().success());
        }
    }

    #[test]
    fn programs_are_found_and_old_ones_refused() {
        let root = std::env::temp_dir().join(format!("assay-mariadbs-{}", std::process::id()));
        pretend(&root.join("new/bin"), "10.11.19");
        pretend(&root.join("old"), "10.3.2");
        let named = |name: &str| MariadbSearchPath {
            named: Some(root.join(name)),
            ..MariadbSearchPath::default()
        };
        let found = named("new").find().unwrap();
        assert_eq!((found.version.as_str(), found.release()), ("10.11.19", (10, 11)));
        assert!(named("old").find().unwrap_err().message().contains("10.3.2"));
        let error = named("nothing").find().unwrap_err();
        assert_eq!(error.blame(), assay_model::Blame::Usage);
        assert_eq!(version_in("mysqld  Ver 8.0.36 for Linux"), None);
        std::fs::remove_dir_all(root).unwrap();
    }
}
