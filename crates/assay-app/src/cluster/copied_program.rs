//! The program on hosts that do not have it: copied before the start, compared by its checksum, and
//! removed at the end.

use super::remote_command::reached;
use super::wire::{NODE, random_digits};
use assay_model::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::process::{Command, Output, Stdio};
use std::thread;

/// What the variable of the program says to have it copied; a directory may follow.
const COPY: &str = "copy";
/// Where it is copied to if no directory follows.
const DIRECTORY: &str = "/tmp";
/// Hosts that it is sent to simultaneously.
const HOSTS_AT_ONCE: usize = 16;

/// A copy of the program on each of some hosts.
pub(super) struct ProgramCopies {
    names: Vec<String>,
    command: Option<String>,
    /// Where it is on all of them; nobody else can guess the name.
    path: String,
}

/// The directory that copies are requested in, if they are.
pub(super) fn requested_directory() -> Option<String> {
    directory_of(&std::env::var(NODE).ok()?)
}

fn directory_of(program: &str) -> Option<String> {
    let rest = program.strip_prefix(COPY)?;
    match rest.strip_prefix(':') {
        Some(directory) => Some(directory.to_owned()),
        None => rest.is_empty().then(|| DIRECTORY.to_owned()),
    }
}

impl ProgramCopies {
    /// Copies a program to all hosts, each by several commands without a shell.
    ///
    /// # Errors
    /// An environment error that names the first host without a whole copy.
    pub(super) fn send(
        directory: &str,
        program: &str,
        names: &[String],
        command: Option<&str>,
    ) -> Result<Self> {
        check(directory)?;
        let sum = checksum(program)
            .map_err(|error| Error::environment(format!("reading {program}: {error}"), HINT))?;
        let path = format!("{directory}/assay-node-{}", random_digits()?);
        let copies = Self { names: names.to_owned(), command: command.map(str::to_owned), path };
        copies.on_all(|host| copies.send_to(host, program, &sum))?;
        Ok(copies)
    }

    /// Where the program is on every host.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn send_to(&self, host: &str, program: &str, sum: &str) -> Result<()> {
        let failed = |error: io::Error| not_copied(host, &error.to_string());
        let file = File::open(program).map_err(failed)?;
        let target = format!("of={}", self.path);
        self.done(host, &["dd", &target, "bs=65536"], Stdio::from(file))?;
        self.done(host, &["chmod", "700", &self.path], Stdio::null())?;
        let said = self.done(host, &["sha256sum", &self.path], Stdio::null())?;
        if said.split_whitespace().next() == Some(sum) {
            return Ok(());
        }
        Err(not_copied(host, "the checksum of the copy differs"))
    }

    /// What a command on a host prints, once it has succeeded there.
    fn done(&self, host: &str, words: &[&str], input: Stdio) -> Result<String> {
        let ran = self.run(host, words, input);
        let Output { status, stdout, stderr } =
            ran.map_err(|error| not_copied(host, &error.to_string()))?;
        if status.success() {
            return Ok(String::from_utf8_lossy(&stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&stderr).trim().lines().last().map(str::to_owned);
        let said: Option<String> = said.map(|line| line.chars().take(200).collect());
        Err(not_copied(host, &said.unwrap_or_else(|| format!("{}: {status}", words[0]))))
    }

    fn run(&self, host: &str, words: &[&str], input: Stdio) -> io::Result<Output> {
        let mut command: Command = reached(host, self.command.as_deref());
        command.args(words).stdin(input).output()
    }

    /// The same on all hosts; the first failure in their order.
    fn on_all(&self, work: impl Fn(&str) -> Result<()> + Sync) -> Result<()> {
        for names in self.names.chunks(HOSTS_AT_ONCE) {
            let work = &work;
            let ended: Vec<Result<()>> = thread::scope(|scope| {
                let start = |name: &String| {
                    let name = name.clone();
                    scope.spawn(move || work(&name))
                };
                let started: Vec<_> = names.iter().map(start).collect();
                started.into_iter().filter_map(|thread| thread.join().ok()).collect()
            });
            ended.into_iter().collect::<Result<()>>()?;
        }
        Ok(())
    }
}

impl Drop for ProgramCopies {
    fn drop(&mut self) {
        // A host that is gone keeps its copy, which the manual says.
        let remove = |host: &str| {
            drop(self.run(host, &["rm", "-f", &self.path], Stdio::null()));
            Ok(())
        };
        drop(self.on_all(remove));
    }
}

/// What to do if a copy fails.
const HINT: &str = "specify a directory that hosts can write to and run programs from, such as \
                    ASSAY_NODE_PROGRAM=copy:/var/tmp, or install the program on the host";

fn not_copied(host: &str, reason: &str) -> Error {
    Error::environment(format!("copying the program to {host}: {reason}"), HINT)
}

/// Refuses what a shell on a host would read as more than a path.
fn check(directory: &str) -> Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if directory.starts_with('/') && directory.chars().all(is_plain) {
        return Ok(());
    }
    Err(Error::usage(format!("{directory} is not the path of a directory on hosts"), HINT))
}

fn checksum(program: &str) -> io::Result<String> {
    let (mut file, mut sum, mut buffer) = (File::open(program)?, Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            bytes => sum.update(&buffer[..bytes]),
        }
    }
    let digits = |hex: String, byte: &u8| hex + &format!("{byte:02x}");
    Ok(sum.finalize().iter().fold(String::new(), digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_requested_by_a_word_and_a_directory() {
        assert_eq!(directory_of("copy").as_deref(), Some("/tmp"));
        assert_eq!(directory_of("copy:/var/tmp").as_deref(), Some("/var/tmp"));
        assert_eq!([directory_of("copyq"), directory_of("/opt/assay")], [None, None]);
        assert!(check("/var/tmp-1/a_b.c").is_ok());
        for wrong in ["tmp", "/tmp/$(id)", "/tmp/a b", "/tmp;id", ""] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_copy_is_whole_and_goes_with_its_owner() {
        let folder = std::env::temp_dir().join(format!("assay-copies-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (directory, program) = (folder.join("host"), folder.join("program"));
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(&program, vec![7; 200_000]).unwrap();
        let names = ["hA".to_owned()];
        let send = |command: &str| {
            let (directory, program) = (directory.display(), program.display());
            let command = Some(command);
            ProgramCopies::send(&directory.to_string(), &program.to_string(), &names, command)
        };
        let copies = send("env HOST={host}").unwrap();
        assert_eq!(std::fs::read(copies.path()).unwrap(), vec![7; 200_000]);
        drop(copies);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        let error = send("false {host}").err().unwrap();
        assert!(error.message().starts_with("copying the program to hA: dd"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
