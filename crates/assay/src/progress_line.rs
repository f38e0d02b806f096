//! What a person sees while it lasts: one line on standard error with the time left, only on a terminal.

use crate::terminal::plain;
use assay_app::Update;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often the line changes at most.
const REDRAW: Duration = Duration::from_millis(100);
const BAR_CELLS: usize = 24;

/// The line.
pub struct ProgressLine {
    shown: bool,
    /// Whether notes are said, too.
    talks: bool,
    drawn: Option<Instant>,
}

impl ProgressLine {
    /// A line on standard error where it is `wanted` and that is a terminal; notes unless it is `quiet`.
    pub fn new(wanted: bool, quiet: bool) -> Self {
        Self { shown: wanted && !quiet && io::stderr().is_terminal(), talks: !quiet, drawn: None }
    }

    /// Shows or says what the library reports.
    pub fn take(&mut self, update: Update<'_>) {
        match update {
            Update::CalibrationPhase { what, share, left_s } => self.show(what, share, left_s),
            Update::Idle => self.clear(),
            Update::Note(text) => self.say(text),
        }
    }

    /// Shows what is being done, the share that is done (0..=1), and the time left in seconds where it is known.
    fn show(&mut self, what: &str, share: f64, left_s: Option<f64>) {
        if !self.shown || self.drawn.is_some_and(|drawn| drawn.elapsed() < REDRAW) {
            return;
        }
        self.drawn = Some(Instant::now());
        let filled = assay_model::number::index(
            share.clamp(0.0, 1.0) * assay_model::number::real_len(BAR_CELLS),
        );
        let bar = format!("{}{}", "━".repeat(filled), "─".repeat(BAR_CELLS - filled));
        let left = left_s.map(|left_s| format!("  {left_s:.0} s left")).unwrap_or_default();
        drop(write!(io::stderr(), "\r\x1b[2K{bar} {}{left}", plain(what)));
        drop(io::stderr().flush());
    }

    /// Takes the line away.
    fn clear(&mut self) {
        if self.shown && self.drawn.take().is_some() {
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
