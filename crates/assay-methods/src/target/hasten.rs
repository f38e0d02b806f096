//! A hastened array as a sample of its slow time: every simulated second stands for many.

use assay_engine::Observer;
use assay_model::measurement::{Interval, Measurement, NamedResult, Remark, Window};
use assay_model::units::Nanos;
use assay_model::workload::Workload;
use std::ops::ControlFlow;

/// Intervals of a run that was made shorter, at least.
const INTERVALS_MIN: u64 = 20;

/// How many times faster slow processes run, and how many seconds a simulated one stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedup(pub u64);

impl Speedup {
    /// A time as it is simulated.
    pub const fn shorter(self, time: Nanos) -> Nanos {
        Nanos(time.0 / self.0)
    }

    /// A workload as it is simulated.
    pub fn workload(self, workload: &Workload) -> Workload {
        let duration = Nanos(self.shorter(workload.duration).0.max(1));
        let most_ns = (duration.0 / INTERVALS_MIN).max(1);
        Workload {
            warm_up: self.shorter(workload.warm_up),
            interval: Nanos(workload.interval.0.min(most_ns)),
            duration,
            ..workload.clone()
        }
    }

    fn interval(self, interval: &Interval) -> Interval {
        Interval {
            start_ns: interval.start_ns.saturating_mul(self.0),
            end_ns: interval.end_ns.saturating_mul(self.0),
            operations: interval.operations.times(self.0),
            ..*interval
        }
    }

    fn named(self, results: &[NamedResult]) -> Vec<NamedResult> {
        let times = |one: &NamedResult| NamedResult {
            name: one.name.clone(),
            operations: one.operations.times(self.0),
        };
        results.iter().map(times).collect()
    }

    fn joint(self, joint: &Window) -> Window {
        Window {
            streams: self.named(&joint.streams),
            targets: self.named(&joint.targets),
            ..*joint
        }
    }

    /// What was simulated as what it stands for.
    pub fn measurement(self, mut simulated: Measurement) -> Measurement {
        if self.0 == 1 {
            return simulated;
        }
        simulated.elapsed_ns = simulated.elapsed_ns.saturating_mul(self.0);
        simulated.streams = self.named(&simulated.streams);
        simulated.targets = self.named(&simulated.targets);
        let times = self.0;
        simulated.conduct.remarks.push(Remark {
            what: format!("the array was accelerated {times} times"),
            why: format!(
                "every simulated second represents {times} s; slow processes are accelerated \
                 accordingly"
            ),
            remedy: "omit hasten to simulate every I/O".to_owned(),
        });
        simulated
    }
}

/// An observer that gets what the sample stands for.
pub struct SpeedupObserver<'a> {
    /// How much more that is.
    pub hasten: Speedup,
    /// Who gets it.
    pub observer: &'a mut dyn Observer,
}

impl Observer for SpeedupObserver<'_> {
    fn interval(&mut self, interval: &Interval, joint: &Window) -> ControlFlow<()> {
        if self.hasten.0 == 1 {
            return self.observer.interval(interval, joint);
        }
        self.observer.interval(&self.hasten.interval(interval), &self.hasten.joint(joint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::SimulatedDevice;
    use assay_model::units::{Bytes, Share};
    use assay_model::workload::Stream;

    #[test]
    fn a_sample_has_the_rates_of_what_it_stands_for() {
        let device = SimulatedDevice::parse("sim:servers?count=8&service=200us").unwrap().unwrap();
        let stream = Stream::closed("io", Share(1.0), Bytes(8192), 8);
        let workload = Workload::of("long", Nanos(600_000_000_000), stream);
        let hasten = Speedup(600);
        let short = hasten.workload(&workload);
        assert_eq!((short.duration, short.interval), (Nanos(1_000_000_000), Nanos(50_000_000)));
        let mut ends = Vec::new();
        let mut see = |interval: &Interval, _: &Window| {
            ends.push((interval.end_ns, interval.operations.ios()));
            ControlFlow::Continue(())
        };
        let mut observer = SpeedupObserver { hasten, observer: &mut see };
        let measured = device.simulation().run(&short, &mut observer).unwrap();
        let measured = hasten.measurement(measured);
        assert!((measured.iops() / 40_000.0 - 1.0).abs() < 0.01, "{}", measured.iops());
        assert_eq!(ends.len(), 20);
        assert_eq!(ends[19].0, 600_000_000_000);
        assert_eq!(ends.iter().map(|end| end.1).sum::<u64>(), measured.operations().ios());
        assert!(measured.conduct.remarks[0].what.contains("600 times"));
    }
}
