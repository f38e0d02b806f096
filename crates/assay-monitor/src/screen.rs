//! The measurement on a whole terminal, as lines that fit into it.

use crate::point::{MonitorPoint, OperationPoint};
use crate::state::MonitorState;
use assay_model::number::{index, real, real_len, seconds};
use assay_model::units::{show_bytes, show_count, show_time_ns};
use std::collections::VecDeque;

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenSize {
    /// Letters of a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

/// Signs of rising height.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Room for the name of a row before its heights.
const NAME_COLUMNS: usize = 12;
/// Room for the number behind them.
const VALUE_COLUMNS: usize = 22;

/// The lines; no more and no longer than the terminal. `cost` is the share of a core that showing
/// costs.
pub fn screen(state: &MonitorState, cost: f64, size: ScreenSize) -> Vec<String> {
    let mut lines = vec![head(state, size.columns), bar(state, size.columns)];
    lines.push(String::new());
    lines.extend(table(state.points.back()));
    lines.push(String::new());
    lines.extend(courses(&state.points, size.columns));
    lines.push(String::new());
    lines.push(tail(state, cost));
    lines.extend(state.page.as_ref().map(|page| format!("live: {page}")));
    lines.push(String::new());
    lines.extend(notes(state, size.rows.saturating_sub(lines.len())));
    lines.truncate(size.rows);
    lines.into_iter().map(|line| line.chars().take(size.columns).collect()).collect()
}

/// What is measured at the left, the time left at the right.
fn head(state: &MonitorState, columns: usize) -> String {
    let left = state.left_s.map_or_else(String::new, |left_s| format!("{} left", time(left_s)));
    let room = columns.saturating_sub(left.chars().count() + 1);
    let name: String =
        format!("{} · {}", state.program, state.subject).chars().take(room).collect();
    format!("{name:room$} {left}")
}

fn bar(state: &MonitorState, columns: usize) -> String {
    let cells = columns.saturating_sub(8);
    let filled = index(state.share * real_len(cells)).min(cells);
    let percent = format!("{:.0}%", 100.0 * state.share);
    format!("{}{} {percent:>6}", "━".repeat(filled), "─".repeat(cells - filled))
}

/// The last interval, a line for each operation.
fn table(last: Option<&MonitorPoint>) -> Vec<String> {
    let Some(last) = last else { return vec!["no interval has ended yet".to_owned()] };
    let head =
        row(["", "per second", "throughput", "p50", "p99", "p99.9", "errors"].map(str::to_owned));
    std::iter::once(head).chain(last.operations.iter().map(operation)).collect()
}

fn operation(of: &OperationPoint) -> String {
    let [median, high, highest] = of.service_time_ns.map(shown);
    let throughput = format!("{}/s", show_bytes(of.bytes_per_s));
    row([
        of.operation.name().to_owned(),
        show_count(of.iops),
        throughput,
        median,
        high,
        highest,
        show_count(real(of.errors)),
    ])
}

/// A time; of devices that others load the kernel keeps no quantiles.
fn shown(time_ns: u64) -> String {
    if time_ns == 0 { "–".to_owned() } else { show_time_ns(real(time_ns)) }
}

fn row(cells: [String; 7]) -> String {
    let [name, iops, throughput, median, high, highest, errors] = cells;
    format!("{name:6}{iops:>12}{throughput:>14}{median:>10}{high:>10}{highest:>10}{errors:>9}")
}

/// How the rate, the highest quantile and the processors went, as far as there is room.
fn courses(points: &VecDeque<MonitorPoint>, columns: usize) -> Vec<String> {
    let high = |point: &MonitorPoint| {
        let of = point.operations.iter().map(|of| of.service_time_ns[1]);
        of.max().map_or(0.0, real)
    };
    let mut lines = vec![
        course("per second", points, columns, MonitorPoint::iops, show_count),
        course("p99", points, columns, high, show_time_ns),
    ];
    if points.back().is_some_and(|point| point.cpu_busy_share.is_some()) {
        let busy = |point: &MonitorPoint| point.cpu_busy_share.unwrap_or_default();
        lines.push(course("CPU", points, columns, busy, |share| format!("{:.0}%", 100.0 * share)));
    }
    lines
}

/// One quantity over the last points, from zero to its highest value, which is written behind it.
fn course(
    name: &str,
    points: &VecDeque<MonitorPoint>,
    columns: usize,
    value: impl Fn(&MonitorPoint) -> f64,
    show: impl Fn(f64) -> String,
) -> String {
    let room = columns.saturating_sub(NAME_COLUMNS + VALUE_COLUMNS).max(1);
    let shown: Vec<f64> =
        points.iter().skip(points.len().saturating_sub(room)).map(value).collect();
    let most = shown.iter().copied().fold(0.0, f64::max);
    let heights: String = shown.iter().map(|value| height(*value, most)).collect();
    let most = show(most);
    format!("{name:NAME_COLUMNS$}{heights:room$} at most {most}")
}

fn height(value: f64, most: f64) -> char {
    let share = if most > 0.0 { value / most } else { 0.0 };
    HEIGHTS[index(share * real_len(HEIGHTS.len())).min(HEIGHTS.len() - 1)]
}

fn tail(state: &MonitorState, cost: f64) -> String {
    let doing = if state.doing.is_empty() { "between two parts" } else { &state.doing };
    let measured = time(seconds(state.measured_ns));
    format!("{doing} · {measured} measured · this view costs {:.2}% of a core", 100.0 * cost)
}

/// The last notes that there is room for.
fn notes(state: &MonitorState, room: usize) -> Vec<String> {
    let kept = state.notes.iter().skip(state.notes.len().saturating_sub(room));
    kept.map(|note| {
        note.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
    })
    .collect()
}

/// A time in the largest whole units: `12 s`, `3 min 20 s`, `2 h 5 min`.
fn time(time_s: f64) -> String {
    let whole = assay_model::number::count(time_s.round());
    match whole {
        0..=99 => format!("{whole} s"),
        100..=5999 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::histogram::Precision;
    use assay_model::measurement::{Interval, OperationResult, PerOperation};
    use std::path::Path;

    fn state(seconds: u64) -> MonitorState {
        let mut state = MonitorState { program: "assay 1".to_owned(), ..MonitorState::default() };
        state.begin(Path::new("/runs/a"), "soak of /mnt/data");
        for index in 0..seconds {
            let mut read = OperationResult::empty(Precision::Fine, false);
            (read.ios, read.bytes) = (1000 + 10 * index, 8_192_000);
            read.service.record_many(200_000, read.ios);
            let operations = PerOperation { read: Some(read), ..PerOperation::default() };
            let (start_ns, end_ns) = (index * 1_000_000_000, (index + 1) * 1_000_000_000);
            state.take(&Interval { index, start_ns, end_ns, operations, queue_depth_mean: 1.0 });
        }
        state.show("oltp: 1,000 IOPS", 0.5, Some(7500.0));
        state
    }

    #[test]
    fn lines_fit_into_every_terminal() {
        let mut state = state(500);
        (0..50).for_each(|number| state.note(&format!("note: \u{1b}[2J{number}")));
        for columns in [1, 8, 20, 79, 80, 200] {
            for rows in [1, 2, 5, 24, 60] {
                let lines = screen(&state, 0.001, ScreenSize { columns, rows });
                assert!(lines.len() <= rows);
                for line in &lines {
                    assert!(line.chars().count() <= columns && !line.contains('\u{1b}'), "{line}");
                }
            }
        }
    }

    #[test]
    fn what_is_measured_stands_in_it() {
        let lines = screen(&state(3), 0.0012, ScreenSize { columns: 100, rows: 30 }).join("\n");
        for words in [
            "assay 1 · soak of /mnt/data",
            "2 h 5 min left",
            "50%",
            "1,020",
            "7.81 MiB/s",
            "200 µs",
            "oltp: 1,000 IOPS · 3 s measured · this view costs 0.12% of a core",
            "at most 1,020",
        ] {
            assert!(lines.contains(words), "{words}\n{lines}");
        }
        assert!(!lines.contains("live: "));
        let served = MonitorState { page: Some("http://127.0.0.1:1/x/".to_owned()), ..state(3) };
        let lines = screen(&served, 0.0, ScreenSize { columns: 100, rows: 30 });
        assert!(lines.contains(&"live: http://127.0.0.1:1/x/".to_owned()), "{lines:?}");
        let empty = screen(&MonitorState::default(), 0.0, ScreenSize { columns: 80, rows: 24 });
        assert!(empty.join("\n").contains("no interval has ended yet"));
    }

    #[test]
    fn the_highest_value_fills_the_row_and_nothing_is_lowest() {
        assert_eq!((height(0.0, 0.0), height(0.0, 5.0), height(5.0, 5.0)), ('▁', '▁', '█'));
        assert_eq!([12.4, 130.0, 9000.0].map(time), ["12 s", "2 min 10 s", "2 h 30 min"]);
    }
}
