//! Think times: none is shortened, and the rest of one is kept across a pause.

use assay_model::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A wait looks so often whether it is over for another reason.
const NAP: Duration = Duration::from_millis(20);

/// What a session keeps across a pause: a step that was chosen, and what is left of the think time
/// before it.
#[derive(Debug, Default)]
pub(super) struct Pause {
    think_left: Option<Duration>,
}

/// How a think time ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thought {
    /// There was none.
    Nothing,
    /// It is over.
    Whole,
    /// The load was over before it was.
    CutShort,
}

impl Pause {
    /// Thinks before the next step, which `choose` chooses unless one was left over; `None` when
    /// all work is done.
    pub(super) fn think(
        &mut self,
        choose: impl FnOnce() -> Option<Nanos>,
        over: &AtomicBool,
    ) -> Option<Thought> {
        let think = match self.think_left.take() {
            Some(left) => left,
            None => Duration::from_nanos(choose()?.0),
        };
        if think.is_zero() {
            return Some(Thought::Nothing);
        }
        let end = Instant::now() + think;
        wait_until(end, over);
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(Thought::Whole);
        }
        self.think_left = Some(left);
        Some(Thought::CutShort)
    }

    /// The step that was chosen comes after the pause, without a further think time.
    pub(super) const fn keep_step(&mut self) {
        self.think_left = Some(Duration::ZERO);
    }
}

/// Waits, but not beyond the end of the load.
pub(super) fn wait_until(end: Instant, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(NAP));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_think_time_comes_after_the_pause() {
        let started = Instant::now();
        let think = Nanos(60_000_000);
        let (going, over) = (AtomicBool::new(false), AtomicBool::new(true));
        let mut pause = Pause::default();
        assert_eq!(pause.think(|| Some(think), &over), Some(Thought::CutShort));
        let chosen_again = || -> Option<Nanos> { panic!("a step was left over") };
        assert_eq!(pause.think(chosen_again, &going), Some(Thought::Whole));
        assert!(started.elapsed() >= Duration::from_nanos(think.0));
        // The step was taken: the next one is chosen.
        assert_eq!(pause.think(|| Some(Nanos(0)), &going), Some(Thought::Nothing));
        assert_eq!(pause.think(|| None, &going), None);
    }

    #[test]
    fn a_step_that_was_due_too_late_is_kept() {
        let going = AtomicBool::new(false);
        let mut pause = Pause::default();
        pause.keep_step();
        assert_eq!(pause.think(|| panic!("a step was left over"), &going), Some(Thought::Nothing));
    }
}
