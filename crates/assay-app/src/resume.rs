//! What a run must have so that it can be taken up again.

use crate::command_line::typed;
use assay_methods::target::is_simulated;
use assay_model::{Error, Result};
use assay_store::{RunReader, StoredDocument};

/// A document without which a run does not go on.
///
/// # Errors
/// A usage error when the program was ended before it was kept.
pub fn needed(run: &RunReader, document: StoredDocument) -> Result<String> {
    run.document(document)?.ok_or_else(|| {
        let manifest = run.manifest();
        Error::usage(
            format!(
                "the run {} ended before its {}, so nothing was measured",
                manifest.id,
                document.file_name()
            ),
            format!("run it again: {}", typed(&manifest.command)),
        )
    })
}

/// Refuses a run whose device had a time of its own, which ended with the program.
///
/// # Errors
/// A usage error that says how to run it again.
pub fn check_resumable(run: &RunReader) -> Result<()> {
    let manifest = run.manifest();
    if !manifest.targets.iter().any(|target| is_simulated(target)) {
        return Ok(());
    }
    Err(Error::usage(
        format!("the run {} is of a simulated device", manifest.id),
        format!(
            "a device in virtual time cannot be resumed; run it again: {}",
            typed(&manifest.command)
        ),
    ))
}
