//! A run that left its level, in sentences: burst and sustained apart, and when.

use super::rates::{paced, rounded};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::RunIncident;
use assay_model::Estimate;
use assay_model::number::nanoseconds;
use assay_model::verdict::{LevelChange, Unit};

/// Rates that differ by less are one: then it is the times that changed.
const SAME_SHARE: f64 = 0.05;

/// Where a level went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LevelsWay {
    /// To a lower rate, or to longer times at the same one.
    Fell,
    /// To a higher rate, or to shorter times at the same one.
    Rose,
}

impl LevelsWay {
    fn of(change: &LevelChange) -> Self {
        let (before, after) = (change.before_iops.value, change.after_iops.value);
        let same = (before - after).abs() <= SAME_SHARE * before.max(after);
        let worse =
            if same { change.after_ns.value > change.before_ns.value } else { after < before };
        if worse { Self::Fell } else { Self::Rose }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Fell => "fell",
            Self::Rose => "rose",
        }
    }
}

/// What the run gives for good and what it gave before: `873 IOPS sustained, after a burst of 5,000
/// IOPS for 30 s`. Where something else shaped the numbers, neither is the storage's own, and they
/// are only two levels: a host that became busy ends a level as a store of credits does.
pub(super) fn sustained(change: &LevelChange, is_disturbed: bool, format: &Formatter) -> String {
    let (before, after) = (rate(&change.before_iops, format), rate(&change.after_iops, format));
    let at = show_length(change.at_s);
    match LevelsWay::of(change) {
        _ if is_disturbed => format!("{after} from {at} on, after {before} at first"),
        LevelsWay::Fell => {
            format!("{after} sustained, after a burst of {before} that ended at {at}")
        }
        LevelsWay::Rose => format!("{after} sustained from {at} on, after {before} at first"),
    }
}

/// What a reader of the numbers has to know of the change.
pub(super) fn sentence(change: &LevelChange, format: &Formatter) -> String {
    let at = show_length(change.at_s);
    let (before, after) = (state(change, true, format), state(change, false, format));
    if change.settled {
        format!(
            "The level {} {at} into the run: {before} before, {after} since. Intervals, criteria \
             and numbers with an interval cover only the sustained level; counts, the maximum and \
             histograms cover the whole run.",
            LevelsWay::of(change).word()
        )
    } else {
        format!(
            "The level {} {at} into the run, from {before} to {after}, and none held for the last \
             quarter: the numbers mix levels, so no criterion is decided.",
            LevelsWay::of(change).word()
        )
    }
}

/// The same as a mark on the time axis.
pub(super) fn event(change: &LevelChange, format: &Formatter) -> RunIncident {
    let (before, after) = (rate(&change.before_iops, format), rate(&change.after_iops, format));
    let what = format!("the level {} from {before} to {after}", LevelsWay::of(change).word());
    RunIncident { at_ns: nanoseconds(change.at_s), what }
}

/// Rate and mean time of one of the two levels.
fn state(change: &LevelChange, before: bool, format: &Formatter) -> String {
    let (iops, time) = if before {
        (&change.before_iops, &change.before_ns)
    } else {
        (&change.after_iops, &change.after_ns)
    };
    format!(
        "{} with a mean service time of {}",
        rate(iops, format),
        format.value(Unit::Ns, time.value)
    )
}

fn rate(iops: &Estimate, format: &Formatter) -> String {
    paced("I/Os", &format.shown(Unit::IosPerS, rounded(iops.value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: f64, after: f64, settled: bool) -> LevelChange {
        let exact = |value: f64| Estimate::exact(value, 1);
        LevelChange {
            at_s: 30.0,
            before_iops: exact(before),
            after_iops: exact(after),
            before_ns: exact(1e9 / before),
            after_ns: exact(1e9 / after),
            settled,
        }
    }

    #[test]
    fn burst_and_sustained_are_told_apart_with_the_moment() {
        let fallen = change(5000.0, 873.0, true);
        let said = sustained(&fallen, false, &Formatter::default());
        assert_eq!(said, "873 IOPS sustained, after a burst of 5,000 IOPS that ended at 30 s");
        let disturbed = sustained(&fallen, true, &Formatter::default());
        assert_eq!(disturbed, "873 IOPS from 30 s on, after 5,000 IOPS at first");
        let text = sentence(&fallen, &Formatter::default());
        let begin = "The level fell 30 s into the run: 5,000 IOPS with a mean service time of 200 \
                     µs before, 873 IOPS with a mean service time of 1.15 ms since.";
        assert!(text.starts_with(begin), "{text}");
        assert_eq!(event(&fallen, &Formatter::default()).at_ns, 30_000_000_000);
    }

    #[test]
    fn a_cold_start_is_no_burst() {
        let risen = change(500.0, 2000.0, true);
        let said = sustained(&risen, false, &Formatter::default());
        assert_eq!(said, "2,000 IOPS sustained from 30 s on, after 500 IOPS at first");
        assert!(sentence(&risen, &Formatter::default()).starts_with("The level rose"));
    }

    #[test]
    fn what_did_not_settle_says_that_levels_are_mixed() {
        let text = sentence(&change(5000.0, 873.0, false), &Formatter::default());
        assert!(text.contains("none held for the last quarter"), "{text}");
    }

    #[test]
    fn open_arrivals_change_their_times_only() {
        let slow = LevelChange { after_ns: Estimate::exact(3e6, 1), ..change(1e3, 1e3, true) };
        assert!(sentence(&slow, &Formatter::default()).starts_with("The level fell"));
    }
}
