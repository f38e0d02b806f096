//! What a step asks of a server: its sessions, when their steps begin, and what ends it. The
//! document `step.toml` of the step's cell.

use super::kind::LoadKind;
use super::setting::Setting;
use crate::document::parse_toml;
use crate::units::{Nanos, Rate};
use crate::{Error, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What ends a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Time.
    Time(Nanos),
    /// Steps of each session; the time is then the result.
    Steps(u64),
}

/// How open arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// All gaps are equal
    #[default]
    Constant,
    /// Gaps are exponential, like those of many independent users
    Poisson,
}

/// When the steps of a step begin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StepArrival {
    /// A session begins its next step when the last one has ended, after its think time.
    Closed,
    /// When they are due, whether sessions are free or not; all sessions together.
    Open {
        /// Steps a second.
        rate: Rate,
        /// How they are spaced.
        spacing: Spacing,
    },
}

/// What a session does whose connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnLoss {
    /// They end; the data measured so far are kept
    #[default]
    End,
    /// They reconnect as soon as the server is back; a server that Assay created is started again
    Reconnect,
}

/// One step as it is asked for: the document `step.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LoadStep {
    /// Version of the document format: 1.
    pub format: u32,
    /// The load whose steps the sessions take.
    pub kind: LoadKind,
    /// Sessions at once.
    pub sessions: u32,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// Sessions begin one after the other over this time, which is not measured.
    pub ramp: Nanos,
    /// Load before the measured one, with the same sessions.
    pub warm_up: Nanos,
    /// Length of an interval.
    pub interval: Nanos,
    /// What a session does whose connection is lost.
    pub on_loss: OnLoss,
    /// What ends the measured load.
    pub length: Length,
    /// When steps begin.
    pub arrival: StepArrival,
    /// The knobs of the load, by names and values in the order of the command line.
    #[serde(default, rename = "setting", skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
}

/// Measured time that a step is planned with which ends after a number of steps: how long it takes
/// is its result.
const PLANNED_NS: u64 = 60_000_000_000;

impl LoadStep {
    /// Reads a document.
    ///
    /// # Errors
    /// A usage error with the place in the text where it is not of this form.
    pub fn parse(text: &str) -> Result<Self> {
        let step: Self = parse_toml(text, "step")?;
        if step.format == 1 {
            return Ok(step);
        }
        Err(Error::usage(
            format!("the step has format = {}; this version reads format = 1", step.format),
            "open it with the version of assay that wrote it, or a newer one",
        ))
    }

    /// Intervals when it runs as long as planned.
    pub fn planned_intervals(&self) -> u64 {
        let planned_ns = match self.length {
            Length::Time(time) => time.0,
            Length::Steps(_) => PLANNED_NS,
        };
        planned_ns.div_ceil(self.interval.0.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> LoadStep {
        LoadStep {
            format: 1,
            kind: LoadKind::Oltp,
            sessions: 8,
            repeat: 2,
            ramp: Nanos(0),
            warm_up: Nanos::from_seconds(10.0),
            interval: Nanos::from_seconds(1.0),
            on_loss: OnLoss::Reconnect,
            length: Length::Time(Nanos::from_seconds(59.5)),
            arrival: StepArrival::Open { rate: Rate(200.0), spacing: Spacing::Poisson },
            settings: vec![Setting { name: "warehouses".to_owned(), value: "4".to_owned() }],
        }
    }

    #[test]
    fn a_step_reads_back_and_says_what_was_asked() {
        let text = toml::to_string(&step()).unwrap();
        assert_eq!(LoadStep::parse(&text).unwrap(), step(), "{text}");
        assert!(text.contains("kind = \"oltp\"") && text.contains("rate = \"200/s\""), "{text}");
        let closed = LoadStep {
            arrival: StepArrival::Closed,
            length: Length::Steps(7),
            settings: Vec::new(),
            ..step()
        };
        let text = toml::to_string(&closed).unwrap();
        assert!(text.contains("arrival = \"closed\"") && text.contains("steps = 7"), "{text}");
        assert_eq!(LoadStep::parse(&text).unwrap(), closed);
    }

    #[test]
    fn what_is_not_a_step_is_refused() {
        let text = toml::to_string(&step()).unwrap();
        for (from, to) in [("format = 1", "format = 2"), ("oltp", "tpcc"), ("sessions", "users")] {
            assert!(LoadStep::parse(&text.replace(from, to)).is_err(), "{from}");
        }
    }

    #[test]
    fn intervals_are_planned_by_time_or_as_for_a_minute() {
        assert_eq!(step().planned_intervals(), 60);
        assert_eq!(LoadStep { length: Length::Steps(1), ..step() }.planned_intervals(), 60);
    }
}
