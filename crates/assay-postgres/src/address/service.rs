//! The file of services, `~/.pg_service.conf`: settings of an address under a name in brackets.
//!
//! Source: PostgreSQL documentation, "The Connection Service File".

use assay_model::{Error, Result};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// No file of services is as long.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The settings of a service, from the file that the environment names, or from those of the user
/// and of the system.
///
/// # Errors
/// A usage error when no file has this service, or its lines cannot be read.
pub(super) fn settings(
    service: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>> {
    let user = environment("PGSERVICEFILE").map(PathBuf::from);
    let home = || environment("HOME").map(|home| Path::new(&home).join(".pg_service.conf"));
    let system = environment("PGSYSCONFDIR").unwrap_or_else(|| "/etc/postgresql-common".to_owned());
    let files = [user.or_else(home), Some(Path::new(&system).join("pg_service.conf"))];
    let found = files.into_iter().flatten().find_map(|file| section(&text(&file)?, service));
    found.unwrap_or_else(|| {
        Err(Error::usage(
            format!("there is no service '{service}' in the service files"),
            "see ~/.pg_service.conf and PGSERVICEFILE, or write the address itself",
        ))
    })
}

fn text(file: &Path) -> Option<String> {
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(no_wait).open(file).ok()?;
    let mut bytes = Vec::new();
    opened.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines below the name of a service; nothing where it has none.
fn section(text: &str, service: &str) -> Option<Result<Vec<(String, String)>>> {
    let lines = text.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.find(|line| {
        line.strip_prefix('[').and_then(|name| name.strip_suffix(']')) == Some(service)
    })?;
    let lines = lines.take_while(|line| !line.starts_with('['));
    Some(lines.map(|line| pair(line, service)).collect())
}

fn pair(line: &str, service: &str) -> Result<(String, String)> {
    match line.split_once('=') {
        Some((name, value)) if name != "service" => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err(Error::usage(
            format!("a line of the service '{service}' is not NAME=VALUE"),
            "LDAP lookups and nested services are not supported: write host and dbname there",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_lines_below_its_name() {
        let text =
            "# mine\n[other]\nhost=x\n\n[shop]\nhost=db.example\nuser = me\n[last]\nport=1\n";
        let found = section(text, "shop").unwrap().unwrap();
        let pairs = [("host", "db.example"), ("user", " me")];
        assert_eq!(found, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(section(text, "none").is_none());
        assert!(section("[s]\nldap://h/x", "s").unwrap().is_err());
        let error = settings("s", &|_| Some("/nowhere".to_owned())).unwrap_err();
        assert!(error.message().contains("no service 's'"), "{error}");
    }
}
