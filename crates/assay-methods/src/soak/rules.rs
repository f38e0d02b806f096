//! The rules of others on the same IOPS, looked at as their tools do: at every round, at every
//! second.

use assay_model::number::real;
use assay_model::soak::RuleFinding;
use assay_stats::steady::{five_rounds, slope_rule};
use std::collections::VecDeque;

/// Length of a round, s of load.
const ROUND_S: f64 = 60.0;
/// Rounds that are looked at together.
const ROUNDS: usize = 5;
/// Window of the slope, in steps of one second.
const WINDOW: usize = 300;
/// Slope allowed, as a share of the mean a second.
const SLOPE: f64 = 0.001;

/// Both rules while load goes on.
#[derive(Debug)]
pub(super) struct SteadyStateRules {
    worked_s: f64,
    round: (f64, f64),
    rounds: VecDeque<f64>,
    rounds_at_s: Option<f64>,
    second: (f64, f64),
    window: VecDeque<f64>,
    slope_at_s: Option<f64>,
}

impl SteadyStateRules {
    pub(super) fn new() -> Self {
        Self {
            worked_s: 0.0,
            round: (0.0, 0.0),
            rounds: VecDeque::with_capacity(ROUNDS + 1),
            rounds_at_s: None,
            second: (0.0, 0.0),
            window: VecDeque::with_capacity(WINDOW + 1),
            slope_at_s: None,
        }
    }

    pub(super) fn add(&mut self, iops: f64, elapsed_s: f64) {
        self.worked_s += elapsed_s;
        if let Some(mean) = joined(&mut self.round, iops, elapsed_s, ROUND_S) {
            keep(&mut self.rounds, mean, ROUNDS);
            if self.rounds_at_s.is_none() && five_rounds(self.rounds.make_contiguous()).is_some() {
                self.rounds_at_s = Some(self.worked_s);
            }
        }
        if self.slope_at_s.is_some() {
            return;
        }
        if let Some(mean) = joined(&mut self.second, iops, elapsed_s, 1.0) {
            keep(&mut self.window, mean, WINDOW);
            if slope_rule(self.window.make_contiguous(), WINDOW, SLOPE).is_some() {
                self.slope_at_s = Some(self.worked_s);
            }
        }
    }

    pub(super) fn findings(&self) -> Vec<RuleFinding> {
        let window = real(300);
        vec![
            RuleFinding {
                rule: format!(
                    "SNIA: {ROUNDS} rounds of {ROUND_S} s, range at most 20%, slope at most 10%"
                ),
                steady_at_s: self.rounds_at_s,
            },
            RuleFinding {
                rule: format!("fio: slope below 0.1%/s over {window} s"),
                steady_at_s: self.slope_at_s,
            },
        ]
    }
}

/// The mean of a stretch once it is `whole_s` long.
fn joined(open: &mut (f64, f64), iops: f64, elapsed_s: f64, whole_s: f64) -> Option<f64> {
    *open = (open.0 + iops * elapsed_s, open.1 + elapsed_s);
    if open.1 < whole_s - 1e-6 {
        return None;
    }
    let mean = open.0 / open.1;
    *open = (0.0, 0.0);
    Some(mean)
}

fn keep(window: &mut VecDeque<f64>, value: f64, most: usize) {
    window.push_back(value);
    if window.len() > most {
        window.pop_front();
    }
}
