//! Every number of a report goes through here: absolute with its unit, or relative to the best of its kind, in a study to
//! its first cell.

use crate::input::{Options, Report};
use assay_model::Estimate;
use assay_model::measurement::{Measurement, Operation};
use assay_model::number::real;
use assay_model::study::{CellResult, CellState};
use assay_model::units::{show_count, show_throughput, show_time_ns};
use assay_model::verdict::Unit;

/// How numbers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Show {
    /// None for absolute figures.
    best: Option<Best>,
}

/// What relative numbers are relative to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Best {
    /// The highest rate of I/Os.
    iops: f64,
    /// The highest throughput.
    bytes_per_s: f64,
    /// The shortest mean time.
    time_ns: f64,
    /// Whether they are those of the first cell of a study, as vendors publish results.
    of_first_cell: bool,
}

impl Show {
    /// Absolute, or relative to the best of this report.
    pub(crate) fn new(report: &Report, options: Options) -> Self {
        Self { best: options.relative.then(|| Best::of(report)) }
    }

    /// Whether absolute figures are hidden.
    pub(crate) const fn is_relative(&self) -> bool {
        self.best.is_some()
    }

    /// Whether figures are those of the first cell of a study.
    pub(crate) const fn is_of_first_cell(&self) -> bool {
        matches!(self.best, Some(Best { of_first_cell: true, .. }))
    }

    /// What a number of this unit is divided by before it is shown or drawn.
    pub(crate) const fn divisor(&self, unit: Unit) -> f64 {
        match (&self.best, unit) {
            (Some(best), Unit::Ns) => best.time_ns,
            (Some(best), Unit::IosPerS) => best.iops,
            (Some(best), Unit::BytesPerS) => best.bytes_per_s,
            _ => 1.0,
        }
    }

    /// A number in base units with its unit.
    pub(crate) fn value(&self, unit: Unit, value: f64) -> String {
        self.drawn(unit, value / self.divisor(unit))
    }

    /// A number that a person chose, without needless zeros: `1 ms`, `150,000/s`.
    pub(crate) fn chosen(&self, unit: Unit, value: f64) -> String {
        match unit {
            Unit::Ns | Unit::BytesPerS => tick(self, unit, value / self.divisor(unit)),
            _ => self.value(unit, value),
        }
    }

    /// A number that was already divided.
    pub(crate) fn drawn(&self, unit: Unit, value: f64) -> String {
        match (self.best, unit) {
            (None, _) | (Some(_), Unit::Share) => unit.show(value),
            (Some(_), Unit::Ns) => format!("{}×", three_digits(value)),
            (Some(_), Unit::IosPerS | Unit::BytesPerS) => {
                format!("{} %", three_digits(value * 100.0))
            }
            (Some(_), Unit::Count | Unit::PerMinute) => "hidden".to_owned(),
        }
    }

    /// A count of I/Os or errors, which would give the rate away.
    pub(crate) fn count(&self, count: u64) -> String {
        self.value(Unit::Count, real(count))
    }

    /// The interval of an estimate: `40,800 – 41,500/s`; empty where there is none. No rate, time, share or count lies below
    /// 0, and no share above 1, however far the law of an interval reaches.
    pub(crate) fn interval(&self, unit: Unit, estimate: &Estimate) -> String {
        let (low, high) = possible(unit, estimate);
        if high <= low {
            return String::new();
        }
        if estimate.is_at_least() {
            return format!("at least {}", self.value(unit, low));
        }
        let (low, high) = (self.value(unit, low), self.value(unit, high));
        match (low.split_once(' '), high.split_once(' '), low.strip_suffix("/s")) {
            (Some((number, one)), Some((_, other)), _) if one == other => {
                format!("{number} – {high}")
            }
            (_, _, Some(number)) if high.ends_with("/s") && !number.contains(' ') => {
                format!("{number} – {high}")
            }
            _ => format!("{low} – {high}"),
        }
    }

