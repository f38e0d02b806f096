//! Options of a ledger of what was acknowledged: where it lies, and what is done with it after a
//! cut.

use assay_ledger::{LedgerPlace, Token, WitnessAddress};
use assay_model::durability::CutKind;
use assay_model::{Error, Result};
use clap::Args;
use std::path::PathBuf;

/// Heading of these options.
pub const CUTS: &str = "Power cuts";

/// A ledger of what was acknowledged.
#[derive(Args)]
pub struct LedgerOptions {
    /// Record acknowledged writes in this new file (a ledger) on another device
    #[arg(long, value_name = "FILE", conflicts_with = "witness", help_heading = CUTS)]
    ledger: Option<PathBuf>,
    /// Record acknowledged writes at this witness on another machine
    #[arg(long, value_name = "HOST:PORT", requires = "token_file", help_heading = CUTS)]
    witness: Option<String>,
    /// File with the witness's token
    #[arg(long, value_name = "FILE", requires = "witness", help_heading = CUTS)]
    token_file: Option<PathBuf>,
    /// Judge the storage after a cut against its ledger
    #[arg(long, help_heading = CUTS)]
    pub after: bool,
    /// If nothing was lost, continue until the next cut
    #[arg(long, requires = "after", help_heading = CUTS)]
    pub resume: bool,
    /// What was cut; by default the system if it was restarted, otherwise the process
    #[arg(long, value_enum, value_name = "WHAT", requires = "after", help_heading = CUTS)]
    pub cut: Option<CutKind>,
}

impl LedgerOptions {
    /// Where the ledger lies, if there is to be one.
    ///
    /// # Errors
    /// An environment error when the token cannot be read, a usage error when a judgement lacks its
    /// ledger.
    pub fn place(&self) -> Result<Option<LedgerPlace>> {
        if let (Some(address), Some(token)) = (&self.witness, &self.token_file) {
            let token = Token::read(token)?;
            let address = address.clone();
            return Ok(Some(LedgerPlace::Witness(WitnessAddress { address, token })));
        }
        match &self.ledger {
            Some(path) => Ok(Some(LedgerPlace::File(path.clone()))),
            None if self.after => Err(Error::usage(
                "--after needs the ledger of acknowledged writes",
                "specify it with --ledger FILE or --witness HOST:PORT",
            )),
            None => Ok(None),
        }
    }
}
