//! Results of a study of two streams by the queue depths of both, as ORION prints them.

use super::{CellResult, StudyResult, StudySetting};
use crate::number::real_len;

/// A table of cells, one factor down and the other across.
#[derive(Clone, Debug)]
pub struct DepthMatrix<'a> {
    /// The stream whose queue depth names the rows.
    pub row_stream: String,
    /// The stream whose queue depth names the columns.
    pub column_stream: String,
    /// Queue depths of the rows, ascending; 0 where the stream is off.
    pub rows: Vec<u64>,
    /// Queue depths of the columns, ascending.
    pub columns: Vec<u64>,
    cells: Vec<PlacedCell<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct PlacedCell<'a> {
    row: u64,
    column: u64,
    result: &'a CellResult,
}

/// What a matrix shows of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixQuantity {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// Mean service time, ns.
    MeanTime,
}

/// The prefix of the factors that a matrix has.
const QUEUE_DEPTH: &str = "queue_depth.";

impl<'a> DepthMatrix<'a> {
    /// The matrix of a study whose factors are the queue depths of two streams; none of others.
    pub fn of(study: &'a StudyResult) -> Option<Self> {
        let [first, second] = study.cells.first()?.cell.settings.as_slice() else { return None };
        let stream =
            |setting: &StudySetting| setting.factor.strip_prefix(QUEUE_DEPTH).map(str::to_owned);
        let (row_stream, column_stream) = (stream(first)?, stream(second)?);
        let cells: Vec<PlacedCell<'_>> = study.cells.iter().filter_map(placed).collect();
        let depths = |of: fn(&PlacedCell<'_>) -> u64| {
            let mut depths: Vec<u64> = cells.iter().map(of).collect();
            depths.sort_unstable();
            depths.dedup();
            depths
        };
        let (rows, columns) = (depths(|cell| cell.row), depths(|cell| cell.column));
        Some(Self { row_stream, column_stream, rows, columns, cells })
    }

    /// The mean over repeats of a quantity of the stream of the rows (`of_rows`) or the columns;
    /// none where the stream is off or nothing was measured.
    pub fn value(
        &self,
        quantity: MatrixQuantity,
        of_rows: bool,
        row: u64,
        column: u64,
    ) -> Option<f64> {
        let (stream, depth, other) = if of_rows {
            (&self.row_stream, row, column)
        } else {
            (&self.column_stream, column, row)
        };
        let is_here = |cell: &&PlacedCell<'_>| cell.row == row && cell.column == column;
        let value = |cell: &PlacedCell<'_>| of_stream(cell.result, quantity, stream, other == 0);
        let values: Vec<f64> = self.cells.iter().filter(is_here).filter_map(value).collect();
        let is_known = depth > 0 && !values.is_empty();
        is_known.then(|| values.iter().sum::<f64>() / real_len(values.len()))
    }
}

fn placed(result: &CellResult) -> Option<PlacedCell<'_>> {
    let [row, column] = result.cell.settings.as_slice() else { return None };
    let depth = |setting: &StudySetting| setting.value.to_string().parse().ok();
    Some(PlacedCell { row: depth(row)?, column: depth(column)?, result })
}

/// A quantity of one stream; a stream that is alone in its cell is the whole cell.
fn of_stream(
    cell: &CellResult,
    quantity: MatrixQuantity,
    stream: &str,
    is_alone: bool,
) -> Option<f64> {
    let named = |name: &str| {
        let of_stream = cell.value(&format!("stream.{name}"), Some(stream));
        of_stream.or_else(|| cell.value(name, None).filter(|_| is_alone))
    };
    match quantity {
        MatrixQuantity::Iops => named("iops"),
        MatrixQuantity::Throughput => named("throughput"),
        MatrixQuantity::MeanTime => mean_time(named),
    }
}

/// The mean of reads and writes together, by their rates.
fn mean_time(named: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let of = |operation: &str| {
        let rate = named(&format!("{operation}.iops"))?;
        Some((rate, named(&format!("{operation}.service_time.mean"))?))
    };
    let both: Vec<(f64, f64)> = ["read", "write"].into_iter().filter_map(of).collect();
    let rate: f64 = both.iter().map(|(rate, _)| rate).sum();
    (rate > 0.0).then(|| both.iter().map(|(rate, mean)| rate * mean).sum::<f64>() / rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Estimate;
    use crate::study::{Cell, CellState, FactorValue};
    use crate::verdict::NamedEstimate;

    fn cell(large: u64, small: u64, measures: &[(&str, Option<&str>, f64)]) -> CellResult {
        let setting = |factor: &str, depth| StudySetting {
            factor: factor.to_owned(),
            value: FactorValue::Whole(depth),
        };
        let settings =
            vec![setting("queue_depth.large", large), setting("queue_depth.small", small)];
        let measure = |(quantity, subject, value): &(&str, Option<&str>, f64)| NamedEstimate {
            quantity: (*quantity).to_owned(),
            subject: subject.map(str::to_owned),
            estimate: Estimate::exact(*value, 10),
        };
        CellResult {
            measures: measures.iter().map(measure).collect(),
            ..CellResult::new(
                Cell { number: 1, repeat: 1, settings, restored: false },
                CellState::Measured,
            )
        }
    }

    fn study(cells: Vec<CellResult>) -> StudyResult {
        StudyResult {
            format: 1,
            study: "mytest".to_owned(),
            description: String::new(),
            planned: 2,
            notes: Vec::new(),
            cells,
            curves: Vec::new(),
            scaling: Vec::new(),
            course: None,
            published: Vec::new(),
            mean_latency_max: None,
        }
    }

    #[test]
    fn a_stream_has_its_own_numbers_and_alone_those_of_the_cell() {
        let alone = [("iops", None, 100.0), ("read.iops", None, 100.0)];
        let both = [
            ("iops", None, 130.0),
            ("stream.iops", Some("small"), 120.0),
            ("stream.read.iops", Some("small"), 90.0),
            ("stream.read.service_time.mean", Some("small"), 2e6),
            ("stream.write.iops", Some("small"), 30.0),
            ("stream.write.service_time.mean", Some("small"), 6e6),
            ("stream.throughput", Some("large"), 1e7),
        ];
        let study = study(vec![cell(0, 4, &alone), cell(2, 4, &both)]);
        let matrix = DepthMatrix::of(&study).unwrap();
        assert_eq!((matrix.rows.as_slice(), matrix.columns.as_slice()), (&[0, 2][..], &[4][..]));
        assert_eq!(matrix.row_stream, "large");
        let small = |quantity, row| matrix.value(quantity, false, row, 4);
        assert_eq!(small(MatrixQuantity::Iops, 0), Some(100.0));
        assert_eq!(small(MatrixQuantity::Iops, 2), Some(120.0));
        // (90 × 2 ms + 30 × 6 ms) ÷ 120.
        assert_eq!(small(MatrixQuantity::MeanTime, 2), Some(3e6));
        assert_eq!(matrix.value(MatrixQuantity::Throughput, true, 2, 4), Some(1e7));
        assert_eq!(matrix.value(MatrixQuantity::Throughput, true, 0, 4), None);
        assert_eq!(small(MatrixQuantity::Iops, 7), None);
    }

    #[test]
    fn other_studies_have_no_matrix() {
        let mut other = cell(1, 1, &[]);
        other.cell.settings[0].factor = "read_share".to_owned();
        assert!(DepthMatrix::of(&study(vec![other])).is_none());
        assert!(DepthMatrix::of(&study(Vec::new())).is_none());
    }
}
