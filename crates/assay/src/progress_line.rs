//! What a person sees while it lasts, on standard error: one line that changes on a terminal, a
//! line a minute in a file.

use crate::terminal::{error_columns, plain};
use assay_app::ProgressUpdate;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line changes at most.
const REDRAW: Duration = Duration::from_millis(100);
/// How often a line is added to a file.
const ADDED: Duration = Duration::from_secs(60);
const BAR_CELLS: usize = 24;
/// A narrower terminal has no room for a bar.
const BAR_COLUMNS: usize = 60;
/// Below this share the time that passed says nothing of the time that is left.
const SHARE_MIN: f64 = 0.02;

/// Where progress is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressPlace {
    Nowhere,
    Terminal,
    File,
}

/// The line.
pub struct ProgressLine {
    place: ProgressPlace,
    /// Whether notes are said, too.
    talks: bool,
    drawn: Option<Instant>,
    /// When the work began whose progress is shown.
    begun: Option<Instant>,
}

impl ProgressLine {
    /// A line on standard error where it is `wanted`; notes unless it is `quiet`.
    pub fn new(wanted: bool, quiet: bool) -> Self {
        let place = match (wanted && !quiet, io::stderr().is_terminal()) {
            (false, _) => ProgressPlace::Nowhere,
            (true, true) => ProgressPlace::Terminal,
            (true, false) => ProgressPlace::File,
        };
        Self { place, talks: !quiet, drawn: None, begun: None }
    }

    /// Shows or says what the library reports.
    pub fn take(&mut self, update: ProgressUpdate<'_>) {
        match update {
            ProgressUpdate::Phase { what, share, left_s } => self.show(what, share, left_s),
            ProgressUpdate::Idle => {
                self.clear();
                self.begun = None;
            }
            ProgressUpdate::Note(text) => self.say(text),
            ProgressUpdate::Run { .. } | ProgressUpdate::Interval(_) => {}
        }
    }

    /// Shows what is being done, the share that is done (0..=1), and the time left in seconds where
    /// it is known.
    fn show(&mut self, what: &str, share: f64, left_s: Option<f64>) {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let pause = if self.place == ProgressPlace::File { ADDED } else { REDRAW };
        if self.place == ProgressPlace::Nowhere
            || self.drawn.is_some_and(|drawn| drawn.elapsed() < pause)
        {
            return;
        }
        self.drawn = Some(Instant::now());
        let left = left_s.or_else(|| left_by_pace(share, begun.elapsed().as_secs_f64()));
        let left = left.map(|left_s| format!(", {}", time_left(left_s))).unwrap_or_default();
        match self.place {
            ProgressPlace::Nowhere => {}
            ProgressPlace::Terminal => {
                let line = line(what, share, &left, error_columns());
                drop(write!(io::stderr(), "\r\x1b[2K{line}"));
                drop(io::stderr().flush());
            }
            ProgressPlace::File => {
                crate::terminal::say(&format!(
                    "{:3.0}%  {what}{left}",
                    100.0 * share.clamp(0.0, 1.0)
                ));
            }
        }
    }

    /// Takes the line away.
    fn clear(&mut self) {
        if self.place == ProgressPlace::Terminal && self.drawn.take().is_some() {
            drop(write!(io::stderr(), "\r\x1b[2K"));
            drop(io::stderr().flush());
        }
    }

    /// Says something that stays, above the line.
    fn say(&mut self, text: &str) {
        self.clear();
        if self.talks {
            crate::terminal::say(text);
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The line for a terminal of this width, cut at the right edge: a longer one would leave its
/// beginning behind.
fn line(what: &str, share: f64, left: &str, columns: usize) -> String {
    let filled = assay_model::number::index(
        share.clamp(0.0, 1.0) * assay_model::number::real_len(BAR_CELLS),
    );
    let bar = match columns {
        0..BAR_COLUMNS => format!("{:.0}%", 100.0 * share.clamp(0.0, 1.0)),
        _ => format!("{}{}", "━".repeat(filled), "─".repeat(BAR_CELLS - filled)),
    };
    let line = format!("{bar} {}{left}", plain(what));
    line.chars().take(columns.saturating_sub(1)).collect()
}

/// What is left at the pace so far, s.
pub fn left_by_pace(share: f64, passed_s: f64) -> Option<f64> {
    (share > SHARE_MIN && share < 1.0).then(|| passed_s * (1.0 - share) / share)
}

/// `12 s left`, `3 min left`, `2.5 h left`.
fn time_left(left_s: f64) -> String {
    match left_s {
        short if short < 100.0 => format!("{short:.0} s left"),
        middle if middle < 5400.0 => format!("{:.0} min left", middle / 60.0),
        long => format!("{:.1} h left", long / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_into_the_terminal() {
        let words = "2 of 3, oltp: 38,700 IOPS, 302 MiB/s";
        for columns in [20, 40, 59, 60, 80, 200] {
            assert!(line(words, 0.5, ", 12 s left", columns).chars().count() < columns);
        }
        let wide = line(words, 0.5, ", 12 s left", 100);
        assert!(
            wide.starts_with(&"━".repeat(12)) && wide.ends_with("302 MiB/s, 12 s left"),
            "{wide}"
        );
        assert!(line(words, 0.5, "", 50).starts_with("50% 2 of 3"));
    }

    #[test]
    fn what_is_left_is_said_in_units_of_people() {
        assert_eq!([12.4, 170.0, 9000.0].map(time_left), ["12 s left", "3 min left", "2.5 h left"]);
        assert_eq!(left_by_pace(0.25, 10.0), Some(30.0));
        assert_eq!(left_by_pace(0.0, 10.0), None);
    }
}
