//! Verification of what `run` and `soak` read, as it is planned.

use crate::cluster::HostsPlan;
use crate::recording::{Recording, check_verifiable};
use assay_model::units::Share;
use assay_model::{Error, Result, Workload};
use clap::Args;
use serde::{Deserialize, Serialize};

/// The share of the reads that are compared with what was written; nothing is verified without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadVerification {
    /// Verify reads (all, or this share) against what was written, and read everything again at
    /// the end
    #[arg(
        id = "verify",
        long = "verify",
        value_name = "SHARE",
        conflicts_with = "hosts",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100%"
    )]
    pub share: Option<Share>,
}

impl ReadVerification {
    /// Whether nothing is verified.
    pub const fn is_none(&self) -> bool {
        self.share.is_none()
    }

    /// Refuses a workload that cannot be verified, and several hosts, each of which knows only its
    /// own writes.
    ///
    /// # Errors
    /// A usage error that says why.
    pub(crate) fn check(self, workload: &Workload, hosts: Option<&HostsPlan>) -> Result<()> {
        let Some(share) = self.share else { return Ok(()) };
        if hosts.is_some() {
            return Err(Error::usage(
                "--verify checks the writes of one host, but --hosts lists several",
                "leave one of them out",
            ));
        }
        check_verifiable(workload, share)
    }

    /// Verifies everything that is measured from now on.
    ///
    /// # Errors
    /// A usage error when the targets cannot be verified.
    pub(crate) fn begin(self, workload: &Workload, recording: &mut Recording) -> Result<()> {
        self.share.map_or(Ok(()), |share| recording.verify(workload, share))
    }
}
