//! What the server's own programs say of its pages: `pg_amcheck` while it runs, `pg_checksums`
//! while it rests.

use super::PostgresServer;
use assay_model::durability::PageCheck;
use assay_model::failure::words;
use std::io;
use std::process::Output;

const AMCHECK: &str = "pg_amcheck";
const CHECKSUMS: &str = "pg_checksums";

impl PostgresServer {
    /// Compares tables with their indexes, row by row.
    pub(super) fn amcheck(&self, user: &str, schema: &str) -> PageCheck {
        let Some(program) = self.binaries.tool(AMCHECK) else { return of_amcheck(missing()) };
        let mut command = self.daemon.home.command(&program);
        command.args([
            "--install-missing",
            "--heapallindexed",
            "--no-password",
            "--schema",
            schema,
        ]);
        command.args(["--username", user, "--database", "postgres", "--host"]);
        command.arg(self.daemon.data()).env("PGPASSWORD", self.daemon.password());
        of_amcheck(command.output())
    }

    /// Gives all pages checksums. A server that has them already refuses, and one that gets none
    /// says so when its pages are checked.
    pub(super) fn enable_checksums(&self) {
        let _ = self.checksums("--enable");
    }

    /// Computes the checksums of all pages.
    pub(super) fn check_checksums(&self) -> PageCheck {
        of_checksums(self.checksums("--check"))
    }

    fn checksums(&self, doing: &str) -> io::Result<Output> {
        let Some(program) = self.binaries.tool(CHECKSUMS) else { return missing() };
        let mut command = self.daemon.home.command(&program);
        command.arg(doing).arg("--pgdata").arg(self.daemon.data()).output()
    }
}

/// It ends with 2 where it found something, and writes one line that is not indented for each.
fn of_amcheck(ran: io::Result<Output>) -> PageCheck {
    let output = match ran {
        Ok(output) => output,
        Err(error) => return PageCheck::not_run(AMCHECK, error),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut found = text.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
    let first = found.next().unwrap_or_default();
    match output.status.code() {
        Some(0) => PageCheck::sound(AMCHECK),
        Some(2) => PageCheck {
            checker: AMCHECK.to_owned(),
            damaged: Some(assay_model::number::count_of(found.count()) + 1),
            what: words(first.as_bytes()),
        },
        _ => PageCheck::not_run(AMCHECK, last_line(&output)),
    }
}

/// It counts what is wrong behind `Bad checksums:`.
fn of_checksums(ran: io::Result<Output>) -> PageCheck {
    let output = match ran {
        Ok(output) => output,
        Err(error) => return PageCheck::not_run(CHECKSUMS, error),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let bad =
        text.lines().find_map(|line| line.strip_prefix("Bad checksums:")?.trim().parse().ok());
    match bad {
        Some(0) => PageCheck::sound(CHECKSUMS),
        Some(bad) => PageCheck {
            checker: CHECKSUMS.to_owned(),
            damaged: Some(bad),
            what: last_line(&output),
        },
        None => PageCheck::not_run(CHECKSUMS, last_line(&output)),
    }
}

fn missing() -> io::Result<Output> {
    Err(io::Error::new(io::ErrorKind::NotFound, "it is not installed"))
}

fn last_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text.lines().find(|line| line.contains("error:"));
    let last = error.or_else(|| text.lines().next_back());
    words(last.unwrap_or("it ended without a message").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn ran(code: i32, stdout: &str, stderr: &str) -> Output {
        let status = ExitStatus::from_raw(code << 8);
        Output { status, stdout: stdout.into(), stderr: stderr.into() }
    }

    #[test]
    fn findings_are_counted_and_what_was_not_run_is_not_sound() {
        let two =
            "heap table \"a.b.c\", block 0:\n    broken\nbtree index \"a.b.i\":\n    broken\n";
        let found = of_amcheck(Ok(ran(2, two, "")));
        assert_eq!((found.damaged, found.what.starts_with("heap table")), (Some(2), true));
        assert_eq!(of_amcheck(Ok(ran(0, "", ""))), PageCheck::sound(AMCHECK));
        let failed = of_amcheck(Ok(ran(1, "", "pg_amcheck: error: no server\n")));
        assert_eq!((failed.damaged, failed.what.contains("no server")), (None, true));
        let gone = of_amcheck(Err(io::ErrorKind::NotFound.into()));
        assert!(gone.damaged.is_none() && gone.what.starts_with("not run: "));
    }

    #[test]
    fn checksums_are_counted() {
        let of = |bad: u32| {
            format!("Checksum operation completed\nBlocks scanned:  9\nBad checksums:  {bad}\n")
        };
        assert_eq!(of_checksums(Ok(ran(0, &of(0), ""))), PageCheck::sound(CHECKSUMS));
        let failed = "pg_checksums: error: checksum verification failed in file \"x\", block 3";
        let found = of_checksums(Ok(ran(1, &of(2), failed)));
        assert_eq!((found.damaged, found.what.ends_with("block 3")), (Some(2), true));
        let off =
            of_checksums(Ok(ran(1, "", "pg_checksums: error: data checksums are not enabled")));
        assert!(off.damaged.is_none() && off.what.contains("not enabled"));
    }
}
