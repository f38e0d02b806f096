//! The place where a measurement says how it stands, and where everybody who shows it looks.

use crate::cost::MonitorCost;
use crate::state::MonitorState;
use assay_model::measurement::Interval;
use assay_model::watch::Moment;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A monitor; clones are the same one.
#[derive(Clone, Debug)]
pub struct Monitor {
    shared: Arc<MonitorShared>,
}

#[derive(Debug)]
struct MonitorShared {
    state: Mutex<MonitorState>,
    changed: Condvar,
    cost: MonitorCost,
}

impl Monitor {
    /// Of a program that has not begun yet; it is named with its version.
    pub fn new(program: &str) -> Self {
        let state = MonitorState { program: program.to_owned(), ..MonitorState::default() };
        let shared = MonitorShared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            cost: MonitorCost::new(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// A run was begun in the store; `subject` names what is measured and where.
    pub fn begin(&self, directory: &Path, subject: &str) {
        self.change(|state| state.begin(directory, subject));
    }

    /// The page is served at an address, which only the owner of the terminal sees: it holds the
    /// token.
    pub fn served_at(&self, url: &str) {
        self.change(|state| state.page = Some(url.to_owned()));
    }

    /// What is being done, the share that is done (0..=1), and the time left in seconds where it is
    /// known.
    pub fn show(&self, doing: &str, share: f64, left_s: Option<f64>) {
        self.change(|state| state.show(doing, share, left_s));
    }

    /// Nothing is being done for now.
    pub fn idle(&self) {
        self.change(MonitorState::idle);
    }

    /// Something was said that stays.
    pub fn note(&self, words: &str) {
        self.change(|state| state.note(words));
    }

    /// An interval was measured.
    pub fn interval(&self, interval: &Interval) {
        self.change(|state| state.take(interval));
    }

    /// The host was sampled.
    pub fn sample(&self, moment: &Moment) {
        self.change(|state| state.sample(moment));
    }

    /// The run has ended.
    pub fn end(&self) {
        self.change(|state| state.has_ended = true);
    }

    /// Looks at the state; nothing changes meanwhile, so a look is short.
    pub fn look<T>(&self, look: impl FnOnce(&MonitorState) -> T) -> T {
        look(&self.lock())
    }

    /// Directory of the run that is measured.
    pub fn directory(&self) -> Option<PathBuf> {
        self.look(|state| state.directory.clone())
    }

    /// Share of a core that showing has cost so far.
    pub fn cost_share(&self) -> f64 {
        self.shared.cost.share()
    }

    /// CPU time that showing has cost so far, s.
    pub fn cost_s(&self) -> f64 {
        self.shared.cost.spent_s()
    }

    /// Does something for those who look, at the monitor's cost.
    pub fn at_cost<T>(&self, what: impl FnOnce() -> T) -> T {
        self.shared.cost.count(what)
    }

    /// Waits until something changes, this long at most.
    pub(crate) fn wait(&self, longest: Duration) {
        drop(self.shared.changed.wait_timeout(self.lock(), longest));
    }

    fn change(&self, change: impl FnOnce(&mut MonitorState)) {
        self.at_cost(|| change(&mut self.lock()));
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, MonitorState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
