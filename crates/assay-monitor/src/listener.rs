//! A listening socket and the threads that answer: a bounded number of them, and none is left
//! behind.

use crate::http::{self, HttpStatus, Request};
use assay_model::number::index_of;
use assay_model::{Error, Result};
use rustix::process::{Resource, getrlimit};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Connections that are answered at one time, where the limit on open files allows it.
const CONNECTIONS_MAX: usize = 32;
/// The part of all descriptors that connections may take: what is measured needs the others.
const DESCRIPTORS_DIVISOR: u64 = 4;
/// How long those who still read are waited for at the end.
const FAREWELL: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long it waits where the system takes no connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Answers a request.
pub(crate) type ListenerAnswer = dyn Fn(&mut TcpStream, &Request) -> io::Result<()> + Send + Sync;

/// Says why no connection is taken.
pub(crate) type Complain = dyn Fn(&str) + Send + Sync;

/// Connections by how far they are.
#[derive(Default)]
struct Connections {
    /// All of them.
    open: AtomicUsize,
    /// Those whose request is being answered; browsers also keep some open that they may never
    /// use.
    answered: AtomicUsize,
}

/// The socket; it is closed when this is dropped.
pub(crate) struct Listener {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    connections: Arc<Connections>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Binds an address; `option` is what the user wrote to have it.
    ///
    /// # Errors
    /// An environment error when it is in use or not of this machine.
    pub(crate) fn bind(address: SocketAddr, option: &str) -> Result<TcpListener> {
        TcpListener::bind(address).map_err(|error| refused(address, option, &error))
    }

    /// Answers every connection in a thread of its own. What the system refuses for a moment, such
    /// as too many open files, is said once and tried again.
    pub(crate) fn begin(
        socket: TcpListener,
        answer: Arc<ListenerAnswer>,
        complain: Box<Complain>,
    ) -> io::Result<Self> {
        let address = socket.local_addr()?;
        let (stop, connections) = (Arc::<AtomicBool>::default(), Arc::<Connections>::default());
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&connections));
        let accept = move || accept(&socket, &stopped, &counted, &answer, &complain);
        let thread = thread::Builder::new().name("listen".to_owned()).spawn(accept)?;
        Ok(Self { address, stop, connections, thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let begun = Instant::now();
        while self.connections.answered.load(Ordering::Acquire) > 0 && begun.elapsed() < FAREWELL {
            thread::sleep(POLL_INTERVAL);
        }
        self.stop.store(true, Ordering::Release);
        // Accepting waits for a connection, and this is one.
        drop(TcpStream::connect_timeout(&reachable(self.address), FAREWELL));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn accept(
    socket: &TcpListener,
    stop: &AtomicBool,
    connections: &Arc<Connections>,
    answer: &Arc<ListenerAnswer>,
    complain: &Complain,
) {
    let mut is_failing = false;
    while !stop.load(Ordering::Acquire) {
        match socket.accept() {
            Ok((stream, _)) => {
                is_failing = false;
                begin_answer(stream, connections, answer);
            }
            Err(error) => {
                if !std::mem::replace(&mut is_failing, true) {
                    complain(&format!("accepting connections: {error}; trying again"));
                }
                thread::sleep(ACCEPT_PAUSE);
            }
        }
    }
}

fn connections_max() -> usize {
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    CONNECTIONS_MAX.min(index_of(descriptors / DESCRIPTORS_DIVISOR))
}

fn begin_answer(
    mut stream: TcpStream,
    connections: &Arc<Connections>,
    answer: &Arc<ListenerAnswer>,
) {
    if connections.open.load(Ordering::Acquire) >= connections_max() {
        drop(http::refuse(&mut stream, HttpStatus::Unavailable));
        return;
    }
    let open = Counted::new(connections, |connections| &connections.open);
    let (connections, answer) = (Arc::clone(connections), Arc::clone(answer));
    let work = move || {
        let _open = open;
        let read = http::read(&mut stream);
        let _answered = Counted::new(&connections, |connections| &connections.answered);
        // Whoever has gone needs no answer.
        drop(match read {
            Ok(request) => answer(&mut stream, &request),
            Err(Some(status)) => http::refuse(&mut stream, status),
            Err(None) => Ok(()),
        });
    };
    // Without a thread the connection is closed, and nothing else happens.
    drop(thread::Builder::new().name("answer".to_owned()).spawn(work));
}

/// A connection that is counted until this is dropped.
struct Counted {
    connections: Arc<Connections>,
    counter: fn(&Connections) -> &AtomicUsize,
}

impl Counted {
    fn new(connections: &Arc<Connections>, counter: fn(&Connections) -> &AtomicUsize) -> Self {
        counter(connections).fetch_add(1, Ordering::AcqRel);
        Self { connections: Arc::clone(connections), counter }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.connections).fetch_sub(1, Ordering::AcqRel);
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

fn refused(address: SocketAddr, option: &str, error: &io::Error) -> Error {
    let hint = match error.kind() {
        ErrorKind::AddrInUse => {
            format!("another program listens there; specify another port after {option}")
        }
        ErrorKind::PermissionDenied => {
            format!("ports below 1024 need a privilege; specify a higher one after {option}")
        }
        _ => format!("specify an address of this machine after {option}"),
    };
    Error::environment(format!("{option} {address}: {error}"), hint).because(error)
}
