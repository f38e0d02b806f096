//! Every number of a report goes through here: absolute with its unit, or relative to the best of
//! its kind, in a study to its first cell.

use crate::input::{GivenReport, ReportOptions};
use crate::redaction::masked;
use crate::view::Estimated;
use assay_model::Estimate;
use assay_model::measurement::{Measurement, Operation};
use assay_model::number::real;
use assay_model::quantity_name::{NamedStatistic, QuantityName};
use assay_model::study::{CellResult, CellState, load_figure_unit};
use assay_model::units::show_count;
use assay_model::verdict::Unit;
use std::fmt;

/// How numbers are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Formatter {
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

impl Formatter {
    /// Absolute, or relative to the best of this report.
    pub(crate) fn new(report: &GivenReport, options: ReportOptions) -> Self {
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
        self.shown(unit, value).to_string()
    }

    /// The same, the number apart from its unit.
    pub(crate) fn shown(&self, unit: Unit, value: f64) -> Shown {
        self.drawn(unit, value / self.divisor(unit))
    }

    /// A number with what is known of its error.
    pub(crate) fn estimated(&self, unit: Unit, estimate: &Estimate) -> Estimated {
        Estimated {
            value: self.value(unit, estimate.value),
            doubt: self.doubt(unit, estimate),
            interval: self.interval(unit, estimate),
        }
    }

    /// A number that a person chose, without needless zeros: `1 ms`, `150,000/s`.
    pub(crate) fn chosen(&self, unit: Unit, value: f64) -> String {
        match unit {
            Unit::Ns | Unit::BytesPerS => tick(self, unit, value / self.divisor(unit)),
            _ => self.value(unit, value),
        }
    }

    /// A number that was already divided.
    pub(crate) fn drawn(&self, unit: Unit, value: f64) -> Shown {
        let (number, unit) = match (self.best, unit) {
            (None, _) | (Some(_), Unit::Share | Unit::Bytes) => unit.parts(value),
            (Some(_), Unit::Ns) => (three_digits(value), "×"),
            (Some(_), Unit::IosPerS | Unit::BytesPerS) => (three_digits(value * 100.0), "%"),
            (Some(_), Unit::Count | Unit::PerMinute | Unit::PerHour) => ("hidden".to_owned(), ""),
        };
        Shown { number, unit }
    }

    /// A count of I/Os or errors, which would give the rate away.
    pub(crate) fn count(&self, count: u64) -> String {
        self.value(Unit::Count, real(count))
    }

    /// The interval of an estimate: `40,800 – 41,500/s`; empty where there is none. No rate, time,
    /// share or count lies below 0, and no share above 1, however far the law of an interval
    /// reaches.
    pub(crate) fn interval(&self, unit: Unit, estimate: &Estimate) -> String {
        let (low, high) = possible(unit, estimate);
        if high <= low || !estimate.has_interval() {
            return String::new();
        }
        if is_open(unit, estimate) {
            // A bound of nothing says nothing.
            return match rounded_down(unit, low) {
                bound if bound > 0.0 => format!("at least {}", self.value(unit, bound)),
                _ => "unknown".to_owned(),
            };
        }
        let (low, high) = (self.shown(unit, low), self.shown(unit, high));
        if low.unit == high.unit && low.unit != "×" {
            return format!("{} – {high}", low.number);
        }
        format!("{low} – {high}")
    }

    /// A lower bound: rounded down, never above what it bounds.
    pub(crate) fn at_least(&self, unit: Unit, low: f64) -> String {
        self.value(unit, rounded_down(unit, low))
    }

    /// How sure a number is: half the width of its interval as a share, `±1.1%`, or the two ends
    /// where it reaches further to one side than to the other; empty where there is no
    /// interval.
    pub(crate) fn doubt(&self, unit: Unit, estimate: &Estimate) -> String {
        Self::plus_minus(unit, estimate).unwrap_or_else(|| {
            let interval = self.interval(unit, estimate);
            match interval.as_str() {
                "" => interval,
                "unknown" => "(interval unknown)".to_owned(),
                known => format!("({known})"),
            }
        })
    }

