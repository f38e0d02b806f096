//! The lines to the nodes of a cluster, and what comes over them: pipes to processes of this
//! machine, or to a relay.

use super::copied_program::{ProgramCopies, requested_directory};
use super::hosts::HostNames;
use super::inlet::{Inlet, InletDelivery};
use super::relay;
use super::remote_command::reached;
use super::wire::{NODE, NodeEvent, TOKEN, TOO_LARGE, UNREAD, Wire, event_of, not_started};
use assay_cluster::protocol::{self, LineSize, NodeAnswer, NodeOrder};
use assay_engine::monotonic_ns;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long nodes have to remove their test files and end.
const FAREWELL: Duration = Duration::from_secs(10);
/// A node that was not heard for as long will not end by itself, ns.
const SILENCE_NS: u64 = 2_500_000_000;
/// How often it is looked whether one has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The lines to all nodes.
pub(super) struct NodeLinks {
    nodes: Vec<NodeLink>,
    /// Carries the lines of all nodes, where they are of other machines.
    relay: Option<Child>,
    deliveries: Receiver<InletDelivery>,
    inlet: Arc<Inlet>,
    /// Bytes of the word that the driver has at the moment.
    held_bytes: Cell<u64>,
    beating: Arc<AtomicBool>,
    /// The program on the hosts, where it was copied there; removed when this goes.
    _copies: Option<ProgramCopies>,
}

/// The line to a node.
struct NodeLink {
    wire: Arc<Wire>,
    /// The process at its other end, where it is of this machine.
    child: Option<Child>,
}

impl NodeLinks {
    /// Starts the nodes, each with the secret in its environment.
    ///
    /// # Errors
    /// An environment error when a process cannot be started.
    pub(super) fn open(hosts: &HostNames, program: &[String], token: &str) -> Result<Self> {
        let (sender, deliveries) = channel();
        let inlet = Arc::new(Inlet::new(hosts.names().len(), sender));
        let (mut nodes, mut relay) = (Vec::new(), None);
        let copies = copies(hosts, program)?;
        match hosts {
            HostNames::Local(count) => {
                for host in 0..index_of(u64::from(*count)) {
                    nodes.push(NodeLink::start(host, local(program, token)?, &inlet)?);
                }
            }
            HostNames::Reached { names, command } => {
                let copy = copies.as_ref().map(ProgramCopies::path);
                for (host, name) in names.iter().enumerate() {
                    let reached = node(reached(name, command.as_deref()), copy);
                    let link = NodeLink::start(host, reached, &inlet)?;
                    link.wire.say_secret(token);
                    nodes.push(link);
                }
            }
            HostNames::Named(names) => {
                let (child, wires) = relay::start(names, token, &inlet)?;
                nodes.extend(wires.into_iter().map(|wire| NodeLink { wire, child: None }));
                relay = Some(child);
            }
        }
        let beating = Arc::new(AtomicBool::new(true));
        let held_bytes = Cell::new(0);
        Ok(Self { nodes, relay, deliveries, inlet, held_bytes, beating, _copies: copies })
    }

    /// Says something to a node. That it has gone is heard from its line.
    pub(super) fn say(&self, host: usize, word: &NodeOrder) {
        self.nodes[host].wire.say(word);
    }

    /// Says the same to all nodes.
    pub(super) fn say_all(&self, word: &NodeOrder) {
        self.nodes.iter().for_each(|node| node.wire.say(word));
    }

    /// Gives signs of life from now on, one a period, whatever the driver waits for: a store that
    /// takes its time must not end the nodes.
    ///
    /// # Errors
    /// An environment error when no thread can be started.
    pub(super) fn beat(&self, period_ns: u64) -> Result<()> {
        let wires: Vec<Arc<Wire>> = self.nodes.iter().map(|node| Arc::clone(&node.wire)).collect();
        let beating = Arc::clone(&self.beating);
        let beat = move || {
            let mut due = Instant::now();
            while beating.load(Ordering::Relaxed) {
                if due <= Instant::now() {
                    for wire in &wires {
                        wire.say(&NodeOrder::Beat(monotonic_ns()));
                    }
                    due += Duration::from_nanos(period_ns);
                }
                thread::sleep(POLL_INTERVAL);
            }
        };
        let thread = thread::Builder::new().name("beat".to_owned()).spawn(beat);
        thread.map(drop).map_err(|error| not_started("a thread", &error))
    }

    /// The next event within some time.
    pub(super) fn next(&self, within: Duration) -> Option<(usize, NodeEvent)> {
        self.inlet.leave(self.held_bytes.take());
        let delivery = self.deliveries.recv_timeout(within).ok()?;
        self.held_bytes.set(delivery.bytes);
        Some((delivery.host, delivery.event))
    }

    /// Hears nothing more of a node that was lost.
    pub(super) fn turn_away(&self, host: usize) {
        self.inlet.turn_away(host);
    }

    /// Bytes in memory of the word that was heard last.
    pub(super) fn held_bytes(&self) -> u64 {
        self.held_bytes.get()
    }

    /// All nodes count as heard now.
    pub(super) fn were_heard(&self) {
        self.nodes.iter().for_each(|node| node.wire.was_heard());
    }

    /// How long a node has been silent, ns.
    pub(super) fn silent_ns(&self, host: usize) -> u64 {
        monotonic_ns().saturating_sub(self.nodes[host].wire.heard_ns.load(Ordering::Relaxed))
    }