    /// How sure a number is: half the width of its interval as a share, `±1.1 %`, or the two ends where it reaches further
    /// to one side than to the other; empty where there is no interval.
    pub(crate) fn doubt(&self, unit: Unit, estimate: &Estimate) -> String {
        let (low, high) = possible(unit, estimate);
        let half = Estimate { low, high, ..*estimate }.relative_half_width();
        if half <= 0.0 {
            return String::new();
        }
        if half > SKEW_MATTERS && is_skewed(low, estimate.value, high) {
            return format!("({})", self.interval(unit, estimate));
        }
        format!("±{}", Self::half_width(half))
    }

    /// Half the width of an interval, given as a share of what it surrounds. Beyond the whole of it there is nothing to tell
    /// apart: hardly anything was seen.
    pub(crate) fn half_width(share: f64) -> String {
        match share * 100.0 {
            none if none <= 0.0 => "0 %".to_owned(),
            small if small < 0.095 => "0.1 %".to_owned(),
            small if small < 9.95 => format!("{small:.1} %"),
            large if large < 100.5 => format!("{large:.0} %"),
            _ => ">100 %".to_owned(),
        }
    }

    /// What relative numbers of a unit stand for.
    const fn unit_name(&self, unit: Unit) -> &'static str {
        let first = self.is_of_first_cell();
        match (&self.best, unit) {
            (Some(_), Unit::Ns) if first => "times the first cell's",
            (Some(_), Unit::IosPerS | Unit::BytesPerS) if first => "% of the first cell's",
            (Some(_), Unit::Ns) => "times the shortest",
            (Some(_), Unit::IosPerS | Unit::BytesPerS) => "% of the best",
            _ => "",
        }
    }

    /// The name of an axis, with what its numbers are relative to.
    pub(crate) fn axis_name(&self, name: &str, unit: Unit) -> String {
        match self.unit_name(unit) {
            "" => name.to_owned(),
            relative => format!("{name}, {relative}"),
        }
    }

    /// Somebody's sentence, in which relative reports hide every figure. Numbers of a name or of a version are none: those
    /// behind a letter (`p99`, `oltp-2017`), of more than two parts (`6.1.0`), or behind the name of a product.
    pub(crate) fn sentence(&self, text: &str) -> String {
        if self.best.is_none() {
            return text.to_owned();
        }
        let mut hidden = String::with_capacity(text.len());
        let mut before = "";
        for word in text.split_inclusive(char::is_whitespace) {
            if is_name(word) || (is_version(word) && is_versioned(before)) {
                hidden.push_str(word);
            } else {
                hide(&mut hidden, word);
            }
            before = word;
        }
        hidden
    }
}

/// Copies a word without its digits.
fn hide(hidden: &mut String, word: &str) {
    for letter in word.chars() {
        match letter {
            '0'..='9' if hidden.ends_with('…') => {}
            '0'..='9' => hidden.push('…'),
            _ => hidden.push(letter),
        }
    }
}

/// A word that begins with a letter and has no sign of a figure, or a version of three parts or more.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    let parts = word.split('.').filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let is_of_letters =
        word.starts_with(char::is_alphabetic) && !word.contains(['=', '≤', '≥', ',', ':']);
    is_of_letters || (parts.count() > 1 && word.bytes().filter(|byte| *byte == b'.').count() > 1)
}

/// Digits and points only.
fn is_version(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_ascii_digit());
    word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Names behind which a version stands.
fn is_versioned(word: &str) -> bool {
    const PRODUCTS: [&str; 8] =
        ["PostgreSQL", "MariaDB", "MySQL", "Oracle", "Linux", "assay", "release", "version"];
    PRODUCTS.contains(&word.trim())
}

