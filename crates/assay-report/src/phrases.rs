//! Words that the page, the text and the charts share.

use crate::format::Formatter;
use assay_model::Estimate;
use assay_model::calibration::{Capacity, CapacityBound, Contradiction, LatencyLimit};
use assay_model::measurement::{BackendKind, Conduct, Finish, PerOperation, Submission};
use assay_model::units::Bytes;
use assay_model::verdict::Unit;

/// The digits behind `p`: `50`, `99`, `99.9`, `99.99`.
pub(crate) fn nines(quantile: f64) -> String {
    let hundredfold = (quantile * 1e9).round() / 1e7;
    hundredfold.to_string()
}

/// Words with a capital letter.
pub(crate) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// A sentence begins with a capital letter, but for a quantile: `p99`.
pub(crate) fn capital_words(words: &str) -> String {
    let is_quantile = words
        .strip_prefix('p')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    if is_quantile { words.to_owned() } else { capital(words) }
}

/// A sentence with the full stop that ends it; nothing of nothing.
pub(crate) fn ended(words: &str) -> String {
    let words = words.trim_end();
    if words.is_empty() || words.ends_with(['.', '!', '?']) {
        words.to_owned()
    } else {
        format!("{words}.")
    }
}

/// A block size: `8 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    let exact = Bytes(bytes).to_string();
    let digits = exact.trim_end_matches(|letter: char| !letter.is_ascii_digit()).len();
    let (number, unit) = exact.split_at(digits);
    format!("{number} {unit}")
}

/// What kept a rate from being higher.
pub(crate) const fn bound(bound: CapacityBound) -> &'static str {
    match bound {
        CapacityBound::Saturated => "saturated (a higher queue depth adds no throughput)",
        CapacityBound::LatencyLimit => "a higher load would exceed the latency limit",
        CapacityBound::Host => "limited by the host's CPU; the storage may deliver more",
        CapacityBound::StillRising => "still rising; the storage may deliver more",
        CapacityBound::TimeBudget => "time ran out, the storage may deliver more",
        CapacityBound::Unsteady => {
            "the rate was too unsteady to show whether deeper queues deliver more"
        }
        CapacityBound::Contradicted => "other parts of the calibration contradict it",
    }
}

/// Two parts of a calibration that cannot both be right.
pub(crate) const fn contradiction(contradiction: Contradiction) -> &'static str {
    match contradiction {
        Contradiction::SmallAboveLarge => {
            "small I/Os moved more bytes per second than large ones: one of the two rates was not \
             sustained"
        }
        Contradiction::BaseChanged => {
            "the latency at queue depth 1 changed between start and end, so the storage changed"
        }
    }
}

/// Whether something other than the storage ended the search for it.
pub(crate) const fn is_cut_short(bound: CapacityBound) -> bool {
    matches!(bound, CapacityBound::Host | CapacityBound::StillRising | CapacityBound::TimeBudget)
}

/// Whether the interval of a rate is too wide to size by.
pub(crate) fn is_hardly_known(rate: &Estimate) -> bool {
    const WIDEST: f64 = 0.25;
    rate.relative_half_width() > WIDEST
}

/// Whether only a lower bound of what the storage delivers is known: the lower end of the interval.
pub(crate) fn is_lower_bound(capacity: &Capacity) -> bool {
    is_cut_short(capacity.bound) || capacity.rate.is_at_least()
}

/// The number to size by: the rate, or its lower end, marked, where only that is known.
pub(crate) fn bounded(capacity: &Capacity, unit: Unit, format: &Formatter) -> String {
    if is_lower_bound(capacity) && capacity.rate.low >= 1.0 {
        format!("≥ {}", format.at_least(unit, capacity.rate.low))
    } else {
        format.value(unit, capacity.rate.value)
    }
}

/// `≤ 1 ms`; relative reports do not say the limit.
pub(crate) fn within_limit(limit: &LatencyLimit, format: &Formatter) -> String {
    if format.is_relative() {
        return "within the limit".to_owned();
    }
    format!("≤ {}", format.chosen(Unit::Ns, limit.service_time_ns))
}

/// The kind of time that is shown: from the intended start where arrivals are open.
pub(crate) fn kind_of_time(operations: &PerOperation) -> &'static str {
    let open = operations.iter().any(|(_, result)| result.response.is_some());
    if open { "latency (response time)" } else { "latency (service time)" }
}

/// Letters and digits of a name, the rest as hyphens.
pub(crate) fn file_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter } else { '-' }
    };
    name.chars().map(plain).collect()
}

/// How a run ended, where it did not run its whole length.
pub(crate) fn finish(finish: &Finish) -> Option<String> {
    match finish {
        Finish::Complete => None,
        Finish::Interrupted => {
            Some("It was interrupted; the data measured so far are kept.".to_owned())
        }
        Finish::Failed { reason } => {
            Some(format!("It failed: {reason}. The data measured so far are kept."))
        }
        Finish::Unfinished => Some(
            "The program ended before the run did; the data measured so far are kept.".to_owned(),
        ),
    }
}

/// Whether another program measured: what Assay observes of itself is unknown then.
pub(crate) fn is_imported(conduct: &Conduct) -> bool {
    conduct.backend == BackendKind::Fio
}

/// How the kernel took the I/Os.
pub(crate) const fn submission(submission: Submission) -> &'static str {
    match submission {
        Submission::Unknown => "not probed",
        Submission::Asynchronous => {
            "asynchronous: handed to the device, which completes them later"
        }
        Submission::Inline => "inline: completed inside the submission, as from a cache",
        Submission::Punted => "punted: handed to kernel worker threads, which limits the rate",
        Submission::Blocking => {
            "blocking: submission waits for the device, so the depth is not reached"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_once() {
        assert_eq!(
            ["it is slow", "It is slow.", ""].map(ended),
            ["it is slow.", "It is slow.", ""]
        );
    }

    #[test]
    fn nines_have_no_digits_of_binary_arithmetic() {
        let shown = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.995].map(nines);
        assert_eq!(shown, ["50", "90", "99", "99.9", "99.99", "99.5"]);
    }
}
