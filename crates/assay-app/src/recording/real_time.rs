//! Virtual time at the pace of the clock on the wall, where a target asks for it.

use assay_engine::Observer;
use assay_methods::target::SimulatedDevice;
use assay_model::measurement::{Interval, Window};
use assay_model::units::Nanos;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Nobody waits longer than this to be stopped.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// An observer that gets an interval once the wall clock has reached its end.
pub(super) struct RealTimePace<'a> {
    begun: Option<Instant>,
    stop: &'a AtomicBool,
    observer: &'a mut dyn Observer,
}

impl<'a> RealTimePace<'a> {
    pub(super) fn of(
        device: &SimulatedDevice,
        stop: &'a AtomicBool,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self { begun: device.keeps_real_pace().then(Instant::now), stop, observer }
    }
}

impl Observer for RealTimePace<'_> {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        if let Some(begun) = self.begun {
            sleep_until(begun + Duration::from_nanos(interval.end_ns), self.stop);
        }
        self.observer.interval(interval, joint)
    }
}

/// Sleeps for a time of a target that keeps the real pace.
pub(super) fn rest(time: Nanos, stop: &AtomicBool) {
    sleep_until(Instant::now() + Duration::from_nanos(time.0), stop);
}

fn sleep_until(end: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(POLL_INTERVAL));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_pace_waits_and_a_stop_ends_the_wait() {
        let stop = AtomicBool::new(false);
        let real = SimulatedDevice::parse("array:ramsan-300?pace=real").unwrap().unwrap();
        let mut ends = 0;
        let mut count = |_: &Interval, _: &Window| {
            ends += 1;
            ControlFlow::Continue(())
        };
        let begun = Instant::now();
        let mut paced = RealTimePace::of(&real, &stop, &mut count);
        let interval = Interval { end_ns: 30_000_000, ..Interval::default() };
        assert!(paced.interval(&interval, &Window::default()).is_continue());
        assert!(begun.elapsed() >= Duration::from_millis(30));
        stop.store(true, Ordering::Relaxed);
        rest(Nanos(3_600_000_000_000), &stop);
        assert_eq!(ends, 1);
    }
}
