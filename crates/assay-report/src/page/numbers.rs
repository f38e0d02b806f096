//! The table of a run's numbers: rates and quantiles of every operation, of the whole and of each stream and target.

use super::table::{Cell, Table};
use crate::format::Formatter;
use crate::input::RunReport;
use crate::markup::{Markup, path, tag};
use crate::phrases::nines;
use assay_model::Histogram;
use assay_model::measurement::{NamedResult, Operation, OperationResult, PerOperation};
use assay_model::number::{rate, real};
use assay_model::verdict::Unit;

/// Quantiles of the table.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];
/// I/Os that must lie beyond a quantile before it is shown: fewer say nothing about it.
const BEYOND_MIN: f64 = 10.0;

/// The kind of time that is shown: from the intended start where arrivals are open.
pub(crate) fn kind(operations: &PerOperation) -> &'static str {
    let open = operations.iter().any(|(_, result)| result.response.is_some());
    if open { "response time" } else { "service time" }
}

/// The table, with what its times are.
pub(crate) fn numbers(run: &RunReport, format: &Formatter) -> Markup {
    let measurement = &run.measurement;
    let whole = measurement.operations();
    let mut rows = rows(run, format, &whole, "", None);
    for (scope, results) in [("stream.", &measurement.streams), ("target.", &measurement.targets)] {
        rows.extend(several(results).iter().flat_map(|result| rows_of(run, format, result, scope)));
    }
    let mut table = head();
    for row in rows {
        table.row(row.cells());
    }
    let words = format!("Times are {}s; below a number stands its 95 % interval.", kind(&whole));
    table.markup().and(tag("p").class("note").text(&words))
}

/// A single stream or target is the whole, which stands there already.
fn several(results: &[NamedResult]) -> &[NamedResult] {
    if results.len() > 1 { results } else { &[] }
}

/// The columns.
fn head() -> Table {
    let table = Table::new("Rates and times of every operation").dense().words("What");
    let table = table.numbers("IOPS").numbers("Throughput").numbers("Mean");
    let quantile = |table: Table, quantile: &f64| table.numbers(format!("p{}", nines(*quantile)));
    let table = QUANTILES.iter().fold(table, quantile);
    table.numbers("Longest").numbers("I/Os")
}

/// A row for each operation.
fn rows<'a>(
    run: &'a RunReport,
    format: &'a Formatter,
    operations: &'a PerOperation,
    scope: &'a str,
    subject: Option<&'a str>,
) -> Vec<Row<'a>> {
    let row = |(operation, result)| Row { run, format, operation, result, scope, subject };
    operations.iter().map(row).collect()
}

/// The rows of one stream or target.
fn rows_of<'a>(
    run: &'a RunReport,
    format: &'a Formatter,
    result: &'a NamedResult,
    scope: &'a str,
) -> Vec<Row<'a>> {
    rows(run, format, &result.operations, scope, Some(&result.name))
}

/// One line of the table.
struct Row<'a> {
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

impl Row<'_> {
    /// The row in the order of the columns.
    fn cells(&self) -> Vec<Cell> {
        let elapsed_s = self.run.measurement.elapsed_s();
        let times = self.result.response();
        let mut cells = vec![Cell::Markup(self.name())];
        cells.push(self.sure("iops", Unit::IosPerS, rate(self.result.ios, elapsed_s)));
        cells.push(match self.operation {
            Operation::Sync => Cell::Number("–".to_owned()),
            Operation::Read | Operation::Write => {
                self.sure("throughput", Unit::BytesPerS, rate(self.result.bytes, elapsed_s))
            }
        });
        cells.push(self.time("mean", times.mean_ns()));
        cells.extend(QUANTILES.map(|quantile| self.quantile(times, quantile)));
        cells.push(Cell::Number(self.format.value(Unit::Ns, real(times.max_ns()))));
        cells.push(Cell::Number(self.format.count(self.result.ios)));
        cells
    }

    /// The operation, and whose it is.
    fn name(&self) -> Markup {
        let name = self.operation.name();
        let key = tag("span").class(&format!("key {name}")).text(&format!("{name}s"));
        let subject = self.subject.map(|subject| tag("span").class("subject").body(path(subject)));
        key.and(subject.unwrap_or_default())
    }

    /// The number of the totals with the interval that the caller knows for it.
    fn sure(&self, what: &str, unit: Unit, value: f64) -> Cell {
        let quantity = format!("{}{}.{what}", self.scope, self.operation.name());
        let estimate = self.run.estimate(&quantity, self.subject);
        let interval = estimate.map(|estimate| self.format.interval(unit, estimate));
        let value = self.run.told(&quantity, self.subject, value);
        Cell::Sure(self.format.value(unit, value), interval.unwrap_or_default())
    }

    /// A time with its interval.
    fn time(&self, statistic: &str, value: f64) -> Cell {
        let open = self.result.response.is_some();
        let kind = if open { "response_time" } else { "service_time" };
        self.sure(&format!("{kind}.{statistic}"), Unit::Ns, value)
    }

    /// A quantile, where enough I/Os lie beyond it.
    fn quantile(&self, times: &Histogram, quantile: f64) -> Cell {
        if (1.0 - quantile) * real(times.ios()) < BEYOND_MIN {
            return Cell::Number("too few".to_owned());
        }
        self.time(&format!("q{quantile}"), real(times.quantile_ns(quantile)))
    }
}
