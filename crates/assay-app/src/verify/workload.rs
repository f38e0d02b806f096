//! The load under which storage is verified: pages at random with flushes behind them, and a log
//! that is durable write by write.

use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{BlockSizeMix, BlockSizePart, Stream, SyncPolicy, Workload};

/// A page of a database: the smallest write, and what a promise is given for.
pub(super) const PAGE: Bytes = Bytes(8 << 10);
/// Intervals of a short run are short.
const INTERVALS_MIN: u64 = 4;
const INTERVAL_NS: u64 = 1_000_000_000;

/// The load for a time.
pub(super) fn workload(time: Nanos) -> Workload {
    let part = |size: u64, share: f64| BlockSizePart { size: Bytes(size), share: Share(share) };
    let pages = Stream {
        block_size: BlockSizeMix {
            parts: vec![part(PAGE.0, 0.8), part(2 * PAGE.0, 0.1), part(8 * PAGE.0, 0.1)],
        },
        sync: SyncPolicy::Fdatasync { every: 8 },
        ..Stream::closed("pages", Share(0.2), PAGE, 16)
    };
    let log = Stream { sync: SyncPolicy::Fua, ..Stream::closed("log", Share(0.0), PAGE, 1) };
    let mut workload = Workload::of("verify", time, pages);
    workload.streams.push(log);
    workload.interval = Nanos(INTERVAL_NS.min((time.0 / INTERVALS_MIN).max(50_000_000)));
    workload
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_valid_for_short_and_long_times() {
        for seconds in [1, 2, 110, 86_400] {
            workload(Nanos(seconds * 1_000_000_000)).check().unwrap();
        }
    }
}
