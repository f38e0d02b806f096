//! The request to end the program, which every wait for a file or a peer checks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static ENDING: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Every wait of this process ends when this flag is set. The first flag counts.
pub fn end_waits_with(flag: &Arc<AtomicBool>) {
    let _ = ENDING.set(Arc::clone(flag));
}

/// Whether waits are to end.
pub fn is_ending() -> bool {
    ENDING.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}
