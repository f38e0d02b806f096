//! The file of passwords, `~/.pgpass`: lines `host:port:database:user:password`, `*` for any, `\`
//! before `:` and `\`.
//!
//! Source: PostgreSQL documentation, "The Password File".

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// No file of passwords is as long.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The usual directories of sockets, which the file knows as `localhost`.
const SOCKET_DIRECTORIES: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The password of a host (or the directory of a socket), a port, a database and a user; nothing
/// where the file is not there or has no line for it, and why it was not read where others may read
/// it.
pub(super) fn password(file: &Path, wanted: [&str; 4]) -> Result<Option<String>, String> {
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let Ok(opened) = OpenOptions::new().read(true).custom_flags(no_wait).open(file) else {
        return Ok(None);
    };
    let unread = |why: &str| Err(format!("; {} was not read: {why}", file.display()));
    match opened.metadata() {
        Ok(metadata) if !metadata.is_file() => unread("it is not a regular file"),
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
            unread("others can read it; run chmod 600 on it")
        }
        Ok(_) => Ok(find(opened, wanted)),
        Err(error) => unread(&error.to_string()),
    }
}

fn find(file: File, [host, port, database, user]: [&str; 4]) -> Option<String> {
    let is_usual = host.is_empty() || SOCKET_DIRECTORIES.contains(&host);
    let wanted = [if is_usual { "localhost" } else { host }, port, database, user];
    // Bytes, as libpq reads them: a line in another encoding hides none of the others.
    let lines = BufReader::new(file.take(FILE_BYTES_MAX)).split(b'\n').map_while(Result::ok);
    let lines = lines.filter_map(|line| String::from_utf8(line).ok());
    let lines = lines.map(|line| line.trim_end_matches('\r').to_owned());
    lines.filter(|line| !line.starts_with('#')).find_map(|line| of_line(&line, wanted))
}

/// The password of a line, where it is for what is wanted.
fn of_line(line: &str, wanted: [&str; 4]) -> Option<String> {
    let mut fields = fields(line).into_iter();
    for wanted in wanted {
        let field = fields.next()?;
        if field != "*" && field != wanted {
            return None;
        }
    }
    fields.next().filter(|password| !password.is_empty())
}

/// Fields between colons.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut letters) = (vec![String::new()], line.chars());
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use crate::address::PostgresAddress;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        let file = std::env::temp_dir().join(format!("assay-pgpass-{}", std::process::id()));
        let text = "# h:5432:db:me:wrong\nother:*:*:*:wrong\nh:5432:shop:me:p\\:a\\\\ß \
                    w\n*:*:*:me:any\nlocalhost:5432:*:you:local\n";
        // A comment in Latin-1 comes first.
        write(&file, [b"# caf\xe9\n", text.as_bytes()].concat()).unwrap();
        set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let of = |address: &str| {
            let name = file.to_str().unwrap().to_owned();
            let variable = |wanted: &str| (wanted == "PGPASSFILE").then(|| name.clone());
            PostgresAddress::parse(address, variable).unwrap()
        };
        assert_eq!(of("postgresql://me@h/shop").password.as_deref(), Some("p:a\\ß w"));
        assert_eq!(of("postgresql://me@h:1/shop").password.as_deref(), Some("any"));
        assert_eq!(of("postgresql://you@h/shop").password, None);
        assert_eq!(of("user=you host=/tmp").password.as_deref(), Some("local"));
        assert_eq!(of("postgresql://me:own@h/shop").password.as_deref(), Some("own"));
        set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        let open = of("postgresql://me@h/shop");
        assert_eq!(open.password, None);
        assert!(open.terms.password_note.unwrap().contains("chmod 600"));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(of("postgresql://me@h/shop").password, None);
    }
}
