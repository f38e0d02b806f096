//! The witness: keeps ledgers of other machines. It appends and hands back, and carries out nothing
//! that comes from the wire.

mod received;
mod strangers;

use crate::file::LedgerFile;
use crate::frame::{Found, FrameKind, acknowledgements_in, find};
use crate::index::{ENDING, LedgerIndex};
use crate::ledger::{DOCUMENT_BYTES_MAX, Ledger, LedgerHead, LedgerId};
use crate::link::confirmation;
use crate::sealed::{PIECE_BYTES_MAX, PeerWait, is_waiting, read_within, send_piece};
use crate::token::{MessageSeal, PROOF_BYTES, SealedEnd, Token, random};
use crate::wire::{GREETING, PATIENCE, Purpose, WitnessAnswer, read_identity};
use assay_files::{is_foreign, is_writable_by_others};
use assay_model::durability::JudgedCut;
use assay_model::number::{count_of, index_of};
use assay_model::{Error, Result};
use received::{FrameReader, Received};
use std::collections::HashMap;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use strangers::Strangers;

/// Connections of those who have proven the token.
const FRIENDS_MAX: usize = 64;
/// How long a whole greeting may take.
const GREETING_TIME: Duration = Duration::from_secs(5);
/// How long it waits where the system takes no connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long it does not repeat that.
const SAID_AGAIN: Duration = Duration::from_secs(60);
/// Heads and judgements of all ledgers that are remembered, bytes. What comes behind them is kept,
/// but not shown.
const REMEMBERED_BYTES_MAX: usize = 4 * DOCUMENT_BYTES_MAX;

