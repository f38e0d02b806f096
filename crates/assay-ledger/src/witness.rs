//! The witness: keeps ledgers of other machines. It appends and hands back, and carries out nothing that comes from the wire.

use crate::file::{LedgerFile, read_bytes};
use crate::frame::{Found, FrameKind, acknowledgements_in, find};
use crate::ledger::{Ledger, LedgerHead, LedgerId};
use crate::token::{End, PROOF_BYTES, Token, random};
use crate::wire::{
    Answer, FrameReader, GREETING, PATIENCE, Purpose, Received, read_identity, send_back,
};
use assay_model::durability::JudgedCut;
use assay_model::{Error, Result};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Connections at one time.
const CONNECTIONS_MAX: usize = 64;
/// A writer that says nothing for this long has gone: it gives a sign of life every second.
const SILENCE: Duration = Duration::from_secs(30);
/// Ending of the files.
const ENDING: &str = "ledger";

/// Listens and keeps ledgers in a directory, until it is dropped.
#[derive(Debug)]
pub struct Witness {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What is going on in one ledger.
#[derive(Clone, Debug)]
pub struct LedgerActivity {
    /// Which ledger.
    pub id: LedgerId,
    /// What its last stretch began with.
    pub head: LedgerHead,
    /// Acknowledgements of the last stretch that came while this witness listened.
    pub acknowledgements: u64,
    /// When the last of them came.
    pub last: Instant,
    /// When its last stretch began.
    pub began: Instant,
    /// Cuts that were judged while this witness listened.
    pub judged: Vec<JudgedCut>,
}

#[derive(Debug)]
struct Shared {
    store: PathBuf,
    token: Token,
    connections: AtomicUsize,
    stop: AtomicBool,
    /// Who appends to each ledger: the newest connection.
    writers: Mutex<HashMap<LedgerId, Arc<AtomicU64>>>,
    activities: Mutex<HashMap<LedgerId, LedgerActivity>>,
    /// What went wrong, in words, until somebody asks.
    complaints: Mutex<Vec<String>>,
}

impl Shared {
    fn activities(&self) -> MutexGuard<'_, HashMap<LedgerId, LedgerActivity>> {
        self.activities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn complain(&self, what: String) {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        // A flood of strangers must not fill the memory.
        if complaints.len() < 100 {
            complaints.push(what);
        }
    }

