//! A rung in the words of its caller: how many sessions, how long, at which pace, and who takes part from outside.

use super::pace::Pace;
use assay_model::measurement::{Interval, Joint};
use assay_model::units::Nanos;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// What ends a rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Time.
    Time(Nanos),
    /// Steps of each session; the time is then the result.
    Steps(u64),
}

/// What a session does whose connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OnLoss {
    /// It ends.
    #[default]
    End,
    /// It opens a new one as soon as the server takes it.
    Reconnect,
}

/// One rung.
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
    pub pace: Option<Pace>,
    /// What a lost session does.
    pub on_loss: OnLoss,
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
        }
    }

    pub(super) fn warms_up(&self) -> bool {
        self.ramp.0 > 0 || self.warm_up.0 > 0
    }
}

/// Who takes part in a rung from outside.
pub struct Hands<'a> {
    /// Set when the program is asked to end; what was measured is kept.
    pub stop: &'a AtomicBool,
    /// Told every interval; breaks when it cannot be kept.
    pub observe: &'a mut dyn FnMut(&Interval, &Joint) -> ControlFlow<()>,
    /// Called many times a second, for example to restart a server that has died.
    pub tend: &'a mut dyn FnMut(),
}
