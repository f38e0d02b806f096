//! Cycle after cycle of a soak, from the first one or from where an earlier command ended.

use crate::progress::ProgressSender;
use crate::recording::{RecordedWork, Recording, remaining};
use assay_methods::soak::{SoakRecorder, SoakRule};
use assay_model::measurement::{Finish, Interval};
use assay_model::number::seconds;
use assay_model::soak::{Soak, SoakCycles};
use assay_model::units::{Nanos, Share, show_count};
use assay_model::{Result, Workload};
use assay_store::RunReader;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A soak on its way.
pub struct Cycles {
    plan: SoakCycles,
    rule: SoakRule,
    recorder: SoakRecorder,
    /// The cycle that comes next, and the load that it has had.
    next: u32,
    measured_ns: u64,
    /// Whether the next cycle has a cell already, be it without a whole interval.
    is_begun: bool,
    /// When the recording began, s after the soak did.
    began_s: f64,
}

impl Cycles {
    /// A soak before its first cycle.
    pub fn new(plan: SoakCycles, tolerance: Share) -> Self {
        Self {
            plan,
            rule: SoakRule { tolerance: tolerance.0, ..SoakRule::default() },
            recorder: SoakRecorder::new(),
            next: 0,
            measured_ns: 0,
            is_begun: false,
            began_s: 0.0,
        }
    }

    /// Cycles with the one behind the final rest.
    fn cycles(&self) -> u32 {
        self.plan.cycles + u32::from(self.plan.final_rest.0 > 0)
    }

    /// Name of the cell that keeps a cycle.
    fn cell(&self, cycle: u32) -> String {
        match self.cycles() {
            1 => "load".to_owned(),
            _ => format!("cycle-{:06}", cycle + 1),
        }
    }

    /// When a cycle is planned to begin, s after the soak did.
    fn begin_s(&self, cycle: u32) -> f64 {
        let whole = (self.plan.work.seconds() + self.plan.rest.seconds()) * f64::from(cycle);
        let is_last = self.plan.final_rest.0 > 0 && cycle == self.plan.cycles;
        let other = self.plan.final_rest.seconds() - self.plan.rest.seconds();
        if is_last { whole + other } else { whole }
    }

    /// Takes in what an earlier command measured.
    pub fn restore_progress(&mut self, run: &RunReader) -> Result<()> {
        for cycle in 0..self.cycles() {
            let Ok(cell) = run.cell(&self.cell(cycle)) else {
                break;
            };
            let begin_s = self.begin_s(cycle);
            for interval in cell.intervals()? {
                self.recorder.add(cycle, begin_s, &interval?);
            }
            (self.next, self.measured_ns, self.is_begun) = (cycle, cell.elapsed_ns()?, true);
            if self.measured_ns >= self.plan.work.0 {
                (self.next, self.measured_ns, self.is_begun) = (cycle + 1, 0, false);
            }
        }
        self.began_s = self.begin_s(self.next) + seconds(self.measured_ns);
        Ok(())
    }

    /// All cycles that are left, and the one behind the final rest.
    pub fn conduct(&mut self, recording: &mut Recording, workload: &Workload) -> Result<Finish> {
        let whole = recording.context.progress.clone();
        for cycle in self.next..self.cycles() {
            let (begin_s, work_s) = (self.begin_s(cycle), self.plan.work.seconds());
            recording.context.progress = self.progress(&whole, cycle, begin_s..begin_s + work_s);
            let finish = self.cycle(recording, workload, cycle)?;
            if finish != Finish::Complete {
                return Ok(finish);
            }
            let rest = self.rest_after(cycle);
            let rested_s = begin_s + work_s + rest.seconds();
            recording.context.progress = self.progress(&whole, cycle, begin_s + work_s..rested_s);
            recording.rest("rest", rest);
            if recording.context.stop.load(Ordering::Relaxed) {
                return Ok(Finish::Interrupted);
            }
        }
        Ok(Finish::Complete)
    }

    /// The progress of a part of a cycle, seconds after the soak began, as one of the whole soak.
    fn progress(&self, whole: &ProgressSender, cycle: u32, part_s: Range<f64>) -> ProgressSender {
        if self.cycles() == 1 {
            return whole.clone();
        }
        let all_s = self.begin_s(self.cycles() - 1) + self.plan.work.seconds();
        let name = format!("cycle {} of {}", cycle + 1, self.cycles());
        whole.span(name, part_s.start / all_s..part_s.end / all_s, all_s - part_s.end)
    }

    /// The load of one cycle, or what is left of it.
    fn cycle(
        &mut self,
        recording: &mut Recording,
        workload: &Workload,
        cycle: u32,
    ) -> Result<Finish> {
        let (name, measured_ns) = (self.cell(cycle), std::mem::take(&mut self.measured_ns));
        let begin_s = self.began_s + recording.now_s();
        let recorder = &mut self.recorder;
        let mut watch = |interval: &Interval| {
            let noticed = recorder.add(cycle, begin_s, interval)?;
            Some(format!(
                "note: at {:.0} s the level changed from {} to {} IOPS",
                noticed.at_s,
                show_count(noticed.before_iops),
                show_count(noticed.after_iops)
            ))
        };
        let left = remaining(workload, measured_ns)?;
        let work = RecordedWork { workload: &left, sessions: None };
        let measured = if std::mem::take(&mut self.is_begun) {
            let cell = recording.writer.resume_cell(&name, &recording.cell_start())?;
            recording.measure_with(cell, work, &mut watch)
        } else {
            recording.measure_watched(&name, work, &mut watch)
        };
        match measured {
            Ok(measurement) => Ok(measurement.finish),
            // A host that was lost while all of them rested: what was measured before it stays.
            Err(error) if cycle > 0 && recording.has_hosts() => {
                Ok(Finish::Failed { reason: error.message().to_owned() })
            }
            Err(error) => Err(error),
        }
    }

    fn rest_after(&self, cycle: u32) -> Nanos {
        match self.plan.cycles - 1 {
            end if cycle == end && self.cycles() > self.plan.cycles => self.plan.final_rest,
            end if cycle < end => self.plan.rest,
            _ => Nanos(0),
        }
    }

    /// What it came to.
    pub fn finish(&self, workload: &Workload) -> Soak {
        self.recorder.finish(&workload.name, self.plan, &self.rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_begin_where_work_and_rests_put_them() {
        let plan = SoakCycles {
            work: Nanos(300_000_000_000),
            rest: Nanos(600_000_000_000),
            cycles: 215,
            final_rest: Nanos(172_800_000_000_000),
        };
        let course = Cycles::new(plan, Share(0.05));
        assert_eq!((course.cycles(), course.cell(214).as_str()), (216, "cycle-000215"));
        let begins = [0, 1, 214, 215].map(|cycle| course.begin_s(cycle));
        let expected = [0.0, 900.0, 192_600.0, 192_900.0 + 172_800.0];
        let off = begins.iter().zip(expected).map(|(one, other)| (one - other).abs());
        assert!(off.fold(0.0, f64::max) < 1e-6, "{begins:?}");
        let rests = [0, 214, 215].map(|cycle| course.rest_after(cycle).seconds());
        assert!((rests[0] - 600.0).abs() < 1e-9 && (rests[1] - 172_800.0).abs() < 1e-9);
        assert!(rests[2].abs() < 1e-9);
    }
}