    /// `±1.1%`; nothing where there is no interval or where it reaches further to one side.
    pub(crate) fn plus_minus(unit: Unit, estimate: &Estimate) -> Option<String> {
        even_half(unit, estimate).map(|half| format!("±{}", Self::half_width(half)))
    }

    /// Half the width of an interval, given as a share of what it surrounds. Beyond the whole of it
    /// nothing can be distinguished: almost nothing was seen.
    pub(crate) fn half_width(share: f64) -> String {
        match share * 100.0 {
            none if none <= 0.0 => "0%".to_owned(),
            small if small < 0.095 => "0.1%".to_owned(),
            small if small < 9.95 => format!("{small:.1}%"),
            large if large < 100.5 => format!("{large:.0}%"),
            _ => ">100%".to_owned(),
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

    /// How the figures of a relative report are to be read; empty for absolute ones.
    pub(crate) const fn reading(&self) -> &'static str {
        match &self.best {
            None => "",
            Some(Best { of_first_cell: true, .. }) => {
                "Absolute figures are hidden: rates are shown as a share of the first cell's, \
                 times as multiples of its mean."
            }
            Some(_) => {
                "Absolute figures are hidden: rates are shown as a share of the best of this \
                 report, times as multiples of the shortest mean."
            }
        }
    }

    /// The prose of a document, whose figures are not known apart from their words: relative
    /// reports mask them.
    pub(crate) fn prose(&self, text: &str) -> String {
        if self.is_relative() { masked(text) } else { text.to_owned() }
    }
}

/// A number as it is shown, apart from its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The digits.
    pub(crate) number: String,
    /// What stands behind them; may be empty.
    unit: &'static str,
}

impl Shown {
    /// Whether it is a number a second.
    pub(crate) fn is_rate(&self) -> bool {
        self.unit == "/s"
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.unit.starts_with(char::is_alphabetic) { " " } else { "" };
        write!(formatter, "{}{gap}{}", self.number, self.unit)
    }
}

