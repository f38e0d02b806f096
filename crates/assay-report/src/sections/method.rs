//! Method and what the words mean, in a line each: only what the page really shows.

use crate::format::Formatter;
use crate::input::GivenReport;
use crate::view::ViewBlock;

/// Terms that every page uses.
const TERMS: [(&str, &str); 7] = [
    ("IOPS", "reads and writes completed per second; syncs are counted separately."),
    (
        "service time",
        "from handing an I/O to the operating system until it is complete; waiting below that \
         line is included.",
    ),
    (
        "response time",
        "from the scheduled start of an I/O to its completion. It exists only for open arrivals, \
         and includes waiting for stalled storage.",
    ),
    (
        "p99",
        "99% of the I/Os completed within this time. Read, write and sync are never mixed, and \
         quantiles are never averaged.",
    ),
    (
        "interval",
        "a 95% confidence interval, from the variation over time including autocorrelation. Of \
         many such intervals, 95% contain the true value.",
    ),
    (
        "outstanding I/Os",
        "submitted to the operating system and not yet complete: the queue depth.",
    ),
    ("MB/s", "a million bytes per second; KiB and MiB are 1,024 and 1,048,576 bytes."),
];

/// Terms of a calibration.
const CALIBRATION: [(&str, &str); 5] = [
    ("load curve", "the same random I/Os at rising queue depths, until the rate no longer rises."),
    (
        "IOPS within the limit",
        "the highest rate at which the quantile meets its limit over the whole measured time, not \
         only on average.",
    ),
    ("knee", "the load from which service time grows faster than IOPS."),
    (
        "≥",
        "a lower bound: the host's CPU, the maximum queue depth or the time ended the search. The \
         storage may deliver more.",
    ),
    ("burst", "the rate before it fell under constant load; the sustained rate counts."),
];

/// Terms of a run.
const RUN: [(&str, &str); 4] = [
    (
        "Little's law",
        "mean outstanding I/Os = rate × mean service time. The two must agree in every valid \
         measurement.",
    ),
    ("too few", "fewer than ten I/Os lie beyond that quantile, too few to report it."),
    ("band", "in the chart of IOPS over time, the band spans the slowest to the fastest interval."),
    (
        "heat map",
        "each column is a period, each row a latency; one step of colour is a factor of three in \
         the share of I/Os.",
    ),
];

/// Outcomes of a verdict.
const VERDICT: [(&str, &str); 3] = [
    ("PASS", "the whole interval meets the limit."),
    ("FAIL", "the whole interval misses the limit."),
    (
        "INCONCLUSIVE",
        "the interval includes the limit, evidence is missing, or something other than the \
         storage may have caused the number. It is not a PASS.",
    ),
];

/// The whole section.
pub(super) fn blocks<'a>(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'a>> {
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
    let how = how(report, &format).into_iter().map(ViewBlock::Paragraph);
    vec![ViewBlock::OnPage(how.chain([ViewBlock::Terms(terms)]).collect())]
}

/// How this report's numbers came about.
fn how(report: &GivenReport, format: &Formatter) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(calibration) = &report.calibration {
        let limit = &calibration.limit;
        let within = if format.is_relative() {
            String::new()
        } else {
            format!(" of {}", format.chosen(assay_model::verdict::Unit::Ns, limit.service_time_ns))
        };
        if limit.is_asked() {
            let limited = limit.quantile;
            sentences
                .push(format!("The limit{within} holds for the {limited} of the service time."));
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
