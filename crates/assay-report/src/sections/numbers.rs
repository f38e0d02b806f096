//! The table of a run's numbers: rates and quantiles of every operation, of the whole and of each
//! stream and target.

use crate::format::Formatter;
use crate::input::RunReport;
use crate::phrases::nines;
use crate::view::{CellLook, Estimated, Name, Terminal, ViewCell, ViewTable};
use assay_model::Histogram;
use assay_model::measurement::{NamedResult, Operation, OperationResult, PerOperation};
use assay_model::number::{rate, real};
use assay_model::verdict::Unit;

/// Quantiles of the table.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// Those whose intervals a terminal has room for.
const TOLD: [f64; 2] = [0.99, 0.999];
/// I/Os that must lie beyond a quantile before it is shown: fewer say nothing about it.
pub(super) const BEYOND_MIN: f64 = 10.0;

/// The table.
pub(super) fn numbers(run: &RunReport, format: &Formatter) -> ViewTable {
    let measurement = &run.measurement;
    let whole = measurement.operations();
    let mut rows = rows(run, format, &whole, "", None);
    for (scope, results) in [("stream.", &measurement.streams), ("target.", &measurement.targets)] {
        let several = several(results).iter();
        rows.extend(several.flat_map(|result| rows_of(run, format, result, scope)));
    }
    let mut table = head();
    table.rows.extend(rows.iter().map(NumbersRow::cells));
    table
}

/// A single stream or target is the whole, which stands there already.
fn several(results: &[NamedResult]) -> &[NamedResult] {
    if results.len() > 1 { results } else { &[] }
}

/// The columns; a terminal has room for the intervals of some.
fn head() -> ViewTable {
    let table =
        ViewTable::new("Rates and times of every operation").look(CellLook::Dense).words("");
    let table = table.numbers_as("IOPS", Terminal::IntervalsBelow);
    let table = table.numbers_as("Throughput", Terminal::ValuesOnly);
    let table = table.numbers_as("Mean", Terminal::IntervalsBelow);
    let quantile = |table: ViewTable, quantile: f64| {
        let is_told = TOLD.contains(&quantile);
        let terminal = if is_told { Terminal::IntervalsBelow } else { Terminal::ValuesOnly };
        table.numbers_as(format!("p{}", nines(quantile)), terminal)
    };
    let table = QUANTILES.into_iter().fold(table, quantile);
    table.numbers("Longest").numbers_as("I/Os", Terminal::Hidden)
}

/// A row for each operation.
fn rows<'a>(
    run: &'a RunReport,
    format: &'a Formatter,
    operations: &'a PerOperation,
    scope: &'a str,
    subject: Option<&'a str>,
) -> Vec<NumbersRow<'a>> {
    let row = |(operation, result)| NumbersRow { run, format, operation, result, scope, subject };
    operations.iter().map(row).collect()
}

/// The rows of one stream or target.
fn rows_of<'a>(
    run: &'a RunReport,
    format: &'a Formatter,
    result: &'a NamedResult,
    scope: &'a str,
) -> Vec<NumbersRow<'a>> {
    rows(run, format, &result.operations, scope, Some(&result.name))
}

/// One line of the table.
struct NumbersRow<'a> {
    /// Whose numbers they are, with their intervals.
    run: &'a RunReport,
    format: &'a Formatter,
    /// Which operation.
    operation: Operation,
    /// Its I/Os.
    result: &'a OperationResult,
    /// What stands before the name of a quantity: nothing, `stream.` or `target.`.
    scope: &'a str,
    /// The stream or target; none for the whole.
    subject: Option<&'a str>,
}

impl NumbersRow<'_> {
    /// The row in the order of the columns.
    fn cells(&self) -> Vec<ViewCell> {
        let measurement = &self.run.measurement;
        let elapsed_s = match self.subject {
            Some(name) => measurement.stream_elapsed_s(name),
            None => measurement.elapsed_s(),
        };
        let times = self.result.response();
        let mut cells = vec![ViewCell::Name(self.name())];
        cells.push(self.sure("iops", Unit::IosPerS, rate(self.result.ios, elapsed_s)));
        cells.push(match self.operation {
            Operation::Sync => ViewCell::Unknown,
            Operation::Read | Operation::Write => {
                self.sure("throughput", Unit::BytesPerS, rate(self.result.bytes, elapsed_s))
            }
        });
        cells.push(self.time("mean", times.mean_ns()));
        cells.extend(QUANTILES.map(|quantile| self.quantile(times, quantile)));
        cells.push(ViewCell::Number(self.format.value(Unit::Ns, real(times.max_ns()))));
        cells.push(ViewCell::Number(self.format.count(self.result.ios)));
        cells
    }

    /// The operation, and whose it is.
    fn name(&self) -> Name {
        Name {
            words: format!("{}s", self.operation.name()),
            sign: Some(self.operation),
            subject: self.subject.map(str::to_owned),
            ..Name::default()
        }
    }

    /// The number of the totals with the interval that the caller knows for it.
    fn sure(&self, what: &str, unit: Unit, value: f64) -> ViewCell {
        let quantity = format!("{}{}.{what}", self.scope, self.operation.name());
        let estimate = self.run.estimate(&quantity, self.subject);
        let interval = estimate.map(|estimate| self.format.interval(unit, estimate));
        let value = self.run.reported(&quantity, self.subject, value);
        ViewCell::Estimate(Estimated {
            value: self.format.value(unit, value),
            interval: interval.unwrap_or_default(),
            ..Estimated::default()
        })
    }

    /// A time with its interval.
    fn time(&self, statistic: &str, value: f64) -> ViewCell {
        let open = self.result.response.is_some();
        let kind = if open { "response_time" } else { "service_time" };
        self.sure(&format!("{kind}.{statistic}"), Unit::Ns, value)
    }

    /// A quantile, where enough I/Os lie beyond it, and its program printed it.
    fn quantile(&self, times: &Histogram, quantile: f64) -> ViewCell {
        if (1.0 - quantile) * real(times.ios()) < BEYOND_MIN {
            return ViewCell::Number("too few".to_owned());
        }
        if !times.knows_quantile(quantile) {
            return ViewCell::Unknown;
        }
        self.time(&format!("q{quantile}"), real(times.quantile_ns(quantile)))
    }
}
