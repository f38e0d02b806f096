//! How unevenly reads are spread over the files of a database.

use super::rates;
use crate::report::OracleReport;
use assay_model::number::real_len;
use assay_model::profile::ReadSkew;

/// Fewer files say nothing about how reads are spread.
const FILES_MIN: usize = 4;
/// Reads that would have to move for an even spread, as a share; less than this is as good as even.
const SKEW_MIN: f64 = 0.2;

/// The files that have more than their even part of the reads; `None` where reads are spread evenly
/// or files are few.
pub(super) fn of_files(report: &OracleReport) -> Option<ReadSkew> {
    let rates = report.files.iter().filter_map(|row| rates::reads_per_s(report, row));
    let source = report.files.first().and_then(|row| row.reads.or(row.writes))?.place();
    skew(rates.collect()).map(|(share, files, hot)| ReadSkew {
        read_share: share,
        hot_files: hot,
        files,
        source: format!("{source} and the rows that follow"),
    })
}

/// Share of the reads on the hot files, all files, hot files. The hot ones are those above the
/// mean: there the Lorenz curve lies furthest from the diagonal, by the share of reads that would
/// have to move (E. M. Hoover, The Measurement of Industrial Localization, Review of Economics and
/// Statistics 18, 1936).
fn skew(mut rates: Vec<f64>) -> Option<(f64, usize, usize)> {
    let files = rates.len();
    let sum: f64 = rates.iter().sum();
    if files < FILES_MIN || sum <= 0.0 {
        return None;
    }
    let mean = sum / real_len(files);
    rates.retain(|rate| *rate > mean);
    let share = rates.iter().sum::<f64>() / sum;
    let hot = rates.len();
    (share - real_len(hot) / real_len(files) >= SKEW_MIN).then_some((share, files, hot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_above_the_mean_are_the_hot_ones() {
        let (share, files, hot) = skew(vec![70.0, 20.0, 5.0, 3.0, 2.0]).unwrap();
        assert_eq!((files, hot), (5, 1));
        assert!((share - 0.7).abs() < 1e-12);
        // Exhaustively: no other number of files lies further from an even spread.
        let cumulative = [0.7, 0.9, 0.95, 0.98, 1.0];
        let apart = |hot: usize| cumulative[hot - 1] - real_len(hot) / 5.0;
        assert!((1..=5).all(|other| apart(other) <= apart(hot) + 1e-12));
    }

    #[test]
    fn an_even_spread_and_a_few_files_have_no_skew() {
        assert_eq!(skew(vec![10.0, 11.0, 9.0, 10.0]), None);
        assert_eq!(skew(vec![100.0, 1.0, 1.0]), None);
        assert_eq!(skew(vec![0.0; 8]), None);
    }
}
