//! The relay to hosts of a Ray cluster: a program in Python, which reads nothing but envelopes.

use super::wire::{Event, NODE, TOKEN, Wire, event_of, not_started};
use assay_cluster::protocol::{self, NodeAnswer, Refusal};
use assay_engine::monotonic_ns;
use assay_model::{Error, Result};
use serde::Deserialize;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::thread;

/// The program.
const PROGRAM: &str = include_str!("../../../../python/assay_ray/relay.py");
/// The variable that names another interpreter.
const INTERPRETER: &str = "ASSAY_PYTHON";
/// How long the relay may take to place all nodes, ns; it keeps to less by itself.
const PLACING_NS: u64 = 150_000_000_000;

/// What comes from the relay.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Inward {
    /// A node's word.
    Said { from: usize, body: Box<NodeAnswer> },
    /// A node has gone.
    Lost { from: usize, reason: String },
    /// Nothing can be done at all.
    Refused { message: String, hint: String },
}

/// Starts the relay; gives a line to each node.
///
/// # Errors
/// An environment error when there is no Python.
pub(super) fn start(
    names: &[String],
    token: &str,
    events: &Sender<(usize, Event)>,
) -> Result<(Child, Vec<Arc<Wire>>)> {
    let node = std::env::var(NODE).unwrap_or_else(|_| "assay".to_owned());
    let mut command = Command::new(interpreter());
    command.args(["-c", PROGRAM, "--hosts", &names.join(","), "--program", &node]);
    command.env(TOKEN, token).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
        .spawn()
        .map_err(|error| no_python(&error))?;
    let input = Arc::new(Mutex::new(child.stdin.take()));
    let wire = |number| {
        let heard_ns = AtomicU64::new(monotonic_ns() + PLACING_NS);
        Arc::new(Wire { input: Arc::clone(&input), envelope: Some(number), heard_ns })
    };
    let wires: Vec<Arc<Wire>> = (0..names.len()).map(wire).collect();
    if let Some(output) = child.stdout.take() {
        let (heard, events) = (wires.clone(), events.clone());
        let read = move || listen(output, &heard, &events);
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(read);
        thread.map_err(|error| not_started("a thread", &error))?;
    }
    Ok((child, wires))
}

/// That of the environment in which the program is installed, else the usual one.
fn interpreter() -> PathBuf {
    if let Some(named) = std::env::var_os(INTERPRETER) {
        return PathBuf::from(named);
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join("python3"));
    beside.filter(|python| python.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
}

fn no_python(error: &std::io::Error) -> Error {
    Error::environment(
        format!("starting Python, which reaches hosts through Ray: {error}"),
        "pip install 'assay[ray]' on every host, or use --hosts local:N",
    )
    .because(error)
}

/// Hears the relay until it ends; with it all lines do.
fn listen(output: impl Read, wires: &[Arc<Wire>], events: &Sender<(usize, Event)>) {
    let mut output = BufReader::new(output);
    let all = |event: fn(String) -> Event, words: &str| {
        for host in 0..wires.len() {
            drop(events.send((host, event(words.to_owned()))));
        }
    };
    loop {
        let (host, event) = match protocol::next::<Inward>(&mut output) {
            Ok(Some(Inward::Said { from, body })) => (from, event_of(*body)),
            Ok(Some(Inward::Lost { from, reason })) => (from, Event::Gone(reason)),
            Ok(Some(Inward::Refused { message, hint })) => {
                let refusal = Refusal { message, hint, usage: false };
                for host in 0..wires.len() {
                    let refused = NodeAnswer::Refused(refusal.clone());
                    drop(events.send((host, Event::Said(refused))));
                }
                continue;
            }
            Ok(None) => return all(Event::Gone, "the relay ended"),
            Err(_) => return all(Event::Gone, "what the relay said cannot be read"),
        };
        let Some(wire) = wires.get(host) else { continue };
        wire.heard_ns.store(monotonic_ns(), Ordering::Relaxed);
        if events.send((host, event)).is_err() {
            return;
        }
    }
}
