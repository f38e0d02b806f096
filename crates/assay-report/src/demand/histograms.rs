//! Histograms of a report side by side, as rates and shares, by the events that were counted.

use super::facts::{percent, significant};
use crate::view::ViewTable;
use assay_model::number::real;
use assay_model::profile::{LatencyCurve, Profile};
use assay_model::units::show_time_ns;

/// Stands where a report says nothing.
const ABSENT: &str = "–";

/// How many I/Os of each kind of event a second took how long.
pub(super) fn histograms(profile: &Profile) -> ViewTable {
    let curves: Vec<(String, &LatencyCurve)> = profile
        .classes
        .iter()
        .filter_map(|class| {
            let curve = class.latency.as_ref()?;
            Some((events(curve, super::facts::purpose(class.purpose)), curve))
        })
        .filter(|(_, curve)| curve.ios() > 0.0)
        .collect();
    let elapsed_s = profile.elapsed_s.as_ref().map_or(0.0, |elapsed| elapsed.value);
    let names = curves.iter().map(|(name, _)| format!("{name}, per second"));
    let names: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    let ranges = ranges(&curves).into_iter().filter(|_| elapsed_s > 0.0);
    let rows = ranges.map(|range| {
        let cell = |(_, curve): &(String, &LatencyCurve)| in_range(curve, range, elapsed_s);
        std::iter::once(words(range.0, range.1)).chain(curves.iter().map(cell)).collect()
    });
    ViewTable::of_numbers("I/Os by latency and event", &names).with(rows)
}

/// The events that a curve counts, in their own names; of a source that names none, the purpose.
fn events(curve: &LatencyCurve, purpose: &str) -> String {
    if curve.events.is_empty() { purpose.to_owned() } else { curve.events.join(", ") }
}

/// Every range that any curve counts, ascending.
fn ranges(curves: &[(String, &LatencyCurve)]) -> Vec<(u64, Option<u64>)> {
    let mut ranges: Vec<(u64, Option<u64>)> = curves
        .iter()
        .flat_map(|(_, curve)| &curve.buckets)
        .filter(|bucket| bucket.ios > 0.0)
        .map(|bucket| (bucket.low_ns, bucket.high_ns))
        .collect();
    ranges.sort_by_key(|(low, high)| (*low, high.unwrap_or(u64::MAX)));
    ranges.dedup();
    ranges
}

fn words(low_ns: u64, high_ns: Option<u64>) -> String {
    let low = show_time_ns(real(low_ns));
    match high_ns {
        Some(high_ns) if low_ns == 0 => format!("below {}", show_time_ns(real(high_ns))),
        Some(high_ns) => format!("{low} – {}", show_time_ns(real(high_ns))),
        None => format!("{low} and longer"),
    }
}

/// Rate and share of one range; a dash where the curve has no such range.
fn in_range(curve: &LatencyCurve, range: (u64, Option<u64>), elapsed_s: f64) -> String {
    let found = curve.buckets.iter().find(|bucket| (bucket.low_ns, bucket.high_ns) == range);
    found.filter(|bucket| bucket.ios > 0.0).map_or_else(
        || ABSENT.to_owned(),
        |bucket| {
            format!(
                "{} ({})",
                significant(bucket.ios / elapsed_s),
                percent(bucket.ios / curve.ios())
            )
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::profile::{Figure, IoClass, IoPurpose, LatencyBucket};

    fn bucket(low_ns: u64, high_ns: Option<u64>, ios: f64) -> LatencyBucket {
        LatencyBucket { low_ns, high_ns, ios }
    }

    fn profile() -> Profile {
        let mut reads = IoClass::new(IoPurpose::SingleBlockRead);
        let buckets = vec![
            bucket(0, Some(1_000_000), 900.0),
            bucket(1_000_000, Some(2_000_000), 0.0),
            bucket(32_000_000, None, 100.0),
        ];
        reads.latency = Some(LatencyCurve { buckets, ..LatencyCurve::default() });
        Profile {
            classes: vec![reads],
            elapsed_s: Some(Figure::new(100.0, "made up")),
            ..crate::demand::fixture::profile()
        }
    }

    #[test]
    fn a_column_is_named_by_the_events_it_counts() {
        let mut profile = profile();
        let curve = profile.classes[0].latency.as_mut().unwrap();
        curve.events = vec!["db file sequential read".to_owned()];
        assert_eq!(histograms(&profile).plain()[0], ["", "db file sequential read, per second"]);
    }

    #[test]
    fn a_histogram_has_rates_and_shares_and_no_empty_range() {
        let rows = histograms(&profile()).plain();
        assert_eq!(rows[0], ["", "single-block reads, per second"]);
        assert_eq!(rows[1], ["below 1.00 ms", "9.00 (90.0%)"]);
        assert_eq!(rows[2], ["32.0 ms and longer", "1.00 (10.0%)"]);
        assert_eq!(rows.len(), 3);
    }
}
