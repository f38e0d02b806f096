//! Ctrl-C, SIGTERM and the hang-up of a terminal ask a measurement to end; a second Ctrl-C or
//! SIGTERM ends the program at once.

use assay_model::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
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
    assay_dbserver::end_waits_with(&stop);
    assay_files::end_waits_with(&stop);
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so that it sees the flag as the second signal finds it.
        let second = flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop));
        second.map_err(|error| not_caught(signal, &error))?;
        catch(signal, &stop)?;
    }
    // The kernel and the shell both send it when a terminal goes, so that a second one is not a
    // second wish.
    if !is_ignored(SIGHUP) {
        catch(SIGHUP, &stop)?;
    }
    Ok(stop)
}

fn catch(signal: i32, stop: &Arc<AtomicBool>) -> Result<()> {
    let caught = flag::register(signal, Arc::clone(stop));
    caught.map(drop).map_err(|error| not_caught(signal, &error))
}

fn not_caught(signal: i32, error: &std::io::Error) -> Error {
    Error::environment(format!("catching signal {signal}: {error}"), "report this as a bug")
}

/// Whether this program was started with the signal ignored, as `nohup` does; then it stays so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Lets a write beyond the limit on file sizes fail as any other does, instead of ending the
/// program without a word.
pub fn outlive_file_limits() {
    // Without a handler the limit ends the program, as it would have before.
    drop(flag::register(SIGXFSZ, Arc::default()));
}

/// Whether the program was asked to end.
pub fn stopped() -> bool {
    STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed))
}
