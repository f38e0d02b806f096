//! What was acknowledged, kept where a power cut does not reach: the form of a ledger, its file,
//! and the witness that keeps it on another machine.
//!
//! | question | answer |
//! | --- | --- |
//! | what stands in a ledger? | [`LedgerHead`], [`Acknowledgement`], judgements; [`Ledger::parse`] reads it |
//! | who takes acknowledgements without making a worker wait? | [`LedgerRecorder`] |
//! | where does it lie? | [`LedgerPlace`]: a file, or a [`WitnessAddress`] |
//! | which acknowledged transactions are there? | [`judge_commits`] |
//! | who keeps it elsewhere? | [`Witness`], which appends and nothing else |
//!
//! A lost acknowledgement only weakens what can be judged: it never raises an alarm. Its form is
//! described in `contract/ledger.md`.
#![forbid(unsafe_code)]
#![allow(
    clippy::missing_errors_doc,
    reason = "a section stands where it says more than that a file or a witness refuses"
)]

mod commits;
mod file;
mod frame;
mod frame_stream;
mod index;
mod ledger;
mod link;
mod place;
mod recorder;
mod sealed;
mod token;
mod wire;
mod witness;

pub use commits::{CommitRange, judge_commits};
pub use frame::Acknowledgement;
pub use ledger::{Epoch, Ledger, LedgerHead, LedgerId, LedgerSubject};
pub use place::{LedgerPlace, LedgerWriter};
pub use recorder::{KeptAcknowledgements, LedgerRecorder};
pub use token::Token;
pub use wire::WitnessAddress;
pub use witness::{LedgerActivity, Witness};
