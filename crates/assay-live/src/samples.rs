//! Samples of the sessions: what each of them did at many moments, counted by event and by
//! statement.

use assay_model::counters::TaskCounters;
use assay_model::number::{count_of, real, real_len};
use assay_model::profile::Figure;
use std::collections::BTreeMap;

/// What a session was seen doing; both are empty where it waited for nothing the server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionState {
    /// The kind of event, for example `IO`.
    pub kind: String,
    /// The event in lower case, because its spelling changes from release to release (`WALSync`,
    /// `WalSync`).
    pub event: String,
}

impl SessionState {
    /// An event as any release spells it.
    pub fn new(kind: &str, event: &str) -> Self {
        Self { kind: kind.to_owned(), event: event.to_lowercase() }
    }

    /// Whether it waited for nothing the server knows: on a CPU, or ready for one.
    pub fn is_no_wait(&self) -> bool {
        self.kind.is_empty()
    }
}

/// One sample: one look at all sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSample {
    /// When it was, seconds since the start of the interval.
    pub at_s: f64,
    /// Whether it came so late that the machine had no CPU for it.
    pub is_late: bool,
    /// Active client sessions by what they did.
    pub sessions: BTreeMap<SessionState, u64>,
    /// Client sessions connected, active or not.
    pub connected: u64,
}

impl SessionSample {
    /// Active client sessions.
    pub fn active(&self) -> u64 {
        self.sessions.values().sum()
    }
}

/// CPU time by kind of process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Client sessions, without our own.
    pub clients: TaskCounters,
    /// Parallel workers that serve a statement of a client.
    pub parallel: TaskCounters,
    /// Everything else of the server.
    pub background: TaskCounters,
    /// Our own sessions.
    pub own: TaskCounters,
    /// Sessions that came and went between two samples, so that nothing is known of them.
    pub missed_sessions: u64,
}

/// All samples of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSamples {
    /// In their order.
    pub taken: Vec<SessionSample>,
    /// Length of the interval, seconds.
    pub elapsed_s: f64,
    /// CPU time, where the server is on this host.
    pub tasks: Option<Tasks>,
}

impl SessionSamples {
    /// How often sessions were seen active in all.
    pub fn seen(&self) -> u64 {
        self.taken.iter().map(SessionSample::active).sum()
    }

    /// Client sessions connected at the first sample; none where nobody looked.
    pub fn connected(&self) -> Option<Figure> {
        let first = self.taken.first()?;
        Some(Figure::new(real(first.connected), "client sessions at the first sample"))
    }

    /// Active sessions sample by sample.
    pub fn active(&self) -> Vec<f64> {
        self.taken.iter().map(|sample| real(sample.active())).collect()
    }

    /// Sessions in some events, sample by sample.
    pub fn series(&self, meant: impl Fn(&SessionState) -> bool) -> Vec<f64> {
        let of_one = |sample: &SessionSample| {
            let found = sample.sessions.iter().filter(|(seen, _)| meant(seen));
            real(found.map(|(_, sessions)| sessions).sum())
        };
        self.taken.iter().map(of_one).collect()
    }

    /// How often each event was seen in all.
    pub fn totals(&self) -> BTreeMap<&SessionState, u64> {
        let mut totals = BTreeMap::new();
        for (seen, sessions) in self.taken.iter().flat_map(|sample| &sample.sessions) {
            *totals.entry(seen).or_insert(0) += sessions;
        }
        totals
    }

    /// Samples that came late.
    pub fn late(&self) -> u64 {
        count_of(self.taken.iter().filter(|sample| sample.is_late).count())
    }

    /// Mean distance of two samples, seconds.
    pub fn period_s(&self) -> f64 {
        self.elapsed_s / real_len(self.taken.len()).max(1.0)
    }
}
