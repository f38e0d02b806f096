//! Ctrl-C and SIGTERM ask a measurement to end; a second one ends the program at once.

use assay_model::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The flag of this program; signals are the program's, not a command's.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// A flag that is set when the program is asked to end.
///
/// # Errors
/// An environment error when the system takes no handler.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    assay_daemon::end_waits_with(&stop);
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so that it sees the flag as the second signal finds it.
        let second = flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop));
        second.and_then(|_| flag::register(signal, Arc::clone(&stop))).map_err(|error| {
            Error::environment(format!("catching signal {signal}: {error}"), "report this as a bug")
        })?;
    }
    Ok(stop)
}

/// Whether the program was asked to end.
pub fn stopped() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed))
}
