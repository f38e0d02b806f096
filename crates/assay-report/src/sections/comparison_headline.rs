//! A comparison in words: the ratio, its certainty, and what limits the conclusion.

use super::headline::Headline;
use super::quantity_names::quantity;
use crate::clock::show_length;
use crate::format::Formatter;
use assay_model::Estimate;
use assay_model::comparison::{Comparison, Measure, Pair, Side, SpreadSource};
use assay_model::units::show_count;
use assay_model::verdict::{Outcome, Reason, Unit};

/// Other sides that the headline has room for.
const PAIRS_MAX: usize = 3;
/// Ratios of single runs beyond this are called large, though nothing is known of how the storage
/// varies.
const LARGE: f64 = 1.3;
/// An interval of a ratio that reaches farther does not say that both are the same.
const SAME_MAX: f64 = 1.25;
/// Differences that are named.
const NAMED_MAX: usize = 6;
/// Times that stand next to the primary measure, the first that both sides have.
const TIMES: [(&str, &str); 4] = [
    ("calibration.read.base_service_time", "latency at depth 1"),
    ("read.response_time.q0.99", "p99 of read response time"),
    ("read.response_time.mean", "mean read response time"),
    ("read.service_time.mean", "mean read latency"),
];

pub(super) fn headline(found: &Comparison, format: &Formatter) -> Headline {
    let pairs = found.pairs.iter().take(PAIRS_MAX).map(|pair| {
        let name = &found.sides[pair.other].name;
        format!("{name}: {}.", pair_words(pair))
    });
    let mut sentences: Vec<String> = causes(found);
    sentences.extend(pairs);
    let more = found.pairs.len().saturating_sub(PAIRS_MAX);
    sentences.extend((more > 0).then(|| format!("{more} more below.")));
    let parity = found.pairs.iter().find_map(broken_parity);
    sentences.extend(parity);
    sentences.extend(found.pairs.first().and_then(certainty));
    sentences.extend(found.pairs.first().and_then(Pair::primary).map(caveats).unwrap_or_default());
    sentences.extend(found.tolerance.and_then(|tolerance| judged(found, tolerance, format)));
    Headline { outcome: found.outcome, words: sentences.join(" ") }
}

/// The gravest known cause of each side: a ratio of limits or of neighbours is none of storage.
fn causes(found: &Comparison) -> Vec<String> {
    let of_side = |side: &Side| Some(format!("{}: {}.", side.name, side.causes.first()?));
    found.sides.iter().filter_map(of_side).collect()
}