impl Best {
    /// The highest rates, and the shortest mean time, that the report knows; of a study those of its first cell.
    fn of(report: &Report) -> Self {
        let cells = report.study.iter().flat_map(|study| &study.cells);
        if let Some(first) = cells.into_iter().find(|cell| cell.state == CellState::Measured) {
            return Self::of_cell(first);
        }
        let mixes = report.calibration.iter().flat_map(|calibration| &calibration.mixes);
        let points = mixes.clone().flat_map(|mix| mix.curve.iter().chain(&mix.large_curve));
        let measurements = report.runs.iter().map(|run| &run.measurement);
        let rates = mixes.clone().map(|mix| mix.iops_max.rate.value);
        let iops = rates
            .chain(points.clone().map(|point| point.iops.value))
            .chain(measurements.clone().map(Measurement::iops));
        let throughputs = mixes
            .clone()
            .filter_map(|mix| Some(mix.throughput_max_bytes_per_s.as_ref()?.rate.value));
        let bytes_per_s = throughputs
            .chain(points.map(|point| point.throughput_bytes_per_s.value))
            .chain(measurements.clone().map(Measurement::throughput_bytes_per_s));
        let times = mixes.map(|mix| mix.base_service_time_ns.value);
        let queries = report.dss.iter().flat_map(|dss| &dss.runs).flat_map(|run| &run.queries);
        let queries = queries.map(|query| real(query.elapsed_ns)).filter(|time| *time > 0.0);
        let time_ns = times.chain(measurements.filter_map(mean_time_ns)).chain(queries);
        Self {
            iops: positive(iops.fold(0.0, f64::max)),
            bytes_per_s: positive(bytes_per_s.fold(0.0, f64::max)),
            time_ns: positive(time_ns.fold(f64::INFINITY, f64::min)),
            of_first_cell: false,
        }
    }

    /// The rates of a cell, and the first of its times: a mean of reads where it has them.
    fn of_cell(cell: &CellResult) -> Self {
        let value = |wanted: &dyn Fn(&str) -> bool| {
            let whole = cell.measures.iter().filter(|named| named.subject.is_none());
            let mut found = whole.filter(|named| wanted(&named.quantity));
            positive(found.next().map_or(0.0, |named| named.estimate.value))
        };
        let is_mean = |quantity: &str| quantity.ends_with("time.mean");
        let has_mean = cell.measures.iter().any(|named| is_mean(&named.quantity));
        let is_time = |quantity: &str| {
            if has_mean { is_mean(quantity) } else { quantity.ends_with("_run.time") }
        };
        Self {
            iops: value(&|quantity| ["iops", "new_orders", "trade_results"].contains(&quantity)),
            bytes_per_s: value(&|quantity| quantity.ends_with("throughput")),
            time_ns: value(&is_time),
            of_first_cell: true,
        }
    }
}

/// The shorter of the mean times of reads and writes, ns.
fn mean_time_ns(measurement: &Measurement) -> Option<f64> {
    let operations = measurement.operations();
    let transfers = [Operation::Read, Operation::Write].into_iter();
    let means =
        transfers.filter_map(|operation| Some(operations.get(operation)?.service.mean_ns()));
    means.filter(|mean| *mean > 0.0).reduce(f64::min)
}

/// Narrower intervals, as a share of half their width, are shown as ± whatever their form.
const SKEW_MATTERS: f64 = 0.02;

/// The part of an interval that can be.
fn possible(unit: Unit, estimate: &Estimate) -> (f64, f64) {
    let most = if unit == Unit::Share { 1.0_f64.max(estimate.value) } else { f64::INFINITY };
    (estimate.low.max(0.0).min(estimate.value), estimate.high.min(most).max(estimate.value))
}

/// Whether an interval reaches further to one side than half as far again as to the other.
fn is_skewed(low: f64, value: f64, high: f64) -> bool {
    let (down, up) = (value - low, high - value);
    let even = up.max(down) <= 1.5 * up.min(down);
    !even || down >= value
}

/// A divisor: 1 where nothing was measured.
fn positive(value: f64) -> f64 {
    if value > 0.0 && value.is_finite() { value } else { 1.0 }
}

