//! `assay node`: measures as a driver on the other end of its pipes says.

use crate::exit::ExitStatus;
use assay_app::cluster::{TOKEN, serve};
use assay_model::Result;
use std::io;

/// Carries the verb out: orders come from standard input, answers go to standard output.
pub fn run() -> Result<ExitStatus> {
    let token = std::env::var(TOKEN).unwrap_or_default();
    serve(io::stdin(), io::stdout(), &token, &crate::signals::stop_flag()?)?;
    Ok(ExitStatus::Success)
}
