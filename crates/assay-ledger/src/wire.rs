//! How a ledger travels: both ends prove that they know the token, one of three purposes is named, then frames follow.
//!
//! | bytes | from | what |
//! | --- | --- | --- |
//! | 8 + 16 | witness | `ASWITN1\n`, random bytes |
//! | 16 + 32 | client | random bytes, proof of the token |
//! | 1 + 16 | client | purpose, name of the ledger |
//! | 1 + 32 | witness | answer, proof of the token |
//!
//! Behind that the client only sends frames (to create, to append), of which the witness confirms heads and judgements by one byte
//! each; or what one target is known by, and the witness sends the newest ledger of it (to read). The witness carries out nothing: what is sent is stored or handed back.

use crate::frame::{Found, find};
use crate::ledger::LedgerId;
use crate::token::{End, PROOF_BYTES, Token, random};
use assay_model::number::count_of;
use assay_model::{Error, Result};
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

pub(crate) const GREETING: &[u8; 8] = b"ASWITN1\n";
/// How long an answer is waited for, and how long a write may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a write to a witness may block: the recorder waits, no worker does.
const SLOW: Duration = Duration::from_secs(2);
/// How often a witness that has gone is looked for.
const AGAIN: Duration = Duration::from_secs(1);
/// A longer ledger is not fetched.
const LEDGER_BYTES_MAX: u64 = 16 << 30;
/// Longest text that a target is known by.
pub(crate) const IDENTITY_BYTES_MAX: usize = 4096;

/// What a client wants of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Make a new one and append to it.
    Create,
    /// Append to one that is there.
    Append,
    /// Have it sent back.
    Read,
}

/// What the witness answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Granted,
    WrongToken,
    NoSuchLedger,
    ThereAlready,
    Refused,
}

impl Purpose {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Create => 1,
            Self::Append => 2,
            Self::Read => 3,
        }
    }

    pub(crate) const fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Create),
            2 => Some(Self::Append),
            3 => Some(Self::Read),
            _ => None,
        }
    }
}

impl Answer {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Granted => 0,
            Self::WrongToken => 1,
            Self::NoSuchLedger => 2,
            Self::ThereAlready => 3,
            Self::Refused => 4,
        }
    }

    const fn words(number: u8) -> (&'static str, &'static str) {
        match number {
            1 => ("it has another token", "use the same token on both machines"),
            2 => ("it has no ledger of this target", "name the witness that kept its ledger"),
            3 => ("it has a ledger of this name already", "start again"),
            _ => {
                ("it cannot take the ledger", "look at what the witness says, and free space there")
            }
        }
    }
}

/// A witness and the token that it shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessAddress {
    /// `host:port`.
    pub address: String,
    /// The token that both know.
    pub token: Token,
}

impl fmt::Display for WitnessAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.address)
    }
}

/// A connection over which frames are appended; it is made again when it breaks.
#[derive(Debug)]
pub(crate) struct WitnessLink {
    address: WitnessAddress,
    ledger: LedgerId,
    stream: Option<TcpStream>,
    tried: Instant,
}

impl WitnessAddress {
    fn refusal(&self, what: &str, hint: &str) -> Error {
        Error::environment(format!("the witness {self}: {what}"), hint)
    }

    fn lost(&self, error: &io::Error) -> Error {
        self.refusal(
            &error.to_string(),
            "start `assay witness` there, and open its port to this machine",
        )
    }

    pub(crate) fn open(&self, purpose: Purpose, ledger: LedgerId) -> Result<WitnessLink> {
        let stream = self.connect(purpose, ledger)?;
        Ok(WitnessLink {
            address: self.clone(),
            ledger,
            stream: Some(stream),
            tried: Instant::now(),
        })
    }

    fn connect(&self, purpose: Purpose, ledger: LedgerId) -> Result<TcpStream> {
        let lost = |error: io::Error| self.lost(&error);
        let mut addresses = self.address.to_socket_addrs().map_err(lost)?;
        let none = || io::Error::new(ErrorKind::NotFound, "the name has no address");
        let address = addresses.next().ok_or_else(none).map_err(lost)?;
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(lost)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(lost)?;
        stream.set_write_timeout(Some(SLOW)).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        self.shake_hands(&mut stream, purpose, ledger)?;
        Ok(stream)
    }

    fn shake_hands(
        &self,
        stream: &mut TcpStream,
        purpose: Purpose,
        ledger: LedgerId,
    ) -> Result<()> {
        let lost = |error: io::Error| self.lost(&error);
        let (mut greeting, mut theirs, mine) = ([0; 8], [0; 16], random()?);
        stream.read_exact(&mut greeting).map_err(lost)?;
        stream.read_exact(&mut theirs).map_err(lost)?;
        if &greeting != GREETING {
            return Err(
                self.refusal("it does not greet as a witness", "name the port of `assay witness`")
            );
        }
        let both = [&theirs, &mine];
        let mut sent = mine.to_vec();
        sent.extend(self.token.proof(End::Client, both));
        sent.push(purpose.number());
        sent.extend(ledger.0);
        stream.write_all(&sent).map_err(lost)?;
        let (mut answer, mut proof) = ([0; 1], [0; PROOF_BYTES]);
        stream.read_exact(&mut answer).map_err(lost)?;
        stream.read_exact(&mut proof).map_err(lost)?;
        if answer[0] != Answer::Granted.number() {
            let (what, hint) = Answer::words(answer[0]);
            return Err(self.refusal(what, hint));
        }
        if !self.token.is_proven(End::Witness, both, &proof) {
            return Err(
                self.refusal("it does not know the token", "use the same token on both machines")
            );
        }
        Ok(())
    }

