//! Runs slices on a bench within a time budget: builds the workload, gathers its intervals, grows
//! the number of workers, and says no when time is up or a person stops.

use super::pace::{MixPace, end};
use super::plan::{CalibrationMix, CalibrationPlan};
use super::progress::{CalibrationPhase, CalibrationProgress, CalibrationUpdate};
use super::rung::Slice;
use crate::bench::Bench;
use assay_model::calibration::MixCalibration;
use assay_model::measurement::{
    Conduct, ErrorCount, Finish, Interval, Measurement, PackedOperations, Remark, Window,
};
use assay_model::number::{nanoseconds, narrow, real, seconds};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Stream, Workload};
use assay_model::{Error, Result};
use assay_stats::random::mix as mixed;
use std::ops::ControlFlow;

/// A worker this busy gets company before the host is called the limit.
const CROWDED: f64 = 0.8;

/// Time that is kept free for I/Os under way at the end, at most, as a share of the budget.
const MOST_DRAIN: f64 = 0.05;

const CALIBRATE_AGAIN: &str = "calibrate again without stopping it";

/// What is issued on all steps of a ladder.
#[derive(Clone, Debug)]
pub(super) struct LadderLoad {
    pub(super) name: String,
    pub(super) read_share: f64,
    pub(super) block_size_bytes: u64,
    pub(super) access: Access,
}

/// A bench with a budget.
pub(super) struct RungMeter<'a> {
    bench: &'a mut dyn Bench,
    progress: &'a mut dyn FnMut(CalibrationUpdate<'_>),
    pub(super) plan: &'a CalibrationPlan,
    pub(super) pace: MixPace,
    pub(super) remarks: Vec<Remark>,
    errors: Vec<ErrorCount>,
    began_ns: u64,
    mix: String,
    mix_began_ns: u64,
    /// Time for which a load was held that no part of the method counts on, s: what follows ends
    /// later.
    held_s: f64,
    doing: CalibrationPhase,
    ends_ns: u64,
    workers: u32,
    slices: u64,
    measured: bool,
    over: bool,
    /// The longest time that I/Os under way at the end of a slice took, s: it has to fit into the
    /// budget, too.
    longest_drain_s: f64,
    /// Until when the storage was cold, s after the beginning, where it was.
    pub(super) cold_until_s: Option<f64>,
}

