//! A connected socket, and how long it is waited for: no wait outlasts the request to end the
//! program for long.

use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl, socket_peercred,
};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A wait looks so often whether it has lasted too long or the program is asked to end; what has
/// come in between costs no further system call.
pub(super) const SLICE: Duration = Duration::from_millis(500);
/// So long an answer is waited for when the program is asked to end after it was asked for.
const GRACE: Duration = Duration::from_secs(1);
/// So long an answer is waited for that is asked for after the program was asked to end: cleaning
/// up takes its time.
const LAST_PATIENCE: Duration = Duration::from_secs(60);
/// A peer whose machine is gone is noticed after two minutes: this long idle, then `PROBES` probes,
/// `PROBE_EVERY` apart.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 6;

/// Set when the program is asked to end.
static ENDING: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on no wait for a server outlasts this flag for long; only the first flag counts.
pub fn end_waits_with(flag: &Arc<AtomicBool>) {
    let _ = ENDING.set(Arc::clone(flag));
}

#[inline]
pub(super) fn is_ending() -> bool {
    ENDING.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The way itself.
#[derive(Debug)]
pub(super) enum SocketWay {
    /// On this machine.
    Local(UnixStream),
    /// Over the network, also to this machine.
    Network(TcpStream),
}

/// A socket and its patience.
#[derive(Debug)]
pub(super) struct Socket {
    way: SocketWay,
    /// How long a single wait may last; `None` for as long as it takes.
    patience: Option<Duration>,
    /// When everything must be over.
    deadline: Option<Instant>,
    /// Whether the program was asked to end before this began.
    began_at_end: bool,
    /// Whether the program was asked to end before the last sending, or before the login that it
    /// is a part of.
    sent_at_end: bool,
    /// Whether an answer is outstanding that is not waited for any longer: what is asked next
    /// would be answered by it.
    is_over: bool,
}

impl SocketWay {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Local(stream) => Self::Local(stream.try_clone()?),
            Self::Network(stream) => Self::Network(stream.try_clone()?),
        })
    }

    pub(super) fn shut_down(&self) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.shutdown(Shutdown::Both),
            Self::Network(stream) => stream.shutdown(Shutdown::Both),
        }
    }

    fn slice(&self, time: Duration) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream
                .set_read_timeout(Some(time))
                .and_then(|()| stream.set_write_timeout(Some(time))),
            Self::Network(stream) => stream
                .set_read_timeout(Some(time))
                .and_then(|()| stream.set_write_timeout(Some(time))),
        }
    }

    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.read(room),
            Self::Network(stream) => stream.read(room),
        }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Local(stream) => stream.write(bytes),
            Self::Network(stream) => stream.write(bytes),
        }
    }
}

impl Socket {
    pub(super) fn over(way: SocketWay) -> io::Result<Self> {
        way.slice(SLICE)?;
        if let SocketWay::Network(stream) = &way {
            probe(stream)?;
        }
        let began_at_end = is_ending();
        let sent_at_end = began_at_end;
        Ok(Self { way, patience: None, deadline: None, began_at_end, sent_at_end, is_over: false })
    }

    pub(super) const fn way(&self) -> &SocketWay {
        &self.way
    }

    /// Everything must be over after this time; `None` for no such end.
    pub(super) fn end_after(&mut self, time: Option<Duration>) {
        self.deadline = time.map(|time| Instant::now() + time);
    }

    pub(super) fn wait_at_most(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.patience = time;
        self.way.slice(time.map_or(SLICE, |time| time.min(SLICE)))
    }

    /// The number of the user who listens on the other side of a local socket.
    pub(super) fn peer_user(&self) -> io::Result<Option<u32>> {
        match &self.way {
            SocketWay::Local(stream) => Ok(Some(socket_peercred(stream)?.uid.as_raw())),
            SocketWay::Network(_) => Ok(None),
        }
    }

    /// Decides about an error of a system call after waiting this long: nothing when it is to be
    /// tried again.
    #[cold]
    fn waited(&mut self, error: io::Error, begun: &mut Option<Instant>) -> io::Result<()> {
        match error.kind() {
            io::ErrorKind::Interrupted => return Ok(()),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
            _ => return Err(error),
        }
        let now = Instant::now();
        // The first slice has just passed.
        let so_far = now - *begun.get_or_insert(now.checked_sub(SLICE).unwrap_or(now));
        self.check_deadline(now)?;
        let is_over = |most: Duration| so_far >= most;
        self.is_over = match (is_ending(), self.sent_at_end) {
            (true, false) => is_over(GRACE),
            (true, true) => is_over(LAST_PATIENCE),
            _ => false,
        };
        if self.is_over {
            return Err(ended());
        }
        if self.patience.is_some_and(is_over) { Err(late()) } else { Ok(()) }
    }

    fn check_deadline(&self, now: Instant) -> io::Result<()> {
        if self.deadline.is_some_and(|deadline| now >= deadline) { Err(late()) } else { Ok(()) }
    }

    /// A server that sends drop by drop is not waited for longer than one that is silent.
    #[inline]
    fn check_drops(&self) -> io::Result<()> {
        if self.deadline.is_some() { self.check_deadline(Instant::now()) } else { Ok(()) }
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut begun = None;
        loop {
            match self.way.read(room) {
                Ok(0) if !room.is_empty() => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => return self.check_drops().map(|()| read),
                Err(error) => self.waited(error, &mut begun)?,
            }
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_over {
            return Err(ended());
        }
        self.sent_at_end = if self.deadline.is_some() { self.began_at_end } else { is_ending() };
        let mut begun = None;
        loop {
            match self.way.write(bytes) {
                Ok(written) => return Ok(written),
                Err(error) => self.waited(error, &mut begun)?,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a wait ended that was not the server's fault.
pub(super) fn ended() -> io::Error {
    io::Error::other("interrupted: the program is ending")
}

pub(super) fn late() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}

/// A machine that is gone sends no end.
fn probe(stream: &TcpStream) -> io::Result<()> {
    set_socket_keepalive(stream, true)?;
    set_tcp_keepidle(stream, PROBE_AFTER)?;
    set_tcp_keepintvl(stream, PROBE_EVERY)?;
    Ok(set_tcp_keepcnt(stream, PROBES)?)
}
