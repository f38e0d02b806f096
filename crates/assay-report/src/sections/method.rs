//! Method and what the words mean, in a line each: only what the page really shows.

use crate::format::Formatter;
use crate::input::Report;
use crate::phrases::nines;
use crate::view::Block;

/// Terms that every page uses.
const TERMS: [(&str, &str); 7] = [
    (
        "IOPS",
        "reads and writes completed per second, over the time stated; syncs are counted apart.",
    ),
    (
        "service time",
        "from handing an I/O to the operating system until it is complete; waiting below that line is included.",
    ),
    (
        "response time",
        "from the moment an I/O was due until it is complete. It exists where I/Os start by a schedule, and shows what waiting for a stalled storage costs.",
    ),
    (
        "p99",
        "the time within which 99% of the I/Os completed; one in a hundred took longer. Read, write and sync are never mixed, and quantiles are never averaged.",
    ),
    (
        "interval",
        "a 95% confidence interval: made from how the number varied over time, allowing for neighbouring moments being alike. Of many such intervals 95 in 100 hold the true number.",
    ),
    (
        "outstanding I/Os",
        "handed to the operating system and not yet complete: how much work the storage sees at once.",
    ),
    ("MB/s", "a million bytes per second; KiB and MiB are 1,024 and 1,048,576 bytes."),
];

/// Terms of a calibration.
const CALIBRATION: [(&str, &str); 5] = [
    (
        "load curve",
        "the same random I/Os with more and more of them outstanding, until more gives no more.",
    ),
    (
        "IOPS within the limit",
        "the highest rate found at which the limited quantile keeps its limit over the whole stretch measured, not only on average.",
    ),
    ("knee", "the load from which service time grows faster than IOPS."),
    (
        "≥",
        "what ended the search was not the storage: the host's CPU, the deepest load allowed, or time. The storage may give more.",
    ),
    (
        "burst",
        "where the rate fell while the load stayed, the rate before is given apart; the sustained one counts.",
    ),
];

/// Terms of a run.
const RUN: [(&str, &str); 4] = [
    (
        "Little's law",
        "mean outstanding I/Os = rate × mean service time. It must close on every sound measurement.",
    ),
    ("too few", "fewer than ten I/Os lie beyond that quantile, so it would say nothing."),
    (
        "band",
        "in the chart of IOPS over time the band reaches from the slowest to the fastest interval of each stretch.",
    ),
    (
        "heat map",
        "each column is a stretch of time, each row a time taken; a step of colour is a factor of three in the share of I/Os.",
    ),
];

/// Outcomes of a verdict.
const VERDICT: [(&str, &str); 3] = [
    ("PASS", "the whole interval lies on the good side of the limit."),
    ("FAIL", "the whole interval lies on the bad side of the limit."),
    (
        "INCONCLUSIVE",
        "the limit lies inside the interval, evidence is missing, or something about the measurement could have carried the number to where it is. It is not a PASS.",
    ),
];

/// The whole section.
pub(super) fn blocks<'a>(report: &Report, format: Formatter) -> Vec<Block<'a>> {
    let mut terms: Vec<(&str, &str)> = TERMS.to_vec();
    if report.calibration.is_some() {
        terms.extend(CALIBRATION);
    }
    if !report.runs.is_empty() {
        terms.extend(RUN);
    }
    if report.verdict.is_some() {
        terms.extend(VERDICT);
    }
    let how = how(report, &format).into_iter().map(Block::Paragraph);
    vec![Block::OnPage(how.chain([Block::Terms(terms)]).collect())]
}

/// How this report's numbers came about.
fn how(report: &Report, format: &Formatter) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(calibration) = &report.calibration {
        let limit = &calibration.limit;
        let within = if format.is_relative() {
            String::new()
        } else {
            format!(" of {}", format.chosen(assay_model::verdict::Unit::Ns, limit.service_time_ns))
        };
        if limit.is_asked() {
            let quantile = nines(limit.quantile);
            sentences.push(format!("The limit{within} holds for p{quantile} of the service time."));
        }
        sentences.push("Load levels were chosen adaptively.".to_owned());
        let rules =
            calibration.mixes.iter().filter_map(|mix| mix.knee.as_ref()).map(|knee| &knee.rule);
        sentences.extend(
            rules
                .take(1)
                .map(|rule| format!("The knee was found by this rule: {}.", format.prose(rule))),
        );
    }
    if !report.runs.is_empty() {
        sentences.push(
            "A run issues its workload without pause; every I/O is timed, none is sampled."
                .to_owned(),
        );
    }
    sentences
}