impl Best {
    /// The highest rates, and the shortest mean time, that the report knows; of a study those of
    /// its first cell.
    fn of(report: &GivenReport) -> Self {
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

    /// The first rates of a cell, and the first of its times: a mean where it has one.
    fn of_cell(cell: &CellResult) -> Self {
        let whole = || cell.measures.iter().filter(|named| named.subject.is_none());
        let first = |unit: Unit, is_wanted: fn(&QuantityName) -> bool| {
            let mut found = whole().filter(|named| {
                let is_it = unit_of(&named.quantity) == Some(unit);
                is_it && is_wanted(&QuantityName::of(&named.quantity))
            });
            found.next().map(|named| named.estimate.value)
        };
        let any = |unit| first(unit, |_| true);
        let time_ns = first(Unit::Ns, QuantityName::is_mean);
        Self {
            iops: positive(any(Unit::IosPerS).unwrap_or(0.0)),
            bytes_per_s: positive(any(Unit::BytesPerS).unwrap_or(0.0)),
            time_ns: positive(time_ns.or_else(|| any(Unit::Ns)).unwrap_or(0.0)),
            of_first_cell: true,
        }
    }
}

/// The unit of a quantity, of those that others can be relative to.
fn unit_of(quantity: &str) -> Option<Unit> {
    load_figure_unit(quantity).or_else(|| match QuantityName::of(quantity).statistic? {
        NamedStatistic::Iops => Some(Unit::IosPerS),
        NamedStatistic::Throughput => Some(Unit::BytesPerS),
        NamedStatistic::Mean => Some(Unit::Ns),
        NamedStatistic::Max | NamedStatistic::Quantile(_) => None,
    })
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

/// An upper end beyond this many times the value says less than that it is not known.
const UPPER_TIMES_MAX: f64 = 2.0;

/// Whether only the lower end of an interval is shown. A share has an upper end of its own.
fn is_open(unit: Unit, estimate: &Estimate) -> bool {
    let beyond = estimate.value > 0.0 && estimate.high > UPPER_TIMES_MAX * estimate.value;
    estimate.is_at_least() || beyond && unit != Unit::Share
}

/// What is shown of a lower bound: counts in whole numbers, all else in three digits, never above
/// it.
fn rounded_down(unit: Unit, value: f64) -> f64 {
    let has_three_digits = matches!(unit, Unit::Ns | Unit::BytesPerS | Unit::Bytes);
    if has_three_digits || value < 1000.0 { three_digits_down(value) } else { value.floor() }
}

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

/// Half the width of an interval as a share of what it surrounds; nothing where there is no
/// interval or where it reaches further to one side.
pub(crate) fn even_half(unit: Unit, estimate: &Estimate) -> Option<f64> {
    let (low, high) = possible(unit, estimate);
    let half = Estimate { low, high, ..*estimate }.relative_half_width();
    let is_skewed = half > SKEW_MATTERS && is_skewed(low, estimate.value, high);
    (half > 0.0 && !is_skewed).then_some(half)
}

/// A divisor: 1 where nothing was measured.
fn positive(value: f64) -> f64 {
    if value > 0.0 && value.is_finite() { value } else { 1.0 }
}

/// Three significant digits, never above the value.
pub(crate) fn three_digits_down(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    // What binary arithmetic takes from a whole number of units is not to cost one.
    (value / unit + 1e-9).floor() * unit
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
pub(crate) fn tick(format: &Formatter, unit: Unit, value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if format.is_relative() {
        let plain = if unit == Unit::Ns { value } else { value * 100.0 };
        let suffix = if unit == Unit::Ns { "×" } else { "%" };
        return format!("{}{suffix}", short(plain));
    }
    match unit {
        // Ticks are round in seconds: 100 s, and not 1.67 min.
        Unit::Ns if value >= 60e9 => format!("{} s", thousands(value / 1e9)),
        Unit::Ns | Unit::BytesPerS | Unit::Bytes => {
            let (number, name) = unit.parts(value);
            format!("{} {name}", without_zeros(&number))
        }
        Unit::IosPerS | Unit::PerMinute | Unit::PerHour | Unit::Count => thousands(value),
        // Seven digits behind a point are counted wrong; parts per million are read.
        Unit::Share if value < 0.99e-5 => format!("{} ppm", short(value * 1e6)),
        Unit::Share => format!("{}%", short(value * 100.0)),
    }
}

/// A number without needless zeros behind its point.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
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
    let short = without_zeros(&shown);
    if short.is_empty() || short == "-0" { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, confidence: 0.95, n: 30 }
    }

    const RELATIVE: Formatter = Formatter {
        best: Some(Best { iops: 40_000.0, bytes_per_s: 5e8, time_ns: 1e5, of_first_cell: false }),
    };

    #[test]
    fn intervals_name_their_unit_once() {
        let format = Formatter::default();
        assert_eq!(
            format.interval(Unit::IosPerS, &estimate(40_800.0, 41_000.0, 41_500.0)),
            "40,800 – 41,500/s"
        );
        assert_eq!(format.interval(Unit::Ns, &estimate(1.2e6, 1.3e6, 1.4e6)), "1.20 – 1.40 ms");
        assert_eq!(format.interval(Unit::Ns, &estimate(0.9e6, 1.0e6, 1.1e6)), "900 µs – 1.10 ms");
        assert_eq!(format.interval(Unit::Ns, &Estimate::exact(5.0, 1)), "");
        assert_eq!(format.interval(Unit::Ns, &Estimate::without_interval(5.0, 1)), "");
        assert_eq!(RELATIVE.interval(Unit::Ns, &estimate(1.2e5, 1.3e5, 1.4e5)), "1.20× – 1.40×");
        assert_eq!(RELATIVE.interval(Unit::IosPerS, &estimate(2e4, 2.1e4, 2.2e4)), "50.0 – 55.0%");
        let doubt = |low, value, high| format.doubt(Unit::IosPerS, &estimate(low, value, high));
        assert_eq!(doubt(98.9, 100.0, 101.1), "±1.1%");
        assert_eq!(doubt(99.99, 100.0, 100.01), "±0.1%");
        assert_eq!(doubt(70.0, 100.0, 130.0), "±30%");
        assert_eq!(doubt(5_766.0, 48_240.0, 58_187.0), "(5,766 – 58,187/s)");
        assert_eq!(doubt(0.0, 100.0, 1_000.0), "(interval unknown)");
        assert_eq!(doubt(0.0, 0.0, 1.0), "(0 – 1/s)");
        assert_eq!(doubt(1.0, 1.0, 1.0), "");
    }

    #[test]
    fn nothing_impossible_is_shown() {
        let format = Formatter::default();
        let rate = estimate(-46_604.0, 46_650.0, 139_905.0);
        assert_eq!(format.interval(Unit::IosPerS, &rate), "unknown");
        assert_eq!(format.doubt(Unit::IosPerS, &rate), "(interval unknown)");
        assert_eq!(format.interval(Unit::Ns, &estimate(-1.1e6, 4e6, 7.41e6)), "0 ns – 7.41 ms");
        assert_eq!(format.interval(Unit::Share, &estimate(0.9, 0.95, 1.2)), "90 – 100%");
    }

    #[test]
    fn relative_numbers_are_ratios_and_prose_is_masked() {
        assert_eq!(RELATIVE.value(Unit::IosPerS, 40_000.0), "100%");
        assert_eq!(RELATIVE.value(Unit::Ns, 340_000.0), "3.40×");
        assert_eq!(RELATIVE.value(Unit::Share, 0.5), "50%");
        assert_eq!(RELATIVE.count(12), "hidden");
        assert_eq!(RELATIVE.prose("took 15 ms"), "took … ms");
        assert_eq!(Formatter::default().prose("41,200"), "41,200");
    }

    #[test]
    fn figures_of_a_study_are_relative_to_its_first_cell() {
        let named = |quantity: &str, value| assay_model::verdict::NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::exact(value, 1),
        };
        let cell = |measures| CellResult {
            measures,
            ..CellResult::new(
                assay_model::study::Cell {
                    number: 1,
                    repeat: 1,
                    settings: Vec::new(),
                    restored: false,
                },
                CellState::Measured,
            )
        };
        let orders =
            cell(vec![named("new_orders", 500.0), named("new_order.response_time.mean", 2e6)]);
        let format = Formatter { best: Some(Best::of_cell(&orders)) };
        assert_eq!(format.value(Unit::IosPerS, 250.0), "50.0%");
        assert_eq!(format.value(Unit::Ns, 3e6), "1.50×");
        assert_eq!(format.axis_name("time", Unit::Ns), "time, times the first cell's");
        let queries = cell(vec![named("power_run.time", 4e9)]);
        assert_eq!(Formatter { best: Some(Best::of_cell(&queries)) }.value(Unit::Ns, 8e9), "2.00×");
    }

    #[test]
    fn ticks_have_no_needless_digits() {
        let ticks = |unit, value| tick(&Formatter::default(), unit, value);
        assert_eq!(ticks(Unit::Ns, 1e6), "1 ms");
        assert_eq!(ticks(Unit::Ns, 2.5e6), "2.5 ms");
        assert_eq!(ticks(Unit::Ns, 1e5), "100 µs");
        assert_eq!(ticks(Unit::IosPerS, 40_000.0), "40k");
        assert_eq!(ticks(Unit::IosPerS, 2500.0), "2,500");
        assert_eq!(ticks(Unit::IosPerS, 0.0), "0");
        assert_eq!((ticks(Unit::Count, 0.5), ticks(Unit::Count, 2.0)), ("0.5".into(), "2".into()));
        assert_eq!(ticks(Unit::Share, 1e-5), "0.001%");
        assert_eq!(
            (ticks(Unit::Share, 1e-6), ticks(Unit::Share, 1e-8)),
            ("1 ppm".into(), "0.01 ppm".into())
        );
        assert_eq!(ticks(Unit::BytesPerS, 5e8), "500 MB/s");
        assert_eq!(tick(&RELATIVE, Unit::Ns, 2.0), "2×");
    }
}
