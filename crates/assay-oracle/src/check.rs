//! Values that cannot be true, and numbers of one report that contradict each other.

use crate::knowledge::{self, SINGLE_BLOCK};
use crate::number;
use crate::quantity::{Flag, OracleQuantity};
use crate::report::{OracleReport, ReportEvent, Statistic};
use crate::section::OracleSection;
use assay_model::number::real_len;
use std::collections::HashMap;

/// Of one report at most this many contradictions are kept.
const FLAGS_KEPT: usize = 100;
/// A mean read time of a tablespace above this many times the event's own cannot be the same reads.
const LATENCY_FACTOR: f64 = 50.0;

/// From this share of counters on that contradict their own rates, it is the reading that is wrong.
const CONTRADICTED_SHARE: f64 = 0.2;
/// Fewer counters prove nothing.
const CONTRADICTED_MIN: usize = 5;

/// Counters that contradict their own rates, and the number that have a rate, where there are too
/// many to be chance: numbers may be printed in a way that nothing here knows, so nothing may be
/// concluded from them.
pub(crate) fn contradicted(report: &OracleReport) -> Option<(usize, usize)> {
    let with_rate = report.activity.iter().filter(|row| row.per_second.is_some());
    let totals: Vec<_> = with_rate.filter_map(|row| Some((row, row.total?))).collect();
    let wrong = totals.iter().filter(|(row, total)| rate_of(report, row, total).is_some()).count();
    let share = real_len(wrong) / real_len(totals.len().max(1));
    (wrong >= CONTRADICTED_MIN && share >= CONTRADICTED_SHARE).then_some((wrong, totals.len()))
}

/// From this many numbers and headings on that stand out of place, it is the layout of the copy
/// that was changed.
const MISPLACED_MIN: usize = 8;

/// Numbers and headings out of place, where there are too many to be a release's own: what is left
/// of the report is a choice that the layout made.
pub(crate) fn misplaced(report: &OracleReport) -> Option<usize> {
    let reasons = [number::BESIDE, number::UNKNOWN_HEADINGS];
    let misplaced = report.unread.iter().filter(|unread| reasons.contains(&unread.reason)).count();
    (misplaced >= MISPLACED_MIN).then_some(misplaced)
}

/// Notes every contradiction of a report in its flags.
pub(crate) fn run(report: &mut OracleReport) {
    let mut flags = std::mem::take(&mut report.flags);
    flags.extend(contradicted(report).map(|(wrong, all)| {
        let message = format!(
            "{wrong} of {all} counters contradict their own rates: the number format may be \
             unknown, so they are not used"
        );
        flag(OracleSection::Activity, 0, message)
    }));
    clock(report, &mut flags);
    counters(report, &mut flags);
    means(report, &mut flags);
    read_times(report, &mut flags);
    histograms(report, &mut flags);
    if report.is_excerpt {
        let message = "an excerpt of a report: what it omits is unknown";
        flags.push(flag(OracleSection::Header, 0, message));
    } else if !report.complete {
        let message = "the end of the report is missing: sums cover the rest";
        flags.push(flag(OracleSection::Header, 0, message));
    }
    flags.truncate(FLAGS_KEPT);
    report.flags = flags;
}

fn flag(section: OracleSection, line: u32, message: impl Into<String>) -> Flag {
    Flag { section, line, message: message.into() }
}

/// A number without the digits that only its binary form has.
fn plain(value: f64) -> f64 {
    let digits = format!("{value:.9e}");
    digits.parse().unwrap_or(value)
}

fn at(quantity: &OracleQuantity, message: impl Into<String>) -> Flag {
    flag(quantity.section, quantity.line, message)
}

/// Elapsed time against the snapshots' clocks; a global report prints clocks without seconds.
fn clock(report: &OracleReport, flags: &mut Vec<Flag>) {
    let header = &report.header;
    let (Some(elapsed), Some(begin), Some(end)) =
        (header.elapsed, header.begin.clock_s, header.end.clock_s)
    else {
        return;
    };
    let Ok(between) = u32::try_from(end - begin).map(f64::from) else {
        flags.push(at(&elapsed, "the last snapshot is not after the first"));
        return;
    };
    // Snapshots of a cluster's instances lie up to a minute apart.
    if (between - elapsed.value).abs() > 60.0 + 0.01 * elapsed.value {
        flags.push(at(
            &elapsed,
            format!("{} s elapsed, but {between} s between the snapshots", plain(elapsed.value)),
        ));
    }
}

