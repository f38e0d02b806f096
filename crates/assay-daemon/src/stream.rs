//! The way to a server: a local socket or TCP, with one system call for each packet.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a server may take for a connection, and for each of its answers until it is ready.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that the path of a local socket may have (`sun_path`, with the zero at its end).
const SOCKET_PATH_MAX: usize = 107;

/// Whether a name is that of this machine, whatever the network.
pub fn is_this_machine(name: &str) -> bool {
    name == "localhost" || name == "::1" || name.starts_with("127.")
}

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
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
    /// Connects to a socket of this machine; who does not answer now is not waited for.
    ///
    /// # Errors
    /// What the system says.
    pub fn local(path: &Path) -> io::Result<Self> {
        Self::connected(Self::Local(local(path)?))
    }

    /// Connects over the network; who does not answer now is not waited for.
    ///
    /// # Errors
    /// What the system says.
    pub fn network(name: &str, port: u16) -> io::Result<Self> {
        Self::connected(Self::Network(network(name, port)?))
    }

    fn connected(stream: Self) -> io::Result<Self> {
        stream.wait_at_most(Some(CONNECT_TIMEOUT))?;
        Ok(stream)
    }

    /// How long an answer may take; `None` for a statement, which takes the time that it needs.
    ///
    /// # Errors
    /// What the system says.
    pub fn wait_at_most(&self, time: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.set_read_timeout(time),
            Self::Network(stream) => stream.set_read_timeout(time),
        }
    }

    /// A second handle on the same socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn interrupter(&self) -> io::Result<Interrupter> {
        Ok(Interrupter(match self {
            Self::Local(stream) => Self::Local(stream.try_clone()?),
            Self::Network(stream) => Self::Network(stream.try_clone()?),
        }))
    }

    /// Reads what is there, at least a byte.
    ///
    /// # Errors
    /// What the system says, and that the other side closed.
    #[inline]
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
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
    ///
    /// # Errors
    /// What the system says.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Local(stream) => stream.write_all(bytes),
            Self::Network(stream) => stream.write_all(bytes),
        }
    }
}

/// A directory deep in a tree makes a path that no socket may have; through an open directory it is short.
fn local(path: &Path) -> io::Result<UnixStream> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return UnixStream::connect(path);
    };
    if path.as_os_str().len() <= SOCKET_PATH_MAX {
        return UnixStream::connect(path);
    }
    let opened = std::fs::File::open(directory)?;
    let number = std::os::fd::AsRawFd::as_raw_fd(&opened);
    UnixStream::connect(Path::new(&format!("/proc/self/fd/{number}")).join(name))
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
