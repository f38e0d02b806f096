//! The measured time of hosts in intervals: what was done in each, handed over when it is over.

use assay_model::Precision;
use assay_model::measurement::{Operation, OperationResult};
use assay_model::number::{rate, real};
use std::ops::ControlFlow;

/// When hosts run, on the device's clock.
#[derive(Clone, Copy, Debug)]
pub struct HostTimes {
    /// Begin of the load, ns.
    pub start_ns: u64,
    /// Load before measuring, ns.
    pub warm_up_ns: u64,
    /// Measured time, ns.
    pub elapsed_ns: u64,
    /// Length of an interval, ns.
    pub interval_ns: u64,
}

/// What hosts did in one interval.
#[derive(Clone, Debug)]
pub struct HostInterval {
    /// Number of the interval, from 0.
    pub index: u64,
    /// Begin since measuring began, ns.
    pub start_ns: u64,
    /// End since measuring began, ns.
    pub end_ns: u64,
    /// Reads as sessions waited for them.
    pub reads: OperationResult,
    /// Writes of data blocks.
    pub data_writes: OperationResult,
    /// Writes of the log writers.
    pub log_writes: OperationResult,
    /// Mean of the I/Os that the device had.
    pub queue_depth_mean: f64,
}

impl HostInterval {
    fn new() -> Self {
        let empty = || OperationResult::empty(Precision::Fine, false);
        Self {
            index: 0,
            start_ns: 0,
            end_ns: 0,
            reads: empty(),
            data_writes: empty(),
            log_writes: empty(),
            queue_depth_mean: 0.0,
        }
    }

    /// Reads and writes completed a second.
    pub fn iops(&self) -> f64 {
        let ios = self.reads.ios + self.data_writes.ios + self.log_writes.ios;
        rate(ios, assay_model::number::seconds(self.end_ns - self.start_ns))
    }
}

/// Who looks at the intervals, and may end the run.
pub type IntervalsWatch<'a> = &'a mut dyn FnMut(&HostInterval) -> ControlFlow<()>;

/// The running interval.
pub(super) struct HostIntervals {
    times: HostTimes,
    measure_ns: u64,
    end_ns: u64,
    edge_ns: u64,
    open: HostInterval,
    is_measuring: bool,
    is_broken_off: bool,
    flying: u64,
    flown_ns: u64,
    clock_ns: u64,
}

impl HostIntervals {
    pub(super) fn new(times: HostTimes) -> Self {
        let measure_ns = times.start_ns + times.warm_up_ns;
        Self {
            measure_ns,
            end_ns: measure_ns + times.elapsed_ns,
            edge_ns: measure_ns,
            open: HostInterval::new(),
            is_measuring: false,
            is_broken_off: false,
            flying: 0,
            flown_ns: 0,
            clock_ns: times.start_ns,
            times,
        }
    }

    pub(super) const fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Whether what happens now counts.
    #[inline]
    pub(super) const fn is_measuring(&self) -> bool {
        self.is_measuring
    }

    /// I/Os that the device has.
    pub(super) const fn flying(&self) -> u64 {
        self.flying
    }

    /// An I/O goes to the device.
    #[inline]
    pub(super) const fn starts(&mut self) {
        self.flying += 1;
    }

    /// An I/O has come back.
    #[inline]
    pub(super) const fn ends(&mut self) {
        self.flying -= 1;
    }

    /// Moves the clock to `now_ns`; gives the interval that is over, if one is.
    #[inline]
    pub(super) fn roll(&mut self, now_ns: u64, watch: IntervalsWatch<'_>) -> Option<HostInterval> {
        let over = (now_ns >= self.edge_ns).then(|| self.turn(watch)).flatten();
        self.flown_ns += self.flying * now_ns.saturating_sub(self.clock_ns);
        self.clock_ns = now_ns;
        over
    }

    /// An edge is reached: what came before measuring is dropped, an interval is handed over.
    #[cold]
    fn turn(&mut self, watch: IntervalsWatch<'_>) -> Option<HostInterval> {
        self.flown_ns += self.flying * (self.edge_ns - self.clock_ns);
        self.clock_ns = self.edge_ns;
        let mut over = std::mem::replace(&mut self.open, HostInterval::new());
        let start_ns = self.edge_ns - self.measure_ns;
        let was_measuring = std::mem::replace(&mut self.is_measuring, true);
        let length_ns = start_ns - over.start_ns;
        over.end_ns = start_ns;
        over.queue_depth_mean = real(std::mem::take(&mut self.flown_ns)) / real(length_ns.max(1));
        (self.open.start_ns, self.open.index) =
            (start_ns, if was_measuring { over.index + 1 } else { 0 });
        self.edge_ns = if self.edge_ns >= self.end_ns {
            u64::MAX
        } else {
            (self.edge_ns + self.times.interval_ns).min(self.end_ns)
        };
        if was_measuring && watch(&over).is_break() {
            (self.is_broken_off, self.end_ns) = (true, self.measure_ns + over.end_ns);
            self.edge_ns = u64::MAX;
        }
        was_measuring.then_some(over)
    }

    /// When the next interval ends; beyond all time after the last one.
    pub(super) const fn edge_ns(&self) -> u64 {
        self.edge_ns
    }

    /// Measured time so far, ns.
    pub(super) const fn measured_ns(&self) -> u64 {
        self.open.start_ns
    }

    /// Whether somebody ended the run.
    pub(super) const fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }

    /// Counts a read or a write of data.
    #[inline]
    pub(super) fn record(&mut self, operation: Operation, bytes: u64, time_ns: u64) {
        if self.is_measuring {
            let place = if operation == Operation::Read {
                &mut self.open.reads
            } else {
                &mut self.open.data_writes
            };
            add(place, bytes, time_ns);
        }
    }

    /// Counts a write of the log.
    pub(super) fn record_log(&mut self, bytes: u64, time_ns: u64) {
        if self.is_measuring {
            add(&mut self.open.log_writes, bytes, time_ns);
        }
    }
}

#[inline]
fn add(place: &mut OperationResult, bytes: u64, time_ns: u64) {
    place.ios += 1;
    place.bytes += bytes;
    place.service.record(time_ns);
}
