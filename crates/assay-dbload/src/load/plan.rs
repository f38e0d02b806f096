//! A step in the words of its caller: how many sessions, how long, at which pace, and who takes
//! part from outside.

use super::pace::StepPace;
use assay_model::Result;
use assay_model::load::{Length, LoadKind, LoadStep, OnLoss, Setting, StepArrival};
use assay_model::measurement::{Interval, Window};
use assay_model::units::{Nanos, Rate};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Length of an interval.
pub(super) const INTERVAL: Nanos = Nanos(1_000_000_000);

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RungPlan {
    /// Sessions.
    pub sessions: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// What ends it.
    pub length: Length,
    /// Sessions begin one after the other over this time, which is not measured.
    pub ramp: Nanos,
    /// Load before the measured one, with the same sessions.
    pub warm_up: Nanos,
    /// Open arrivals; without them a session begins its next step when the last one has ended.
    pub pace: Option<StepPace>,
    /// What a lost session does.
    pub on_loss: OnLoss,
    /// Number of the first session: on several hosts each has its own ones of the same load.
    pub first_session: u32,
}

impl RungPlan {
    /// Sessions that begin at once and are measured from their first step on.
    pub const fn new(sessions: u32, repeat: u32, length: Length) -> Self {
        Self {
            sessions,
            repeat,
            length,
            ramp: Nanos(0),
            warm_up: Nanos(0),
            pace: None,
            on_loss: OnLoss::End,
            first_session: 0,
        }
    }

    /// The step as it is kept, with the knobs of its load.
    pub fn step(&self, kind: LoadKind, settings: &[Setting]) -> LoadStep {
        let open = |pace: StepPace| StepArrival::Open {
            rate: Rate(pace.rate_per_s),
            spacing: pace.spacing,
        };
        LoadStep {
            format: 1,
            kind,
            sessions: self.sessions,
            repeat: self.repeat,
            ramp: self.ramp,
            warm_up: self.warm_up,
            interval: INTERVAL,
            on_loss: self.on_loss,
            length: self.length,
            arrival: self.pace.map_or(StepArrival::Closed, open),
            settings: settings.to_vec(),
        }
    }

    /// Whether there is a load before the measured one.
    pub fn warms_up(&self) -> bool {
        self.ramp.0 > 0 || self.warm_up.0 > 0
    }
}

/// Who takes part in a step from outside.
pub struct RungHooks<'a> {
    /// Set when the program is asked to end; what was measured is kept.
    pub stop: &'a AtomicBool,
    /// Called with every interval; breaks when it cannot be kept.
    pub observe: &'a mut dyn FnMut(&Interval, &Window) -> ControlFlow<()>,
    /// Called many times per second, for example to restart a server that has died.
    pub on_tick: &'a mut dyn FnMut(),
    /// Waits for the moment at which hosts begin together: asked when sessions are ready, and
    /// again between the load before the measured one and that. With it the step is one host's
    /// part, and what the server counts is somebody else's to say.
    pub meet: Option<&'a mut dyn FnMut() -> Result<()>>,
}