    /// Whether it is there and knows the token.
    pub(crate) fn reach(&self) -> Result<()> {
        self.ask("").map(drop)
    }

    /// Asks for the newest ledger of what is known by this; its length, and where it comes from.
    fn ask(&self, identity: &str) -> Result<(u64, TcpStream)> {
        let lost = |error: io::Error| self.lost(&error);
        let mut stream = self.connect(Purpose::Read, LedgerId([0; 16]))?;
        let name = &identity.as_bytes()[..identity.len().min(IDENTITY_BYTES_MAX)];
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
        stream
            .write_all(&length.to_le_bytes())
            .and_then(|()| stream.write_all(name))
            .map_err(lost)?;
        let mut length = [0; 8];
        stream.read_exact(&mut length).map_err(lost)?;
        Ok((u64::from_le_bytes(length), stream))
    }

    /// The newest ledger of what is known by this.
    pub(crate) fn read(&self, identity: &str) -> Result<Vec<u8>> {
        let (length, stream) = self.ask(identity)?;
        if length == 0 {
            let (what, hint) = Answer::words(Answer::NoSuchLedger.number());
            return Err(self.refusal(what, hint));
        }
        if length > LEDGER_BYTES_MAX {
            return Err(self.refusal("what it has is not a ledger", "look at its store"));
        }
        let mut bytes = Vec::new();
        let read =
            stream.take(length).read_to_end(&mut bytes).map_err(|error| self.lost(&error))?;
        if count_of(read) < length {
            return Err(self.lost(&ErrorKind::UnexpectedEof.into()));
        }
        Ok(bytes)
    }
}

impl WitnessLink {
    /// Appends a frame; where the witness has gone, it is looked for again with one of the next frames.
    pub(crate) fn append(&mut self, frame: &[u8]) -> std::result::Result<(), String> {
        if self.stream.is_none() && self.tried.elapsed() >= AGAIN {
            self.tried = Instant::now();
            self.stream = self.address.connect(Purpose::Append, self.ledger).ok();
        }
        let Some(stream) = &mut self.stream else {
            return Err(format!("the witness {} has gone", self.address));
        };
        stream.write_all(frame).map_err(|error| {
            // A frame that was sent in part ends the connection: nothing behind it could be read.
            self.stream = None;
            self.tried = Instant::now();
            format!("the witness {}: {error}", self.address)
        })
    }

    /// Appends a frame and waits until the witness has it.
    pub(crate) fn append_surely(&mut self, frame: &[u8]) -> Result<()> {
        self.append(frame)
            .map_err(|what| Error::environment(what, "look at what the witness says"))?;
        let address = self.address.clone();
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let mut answer = [0; 1];
        stream.read_exact(&mut answer).map_err(|error| address.lost(&error))?;
        if answer[0] == Answer::Granted.number() {
            return Ok(());
        }
        let (what, hint) = Answer::words(answer[0]);
        Err(address.refusal(what, hint))
    }

    /// Says that nothing follows, and waits until the witness has closed.
    pub(crate) fn end(self) {
        let Some(mut stream) = self.stream else { return };
        if stream.shutdown(Shutdown::Write).is_ok() {
            // Whatever comes, the end of it says that all was stored.
            drop(io::copy(&mut stream, &mut io::sink()));
        }
    }
}

/// Reads frames from a stream, each whole, of bounded length.
pub(crate) struct FrameReader {
    bytes: Vec<u8>,
    used: usize,
}

/// What a read of a stream came to.
pub(crate) enum Received {
    /// Whole frames follow.
    Some,
    /// The other end has said all.
    End,
}

impl FrameReader {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), used: 0 }
    }

    /// Waits for more bytes.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn receive(&mut self, stream: &mut TcpStream) -> io::Result<Received> {
        self.bytes.drain(..self.used);
        self.used = 0;
        let mut piece = [0; 8 << 10];
        let length = stream.read(&mut piece)?;
        self.bytes.extend_from_slice(&piece[..length]);
        Ok(if length == 0 { Received::End } else { Received::Some })
    }

    /// All whole frames that are there, as one piece.
    ///
    /// # Errors
    /// `InvalidData` where what is there is not a frame.
    pub(crate) fn whole(&mut self) -> io::Result<&[u8]> {
        let start = self.used;
        loop {
            match find(&self.bytes[self.used..]) {
                Found::Whole(_, _, length) => self.used += length,
                Found::Short(_) => return Ok(&self.bytes[start..self.used]),
                Found::Foreign => return Err(ErrorKind::InvalidData.into()),
            }
        }
    }
}

/// Reads what a target is known by.
///
/// # Errors
/// Those of the system, and `InvalidData` where it is none.
pub(crate) fn read_identity(stream: &mut TcpStream) -> io::Result<String> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let length = usize::from(u16::from_le_bytes(length));
    if length > IDENTITY_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut name = vec![0; length];
    stream.read_exact(&mut name)?;
    String::from_utf8(name).map_err(|_| ErrorKind::InvalidData.into())
}

/// Sends a ledger back; one of no bytes says that there is none.
///
/// # Errors
/// Those of the system.
pub(crate) fn send_back(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(&count_of(bytes.len()).to_le_bytes())?;
    stream.write_all(bytes)
}
