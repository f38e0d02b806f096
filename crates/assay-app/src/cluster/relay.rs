//! The relay to hosts of a Ray cluster: a program in Python, which reads nothing but envelopes.

use super::inlet::Inlet;
use super::wire::{NODE, NodeEvent, TOKEN, TOO_LARGE, Wire, event_of, not_started};
use assay_cluster::protocol::{self, LineSize, NodeAnswer, NodeRefusal, cut};
use assay_engine::monotonic_ns;
use assay_model::{Error, Result};
use serde::Deserialize;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    inlet: &Arc<Inlet>,
) -> Result<(Child, Vec<Arc<Wire>>)> {
    let node = std::env::var(NODE).unwrap_or_else(|_| "assay".to_owned());
    let mut command = Command::new(interpreter());
    // What lies in the working directory, which may be anybody's, is not what `import` means.
    command.args(["-I", "-c", PROGRAM, "--hosts", &names.join(","), "--program", &node]);
    command.current_dir("/");
    command.env(TOKEN, token).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
        .spawn()
        .map_err(|error| no_python(&error))?;
    let input = Arc::new(Mutex::new(child.stdin.take()));
    let wire = |number| {
        let heard_ns = AtomicU64::new(monotonic_ns() + PLACING_NS);
        Arc::new(Wire {
            input: Arc::clone(&input),
            envelope: Some(number),
            heard_ns,
            is_collecting: AtomicBool::new(false),
        })
    };
    let wires: Vec<Arc<Wire>> = (0..names.len()).map(wire).collect();
    if let Some(output) = child.stdout.take() {
        let (heard, inlet) = (wires.clone(), Arc::clone(inlet));
        let read = move || listen(output, &heard, &inlet);
        let thread = thread::Builder::new().name("relay".to_owned()).spawn(read);
        thread.map_err(|error| not_started("a thread", &error))?;
    }
    Ok((child, wires))
}

/// That of the environment in which the program is installed, else the usual one.
fn interpreter() -> PathBuf {
    if let Some(named) = std::env::var_os(INTERPRETER) {
        return absolute(PathBuf::from(named));
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join("python3"));
    beside.filter(|python| python.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
}

/// A path from here, because the relay starts elsewhere; a bare name is looked for in `PATH`.
fn absolute(program: PathBuf) -> PathBuf {
    let is_path = program.components().count() > 1;
    if is_path { std::path::absolute(&program).unwrap_or(program) } else { program }
}

fn no_python(error: &std::io::Error) -> Error {
    Error::environment(
        format!("starting Python, which reaches hosts through Ray: {error}"),
        "pip install 'assay[ray]' on every host, or use --hosts local:N",
    )
    .because(error)
}

/// Hears the relay until it ends; with it all lines do.
fn listen(output: impl Read, wires: &[Arc<Wire>], inlet: &Inlet) {
    let mut output = BufReader::new(output);
    loop {
        let line = match protocol::next_line(&mut output) {
            Ok(Some(line)) => line,
            Ok(None) => return end_all(wires, inlet, "the relay ended"),
            Err(_) => return end_all(wires, inlet, "the relay sent an unreadable message"),
        };
        let (size, is_asked) =
            (LineSize::new(&line), |wire: &Arc<Wire>| wire.is_collecting.load(Ordering::Relaxed));
        if !size.is_allowed(&line, wires.iter().any(is_asked)) {
            return end_all(wires, inlet, TOO_LARGE);
        }
        for (host, event) in events_of(&line, wires.len()) {
            let Some(wire) = wires.get(host) else { continue };
            // What Ray prints does not show that a node is alive.
            if !matches!(event, NodeEvent::Said(NodeAnswer::Note(_))) {
                wire.was_heard();
            }
            let heard = || wires.iter().for_each(|wire| wire.would_be_heard());
            let bytes = size.memory_bytes();
            if !inlet.put(host, event, bytes, &heard) && inlet.is_closed() {
                return;
            }
        }
    }
}

fn end_all(wires: &[Arc<Wire>], inlet: &Inlet, words: &str) {
    for host in 0..wires.len() {
        inlet.put(host, NodeEvent::Gone(words.to_owned()), 0, &|| {});
    }
}

/// What a line of the relay is: a word of a node, its end, or a refusal to all; anything else was
/// printed by Ray, and is a note.
fn events_of(line: &[u8], hosts: usize) -> Vec<(usize, NodeEvent)> {
    match protocol::parse::<Inward>(line) {
        Ok(Inward::Said { from, body }) => vec![(from, event_of(*body))],
        Ok(Inward::Lost { from, reason }) => vec![(from, NodeEvent::Gone(cut(reason)))],
        Ok(Inward::Refused { message, hint }) => {
            let refusal = NodeRefusal { message, hint, usage: false };
            let refused = |host| (host, event_of(NodeAnswer::Refused(refusal.clone())));
            (0..hosts).map(refused).collect()
        }
        Err(_) => {
            let words = format!("Ray: {}", String::from_utf8_lossy(line));
            vec![(0, event_of(NodeAnswer::Note(words)))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_envelope_is_a_note_and_ends_nothing() {
        let events = events_of(b"(raylet) Raylet is terminated.", 3);
        let [(0, NodeEvent::Said(NodeAnswer::Note(note)))] = events.as_slice() else {
            panic!("{events:?}")
        };
        assert!(note.contains("Raylet is terminated"));
    }

    #[test]
    fn envelopes_say_whose_word_it_is() {
        let said = events_of(br#"{"said":{"from":1,"body":"ready"}}"#, 2);
        assert!(matches!(said.as_slice(), [(1, NodeEvent::Said(NodeAnswer::Ready))]), "{said:?}");
        let lost = events_of(br#"{"lost":{"from":1,"reason":"it was killed"}}"#, 2);
        assert!(matches!(lost.as_slice(), [(1, NodeEvent::Gone(_))]), "{lost:?}");
        assert_eq!(events_of(br#"{"refused":{"message":"a","hint":"b"}}"#, 2).len(), 2);
    }

    #[test]
    fn an_interpreter_that_is_named_by_a_path_is_found_from_elsewhere() {
        assert_eq!(absolute(PathBuf::from("python3")), PathBuf::from("python3"));
        assert!(absolute(PathBuf::from("env/bin/python3")).is_absolute());
    }
}
