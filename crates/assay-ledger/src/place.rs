//! Where a ledger lies: in a file on another device, or at a witness on another machine.

use crate::file::{LedgerFile, read_ledger, refusal};
use crate::ledger::{Ledger, LedgerHead, LedgerId, head_frame, judgement_frame};
use crate::link::WitnessLink;
use crate::wire::{Purpose, WitnessAddress};
use assay_model::durability::JudgedCut;
use assay_model::{Error, Result};
use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Where a ledger lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerPlace {
    /// A file.
    File(PathBuf),
    /// A witness on another machine.
    Witness(WitnessAddress),
}

/// A ledger that is open for appending.
#[derive(Debug)]
pub struct LedgerWriter {
    pub(crate) sink: LedgerSink,
}

/// What frames go to.
#[derive(Debug)]
pub(crate) enum LedgerSink {
    File(LedgerFile),
    Witness(Box<WitnessLink>),
}

impl fmt::Display for LedgerPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(formatter),
            Self::Witness(address) => write!(formatter, "the witness {address}"),
        }
    }
}

impl LedgerPlace {
    /// Finds out early, before anything is written elsewhere, whether a new ledger can be made.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn check_new(&self) -> Result<()> {
        match self {
            Self::File(path) if path.symlink_metadata().is_ok() => {
                Err(refusal("creating", path, &ErrorKind::AlreadyExists.into()))
            }
            Self::File(_) => Ok(()),
            Self::Witness(address) => address.reach(),
        }
    }

    /// Makes a new ledger and writes its head.
    ///
    /// # Errors
    /// An environment error when there is a file already, or the witness cannot be reached or
    /// refuses.
    pub fn create(&self, id: LedgerId, head: &LedgerHead) -> Result<LedgerWriter> {
        let sink = match self {
            Self::File(path) => LedgerFile::create(path)
                .map(LedgerSink::File)
                .map_err(|error| refusal("creating", path, &error))?,
            Self::Witness(address) => {
                LedgerSink::Witness(Box::new(address.open(Purpose::Create, id)?))
            }
        };
        self.begin(sink, head)
    }

    /// Opens a ledger to go on with another stretch of it.
    ///
    /// # Errors
    /// The same, and a usage error when it is another ledger.
    pub fn go_on(&self, id: LedgerId, head: &LedgerHead) -> Result<LedgerWriter> {
        let sink = self.append_to(id)?;
        self.begin(sink, head)
    }

    fn append_to(&self, id: LedgerId) -> Result<LedgerSink> {
        match self {
            Self::File(path) => {
                let (file, ledger) =
                    LedgerFile::go_on(path).map_err(|error| refusal("opening", path, &error))?;
                if ledger.id == id {
                    return Ok(LedgerSink::File(file));
                }
                Err(Error::usage(
                    format!("{} is not the ledger that was read", path.display()),
                    "do not change it during the judgement",
                ))
            }
            Self::Witness(address) => {
                Ok(LedgerSink::Witness(Box::new(address.open(Purpose::Append, id)?)))
            }
        }
    }

    fn begin(&self, mut sink: LedgerSink, head: &LedgerHead) -> Result<LedgerWriter> {
        self.append(&mut sink, &head_frame(head)?)?;
        Ok(LedgerWriter { sink })
    }

    fn append(&self, sink: &mut LedgerSink, frame: &[u8]) -> Result<()> {
        match (self, sink) {
            (Self::File(path), LedgerSink::File(file)) => {
                file.append(frame).map_err(|error| refusal("writing", path, &error))
            }
            (_, LedgerSink::Witness(link)) => link.append_surely(frame),
            (Self::Witness(_), LedgerSink::File(_)) => {
                unreachable!("a sink is opened by its place")
            }
        }
    }

    /// Reads a ledger: the file, or the newest one that the witness has of what is known by this.
    /// Promises of blocks beyond `target_bytes` are left out.
    ///
    /// # Errors
    /// An environment error when it cannot be read, a usage error when it is none.
    pub fn read(&self, identity: &str, target_bytes: u64) -> Result<Ledger> {
        match self {
            Self::File(path) => read_ledger(path, target_bytes)
                .map_err(|error| refusal("reading", path, &error))?
                .map_err(|error| error.context(self)),
            Self::Witness(address) => address.read(identity, target_bytes),
        }
    }

    /// Appends what came of a cut.
    ///
    /// # Errors
    /// As for [`go_on`](Self::go_on).
    pub fn judge(&self, id: LedgerId, judged: &JudgedCut) -> Result<()> {
        let mut sink = self.append_to(id)?;
        self.append(&mut sink, &judgement_frame(judged)?)
    }
}
