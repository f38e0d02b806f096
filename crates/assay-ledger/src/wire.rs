//! How a ledger travels: both ends prove that they know the token, one of three purposes is named,
//! then sealed messages follow.
//!
//! | bytes | from | what |
//! | --- | --- | --- |
//! | 8 + 16 | witness | `ASWITN2\n`, random bytes |
//! | 16 + 32 | client | random bytes, proof of the token, of the purpose and of the name |
//! | 1 + 16 | client | purpose, name of the ledger |
//! | 1 + 32 | witness | answer, proof of the token and of the answer |
//!
//! Behind that each message carries a seal of 32 bytes: HMAC-SHA-256 of the number of messages
//! before it and of the message, under a key made of the token and both random numbers, one for
//! each direction. The client sends frames (to create, to append), and the witness says how many of
//! them are on its disk; or what one target is known by, and the witness sends the newest ledger of
//! it in pieces (to read). The witness carries out nothing: what is sent is stored or handed back.

use crate::ledger::{Ledger, LedgerId};
use crate::sealed::{PeerWait, SealedPieces, changed, read_within};
use crate::token::{MessageSeal, PROOF_BYTES, SealedEnd, Token, random};
use assay_files::is_ending;
use assay_model::{Error, Result};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

pub(crate) const GREETING: &[u8; 8] = b"ASWITN2\n";
/// Greetings of witnesses of other versions begin so.
const GREETING_BEGIN: &[u8] = b"ASWITN";
/// How long an answer is waited for, and how long a write may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// How long a write to a witness may block: the recorder waits, no worker does.
const SLOW: Duration = Duration::from_secs(2);
/// A part of the time in which a connection may come about; Ctrl-C is heard between two.
const CONNECT_SLICE: Duration = Duration::from_secs(1);
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
pub(crate) enum WitnessAnswer {
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

impl WitnessAnswer {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Granted => 0,
            Self::WrongToken => 1,
            Self::NoSuchLedger => 2,
            Self::ThereAlready => 3,
            Self::Refused => 4,
        }
    }

    pub(crate) const fn words(number: u8) -> (&'static str, &'static str) {
        match number {
            1 => ("it has another token", "use the same token on both machines"),
            2 => (
                "it does not have a ledger of this target",
                "specify the witness that kept its ledger",
            ),
            3 => ("it already has a ledger with this name", "start again"),
            _ => (
                "it cannot store the ledger",
                "check the output of the witness, and free space there",
            ),
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

/// A conversation that both ends have proven themselves for.
#[derive(Debug)]
pub(crate) struct WitnessSession {
    pub(crate) stream: TcpStream,
    /// Seals what the client says.
    pub(crate) outward: MessageSeal,
    /// Judges what the witness says.
    pub(crate) inward: MessageSeal,
}

impl WitnessAddress {
    pub(crate) fn refusal(&self, what: &str, hint: &str) -> Error {
        Error::environment(format!("the witness {self}: {what}"), hint)
    }

    pub(crate) fn lost(&self, error: &io::Error) -> Error {
        let hint = match error.kind() {
            ErrorKind::InvalidData => "connect the two machines directly",
            ErrorKind::ConnectionAborted => "start again",
            _ => "start `assay verify witness` there, and open its port to this machine",
        };
        self.refusal(&error.to_string(), hint)
    }

    pub(crate) fn connect(&self, purpose: Purpose, ledger: LedgerId) -> Result<WitnessSession> {
        let lost = |error: io::Error| self.lost(&error);
        let mut addresses = self.address.to_socket_addrs().map_err(lost)?;
        let none = || io::Error::new(ErrorKind::NotFound, "the name has no address");
        let address = addresses.next().ok_or_else(none).map_err(lost)?;
        let stream = connect_to(address).map_err(lost)?;
        stream.set_write_timeout(Some(SLOW)).map_err(lost)?;
        stream.set_nodelay(true).map_err(lost)?;
        self.shake_hands(stream, purpose, ledger)
    }

    fn shake_hands(
        &self,
        mut stream: TcpStream,
        purpose: Purpose,
        ledger: LedgerId,
    ) -> Result<WitnessSession> {
        let lost = |error: io::Error| self.lost(&error);
        let wait = PeerWait::of(PATIENCE);
        let (mut greeting, mut theirs, mine) = ([0; 8], [0; 16], random()?);
        read_within(&mut stream, &mut greeting, wait).map_err(lost)?;
        self.check_greeting(greeting)?;
        read_within(&mut stream, &mut theirs, wait).map_err(lost)?;
        let (both, request) = ([&theirs, &mine], request(purpose, ledger));
        let proof = self.token.proof(SealedEnd::Client, both, &request);
        let sent = [mine.as_slice(), &proof, &request].concat();
        stream.write_all(&sent).map_err(lost)?;
        let (mut answer, mut proof) = ([0; 1], [0; PROOF_BYTES]);
        read_within(&mut stream, &mut answer, wait).map_err(lost)?;
        read_within(&mut stream, &mut proof, wait).map_err(lost)?;
        let is_proven = self.token.is_proven(SealedEnd::Witness, both, &answer, &proof);
        // A witness that does not know the token can prove nothing of its answer.
        if !is_proven && answer[0] != WitnessAnswer::WrongToken.number() {
            let what = "it has another token";
            return Err(self.refusal(what, "use the same token on both machines"));
        }
        if answer[0] != WitnessAnswer::Granted.number() {
            let (what, hint) = WitnessAnswer::words(answer[0]);
            return Err(self.refusal(what, hint));
        }
        let (outward, inward) =
            (self.token.seal(SealedEnd::Client, both), self.token.seal(SealedEnd::Witness, both));
        Ok(WitnessSession { stream, outward, inward })
    }

    fn check_greeting(&self, greeting: [u8; 8]) -> Result<()> {
        if greeting == *GREETING {
            return Ok(());
        }
        Err(if greeting.starts_with(GREETING_BEGIN) {
            let what = "it has another version";
            self.refusal(what, "install the same version on both machines")
        } else {
            self.refusal("it is not a witness", "specify the port of `assay verify witness`")
        })
    }

    /// Whether it is there and knows the token.
    pub(crate) fn reach(&self) -> Result<()> {
        self.ask("").map(drop)
    }

    /// Asks for the newest ledger of what is known by this; nothing where it has none.
    fn ask(&self, identity: &str) -> Result<Option<SealedPieces>> {
        let lost = |error: io::Error| self.lost(&error);
        let WitnessSession { mut stream, mut outward, inward } =
            self.connect(Purpose::Read, LedgerId([0; 16]))?;
        let name = &identity.as_bytes()[..identity.len().min(IDENTITY_BYTES_MAX)];
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
        let mut message = [&length.to_le_bytes(), name].concat();
        let seal = outward.of_next(&message);
        message.extend_from_slice(&seal);
        stream.write_all(&message).map_err(lost)?;
        let mut pieces = SealedPieces::new(stream, inward);
        Ok(pieces.has_any().map_err(lost)?.then_some(pieces))
    }

    /// The newest ledger of what is known by this.
    pub(crate) fn read(&self, identity: &str, target_bytes: u64) -> Result<Ledger> {
        let Some(pieces) = self.ask(identity)? else {
            let (what, hint) = WitnessAnswer::words(WitnessAnswer::NoSuchLedger.number());
            return Err(self.refusal(what, hint));
        };
        let ledger = Ledger::read(pieces, target_bytes).map_err(|error| self.lost(&error))?;
        ledger.map_err(|error| error.context(format_args!("the witness {self}")))
    }
}

/// What a client asks for, as it is proven and sent.
pub(crate) fn request(purpose: Purpose, ledger: LedgerId) -> Vec<u8> {
    let mut bytes = vec![purpose.number()];
    bytes.extend(ledger.0);
    bytes
}

/// Connects in slices: a wait for a machine that is off ends with Ctrl-C.
fn connect_to(address: SocketAddr) -> io::Result<TcpStream> {
    for slice in (0..PATIENCE.as_secs()).rev() {
        match TcpStream::connect_timeout(&address, CONNECT_SLICE) {
            Err(error) if error.kind() == ErrorKind::TimedOut && slice > 0 && !is_ending() => {}
            connected => return connected,
        }
    }
    Err(ErrorKind::TimedOut.into())
}

/// Reads what a target is known by.
///
/// # Errors
/// Those of the system, and `InvalidData` where it is none.
pub(crate) fn read_identity(
    stream: &mut TcpStream,
    seal: &mut MessageSeal,
    wait: PeerWait,
) -> io::Result<String> {
    let mut length = [0; 2];
    read_within(stream, &mut length, wait)?;
    let name = usize::from(u16::from_le_bytes(length));
    if name > IDENTITY_BYTES_MAX {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; 2 + name];
    message[..2].copy_from_slice(&length);
    read_within(stream, &mut message[2..], wait)?;
    let mut theirs = [0; PROOF_BYTES];
    read_within(stream, &mut theirs, wait)?;
    if !seal.is_next(&message, &theirs) {
        return Err(changed());
    }
    String::from_utf8(message.split_off(2)).map_err(|_| ErrorKind::InvalidData.into())
}