/// Three significant digits: `0.97`, `12.3`, `345`.
pub(crate) fn three_digits(value: f64) -> String {
    match value.abs() {
        large if large >= 99.95 => show_count(value),
        middle if middle >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A number of an axis without needless digits: `1 ms`, `2.5 ms`, `100 µs`, `40,000`, `0`.
pub(crate) fn tick(show: &Show, unit: Unit, value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if show.is_relative() {
        let plain = if unit == Unit::Ns { value } else { value * 100.0 };
        let suffix = if unit == Unit::Ns { "×" } else { " %" };
        return format!("{}{suffix}", short(plain));
    }
    let shown = match unit {
        // Ticks are round in seconds: 100 s, and not 1.67 min.
        Unit::Ns if value >= 60e9 => return format!("{} s", thousands(value / 1e9)),
        Unit::Ns => show_time_ns(value),
        Unit::BytesPerS => show_throughput(value),
        Unit::IosPerS | Unit::PerMinute | Unit::Count => return thousands(value),
        Unit::Share => return format!("{} %", short(value * 100.0)),
    };
    let Some((number, name)) = shown.split_once(' ') else {
        return shown;
    };
    if !number.contains('.') {
        return shown;
    }
    format!("{} {name}", number.trim_end_matches('0').trim_end_matches('.'))
}

/// `40k`, `2.5k`, `1.2M`, `800`.
fn thousands(value: f64) -> String {
    match value.abs() {
        large if large >= 1e6 => format!("{}M", short(value / 1e6)),
        middle if middle >= 1e4 => format!("{}k", short(value / 1e3)),
        small if (small - small.round()).abs() > 1e-6 => short(value),
        _ => show_count(value),
    }
}

/// As many digits as needed, at most six behind the point.
fn short(value: f64) -> String {
    let shown = format!("{value:.6}");
    let short = shown.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, confidence: 0.95, n: 30 }
    }

    const RELATIVE: Show = Show {
        best: Some(Best { iops: 40_000.0, bytes_per_s: 5e8, time_ns: 1e5, of_first_cell: false }),
    };

    #[test]
    fn intervals_name_their_unit_once() {
        let show = Show::default();
        assert_eq!(
            show.interval(Unit::IosPerS, &estimate(40_800.0, 41_000.0, 41_500.0)),
            "40,800 – 41,500/s"
        );
        assert_eq!(show.interval(Unit::Ns, &estimate(1.2e6, 1.3e6, 1.4e6)), "1.20 – 1.40 ms");
        assert_eq!(show.interval(Unit::Ns, &estimate(0.9e6, 1.0e6, 1.1e6)), "900 µs – 1.10 ms");
        assert_eq!(show.interval(Unit::Ns, &Estimate::exact(5.0, 1)), "");
        assert_eq!(RELATIVE.interval(Unit::Ns, &estimate(1.2e5, 1.3e5, 1.4e5)), "1.20× – 1.40×");
        assert_eq!(RELATIVE.interval(Unit::IosPerS, &estimate(2e4, 2.1e4, 2.2e4)), "50.0 – 55.0 %");
        let doubt = |low, value, high| show.doubt(Unit::IosPerS, &estimate(low, value, high));
        assert_eq!(doubt(98.9, 100.0, 101.1), "±1.1 %");
        assert_eq!(doubt(99.99, 100.0, 100.01), "±0.1 %");
        assert_eq!(doubt(70.0, 100.0, 130.0), "±30 %");
        assert_eq!(doubt(5_766.0, 48_240.0, 58_187.0), "(5,766 – 58,187/s)");
        assert_eq!(doubt(0.0, 100.0, 1_000.0), "(0 – 1,000/s)");
        assert_eq!(doubt(0.0, 0.0, 1.0), "(0 – 1/s)");
        assert_eq!(doubt(1.0, 1.0, 1.0), "");
    }

    #[test]
    fn nothing_impossible_is_shown() {
        let show = Show::default();
        let rate = estimate(-46_604.0, 46_650.0, 139_905.0);
        assert_eq!(show.interval(Unit::IosPerS, &rate), "0 – 139,905/s");
        assert_eq!(show.doubt(Unit::IosPerS, &rate), "(0 – 139,905/s)");
        assert_eq!(show.interval(Unit::Ns, &estimate(-1.1e6, 4e6, 9.41e6)), "0 ns – 9.41 ms");
        assert_eq!(show.interval(Unit::Share, &estimate(0.9, 0.95, 1.2)), "90 – 100 %");
    }

    #[test]
    fn relative_numbers_are_ratios_and_sentences_lose_their_numbers() {
        assert_eq!(RELATIVE.value(Unit::IosPerS, 40_000.0), "100 %");
        assert_eq!(RELATIVE.value(Unit::Ns, 340_000.0), "3.40×");
        assert_eq!(RELATIVE.value(Unit::Share, 0.5), "50 %");
        assert_eq!(RELATIVE.count(12), "hidden");
        assert_eq!(RELATIVE.sentence("41,200 at 1.25 ms"), "…,… at ….… ms");
        assert_eq!(Show::default().sentence("41,200"), "41,200");
        for kept in [
            "PostgreSQL 15.18 of “oltp-2017”",
            "p99 of reads",
            "kernel 6.1.0-18-amd64",
            "/data/u01",
        ] {
            assert_eq!(RELATIVE.sentence(kept), kept);
        }
        assert_eq!(RELATIVE.sentence("took 15.18 ms, 3 of 7"), "took ….… ms, … of …");
    }

    #[test]
    fn figures_of_a_study_are_relative_to_its_first_cell() {
        let named = |quantity: &str, value| assay_model::verdict::NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::exact(value, 1),
        };
        let cell = |measures| CellResult {
            cell: assay_model::study::Cell {
                number: 1,
                repeat: 1,
                settings: Vec::new(),
                restored: false,
            },
            state: CellState::Measured,
            directory: String::new(),
            run: String::new(),
            elapsed_s: 1.0,
            host_busy_share: None,
            measures,
            course: None,
            hooks: Vec::new(),
        };
        let orders =
            cell(vec![named("new_orders", 500.0), named("new_order.response_time.mean", 2e6)]);
        let show = Show { best: Some(Best::of_cell(&orders)) };
        assert_eq!(show.value(Unit::IosPerS, 250.0), "50.0 %");
        assert_eq!(show.value(Unit::Ns, 3e6), "1.50×");
        assert_eq!(show.axis_name("time", Unit::Ns), "time, times the first cell's");
        let queries = cell(vec![named("power_run.time", 4e9)]);
        assert_eq!(Show { best: Some(Best::of_cell(&queries)) }.value(Unit::Ns, 8e9), "2.00×");
    }

    #[test]
    fn ticks_have_no_needless_digits() {
        let ticks = |unit, value| tick(&Show::default(), unit, value);
        assert_eq!(ticks(Unit::Ns, 1e6), "1 ms");
        assert_eq!(ticks(Unit::Ns, 2.5e6), "2.5 ms");
        assert_eq!(ticks(Unit::Ns, 1e5), "100 µs");
        assert_eq!(ticks(Unit::IosPerS, 40_000.0), "40k");
        assert_eq!(ticks(Unit::IosPerS, 2500.0), "2,500");
        assert_eq!(ticks(Unit::IosPerS, 0.0), "0");
        assert_eq!((ticks(Unit::Count, 0.5), ticks(Unit::Count, 2.0)), ("0.5".into(), "2".into()));
        assert_eq!(ticks(Unit::Share, 1e-5), "0.001 %");
        assert_eq!(ticks(Unit::BytesPerS, 5e8), "500 MB/s");
        assert_eq!(tick(&RELATIVE, Unit::Ns, 2.0), "2×");
    }
}
