//! Sub-tables of wait event histograms joined into one curve an event.

use crate::quantity::OracleQuantity;
use crate::report::{EventBucket, EventHistogram};

/// Events in the order they were met, with the intervals of all their tables.
#[derive(Default)]
pub(crate) struct Ranges {
    events: Vec<Collected>,
    /// Whether the report counts in microseconds (12.2 and later): its milliseconds are then 1,024
    /// of them.
    pub(super) is_fine: bool,
}

struct Collected {
    event: String,
    waits: Option<OracleQuantity>,
    buckets: Vec<EventBucket>,
}

impl Ranges {
    pub(super) fn add(
        &mut self,
        event: &str,
        waits: Option<OracleQuantity>,
        buckets: Vec<EventBucket>,
    ) {
        match self.events.iter_mut().find(|known| known.event == event) {
            Some(known) => known.buckets.extend(buckets),
            None => self.events.push(Collected { event: event.to_owned(), waits, buckets }),
        }
    }

    pub(super) fn join(self) -> Vec<EventHistogram> {
        let curves = self.events.into_iter().map(|collected| EventHistogram {
            event: collected.event,
            waits: collected.waits,
            buckets: finest(collected.buckets),
        });
        curves.filter(|curve| !curve.buckets.is_empty()).collect()
    }
}

/// Adjoining intervals out of overlapping tables: narrow ones first, a wide one only where nothing
/// narrower is.
fn finest(mut buckets: Vec<EventBucket>) -> Vec<EventBucket> {
    let end = |bucket: &EventBucket| bucket.high_ns.unwrap_or(u64::MAX);
    buckets.sort_by_key(|bucket| end(bucket) - bucket.low_ns);
    let mut kept: Vec<EventBucket> = Vec::with_capacity(buckets.len());
    for bucket in buckets {
        let overlaps =
            |other: &EventBucket| bucket.low_ns < end(other) && other.low_ns < end(&bucket);
        if !kept.iter().any(overlaps) {
            kept.push(bucket);
        }
    }
    kept.sort_by_key(|bucket| bucket.low_ns);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finer_table_replaces_the_open_ends_of_a_coarse_one() {
        let bucket = |low_ns, high_ns, share| EventBucket { low_ns, high_ns, share, line: 1 };
        let main = [bucket(0, Some(32), 0.5), bucket(32, Some(1024), 0.4), bucket(1024, None, 0.1)];
        let detail = [
            bucket(0, Some(32), 0.5),
            bucket(32, Some(64), 0.3),
            bucket(64, Some(1024), 0.1),
            bucket(1024, Some(2048), 0.1),
            bucket(2048, None, 0.0),
        ];
        let joined = finest([main.as_slice(), &detail].concat());
        let lows: Vec<u64> = joined.iter().map(|bucket| bucket.low_ns).collect();
        assert_eq!(lows, [0, 32, 64, 1024, 2048]);
        assert!((joined.iter().map(|bucket| bucket.share).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
