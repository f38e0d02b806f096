//! A line to a node: words go into it, and what comes out of it are events.

use assay_cluster::clock::Ping;
use assay_cluster::protocol::{self, NodeAnswer, NodeGreeting, NodeOrder, NodeRefusal, cut};
use assay_engine::monotonic_ns;
use assay_model::{Error, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The variable by which a node learns the secret of its session.
pub const TOKEN: &str = "ASSAY_NODE_TOKEN";
/// The variable that names the program `assay` on other hosts.
pub(super) const NODE: &str = "ASSAY_NODE_PROGRAM";
/// A word with the number of its node.
#[derive(Serialize)]
struct Outward<'a> {
    to: usize,
    body: &'a NodeOrder,
}

/// What a node said, or what became of it.
#[derive(Debug)]
pub(super) enum NodeEvent {
    /// A word.
    Said(NodeAnswer),
    /// The answer to a beat.
    Answered(Ping),
    /// Nothing more will come; in a few words, why.
    Gone(String),
}

/// What is shared of a line by those who write to it and who read from it.
pub(super) struct Wire {
    pub(super) input: Arc<Mutex<Option<ChildStdin>>>,
    /// The number in the envelope, where a relay carries the lines of all nodes.
    pub(super) envelope: Option<usize>,
    /// When anything was heard last, ns.
    pub(super) heard_ns: AtomicU64,
    /// Whether the node was asked for what it kept, which is long.
    pub(super) is_collecting: AtomicBool,
}

impl Wire {
    pub(super) fn say(&self, word: &NodeOrder) {
        if matches!(word, NodeOrder::Collect(_)) {
            self.is_collecting.store(true, Ordering::Relaxed);
        }
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(pipe) = input.as_mut() else { return };
        let line = match self.envelope {
            Some(to) => protocol::line(&Outward { to, body: word }),
            None => protocol::line(word),
        };
        let written = line.and_then(|line| pipe.write_all(&line));
        if written.and_then(|()| pipe.flush()).is_err() {
            *input = None;
        }
    }

    /// Says the secret of the session, before anything else, to a node that does not have it in its
    /// environment.
    pub(super) fn say_secret(&self, token: &str) {
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipe) = input.as_mut() {
            // One that has gone is heard of from its line.
            drop(writeln!(pipe, "{token}").and_then(|()| pipe.flush()));
        }
    }

    /// Something was heard just now.
    pub(super) fn was_heard(&self) {
        self.heard_ns.store(monotonic_ns(), Ordering::Relaxed);
    }

    /// It would be heard if the driver took what waits; a moment that lies ahead stays.
    pub(super) fn would_be_heard(&self) {
        self.heard_ns.fetch_max(monotonic_ns(), Ordering::Relaxed);
    }

    pub(super) fn close(&self) {
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Why a node that says too much at once is lost.
pub(super) const TOO_LARGE: &str = "it sent a message that is too long";
/// Why one that says too much in all is.
pub(super) const TOO_MUCH: &str = "it sent too many messages";
const NO_CLOCK: &str = "its clock is out of range";
/// Why one is that is ahead of the others.
pub(super) const AHEAD: &str = "it sent intervals far ahead of the other hosts";
/// Why one is that somebody stopped on its host.
pub(super) const ENDED_THERE: &str = "its program was stopped on the host";
pub(super) const UNREAD: &str = "it sent an unreadable message";

/// Whether the driver has turned a node away; how its program ends then is what the driver made of
/// it.
pub(super) fn is_turned_away(words: &str) -> bool {
    [TOO_LARGE, TOO_MUCH, NO_CLOCK, AHEAD, ENDED_THERE].contains(&words)
        || words.starts_with(UNREAD)
}

/// No clock that counts from the start of its host gets there within a century.
const CLOCK_NS_MAX: u64 = 1 << 62;

/// A node's word as an event. What a node says for the user is cut: it may be anybody's word.
pub(super) fn event_of(word: NodeAnswer) -> NodeEvent {
    match word {
        NodeAnswer::Beat(_, read_ns) if read_ns >= CLOCK_NS_MAX => {
            NodeEvent::Gone(NO_CLOCK.to_owned())
        }
        NodeAnswer::Note(note) => NodeEvent::Said(NodeAnswer::Note(cut(note))),
        NodeAnswer::Doing(what, share) => NodeEvent::Said(NodeAnswer::Doing(cut(what), share)),
        NodeAnswer::Refused(refusal) => NodeEvent::Said(NodeAnswer::Refused(NodeRefusal {
            message: cut(refusal.message),
            hint: cut(refusal.hint),
            usage: refusal.usage,
        })),
        NodeAnswer::Hello(greeting) => NodeEvent::Said(NodeAnswer::Hello(NodeGreeting {
            version: cut(greeting.version),
            host_name: cut(greeting.host_name),
            ..greeting
        })),
        NodeAnswer::Beat(sent_ns, read_ns) => {
            NodeEvent::Answered(Ping { sent_ns, read_ns, received_ns: monotonic_ns() })
        }
        word => NodeEvent::Said(word),
    }
}

/// 128 random bits as hexadecimal digits.
pub(super) fn random_digits() -> Result<String> {
    let mut bytes = [0; 16];
    let source = Path::new("/dev/urandom");
    let read = File::open(source).and_then(|mut source| source.read_exact(&mut bytes));
    read.map_err(|error| {
        Error::environment(
            format!("reading {}: {error}", source.display()),
            "cannot read random numbers from the system",
        )
    })?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

pub(super) fn not_started(what: &str, error: &std::io::Error) -> Error {
    Error::environment(
        format!("starting {what}: {error}"),
        "use fewer hosts, or raise the limit on processes",
    )
    .because(error)
}