impl<'a> RungMeter<'a> {
    pub(super) fn new(
        bench: &'a mut dyn Bench,
        plan: &'a CalibrationPlan,
        progress: &'a mut dyn FnMut(CalibrationUpdate<'_>),
    ) -> Self {
        let now_ns = bench.now_ns();
        Self {
            bench,
            progress,
            plan,
            pace: MixPace::of(plan.time_budget),
            remarks: Vec::new(),
            errors: Vec::new(),
            began_ns: now_ns,
            mix: String::new(),
            mix_began_ns: now_ns,
            held_s: 0.0,
            doing: CalibrationPhase::Ladder,
            ends_ns: now_ns,
            workers: 1,
            slices: 0,
            measured: false,
            over: false,
            longest_drain_s: 0.0,
            cold_until_s: None,
        }
    }

    /// When the calibration began on the bench's clock, ns.
    pub(super) const fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Begins a mix with a budget of its own.
    pub(super) fn begin_mix(&mut self, mix: &CalibrationMix) {
        self.mix.clone_from(&mix.name);
        self.cold_until_s = None;
        self.held_s = 0.0;
        self.mix_began_ns = self.bench.now_ns();
    }

    /// Begins a part of the method, which has to end when this share of the mix's budget is used.
    pub(super) fn begin(&mut self, doing: CalibrationPhase, end_share: f64) {
        self.end_at(doing, end_share * self.pace.budget_s + self.held_s);
    }

    /// Lets all parts that follow end later by the time for which a load was held.
    pub(super) fn held(&mut self, time_s: f64) {
        self.held_s += time_s;
    }

    /// The same as a share of the time that was left to the mix at a moment on the bench's clock.
    pub(super) fn begin_late(&mut self, doing: CalibrationPhase, at_ns: u64, end_share: f64) {
        let used = seconds(at_ns.saturating_sub(self.mix_began_ns)) / self.pace.budget_s;
        let used = used.clamp(0.0, 1.0);
        self.end_at(doing, (used + end_share * (1.0 - used)) * self.pace.budget_s);
    }

    /// Begins a part that may take this long from now on, beyond the mix's budget.
    pub(super) fn begin_beyond(&mut self, doing: CalibrationPhase, time_s: f64) {
        self.doing = doing;
        self.ends_ns = self.bench.now_ns() + nanoseconds(time_s);
    }

    fn end_at(&mut self, doing: CalibrationPhase, end_s: f64) {
        self.doing = doing;
        self.ends_ns = self.mix_began_ns + nanoseconds(end_s.min(self.pace.budget_s));
    }

    /// Does something within a share of the time left to the part of the method.
    pub(super) fn part<T>(&mut self, share: f64, what: impl FnOnce(&mut Self) -> T) -> T {
        let ends_ns = self.ends_ns;
        self.ends_ns = self.bench.now_ns() + nanoseconds(share.min(1.0) * self.left_s());
        let done = what(self);
        self.ends_ns = ends_ns;
        done
    }

    /// Does something for which this much time is left at least, as far as it leaves time for the
    /// parts that come last.
    pub(super) fn at_least<T>(&mut self, time_s: f64, what: impl FnOnce(&mut Self) -> T) -> T {
        let ends_ns = self.ends_ns;
        let large = self.doing == CalibrationPhase::Large;
        let end_share = if large { end::CONFIRMED_LARGE } else { end::CONFIRMED };
        let last_ns = self.mix_began_ns + nanoseconds(end_share * self.pace.budget_s);
        let wanted_ns = self.bench.now_ns() + nanoseconds(time_s);
        self.ends_ns = ends_ns.max(wanted_ns.min(last_ns));
        let done = what(self);
        self.ends_ns = ends_ns;
        done
    }

    /// Name of the mix under way.
    pub(super) fn mix(&self) -> &str {
        &self.mix
    }

    /// Time left to the part of the method, s.
    pub(super) fn left_s(&self) -> f64 {
        seconds(self.ends_ns.saturating_sub(self.bench.now_ns()))
    }

    /// Time that it took, s, and what the reader must know.
    pub(super) fn finish(mut self) -> (f64, Vec<Remark>) {
        self.remarks.extend(self.errors.iter().map(failures));
        if self.bench.stopped() && !self.over {
            self.give_up("stopped before the end".to_owned(), CALIBRATE_AGAIN);
        }
        (self.elapsed_s(), self.remarks)
    }

    /// Time since the calibration began, s.
    pub(super) fn elapsed_s(&self) -> f64 {
        seconds(self.bench.now_ns() - self.began_ns)
    }

    /// Whether nothing more can be measured at all: stopped, or the target failed.
    pub(super) fn is_over(&self) -> bool {
        self.over || self.bench.stopped()
    }

    /// Ends everything, with the reason for the reader.
    fn give_up(&mut self, what: String, remedy: &str) {
        self.over = true;
        self.remarks.push(Remark {
            what,
            why: "the result covers the time until then; the rest is missing".to_owned(),
            remedy: remedy.to_owned(),
        });
    }

    /// Measures one slice; `service_time_s` is the service time to be expected. `None` when there
    /// is no time left or nothing more can be measured.
    pub(super) fn slice(
        &mut self,
        load: &LadderLoad,
        queue_depth: u32,
        duration_s: f64,
        service_time_s: f64,
    ) -> Result<Option<Slice>> {
        loop {
            let warm_up_s = self.pace.warm_up_s(service_time_s, duration_s);
            let room_s = self.left_s() - warm_up_s - self.longest_drain_s;
            if self.is_over() || room_s < self.pace.slice_s / 2.0 {
                return Ok(None);
            }
            // Rounded to whole intervals it still fits.
            let most_s = room_s - 0.5 * self.pace.interval.seconds();
            let duration = self.pace.whole(duration_s.min(most_s));
            let workload = self.workload(load, queue_depth, duration, warm_up_s);
            let measured = self.measure(&workload)?;
            if self.bench.must_repeat() {
                continue;
            }
            let Some(slice) = measured else { return Ok(None) };
            self.show(queue_depth, &slice);
            if !self.more_workers(queue_depth, &slice) {
                return Ok(Some(slice));
            }
        }
    }

    fn workload(
        &mut self,
        load: &LadderLoad,
        queue_depth: u32,
        duration: Nanos,
        warm_up_s: f64,
    ) -> Workload {
        self.slices += 1;
        let stream = Stream {
            access: load.access,
            workers: self.workers.min(queue_depth),
            ..Stream::closed(
                &load.name,
                Share(load.read_share),
                Bytes(load.block_size_bytes),
                queue_depth,
            )
        };
        let name = format!("{} {queue_depth}", load.name);
        Workload {
            seed: mixed(self.plan.seed ^ mixed(self.slices)),
            warm_up: Nanos::from_seconds(warm_up_s),
            interval: self.pace.interval,
            ..Workload::of(&name, duration, stream)
        }
    }

    fn measure(&mut self, workload: &Workload) -> Result<Option<Slice>> {
        let begin_ns = self.bench.now_ns();
        let mut intervals: Vec<Interval> = Vec::new();
        let mut keep = |interval: &Interval, _: &Window| {
            intervals.push(interval.clone());
            ControlFlow::Continue(())
        };
        let measurement = match self.bench.measure(workload, &mut keep) {
            Ok(measurement) => measurement,
            Err(error) if self.measured => return Ok(self.refused(&error)),
            Err(error) => return Err(error),
        };
        self.measured = true;
        let end_ns = self.bench.now_ns();
        let planned_ns = workload.warm_up.0 + workload.duration.0;
        let drain_s = seconds((end_ns - begin_ns).saturating_sub(planned_ns));
        self.longest_drain_s =
            self.longest_drain_s.max(drain_s).min(MOST_DRAIN * self.pace.budget_s);
        self.look_at(&measurement);
        // An interval that ended early has another weight than the others.
        intervals.retain(|interval| interval.end_ns - interval.start_ns == workload.interval.0);
        if measurement.finish != Finish::Complete || intervals.len() < 2 {
            return Ok(None);
        }
        Ok(Some(Slice {
            begin_ns,
            warm_up_ns: workload.warm_up.0,
            end_ns,
            intervals,
            operations: PackedOperations::new(&measurement.operations()),
            worker_busy_share: measurement.conduct.worker_busy_share_max,
            delayed_share: delayed_share(workload, &measurement.conduct),
            host_busy_share: measurement.conduct.host_busy_share,
        }))
    }

    /// What cannot be measured later on does not take away what was measured before.
    fn refused(&mut self, error: &Error) -> Option<Slice> {
        let remark = Remark {
            what: format!("{}: {}: {}", self.mix, self.doing.name(), error.message()),
            why: "this part of the calibration is missing".to_owned(),
            remedy: error.hint().to_owned(),
        };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
        None
    }

    /// Takes over what went wrong.
    fn look_at(&mut self, measurement: &Measurement) {
        match &measurement.finish {
            Finish::Complete => {}
            Finish::Failed { reason } => self.give_up(
                format!("{}: {reason}", self.mix),
                "remove the cause, then calibrate again",
            ),
            Finish::Interrupted | Finish::Unfinished => {
                let what = format!("{}: stopped while {}", self.mix, self.doing.name());
                self.give_up(what, CALIBRATE_AGAIN);
            }
        }
        for remark in &measurement.conduct.remarks {
            if !self.remarks.contains(remark) {
                self.remarks.push(remark.clone());
            }
        }
        for error in &measurement.errors {
            self.count_errors(error);
        }
    }

    /// Adds failures to those of their kind.
    fn count_errors(&mut self, error: &ErrorCount) {
        let kind = |error: &ErrorCount| (error.operation, error.errno, error.target.clone());
        match self.errors.iter_mut().find(|known| kind(known) == kind(error)) {
            Some(known) => known.ios += error.ios,
            None => self.errors.push(error.clone()),
        }
    }

    /// Doubles the workers when one was crowded and there may be more; the slice then says nothing
    /// of the device.
    fn more_workers(&mut self, queue_depth: u32, slice: &Slice) -> bool {
        let room = self.plan.workers_max.min(queue_depth);
        if slice.worker_busy_share < CROWDED || self.workers >= room {
            return false;
        }
        self.workers = (self.workers * 2).min(room);
        true
    }

    /// Reports that a mix is answered.
    pub(super) fn report(&mut self, answer: &MixCalibration) {
        (self.progress)(CalibrationUpdate::Mix(answer));
    }

    fn show(&mut self, queue_depth: u32, slice: &Slice) {
        let budget_ns: u128 = self.plan.mixes.iter().map(|mix| self.plan.time_ns(mix)).sum();
        let queue_depth = queue_depth.saturating_mul(self.plan.hosts);
        let progress = CalibrationProgress {
            mix: self.mix.clone(),
            doing: self.doing,
            queue_depth,
            iops: slice.iops(),
            slice: Interval {
                index: self.slices,
                start_ns: (slice.begin_ns + slice.warm_up_ns).saturating_sub(self.began_ns),
                end_ns: slice.end_ns.saturating_sub(self.began_ns),
                operations: slice.operations.unpack(),
                queue_depth_mean: f64::from(queue_depth),
            },
            elapsed_s: self.elapsed_s(),
            budget_s: real(narrow(budget_ns)) / 1e9,
        };
        (self.progress)(CalibrationUpdate::Slice(&progress));
    }
}

fn failures(error: &ErrorCount) -> Remark {
    Remark {
        what: format!(
            "{} {} I/Os on {} failed: {}",
            error.ios,
            error.operation.name(),
            error.target,
            error.meaning
        ),
        why: "failed I/Os are not in the rates and histograms".to_owned(),
        remedy: "find out why they fail before relying on any number".to_owned(),
    }
}

/// Share of an I/O's time that it waited for a worker to get a processor: a worker that is kept
/// from running for a share of its time is a station as busy as that, and holds as many of its I/Os
/// (M/M/1).
fn delayed_share(workload: &Workload, conduct: &Conduct) -> Option<f64> {
    let workers: u32 = workload.streams.iter().map(|stream| stream.workers).sum();
    let each = f64::from(workload.queue_depth()) / f64::from(workers.max(1));
    let delayed = conduct.worker_delayed_share_max?;
    let idle: f64 = 1.0 - conduct.worker_busy_share_max - delayed;
    Some((delayed / idle.max(1e-3) / each.max(1.0)).min(1.0))
}