    /// How a node that has gone ended, in a few words.
    pub(super) fn end_of(&mut self, host: usize) -> Option<String> {
        let child = self.nodes[host].child.as_mut()?;
        ended_within(child, Duration::from_millis(200)).map(describe)
    }
}

impl Drop for NodeLinks {
    fn drop(&mut self) {
        self.beating.store(false, Ordering::Relaxed);
        self.inlet.close();
        // One that does not answer would keep everybody waiting; its test file stays recognisable
        // as ours.
        let silent: Vec<bool> =
            (0..self.nodes.len()).map(|host| self.silent_ns(host) > SILENCE_NS).collect();
        self.say_all(&NodeOrder::Close);
        self.nodes.iter().for_each(|node| node.wire.close());
        let until = Instant::now() + FAREWELL;
        for (node, is_silent) in self.nodes.iter_mut().zip(silent) {
            let left = until.saturating_duration_since(Instant::now());
            let left = if is_silent { Duration::ZERO } else { left };
            node.child.iter_mut().for_each(|child| end(child, left));
        }
        self.relay.iter_mut().for_each(|relay| end(relay, 2 * FAREWELL));
    }
}

/// Waits for a process to end, and ends it when it does not.
fn end(child: &mut Child, time: Duration) {
    if ended_within(child, time).is_none() {
        drop(child.kill());
        drop(child.wait());
    }
}

impl NodeLink {
    fn start(host: usize, mut command: Command, inlet: &Arc<Inlet>) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for the driver, who then ends all nodes together.
        let mut child =
            command.process_group(0).spawn().map_err(|error| not_started("a node", &error))?;
        let wire = Arc::new(Wire {
            input: Arc::new(Mutex::new(child.stdin.take())),
            envelope: None,
            heard_ns: AtomicU64::new(monotonic_ns()),
            is_collecting: AtomicBool::new(false),
        });
        if let Some(output) = child.stdout.take() {
            let (reader, inlet) = (Arc::clone(&wire), Arc::clone(inlet));
            let read = move || listen(host, output, &reader, &inlet);
            let thread = thread::Builder::new().name(format!("node-{host}")).spawn(read);
            thread.map_err(|error| not_started("a thread", &error))?;
        }
        Ok(Self { wire, child: Some(child) })
    }
}

/// A node of this machine, with its secret where no other user sees it.
fn local(program: &[String], token: &str) -> Result<Command> {
    let (name, words) = program.split_first().ok_or_else(|| {
        Error::environment("the program of a node is unknown", "report this as a bug")
    })?;
    let mut command = Command::new(name);
    command.args(words).env(TOKEN, token);
    Ok(command)
}

/// The program on all hosts, if it is to be copied there.
fn copies(hosts: &HostNames, program: &[String]) -> Result<Option<ProgramCopies>> {
    let (Some(directory), Some(program)) = (requested_directory(), program.first()) else {
        return Ok(None);
    };
    match hosts {
        HostNames::Local(_) => Ok(None),
        HostNames::Reached { names, command } => {
            ProgramCopies::send(&directory, program, names, command.as_deref()).map(Some)
        }
        HostNames::Named(_) => Err(Error::usage(
            "the program cannot be copied to hosts of a Ray cluster",
            format!("install it there and name its path in {NODE}, or use ssh: or command:"),
        )),
    }
}

/// The program as a node; its secret goes through the line, because everybody sees a command.
fn node(mut reached: Command, copy: Option<&str>) -> Command {
    let usual = || std::env::var(NODE).unwrap_or_else(|_| "assay".to_owned());
    reached.arg(copy.map_or_else(usual, str::to_owned)).arg("node");
    reached
}

/// Hears a node until it ends.
fn listen(host: usize, output: impl Read, wire: &Wire, inlet: &Inlet) {
    let mut output = BufReader::new(output);
    loop {
        let (event, bytes) = next_event(&mut output, wire);
        wire.was_heard();
        if !inlet.put(host, event, bytes, &|| wire.would_be_heard()) {
            return;
        }
    }
}

/// What a node says next, and the bytes of its line.
fn next_event(output: &mut impl BufRead, wire: &Wire) -> (NodeEvent, u64) {
    let unread = |error: io::Error| NodeEvent::Gone(format!("{UNREAD}: {error}"));
    match protocol::next_line(output) {
        Ok(Some(line)) => {
            let size = LineSize::new(&line);
            if !size.is_allowed(&line, wire.is_collecting.load(Ordering::Relaxed)) {
                return (NodeEvent::Gone(TOO_LARGE.to_owned()), 0);
            }
            let event = protocol::parse::<NodeAnswer>(&line).map_or_else(unread, event_of);
            (event, size.memory_bytes())
        }
        Ok(None) => (NodeEvent::Gone("its program ended".to_owned()), 0),
        Err(error) => (unread(error), 0),
    }
}

/// How a process ended, if it does within some time.
fn ended_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + time;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= until {
            return None;
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("its program was ended by signal {signal}"),
        (None, Some(code @ 126..=127)) => {
            format!("it has no `assay` on its path (exit code {code}); {NODE}=copy copies it")
        }
        (None, Some(code)) => format!("its program ended with exit code {code}"),
        (None, None) => "its program ended".to_owned(),
    }
}