/// Counters that fell, that stand in two tables with different totals, or whose rate is not their
/// total.
fn counters(report: &OracleReport, flags: &mut Vec<Flag>) {
    let mut seen: HashMap<&str, &Statistic> = HashMap::new();
    for row in &report.activity {
        let Some(total) = row.total else { continue };
        if total.value < 0.0 {
            flags.push(at(
                &total,
                format!("{} fell by {}: the counter wrapped around", row.name, -total.value),
            ));
            continue;
        }
        if let Some(first) = seen.insert(&row.name, row).and_then(|first| first.total) {
            // A cut name can be two counters; only whole names are compared.
            if row.name.len() < 25 && !first.agrees(&total, 0.01) {
                let message = format!(
                    "{} is {} here and {} in line {}",
                    row.name, total.value, first.value, first.line
                );
                flags.push(at(&total, message));
            }
        }
        flags.extend(rate_of(report, row, &total));
    }
}

fn rate_of(report: &OracleReport, row: &Statistic, total: &OracleQuantity) -> Option<Flag> {
    let (elapsed, rate) = (report.header.elapsed?, row.per_second?);
    let expected = total.value / elapsed.value;
    // Some rates are cut or rounded up, not to the nearest.
    let slack =
        2.0 * rate.rounding_width + expected * (elapsed.rounding_width / elapsed.value + 0.02);
    ((rate.value - expected).abs() > slack).then(|| {
        let message = format!(
            "{}: {}/s, but {} over {} s",
            row.name,
            plain(rate.value),
            plain(total.value),
            plain(elapsed.value)
        );
        at(total, message)
    })
}

/// The printed mean of an event against its total over its waits.
fn means(report: &OracleReport, flags: &mut Vec<Flag>) {
    let tables = [&report.foreground_events, &report.background_events, &report.all_events];
    flags.extend(tables.into_iter().flatten().filter_map(mean_of));
}

fn mean_of(event: &ReportEvent) -> Option<Flag> {
    let (waits, time, mean) = (event.waits?, event.time?, event.average?);
    let expected = time.value / waits.value.max(1.0);
    let slack =
        mean.rounding_width + (time.rounding_width + 0.02 * time.value) / waits.value.max(1.0);
    ((mean.value - expected).abs() > slack * 1.01).then(|| {
        at(
            &mean,
            format!(
                "{}: a mean of {} s, but {} s over {} waits",
                event.name,
                plain(mean.value),
                plain(time.value),
                plain(waits.value)
            ),
        )
    })
}

/// Read times of tablespaces that the wait events rule out.
fn read_times(report: &OracleReport, flags: &mut Vec<Flag>) {
    let events = report.foreground_events.iter();
    let single = events.filter(|event| knowledge::is_any(&event.name, SINGLE_BLOCK));
    let Some(mean_s) = single.filter_map(ReportEvent::mean_s).reduce(f64::max) else {
        return;
    };
    for row in &report.tablespaces {
        let Some(time) = row.read_time else { continue };
        let reads = row.reads.map_or(0.0, |reads| reads.value);
        // Large reads take longer; a few slow ones prove nothing.
        if reads >= 100.0 && time.value > 1.0 && time.value > LATENCY_FACTOR * mean_s {
            flags.push(at(
                &time,
                format!(
                    "{}: {} s per read, but sessions wait {} s for a single block",
                    row.tablespace,
                    plain(time.value),
                    plain(mean_s)
                ),
            ));
        }
    }
}

/// Shares of a joined curve must be all of it within their rounding.
fn histograms(report: &OracleReport, flags: &mut Vec<Flag>) {
    for curve in &report.histograms {
        let sum: f64 = curve.buckets.iter().map(|bucket| bucket.share).sum();
        let slack = 0.0005 * real_len(curve.buckets.len()) + 0.001;
        if (sum - 1.0).abs() > slack {
            let line = curve.buckets.first().map_or(0, |bucket| bucket.line);
            let message =
                format!("{}: its buckets hold {:.1}% of its waits", curve.event, sum * 100.0);
            flags.push(flag(OracleSection::Histogram, line, message));
        }
    }
}