/// `2.0× the read IOPS (95% CI 1.84–2.17), same latency at depth 1 (0.95–1.06×)`.
fn pair_words(pair: &Pair) -> String {
    let Some(primary) = pair.primary() else {
        return "nothing can be compared".to_owned();
    };
    let first = match &primary.ratio {
        Some(ratio) => {
            format!("{} {}{}", times(ratio.value), what(primary), interval(ratio))
        }
        None => format!("{} cannot be compared", what(primary)),
    };
    [Some(first), over_cells(pair, primary), time_words(pair)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

/// The same measure in all cells of a study.
fn over_cells(pair: &Pair, primary: &Measure) -> Option<String> {
    let same = pair.measures.iter().filter(|one| one.quantity == primary.quantity);
    let ratios: Vec<f64> =
        same.filter_map(|one| one.ratio.as_ref()).map(|ratio| ratio.value).collect();
    (ratios.len() > 1).then(|| {
        let (low, high) = ratios.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| {
            (low.min(*ratio), high.max(*ratio))
        });
        format!("{}–{} over {} cells", times(low).trim_end_matches('×'), times(high), ratios.len())
    })
}

/// The time next to the rate.
fn time_words(pair: &Pair) -> Option<String> {
    let find = |(name, words): &(&str, &'static str)| {
        let is_it = |one: &&Measure| {
            one.quantity == *name && one.subject.is_none() && !one.primary && one.ratio.is_some()
        };
        Some((pair.measures.iter().find(is_it)?, *words))
    };
    let (measure, words) = TIMES.iter().find_map(find)?;
    let ratio = measure.ratio.as_ref()?;
    let ends = format!("{}–{}", digits(ratio.low), times(ratio.high));
    let is_near = ratio.covers(1.0) && ratio.high / ratio.low <= SAME_MAX * SAME_MAX;
    let is_plain = !ratio.has_interval() || ratio.high <= ratio.low;
    Some(if measure.different || pair.run_to_run == SpreadSource::Unknown || is_plain {
        format!("{} the {words}{}", times(ratio.value), interval(ratio))
    } else if is_near {
        format!("same {words} ({ends})")
    } else {
        format!("no difference shown in {words} ({ends})")
    })
}

/// What a measure is, after a factor.
fn what(measure: &Measure) -> String {
    let at = measure.subject.as_ref().map_or_else(String::new, |subject| format!(" at {subject}"));
    let words = match measure.quantity.as_str() {
        "calibration.read.iops_max" => "read IOPS".to_owned(),
        "calibration.write.iops_max" => "write IOPS".to_owned(),
        "calibration.mix.iops_max" => "mixed IOPS".to_owned(),
        name => quantity(name),
    };
    format!("the {words}{at}")
}

/// `2.0×`.
fn times(ratio: f64) -> String {
    format!("{}×", digits(ratio))
}

/// Three digits that count.
pub(super) fn digits(ratio: f64) -> String {
    match ratio {
        _ if ratio.is_infinite() => "∞".to_owned(),
        small if small < 0.1 => format!("{small:.3}"),
        middle if middle < 9.995 => format!("{middle:.2}"),
        large if large < 99.95 => format!("{large:.1}"),
        large => show_count(large),
    }
}

/// ` (95% CI 1.84–2.17)`; nothing of numbers that were counted.
fn interval(ratio: &Estimate) -> String {
    if !ratio.has_interval() {
        return " (no interval)".to_owned();
    }
    if ratio.is_at_least() {
        return format!(" (95% CI at least {})", digits(ratio.low));
    }
    if ratio.low <= 0.0 && ratio.high > 0.0 {
        return format!(" (95% CI up to {})", digits(ratio.high));
    }
    if ratio.high <= ratio.low {
        return String::new();
    }
    format!(" (95% CI {}–{})", digits(ratio.low), digits(ratio.high))
}

/// What keeps a difference from being called one, or that none is shown.
fn certainty(pair: &Pair) -> Option<String> {
    let ratio = pair.primary().and_then(|measure| measure.ratio.as_ref());
    let is_large = ratio.is_some_and(|ratio| !(1.0 / LARGE..=LARGE).contains(&ratio.value));
    match pair.run_to_run {
        SpreadSource::Unknown if is_large => Some(
            "The difference is large, but the run-to-run variation is unknown: measure each side \
             three times."
                .to_owned(),
        ),
        SpreadSource::Unknown => Some(
            "The run-to-run variation is unknown, so this does not show a difference in the \
             storage: measure each side three times."
                .to_owned(),
        ),
        SpreadSource::Counted => None,
        _ if ratio.is_some_and(|ratio| !ratio.has_interval()) => Some(
            if is_large {
                "The difference is large, but one side is too short for an interval: measure for \
                 longer."
            } else {
                "One side is too short for an interval, so this shows no difference: measure for \
                 longer."
            }
            .to_owned(),
        ),
        _ if pair.measures.iter().any(|measure| measure.different) => None,
        _ => Some(no_difference(pair)),
    }
}

/// That none is shown, and how many runs would show one of this size.
fn no_difference(pair: &Pair) -> String {
    let none = "No measure differs significantly.";
    let needed = pair.primary().and_then(|primary| primary.ratio.as_ref().zip(primary.runs_needed));
    needed.map_or_else(
        || none.to_owned(),
        |(ratio, runs)| {
            let apart = (ratio.value - 1.0).abs() * 100.0;
            format!(
                "{none} If the difference of {apart:.1}% is real, about {runs} runs of each side \
                 show it."
            )
        },
    )
}

/// What is doubted of the primary measure, each with the sides of which it is; numbers without an
/// interval have theirs above.
fn caveats(primary: &Measure) -> Vec<String> {
    let mut found: Vec<(Vec<&str>, &str)> = Vec::new();
    for doubt in &primary.doubts {
        let (side, what) = doubt.what.split_once(": ").unwrap_or(("", &doubt.what));
        match found.iter_mut().find(|(_, known)| *known == what) {
            Some((sides, _)) => sides.push(side),
            None => found.push((vec![side], what)),
        }
    }
    let sentence = |(sides, what): (Vec<&str>, &str)| format!("{}: {what}.", sides.join(" and "));
    found.into_iter().map(sentence).collect()
}

/// The first ratio of work that says that both sides did not do the same.
fn broken_parity(pair: &Pair) -> Option<String> {
    let check = pair.parity.iter().find(|check| check.outcome == Outcome::Fail)?;
    let apart = (check.other / check.base - 1.0) * 100.0;
    Some(format!("The work was not the same: {} differ by {apart:+.1}%.", check.what))
}

/// Whether the others are good enough.
fn judged(found: &Comparison, tolerance: f64, format: &Formatter) -> Option<String> {
    let tolerance = format.value(Unit::Share, tolerance);
    let base = &found.sides[0].name;
    let others = match found.sides.as_slice() {
        [_, other] => other.name.clone(),
        sides => format!("each of the {} others", sides.len() - 1),
    };
    Some(match found.outcome? {
        Outcome::Pass => format!("No worse than {base} by more than {tolerance}: {others}."),
        Outcome::Fail => format!("Worse than {base} by more than {tolerance}: {}.", worst(found)),
        Outcome::Inconclusive => format!(
            "Not decided whether {others} is no worse than {base} by more than {tolerance}{}{}.",
            undecided(found),
            time_needed(found)
        ),
    })
}

/// The first measure that is worse.
fn worst(found: &Comparison) -> String {
    let measures = found.pairs.iter().flat_map(|pair| &pair.measures);
    let mut failed =
        measures.filter(|measure| measure.judged && measure.outcome == Some(Outcome::Fail));
    failed
        .next()
        .map_or_else(String::new, |measure| format!("{} is {}", name(measure), change(measure)))
}

/// In which measures.
fn undecided(found: &Comparison) -> String {
    let measures = found.pairs.iter().flat_map(|pair| &pair.measures);
    let mut open = measures.filter(|one| one.judged && one.outcome == Some(Outcome::Inconclusive));
    let first = open.next().map(|measure| format!(" in {}", name(measure)));
    match (first, open.count()) {
        (None, _) => String::new(),
        (Some(first), 0) => first,
        (Some(first), more) => format!("{first} and {more} more"),
    }
}

/// How much longer to measure, where that would do.
fn time_needed(found: &Comparison) -> String {
    let of = |pair: &Pair| {
        let elapsed_s = found.sides[0].elapsed_s.min(found.sides[pair.other].elapsed_s);
        let open = pair.measures.iter().filter(|measure| measure.judged);
        open.filter_map(|measure| still_needed_s(measure, elapsed_s)).fold(0.0, f64::max)
    };
    let needed_s = found.pairs.iter().map(of).fold(0.0, f64::max);
    if needed_s > 0.0 {
        format!(": measure each side for {} more", show_length(needed_s))
    } else {
        String::new()
    }
}

pub(super) fn still_needed_s(measure: &Measure, elapsed_s: f64) -> Option<f64> {
    match measure.reason {
        Some(Reason::Straddles { enough_s: Some(enough_s) }) => {
            Some((enough_s - elapsed_s).max(1.0))
        }
        _ => None,
    }
}

/// A measure in words, with its mix, cell or stream.
pub(super) fn name(measure: &Measure) -> String {
    let (mix, rest) = match measure.quantity.strip_prefix("calibration.") {
        Some(rest) => rest.split_once('.').unwrap_or(("", rest)),
        None => ("", measure.quantity.as_str()),
    };
    let of = [mix, measure.subject.as_deref().unwrap_or_default()];
    let of: Vec<&str> = of.into_iter().filter(|part| !part.is_empty()).collect();
    if of.is_empty() {
        return quantity(rest);
    }
    format!("{} ({})", quantity(rest), of.join(", "))
}

/// What the ratio means: percent up to a factor of two, a factor beyond.
pub(super) fn change(measure: &Measure) -> String {
    let Some(ratio) = &measure.ratio else {
        return "not known".to_owned();
    };
    let value = ratio.value;
    if !(0.5..=2.0).contains(&value) {
        return times(value);
    }
    let word = if value < 1.0 { "lower" } else { "higher" };
    format!("{:.1}% {word}", (value - 1.0).abs() * 100.0)
}

/// What differs significantly, the largest differences by name.
pub(super) fn different(pair: &Pair) -> String {
    let mut found: Vec<&Measure> =
        pair.measures.iter().filter(|measure| measure.different).collect();
    let distance =
        |measure: &Measure| measure.ratio.map_or(0.0, |ratio| ratio.value.max(1e-9).ln().abs());
    found.sort_by(|one, other| distance(other).total_cmp(&distance(one)));
    let more = found.len().saturating_sub(NAMED_MAX);
    let named = found.iter().take(NAMED_MAX);
    let named: Vec<String> =
        named.map(|measure| format!("{} {}", name(measure), change(measure))).collect();
    match (named.as_slice(), more) {
        ([], _) if pair.run_to_run == SpreadSource::Unknown => {
            "Single runs cannot show that the storage differs.".to_owned()
        }
        ([], _) => "No measure differs significantly.".to_owned(),
        (named, 0) => format!("Different: {}.", named.join("; ")),
        (named, more) => format!("Different: {}; and {more} more.", named.join("; ")),
    }
}

/// Where the run-to-run variation is known from, in a sentence.
pub(super) fn variation(pair: &Pair) -> String {
    match pair.run_to_run {
        SpreadSource::Repeats => "The repeats show the run-to-run variation.".to_owned(),
        SpreadSource::History { runs } => format!(
            "The run-to-run variation is that of {runs} earlier runs of this workload on the same \
             storage, and of the repeats."
        ),
        SpreadSource::Stated => {
            "The run-to-run variation is the one given with --run-to-run.".to_owned()
        }
        SpreadSource::Simulated => "A simulated device does not vary from run to run.".to_owned(),
        SpreadSource::Counted => {
            "Reports contain counts, which have no confidence interval.".to_owned()
        }
        SpreadSource::Unknown => {
            let ratios = || pair.measures.iter().filter_map(|measure| measure.ratio.as_ref());
            let within = if ratios().any(Estimate::has_interval) {
                ": intervals are those within each run"
            } else {
                ""
            };
            format!("The run-to-run variation is unknown{within}.")
        }
    }
}
