//! What is said of a measurement while it lasts: how far it is, and notes that stay; who shows it
//! decides how.

use assay_model::measurement::Interval;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// One thing that is said.
#[derive(Clone, Copy, Debug)]
pub enum ProgressUpdate<'a> {
    /// What is being done.
    Phase {
        /// In a few words.
        what: &'a str,
        /// The share that is done, 0..=1.
        share: f64,
        /// The time left, s, where it is known.
        left_s: Option<f64>,
    },
    /// Nothing is being done: what was said of it is out of date.
    Idle,
    /// A note that stays.
    Note(&'a str),
    /// A run was begun in the store, or goes on.
    Run {
        /// Its directory.
        directory: &'a Path,
        /// What is measured, and where.
        subject: &'a str,
    },
    /// An interval was measured; those of a calibration are its slices.
    Interval(&'a Interval),
}

/// Whoever shows it.
type ProgressSink = dyn FnMut(ProgressUpdate<'_>) + Send;

/// A way to whoever shows it; clones lead to the same place.
#[derive(Clone)]
pub struct ProgressSender {
    sink: Arc<Mutex<ProgressSink>>,
}

impl ProgressSender {
    /// Says everything to `sink`.
    pub fn new(sink: impl FnMut(ProgressUpdate<'_>) + Send + 'static) -> Self {
        Self { sink: Arc::new(Mutex::new(sink)) }
    }

    /// Says nothing to nobody.
    pub fn silent() -> Self {
        Self::new(|_| ())
    }

    /// The same without notes.
    pub fn without_notes(&self) -> Self {
        let all = self.clone();
        Self::new(move |update| match update {
            ProgressUpdate::Note(_) => (),
            other => all.tell(other),
        })
    }

    /// The progress of one of several equal parts of the whole, after which the others take
    /// `left_after_s` more seconds.
    pub fn part(&self, number: u32, count: u32, left_after_s: f64) -> Self {
        let whole = f64::from(count.max(1));
        let span = f64::from(number.saturating_sub(1)) / whole..f64::from(number) / whole;
        self.span(format!("{number} of {count}"), span, left_after_s)
    }

    /// The progress of a span of the whole (0..=1) with a name, after which the rest takes
    /// `left_after_s` more seconds.
    pub fn span(&self, name: String, span: Range<f64>, left_after_s: f64) -> Self {
        let all = self.clone();
        Self::new(move |update| match update {
            ProgressUpdate::Phase { what, share, left_s } => {
                let done = span.start + share.clamp(0.0, 1.0) * (span.end - span.start);
                let left_s = left_s.map(|left_s| left_s + left_after_s);
                all.show(&format!("{name}, {what}"), done, left_s);
            }
            other => all.tell(other),
        })
    }

    /// Shows what is being done, the share that is done (0..=1), and the time left in seconds where
    /// it is known.
    pub fn show(&self, what: &str, share: f64, left_s: Option<f64>) {
        self.tell(ProgressUpdate::Phase { what, share, left_s });
    }

    /// Takes away what was shown.
    pub fn clear(&self) {
        self.tell(ProgressUpdate::Idle);
    }

    /// Says something that stays.
    pub fn say(&self, text: &str) {
        self.tell(ProgressUpdate::Note(text));
    }

    /// Says that a run was begun in the store or goes on; `subject` names what is measured and
    /// where.
    pub fn run(&self, directory: &Path, subject: &str) {
        self.tell(ProgressUpdate::Run { directory, subject });
    }

    /// Gives an interval that was measured.
    pub fn interval(&self, interval: &Interval) {
        self.tell(ProgressUpdate::Interval(interval));
    }

    fn tell(&self, update: ProgressUpdate<'_>) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        (*sink)(update);
    }
}

impl fmt::Debug for ProgressSender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Progress").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_parts_are_shares_of_the_whole() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let all = ProgressSender::new(move |update| {
            if let ProgressUpdate::Phase { what, share, left_s } = update {
                sink.lock().unwrap().push((what.to_owned(), share, left_s));
            }
        });
        all.part(2, 4, 100.0).part(1, 2, 10.0).show("reads", 0.5, Some(5.0));
        let heard = heard.lock().unwrap();
        assert_eq!(heard[0], ("2 of 4, 1 of 2, reads".to_owned(), 0.3125, Some(115.0)));
    }

    #[test]
    fn notes_are_left_out_where_they_are_not_wanted() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let all =
            ProgressSender::new(move |update| sink.lock().unwrap().push(format!("{update:?}")));
        let quiet = all.without_notes();
        quiet.say("one");
        quiet.show("two", 0.5, None);
        all.say("three");
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), 2);
        assert!(heard[0].contains("two") && heard[1].contains("three"), "{heard:?}");
    }
}
