//! A connection that appends frames to a witness, reconnects when it breaks, and counts only what
//! is confirmed.

use crate::ledger::LedgerId;
use crate::sealed::{PeerWait, changed, is_waiting, read_within};
use crate::token::{MessageSeal, PROOF_BYTES};
use crate::wire::{PATIENCE, Purpose, WitnessAddress, WitnessAnswer, WitnessSession};
use assay_model::{Error, Result};
use rustix::net::RecvFlags;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// How often a witness that has gone is looked for.
const AGAIN: Duration = Duration::from_secs(1);
/// How long the last confirmations are waited for.
const FAREWELL: Duration = Duration::from_secs(5);
/// Bytes of a confirmation: an answer, how many frames of this connection are on the disk, the
/// seal.
pub(crate) const CONFIRMATION_BYTES: usize = 1 + 8 + PROOF_BYTES;

/// A connection to a witness.
#[derive(Debug)]
pub(crate) struct WitnessLink {
    address: WitnessAddress,
    ledger: LedgerId,
    talk: Option<Talk>,
    tried: Instant,
}

/// What became of acknowledgements since this was last asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The ledger has them.
    pub(crate) kept: u64,
    /// Nobody knows that it has them.
    pub(crate) lost: u64,
    /// Why not.
    pub(crate) reason: Option<String>,
}

/// A session, with what was sent in it and not yet confirmed.
#[derive(Debug)]
struct Talk {
    session: WitnessSession,
    sent: u64,
    confirmed: u64,
    open: VecDeque<Sent>,
    /// A confirmation that has come in part.
    partial: Vec<u8>,
}

/// A frame that was sent.
#[derive(Debug)]
struct Sent {
    number: u64,
    acknowledgements: u64,
    at: Instant,
}

/// The message in which the witness confirms frames.
pub(crate) fn confirmation(seal: &mut MessageSeal, answer: WitnessAnswer, frames: u64) -> Vec<u8> {
    let mut message = vec![answer.number()];
    message.extend(frames.to_le_bytes());
    let sealed = seal.of_next(&message);
    message.extend_from_slice(&sealed);
    message
}

impl WitnessAddress {
    pub(crate) fn open(&self, purpose: Purpose, ledger: LedgerId) -> Result<WitnessLink> {
        Ok(WitnessLink::new(self.clone(), ledger, self.connect(purpose, ledger)?))
    }
}

impl WitnessLink {
    pub(crate) fn new(address: WitnessAddress, ledger: LedgerId, session: WitnessSession) -> Self {
        let (talk, tried) = (Some(Talk::new(session)), Instant::now());
        Self { address, ledger, talk, tried }
    }

    /// Appends a frame with its number of acknowledgements; where the witness has gone, it is
    /// looked for again with one of the next.
    pub(crate) fn append(&mut self, frame: &[u8], acknowledgements: u64) -> Settled {
        if self.talk.is_none() && self.tried.elapsed() >= AGAIN {
            self.tried = Instant::now();
            let session = self.address.connect(Purpose::Append, self.ledger).ok();
            self.talk = session.map(Talk::new);
        }
        let Some(talk) = &mut self.talk else {
            let reason = Some(format!("the witness {} closed the connection", self.address));
            return Settled { kept: 0, lost: acknowledgements, reason };
        };
        let said = talk.say(frame, acknowledgements).and_then(|()| talk.hear());
        self.settled(said)
    }

    /// What became of frames until now.
    fn settled(&mut self, heard: io::Result<()>) -> Settled {
        let Some(talk) = &mut self.talk else { return Settled::default() };
        let kept = talk.take_confirmed();
        let heard = heard.and_then(|()| talk.check_patience());
        let Err(error) = heard else { return Settled { kept, ..Settled::default() } };
        // Nothing behind a frame that was sent in part could be read, and what is not confirmed may
        // be nowhere.
        let lost = talk.open.iter().map(|sent| sent.acknowledgements).sum();
        let reason = Some(format!("the witness {}: {error}", self.address));
        (self.talk, self.tried) = (None, Instant::now());
        Settled { kept, lost, reason }
    }

