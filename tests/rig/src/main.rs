//! The rig as a program: a scripted mount for tests of other processes, and a command without
//! `io_uring`.
#![forbid(unsafe_code)]

use assay_model::{Blame, Error, Result};
use assay_rig::{Latency, Operation, Rig, Script, deny_io_uring};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

const USAGE: &str = "\
assay-rig mount DIRECTORY [--script FILE] [--log FILE] [--no-stdin]
    Serves the script under DIRECTORY until SIGTERM, SIGINT or the end of standard input
    (ignored with --no-stdin), unmounts, and prints the log as JSON lines: one a data operation,
    then one with the statistics. Says `mounted DIRECTORY` on standard error when it is ready.
    On standard input, `cut SEED` cuts the power, `on` gives it back, and `latency write = { fixed \
                     = \"2ms\" }`
    changes a time of the script; each is repeated on standard error when it is done.
assay-rig deny-io-uring -- COMMAND [ARGUMENT...]
    Becomes COMMAND with the system calls of io_uring denied (EPERM).";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result = match arguments.split_first() {
        Some((verb, rest)) if verb == "mount" => mount(rest),
        Some((verb, rest)) if verb == "deny-io-uring" => deny(rest),
        _ => Err(Error::usage("no such command", USAGE)),
    };
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    // Without standard error there is nowhere left to complain to.
    let _ = writeln!(io::stderr().lock(), "{error}");
    match error.blame() {
        Blame::Usage => ExitCode::from(2),
        Blame::Environment => ExitCode::from(4),
    }
}

/// The options of `mount`.
#[derive(Default)]
struct Mount {
    directory: PathBuf,
    script: Option<PathBuf>,
    log: Option<PathBuf>,
    no_stdin: bool,
}

fn options(arguments: &[OsString]) -> Result<Mount> {
    let mut options = Mount::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = |name: &str| {
            let missing = || Error::usage(format!("{name} names no file"), USAGE);
            rest.next().map(PathBuf::from).ok_or_else(missing)
        };
        match argument.to_str() {
            Some("--script") => options.script = Some(value("--script")?),
            Some("--log") => options.log = Some(value("--log")?),
            Some("--no-stdin") => options.no_stdin = true,
            Some(other) if other.starts_with("--") => {
                return Err(Error::usage(format!("no option {other}"), USAGE));
            }
            _ if options.directory.as_os_str().is_empty() => options.directory = argument.into(),
            _ => return Err(Error::usage("more than one directory", USAGE)),
        }
    }
    if options.directory.as_os_str().is_empty() {
        return Err(Error::usage("no directory to mount on", USAGE));
    }
    Ok(options)
}

fn mount(arguments: &[OsString]) -> Result<()> {
    let options = options(arguments)?;
    let script = options.script.as_deref().map_or_else(|| Ok(Script::new()), Script::read)?;
    let (stop, stopped) = channel();
    stop_on_signal(stop.clone())?;
    let rig = Arc::new(Rig::mount_at(&options.directory, &script)?);
    if !options.no_stdin {
        obey_input(stop, &rig);
    }
    let _ = writeln!(io::stderr().lock(), "mounted {}", rig.directory().display());
    // Every sender gone means that nothing can stop it any more but a kill.
    let _ = stopped.recv();
    let Some(report) = Arc::into_inner(rig).map(Rig::unmount) else {
        unreachable!("nobody else holds the rig for longer than a line of input");
    };
    let written = match &options.log {
        Some(path) => File::create(path).and_then(|file| report.write_jsonl(BufWriter::new(file))),
        None => report.write_jsonl(BufWriter::new(io::stdout().lock())),
    };
    let place = options.log.as_deref().unwrap_or(Path::new("standard output")).display();
    written.map_err(|error| {
        Error::environment(
            format!("writing the log to {place}: {error}"),
            "name a file that can be written",
        )
    })
}

fn stop_on_signal(stop: Sender<()>) -> Result<()> {
    let handler = move || {
        let _ = stop.send(());
    };
    ctrlc::set_handler(handler)
        .map_err(|error| Error::environment(format!("handling signals: {error}"), "try again"))
}

/// Carries out what standard input says, and stops at its end.
fn obey_input(stop: Sender<()>, rig: &Arc<Rig>) {
    let rig = Arc::downgrade(rig);
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(std::result::Result::ok) {
            let Some(rig) = rig.upgrade() else { return };
            if obey(&line, &rig) {
                let _ = writeln!(io::stderr().lock(), "{line}");
            }
        }
        let _ = stop.send(());
    });
}

/// Carries out a line; whether it is a known one.
fn obey(line: &str, rig: &Rig) -> bool {
    let latencies = line.strip_prefix("latency ").map(toml::from_str);
    let seed = line.strip_prefix("cut ").and_then(|seed| seed.parse().ok());
    match (latencies, seed) {
        (Some(Ok(latencies)), _) => {
            let latencies: BTreeMap<Operation, Latency> = latencies;
            for (operation, time) in latencies {
                rig.set_latency(operation, time);
            }
        }
        (_, Some(seed)) => rig.cut_power(seed),
        _ if line == "on" => rig.restore_power(),
        _ => return false,
    }
    true
}

fn deny(arguments: &[OsString]) -> Result<()> {
    let command = match arguments.split_first() {
        Some((dashes, command)) if dashes == "--" => command,
        _ => arguments,
    };
    let Some((program, arguments)) = command.split_first() else {
        return Err(Error::usage("no command to start", USAGE));
    };
    let hint = "run on a kernel with seccomp";
    deny_io_uring().map_err(|skip| Error::environment(skip.reason(), hint))?;
    let error = Command::new(program).args(arguments).exec();
    let what = format!("starting {}: {error}", program.display());
    Err(Error::environment(what, "name a program that exists"))
}