/// Listens and keeps ledgers in a directory, until it is dropped.
#[derive(Debug)]
pub struct Witness {
    address: SocketAddr,
    shared: Arc<WitnessShared>,
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
struct WitnessShared {
    store: PathBuf,
    token: Token,
    /// Connections so far: the next one's number.
    connections: AtomicU64,
    strangers: Strangers,
    friends: AtomicUsize,
    index: Mutex<LedgerIndex>,
    stop: AtomicBool,
    /// Who appends to each ledger: the newest connection.
    writers: Mutex<HashMap<LedgerId, Arc<AtomicU64>>>,
    activities: Mutex<HashMap<LedgerId, LedgerActivity>>,
    /// Bytes of the heads and judgements in them as they came.
    remembered_bytes: AtomicUsize,
    /// What went wrong, in words, until somebody asks.
    complaints: Mutex<Vec<String>>,
}

impl WitnessShared {
    fn activities(&self) -> MutexGuard<'_, HashMap<LedgerId, LedgerActivity>> {
        self.activities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn index(&self) -> MutexGuard<'_, LedgerIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is room to remember a head or a judgement.
    fn remembers(&self, content: &[u8]) -> bool {
        let before = self.remembered_bytes.fetch_add(content.len(), Ordering::AcqRel);
        let has_room = |bytes: usize| bytes <= REMEMBERED_BYTES_MAX;
        if has_room(before) && !has_room(before + content.len()) {
            self.complain("too many cuts; start the witness again".to_owned());
        }
        has_room(before + content.len())
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
        make_store(store)?;
        let fail = |error: io::Error| {
            Error::environment(
                format!("listening at {address}: {error}"),
                "specify an address of this machine and a port that is free",
            )
        };
        let socket = TcpListener::bind(address).map_err(fail)?;
        let address = socket.local_addr().map_err(fail)?;
        let shared = Arc::new(WitnessShared {
            store: store.to_owned(),
            token,
            connections: AtomicU64::new(0),
            strangers: Strangers::default(),
            friends: AtomicUsize::new(0),
            index: Mutex::default(),
            stop: AtomicBool::new(false),
            writers: Mutex::default(),
            activities: Mutex::default(),
            remembered_bytes: AtomicUsize::new(0),
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

/// Makes the directory where it is missing. One that others could write to would hold their
/// ledgers, too.
fn make_store(store: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(store);
    let facts = made.and_then(|()| Ok((store.symlink_metadata()?, store.metadata()?)));
    let (name, directory) = facts.map_err(|error| {
        Error::environment(
            format!("making {}: {error}", store.display()),
            "specify a directory that can be written to",
        )
    })?;
    if !is_foreign(&name) && !is_foreign(&directory) && !is_writable_by_others(&directory) {
        return Ok(());
    }
    Err(Error::environment(
        format!("another user owns {} or can write to it", store.display()),
        "specify a directory with --store that only you can write to",
    ))
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

/// Takes connections until the witness ends. What the system refuses for a moment, such as too many
/// open files, is said once and tried again.
fn accept(socket: &TcpListener, shared: &Arc<WitnessShared>) {
    let mut said: Option<Instant> = None;
    while !shared.stop.load(Ordering::Acquire) {
        let taken = socket.accept().and_then(|(stream, from)| take_in(stream, from, shared));
        let Err(error) = taken else { continue };
        if said.is_none_or(|at| at.elapsed() > SAID_AGAIN) {
            said = Some(Instant::now());
            shared.complain(format!("accepting connections: {error}; trying again"));
        }
        // What one who proves nothing holds may be just what is missing.
        shared.strangers.make_room();
        thread::sleep(ACCEPT_PAUSE);
    }
}

/// Hears a connection in a thread of its own.
fn take_in(stream: TcpStream, from: SocketAddr, shared: &Arc<WitnessShared>) -> io::Result<()> {
    let other = stream.try_clone()?;
    let number = shared.connections.fetch_add(1, Ordering::AcqRel);
    shared.strangers.enter(number, from.ip(), other);
    let theirs = Arc::clone(shared);
    let serve = move || {
        if let Err(error) = serve(stream, number, &theirs) {
            theirs.complain(format!("{from}: {error}"));
        }
        theirs.strangers.leave(number);
    };
    let thread = thread::Builder::new().name("ledger".to_owned()).spawn(serve);
    thread.map(drop).inspect_err(|_| {
        shared.strangers.leave(number);
    })
}

/// A place among those who have proven the token, given back when this is dropped.
struct Friend<'a>(&'a WitnessShared);

impl<'a> Friend<'a> {
    fn enter(shared: &'a WitnessShared) -> Option<Self> {
        let before = shared.friends.fetch_add(1, Ordering::AcqRel);
        let friend = Self(shared);
        (before < FRIENDS_MAX).then_some(friend)
    }
}

impl Drop for Friend<'_> {
    fn drop(&mut self) {
        self.0.friends.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What a connection asks for, after both ends have proven themselves.
fn serve(mut stream: TcpStream, number: u64, shared: &WitnessShared) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(greeted) = greet(&mut stream, shared)? else {
        return Err(io::Error::other("it has another token"));
    };
    if !shared.strangers.leave(number) {
        return Err(io::Error::other("it was closed to make room for newer connections"));
    }
    let Some(_friend) = Friend::enter(shared) else {
        answer(&mut stream, WitnessAnswer::Refused, shared, &greeted)?;
        return Err(io::Error::other("too many connections"));
    };
    if greeted.purpose == Purpose::Read {
        answer(&mut stream, WitnessAnswer::Granted, shared, &greeted)?;
        return hand_back(&mut stream, shared, &greeted);
    }
    match open(greeted.purpose, greeted.id, shared) {
        Ok((file, ledger)) => {
            answer(&mut stream, WitnessAnswer::Granted, shared, &greeted)?;
            append(&mut stream, shared, &greeted, file, ledger)
        }
        Err(error) => {
            answer(&mut stream, refusal(&error), shared, &greeted)?;
            Err(error)
        }
    }
}

/// A client that has proven the token.
struct Greeted {
    purpose: Purpose,
    id: LedgerId,
    /// What both ends sent at random.
    mine: [u8; 16],
    theirs: [u8; 16],
}

impl Greeted {
    fn seal(&self, end: SealedEnd, shared: &WitnessShared) -> MessageSeal {
        shared.token.seal(end, [&self.mine, &self.theirs])
    }
}

/// Greets and hears who it is; nothing where the token is another one.
fn greet(stream: &mut TcpStream, shared: &WitnessShared) -> io::Result<Option<Greeted>> {
    let mine = random().map_err(|error| io::Error::other(error.to_string()))?;
    stream.write_all(&[GREETING.as_slice(), &mine].concat())?;
    let (mut said, wait) = ([0; 16 + PROOF_BYTES + 1 + 16], PeerWait::of(GREETING_TIME));
    read_within(stream, &mut said, wait)?;
    let (theirs, rest) = said.split_at(16);
    let (proof, request) = rest.split_at(PROOF_BYTES);
    let theirs: [u8; 16] = theirs.try_into().map_err(|_| ErrorKind::InvalidData)?;
    if !shared.token.is_proven(SealedEnd::Client, [&mine, &theirs], request, proof) {
        let refused = [&[WitnessAnswer::WrongToken.number()], [0; PROOF_BYTES].as_slice()].concat();
        stream.write_all(&refused)?;
        return Ok(None);
    }
    let purpose = Purpose::of_number(request[0]).ok_or(ErrorKind::InvalidData)?;
    let id = LedgerId(request[1..].try_into().map_err(|_| ErrorKind::InvalidData)?);
    Ok(Some(Greeted { purpose, id, mine, theirs }))
}

fn answer(
    stream: &mut TcpStream,
    answer: WitnessAnswer,
    shared: &WitnessShared,
    greeted: &Greeted,
) -> io::Result<()> {
    let said = [answer.number()];
    let proof = shared.token.proof(SealedEnd::Witness, [&greeted.mine, &greeted.theirs], &said);
    stream.write_all(&[said.as_slice(), &proof].concat())
}

fn refusal(error: &io::Error) -> WitnessAnswer {
    match error.kind() {
        ErrorKind::NotFound => WitnessAnswer::NoSuchLedger,
        ErrorKind::AlreadyExists => WitnessAnswer::ThereAlready,
        _ => WitnessAnswer::Refused,
    }
}

/// Opens a ledger for the one connection that appends to it from now on.
fn open(
    purpose: Purpose,
    id: LedgerId,
    shared: &WitnessShared,
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

fn writer(shared: &WitnessShared, id: LedgerId) -> Arc<AtomicU64> {
    let mut writers = shared.writers.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(writers.entry(id).or_default())
}

/// Appends what comes, until the other end has said all, another connection takes over, or the disk
/// is full.
fn append(
    stream: &mut TcpStream,
    shared: &WitnessShared,
    greeted: &Greeted,
    mut file: LedgerFile,
    ledger: Option<Ledger>,
) -> io::Result<()> {
    /// How often it is looked for another connection that takes over.
    const POLL_INTERVAL: Duration = Duration::from_millis(100);
    let id = greeted.id;
    let owner = writer(shared, id);
    let mine = owner.load(Ordering::Acquire);
    if let Some(ledger) = ledger {
        begin_activity(shared, id, &ledger.last().head, ledger.last().acknowledgements);
    }
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    let mut seal = greeted.seal(SealedEnd::Witness, shared);
    let mut reader = FrameReader::new(greeted.seal(SealedEnd::Client, shared));
    loop {
        if owner.load(Ordering::Acquire) != mine || shared.stop.load(Ordering::Acquire) {
            return Ok(());
        }
        match reader.receive(stream) {
            Ok(Received::Some) => {}
            Ok(Received::End) => return Ok(()),
            Err(error) if is_waiting(&error) && !reader.is_silent() => continue,
            Err(error) => return Err(error),
        }
        let frames = reader.whole()?;
        if frames.is_empty() && reader.is_silent() {
            return Err(io::Error::new(ErrorKind::TimedOut, "it did not complete a record"));
        }
        if frames.is_empty() {
            continue;
        }
        if let Err(error) = file.append(&frames) {
            stream.write_all(&confirmation(
                &mut seal,
                WitnessAnswer::Refused,
                reader.frames_before(),
            ))?;
            return Err(error);
        }
        note(shared, id, &frames);
        stream.write_all(&confirmation(&mut seal, WitnessAnswer::Granted, reader.frames()))?;
    }
}

fn begin_activity(shared: &WitnessShared, id: LedgerId, head: &LedgerHead, acknowledgements: u64) {
    let now = Instant::now();
    let mut activities = shared.activities();
    let judged = activities.remove(&id).map_or_else(Vec::new, |before| before.judged);
    let head = head.clone();
    let activity = LedgerActivity { id, head, acknowledgements, last: now, began: now, judged };
    activities.insert(id, activity);
}

/// Notes what frames say.
fn note(shared: &WitnessShared, id: LedgerId, mut frames: &[u8]) {
    while let Found::Whole(kind, content, length) = find(frames) {
        frames = &frames[length..];
        match kind {
            FrameKind::Head => {
                if shared.remembers(content)
                    && let Ok(head) = serde_json::from_slice(content)
                {
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
                let judged = serde_json::from_slice(content).ok();
                let mut activities = shared.activities();
                let activity = activities.get_mut(&id);
                if let (Some(judged), Some(activity)) = (judged, activity)
                    && shared.remembers(content)
                {
                    activity.judged.push(judged);
                }
            }
        }
    }
}

/// Sends the newest ledger of a target back, a piece at a time.
fn hand_back(stream: &mut TcpStream, shared: &WitnessShared, greeted: &Greeted) -> io::Result<()> {
    let mut theirs = greeted.seal(SealedEnd::Client, shared);
    let identity = read_identity(stream, &mut theirs, PeerWait::of(PATIENCE))?;
    let newest = shared.index().newest(&shared.store, &identity)?;
    let mut seal = greeted.seal(SealedEnd::Witness, shared);
    if let Some(mut ledger) = newest {
        ledger.file.rewind()?;
        let (mut left, mut piece) = (ledger.whole_bytes, vec![0; PIECE_BYTES_MAX]);
        while left > 0 {
            let length = index_of(left.min(count_of(PIECE_BYTES_MAX)));
            ledger.file.read_exact(&mut piece[..length])?;
            send_piece(stream, &mut seal, &piece[..length])?;
            left -= count_of(length);
        }
    }
    send_piece(stream, &mut seal, &[])
}

#[cfg(test)]
mod between_tests;
#[cfg(test)]
mod tests;