    fn path(&self, id: LedgerId) -> PathBuf {
        self.store.join(id.digits()).with_extension(ENDING)
    }
}

impl Witness {
    /// Listens at an address and keeps ledgers in a directory, which is made where it is missing.
    ///
    /// # Errors
    /// An environment error when the directory cannot be made or the address cannot be had.
    pub fn listen(address: SocketAddr, store: &Path, token: Token) -> Result<Self> {
        std::fs::create_dir_all(store).map_err(|error| {
            Error::environment(
                format!("making {}: {error}", store.display()),
                "name a directory that can be written to",
            )
        })?;
        let fail = |error: io::Error| {
            Error::environment(
                format!("listening at {address}: {error}"),
                "name an address of this machine and a port that is free",
            )
        };
        let socket = TcpListener::bind(address).map_err(fail)?;
        let address = socket.local_addr().map_err(fail)?;
        let shared = Arc::new(Shared {
            store: store.to_owned(),
            token,
            connections: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
            writers: Mutex::default(),
            activities: Mutex::default(),
            complaints: Mutex::default(),
        });
        let theirs = Arc::clone(&shared);
        let accept = move || accept(&socket, &theirs);
        let thread =
            thread::Builder::new().name("witness".to_owned()).spawn(accept).map_err(fail)?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What goes on in each ledger that was written to.
    pub fn activities(&self) -> Vec<LedgerActivity> {
        self.shared.activities().values().cloned().collect()
    }

    /// What went wrong since this was last asked.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = self.shared.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *complaints)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        // Accepting waits for a connection, and this is one.
        drop(TcpStream::connect_timeout(&reachable(self.address), Duration::from_secs(1)));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Where a socket is reached that listens on all addresses.
const fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn accept(socket: &TcpListener, shared: &Arc<Shared>) {
    while let Ok((stream, from)) = socket.accept() {
        if shared.stop.load(Ordering::Acquire) {
            return;
        }
        if shared.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let theirs = Arc::clone(shared);
        let serve = move || {
            if let Err(error) = serve(stream, &theirs) {
                theirs.complain(format!("{from}: {error}"));
            }
            theirs.connections.fetch_sub(1, Ordering::AcqRel);
        };
        if thread::Builder::new().name("ledger".to_owned()).spawn(serve).is_err() {
            shared.connections.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// What a connection asks for, after both ends have proven themselves.
fn serve(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some((purpose, id, proof)) = greet(&mut stream, shared)? else {
        return Err(io::Error::other("it does not know the token"));
    };
    if purpose == Purpose::Read {
        answer(&mut stream, Answer::Granted, &proof)?;
        return hand_back(&mut stream, shared);
    }
    let opened = open(purpose, id, shared);
    match opened {
        Ok((file, ledger)) => {
            answer(&mut stream, Answer::Granted, &proof)?;
            append(&mut stream, shared, id, file, ledger)
        }
        Err(error) => {
            answer(&mut stream, refusal(&error), &proof)?;
            Err(error)
        }
    }
}

/// Greets and hears who it is; nothing where the token is another one.
fn greet(
    stream: &mut TcpStream,
    shared: &Shared,
) -> io::Result<Option<(Purpose, LedgerId, [u8; PROOF_BYTES])>> {
    let mine = random().map_err(|error| io::Error::other(error.to_string()))?;
    stream.write_all(GREETING)?;
    stream.write_all(&mine)?;
    let (mut theirs, mut proof) = ([0; 16], [0; PROOF_BYTES]);
    let (mut purpose, mut id) = ([0; 1], [0; 16]);
    stream.read_exact(&mut theirs)?;
    stream.read_exact(&mut proof)?;
    stream.read_exact(&mut purpose)?;
    stream.read_exact(&mut id)?;
    let both = [&mine, &theirs];
    if !shared.token.is_proven(End::Client, both, &proof) {
        answer(stream, Answer::WrongToken, &[0; PROOF_BYTES])?;
        return Ok(None);
    }
    let purpose = Purpose::of_number(purpose[0]).ok_or(ErrorKind::InvalidData)?;
    Ok(Some((purpose, LedgerId(id), shared.token.proof(End::Witness, both))))
}

fn answer(stream: &mut TcpStream, answer: Answer, proof: &[u8; PROOF_BYTES]) -> io::Result<()> {
    stream.write_all(&[answer.number()])?;
    stream.write_all(proof)
}

fn refusal(error: &io::Error) -> Answer {
    match error.kind() {
        ErrorKind::NotFound => Answer::NoSuchLedger,
        ErrorKind::AlreadyExists => Answer::ThereAlready,
        _ => Answer::Refused,
    }
}

/// Opens a ledger for the one connection that appends to it from now on.
fn open(
    purpose: Purpose,
    id: LedgerId,
    shared: &Shared,
) -> io::Result<(LedgerFile, Option<Ledger>)> {
    let path = shared.path(id);
    if purpose == Purpose::Create {
        return Ok((LedgerFile::create(&path)?, None));
    }
    // A connection of before a power cut may not have ended yet, and holds the lock: it gives way.
    let owner = writer(shared, id);
    owner.fetch_add(1, Ordering::AcqRel);
    let begun = Instant::now();
    loop {
        match LedgerFile::go_on(&path) {
            Err(error)
                if error.kind() == ErrorKind::WouldBlock && begun.elapsed() < PATIENCE / 2 =>
            {
                thread::sleep(Duration::from_millis(20));
            }
            opened => return opened.map(|(file, ledger)| (file, Some(ledger))),
        }
    }
}

fn writer(shared: &Shared, id: LedgerId) -> Arc<AtomicU64> {
    let mut writers = shared.writers.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(writers.entry(id).or_default())
}

/// Appends what comes, until the other end has said all, another connection takes over, or the disk is full.
fn append(
    stream: &mut TcpStream,
    shared: &Shared,
    id: LedgerId,
    mut file: LedgerFile,
    ledger: Option<Ledger>,
) -> io::Result<()> {
    /// How often it is looked for another connection that takes over.
    const POLL_INTERVAL: Duration = Duration::from_millis(100);
    let owner = writer(shared, id);
    let mine = owner.load(Ordering::Acquire);
    if let Some(ledger) = ledger {
        begin_activity(shared, id, &ledger.last().head, ledger.last().acknowledgements);
    }
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let (mut reader, mut heard) = (FrameReader::new(), Instant::now());
    loop {
        if owner.load(Ordering::Acquire) != mine || shared.stop.load(Ordering::Acquire) {
            return Ok(());
        }
        match reader.receive(stream) {
            Ok(Received::Some) => heard = Instant::now(),
            Ok(Received::End) => return Ok(()),
            Err(error) if is_waiting(&error) && heard.elapsed() < SILENCE => continue,
            Err(error) => return Err(error),
        }
        let frames = reader.whole()?;
        if frames.is_empty() {
            continue;
        }
        if let Err(error) = file.append(frames) {
            stream.write_all(&[Answer::Refused.number()])?;
            return Err(error);
        }
        let confirmed = note(shared, id, frames);
        stream.write_all(&vec![Answer::Granted.number(); confirmed])?;
    }
}

fn is_waiting(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn begin_activity(shared: &Shared, id: LedgerId, head: &LedgerHead, acknowledgements: u64) {
    let now = Instant::now();
    let mut activities = shared.activities();
    let judged = activities.remove(&id).map_or_else(Vec::new, |before| before.judged);
    let head = head.clone();
    let activity = LedgerActivity { id, head, acknowledgements, last: now, began: now, judged };
    activities.insert(id, activity);
}

/// Notes what frames say; how many of them are to be confirmed.
fn note(shared: &Shared, id: LedgerId, mut frames: &[u8]) -> usize {
    let mut confirmed = 0;
    while let Found::Whole(kind, content, length) = find(frames) {
        frames = &frames[length..];
        match kind {
            FrameKind::Head => {
                confirmed += 1;
                if let Ok(head) = serde_json::from_slice(content) {
                    begin_activity(shared, id, &head, 0);
                }
            }
            FrameKind::Acknowledgements => {
                if let Some(activity) = shared.activities().get_mut(&id) {
                    let came = acknowledgements_in(content);
                    activity.acknowledgements += came;
                    if came > 0 {
                        activity.last = Instant::now();
                    }
                }
            }
            FrameKind::Judgement => {
                confirmed += 1;
                let judged = serde_json::from_slice(content).ok();
                if let (Some(judged), Some(activity)) = (judged, shared.activities().get_mut(&id)) {
                    activity.judged.push(judged);
                }
            }
        }
    }
    confirmed
}

/// Sends the newest ledger of a target back.
fn hand_back(stream: &mut TcpStream, shared: &Shared) -> io::Result<()> {
    let identity = read_identity(stream)?;
    let newest = newest(&shared.store, &identity)?;
    send_back(stream, &newest.unwrap_or_default())
}

fn newest(store: &Path, identity: &str) -> io::Result<Option<Vec<u8>>> {
    let mut newest: Option<(u64, Vec<u8>)> = None;
    for entry in std::fs::read_dir(store)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let Ok(bytes) = read_bytes(&path) else { continue };
        let Ok(ledger) = Ledger::parse(&bytes) else { continue };
        let head = &ledger.last().head;
        let is_newer = newest.as_ref().is_none_or(|(began, _)| head.began_unix_ns > *began);
        if head.identity == identity && is_newer {
            newest = Some((head.began_unix_ns, ledger.whole(&bytes).to_vec()));
        }
    }
    Ok(newest.map(|(_, bytes)| bytes))
}

#[cfg(test)]
mod tests;
