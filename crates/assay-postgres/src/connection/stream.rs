//! The way to a server: a local socket or TCP, with one system call for each packet.

use crate::address::{Address, Host};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a server may take for a connection, and for each of its answers until it is ready.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that the path of a local socket may have (`sun_path`, with the zero at its end).
const SOCKET_PATH_MAX: usize = 107;

/// A connected socket.
#[derive(Debug)]
pub(super) enum Stream {
    /// On this machine.
    Local(UnixStream),
    /// Over the network, also to this machine.
    Network(TcpStream),
}

/// Ends a session from another thread: what it waits for comes back as lost.
#[derive(Debug)]
pub struct Interrupter(Stream);

impl Interrupter {
    /// Closes the way in both directions.
    pub fn interrupt(&self) {
        // A way that is closed already is what was wanted.
        let _ = match &self.0 {
            Stream::Local(stream) => stream.shutdown(Shutdown::Both),
            Stream::Network(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Stream {
    /// Connects; who does not answer now is not waited for.
    pub(super) fn connect(address: &Address) -> io::Result<Self> {
        let stream = match &address.host {
            Host::Socket(directory) => local(directory, address.port).map(Self::Local),
            Host::Network(name) => network(name, address.port).map(Self::Network),
        }?;
        stream.wait_at_most(Some(CONNECT_TIMEOUT))?;
        Ok(stream)
    }

    /// How long an answer may take; `None` for a statement, which takes the time that it needs.
    pub(super) fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.set_read_timeout(time),
            Self::Network(stream) => stream.set_read_timeout(time),
        }
    }

    /// A second handle on the same socket.
    pub(super) fn interrupter(&self) -> io::Result<Interrupter> {
        Ok(Interrupter(match self {
            Self::Local(stream) => Self::Local(stream.try_clone()?),
            Self::Network(stream) => Self::Network(stream.try_clone()?),
        }))
    }

    /// Reads what is there, at least a byte.
    #[inline]
    pub(super) fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Self::Local(stream) => stream.read(room),
                Self::Network(stream) => stream.read(room),
            };
            match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }

    /// Writes all of it.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.write_all(bytes),
            Self::Network(stream) => stream.write_all(bytes),
        }
    }
}

/// A directory deep in a tree makes a path that no socket may have; through an open directory it is short.
fn local(directory: &Path, port: u16) -> io::Result<UnixStream> {
    let name = format!(".s.PGSQL.{port}");
    let path = directory.join(&name);
    if path.as_os_str().len() <= SOCKET_PATH_MAX {
        return UnixStream::connect(path);
    }
    let opened = std::fs::File::open(directory)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&opened);
    UnixStream::connect(format!("/proc/self/fd/{number}/{name}"))
}

fn network(name: &str, port: u16) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{name} has no address"));
    for place in (name, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&place, CONNECT_TIMEOUT) {
            Ok(stream) => {
                // Every message waits for its answer: collecting small ones would only delay them.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}