    /// Appends a frame and waits until the witness has it.
    pub(crate) fn append_surely(&mut self, frame: &[u8]) -> Result<()> {
        if let Some(reason) = self.append(frame, 0).reason {
            return Err(Error::environment(reason, "check the output of the witness"));
        }
        let Some(talk) = &mut self.talk else { return Ok(()) };
        talk.hear_all(PeerWait::of(PATIENCE)).map_err(|error| self.address.lost(&error))
    }

    /// Says that nothing follows, and waits until the witness has confirmed all.
    pub(crate) fn end(mut self) -> Settled {
        let Some(talk) = &mut self.talk else { return Settled::default() };
        let heard = talk.hear_all(PeerWait::at_the_end(FAREWELL));
        // The witness may have closed already.
        drop(talk.session.stream.shutdown(Shutdown::Write));
        self.settled(heard)
    }
}

impl Talk {
    const fn new(session: WitnessSession) -> Self {
        Self { session, sent: 0, confirmed: 0, open: VecDeque::new(), partial: Vec::new() }
    }

    fn say(&mut self, frame: &[u8], acknowledgements: u64) -> io::Result<()> {
        let seal = self.session.outward.of_next(frame);
        self.sent += 1;
        self.open.push_back(Sent { number: self.sent, acknowledgements, at: Instant::now() });
        self.session.stream.write_all(&[frame, seal.as_slice()].concat())
    }

    /// Hears what has come, without waiting.
    fn hear(&mut self) -> io::Result<()> {
        loop {
            let mut bytes = [0; CONFIRMATION_BYTES];
            let wanted = CONFIRMATION_BYTES - self.partial.len();
            let stream = &self.session.stream;
            match rustix::net::recv(stream, &mut bytes[..wanted], RecvFlags::DONTWAIT) {
                Ok((_, 0)) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok((_, read)) => self.partial.extend_from_slice(&bytes[..read]),
                Err(error) if is_waiting(&error.into()) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if self.partial.len() == CONFIRMATION_BYTES {
                self.take_confirmation()?;
            }
        }
    }

    /// Hears until all that was sent is confirmed.
    fn hear_all(&mut self, wait: PeerWait) -> io::Result<()> {
        while self.confirmed < self.sent {
            let mut bytes = vec![0; CONFIRMATION_BYTES - self.partial.len()];
            read_within(&mut self.session.stream, &mut bytes, wait)?;
            self.partial.extend_from_slice(&bytes);
            self.take_confirmation()?;
        }
        Ok(())
    }

    fn take_confirmation(&mut self) -> io::Result<()> {
        let (message, seal) = self.partial.split_at(CONFIRMATION_BYTES - PROOF_BYTES);
        if !self.session.inward.is_next(message, seal) {
            return Err(changed());
        }
        let answer = message[0];
        let frames = message[1..].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        self.partial.clear();
        if answer != WitnessAnswer::Granted.number() {
            return Err(io::Error::other(WitnessAnswer::words(answer).0));
        }
        // A witness has no more than it was sent, and forgets nothing.
        if !(self.confirmed..=self.sent).contains(&frames) {
            return Err(changed());
        }
        self.confirmed = frames;
        Ok(())
    }

    /// Acknowledgements in frames that were confirmed since the last time.
    fn take_confirmed(&mut self) -> u64 {
        let mut kept = 0;
        while let Some(sent) = self.open.front().filter(|sent| sent.number <= self.confirmed) {
            kept += sent.acknowledgements;
            self.open.pop_front();
        }
        kept
    }

    /// A frame that is not confirmed for long was swallowed on its way.
    fn check_patience(&self) -> io::Result<()> {
        match self.open.front() {
            Some(sent) if sent.at.elapsed() > PATIENCE => {
                Err(io::Error::new(ErrorKind::TimedOut, "it does not confirm records"))
            }
            _ => Ok(()),
        }
    }
}
