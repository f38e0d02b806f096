//! The open files that the sessions of a load need, of the load and of a server that it starts.

use assay_host::open_files::allow_open_files;
use assay_model::Result;

/// A session has its socket, and a second handle by which it is interrupted.
const FILES_A_SESSION: u64 = 2;
/// What a load has open apart from its sessions, at most.
const FILES_APART: u64 = 256;

/// Lets this process have its sessions open; a server that it starts has the same limit, so ask
/// before.
///
/// # Errors
/// When the system allows fewer files.
pub(super) fn allow_sessions(sessions: u32) -> Result<()> {
    let files = FILES_APART + FILES_A_SESSION * u64::from(sessions);
    allow_open_files(files, &format!("a load step of {sessions} sessions"))
}
