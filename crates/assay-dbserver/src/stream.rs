//! The way to a server: a local socket or TCP, encrypted or not, with one system call for each
//! packet.

mod connect;
mod socket;

pub use socket::end_waits_with;

use crate::peer::SocketOwner;
use crate::tls::{Encrypted, Handshake, Tls};
use assay_model::failure::Answer;
use assay_model::load::Encryption;
use socket::{Socket, SocketWay};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a server that is left may take to close the way.
const PARTING: Duration = Duration::from_secs(5);

/// Whether a name is that of this machine, whatever the network.
pub fn is_this_machine(name: &str) -> bool {
    name == "localhost" || name == "::1" || name.starts_with("127.")
}

/// A connected socket.
#[derive(Debug)]
pub struct ServerStream {
    socket: Socket,
    /// None where what is sent can be read by an attacker in between.
    encrypted: Option<Box<Encrypted>>,
    /// Whether a local socket is a trustworthy account's; see [`SocketOwner`].
    owner: Option<SocketOwner>,
}

/// Ends a session from another thread: what it waits for comes back as lost.
#[derive(Debug)]
pub struct Interrupter(SocketWay);

impl Interrupter {
    /// Closes the way in both directions.
    pub fn interrupt(&self) {
        // A way that is closed already is what was wanted.
        let _ = self.0.shut_down();
    }
}

impl ServerStream {
    /// Connects to a socket of this machine; who does not answer soon is not waited for. `usual`
    /// names the accounts that such servers run as.
    pub fn local(path: &Path, usual: &[&str]) -> io::Result<Self> {
        let (way, place) = connect::local(path)?;
        let mut stream = Self::connected(SocketWay::Local(way))?;
        let peer = stream.socket.peer_user()?;
        stream.owner = peer.map(|user| SocketOwner::of(user, place, usual));
        Ok(stream)
    }

    /// Connects over the network; who does not answer soon is not waited for.
    pub fn network(name: &str, port: u16) -> io::Result<Self> {
        Self::connected(SocketWay::Network(connect::network(name, port)?))
    }

    fn connected(way: SocketWay) -> io::Result<Self> {
        let mut socket = Socket::over(way)?;
        socket.end_after(Some(connect::CONNECT_TIMEOUT));
        Ok(Self { socket, encrypted: None, owner: None })
    }

    /// Encrypts everything from now on.
    ///
    /// # Errors
    /// When the server does not support TLS, or its certificate is refused.
    pub fn encrypt(&mut self, tls: &Tls, host: &str) -> Answer<()> {
        self.encrypted = Some(Box::new(tls.shake_hands(&mut self.socket, host)?));
        Ok(())
    }

    /// How it is encrypted; none where it is not.
    pub fn encryption(&self) -> Option<Encryption> {
        self.encrypted.as_ref().map(|encrypted| encrypted.facts())
    }

    /// What the handshake established; none where nothing is encrypted.
    pub fn handshake(&self) -> Option<&Handshake> {
        self.encrypted.as_ref().map(|encrypted| encrypted.handshake())
    }

    /// Who listens at a local socket; none of a network.
    pub const fn owner(&self) -> Option<&SocketOwner> {
        self.owner.as_ref()
    }

    /// The login is over: from now on a statement takes the time that it needs.
    pub fn wait_as_needed(&mut self) -> io::Result<()> {
        self.socket.end_after(None);
        self.socket.wait_at_most(None)
    }

    /// How long a wait for an answer may last.
    pub fn wait_at_most(&mut self, time: Duration) -> io::Result<()> {
        self.socket.end_after(None);
        self.socket.wait_at_most(Some(time))
    }

    /// Says that this is the end: the other side has a moment to say the same.
    pub fn part(&mut self) {
        self.socket.end_after(Some(PARTING));
    }

    /// A second handle on the same socket.
    pub fn interrupter(&self) -> io::Result<Interrupter> {
        Ok(Interrupter(self.socket.way().try_clone()?))
    }

    /// Reads what is there, at least a byte.
    ///
    /// # Errors
    /// What the system says, and that the other side closed.
    #[inline]
    pub fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match &mut self.encrypted {
            None => self.socket.read(room),
            Some(encrypted) => encrypted.receive(&mut self.socket, room),
        }
    }

    /// Writes all of it.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.encrypted {
            None => self.socket.write_all(bytes),
            Some(encrypted) => encrypted.send(&mut self.socket, bytes),
        }
    }
}

/// One end of a pair, for servers made of bytes.
impl From<UnixStream> for ServerStream {
    fn from(stream: UnixStream) -> Self {
        let mut pair = Self::pair(SocketWay::Local(stream));
        let peer = pair.socket.peer_user().ok().flatten();
        pair.owner = peer.map(SocketOwner::made_here);
        pair
    }
}

/// A connection that another made.
impl From<TcpStream> for ServerStream {
    fn from(stream: TcpStream) -> Self {
        Self::pair(SocketWay::Network(stream))
    }
}

impl ServerStream {
    fn pair(way: SocketWay) -> Self {
        let socket = Socket::over(way).unwrap_or_else(|error| panic!("a socket: {error}"));
        Self { socket, encrypted: None, owner: None }
    }
}
