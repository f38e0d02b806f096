//! A database host above an array: sessions without think time, processors, a buffer cache,
//! database writers and a log writer, in virtual time.

use crate::drive::{SequentialRun, TIME_PARTS};
use crate::event_queue::{EventQueue, earlier};
use assay_model::Histogram;
use assay_model::array::{SessionLoad, Spread};
use assay_model::device::{Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{count, count_of, index_of, narrow, rate, real, seconds};
use assay_stats::random::Random;
use std::ops::ControlFlow;

mod intervals;
mod processors;
mod profile;
mod writers;

use intervals::{HostIntervals, IntervalsWatch};
use processors::{Cpus, ProcessorAdmission};
use writers::{DataWriters, SimulatedLogWriter};

pub use intervals::{HostInterval, HostTimes};
pub use profile::profile;

/// What a simulated database saw.
#[derive(Clone, Debug, Default)]
pub struct HostRun {
    /// Reads as sessions waited for them (until they were on a processor again), and writes of
    /// data blocks.
    pub io: SequentialRun,
    /// Writes of the log writers.
    pub log_writes: Histogram,
    /// Waits of sessions for their commits.
    pub log_syncs: Histogram,
    /// Waits for other hosts, ns.
    pub cluster_ns: u64,
    /// Waits for other hosts.
    pub cluster_waits: u64,
    /// Waits for free buffers, ns.
    pub free_buffer_ns: u64,
    /// Waits for free buffers.
    pub free_buffer_waits: u64,
    /// Processor time of sessions, ns.
    pub cpu_ns: u64,
    /// Statements.
    pub executions: u64,
    /// Statements that changed data and committed.
    pub updates: u64,
    /// Redo, bytes.
    pub redo_bytes: u64,
}

impl HostRun {
    /// Statements per second.
    pub fn executions_per_s(&self) -> f64 {
        self.per_s(self.executions)
    }

    /// Adds an interval.
    fn take(&mut self, interval: &HostInterval) {
        self.io.read.merge(&interval.reads.service);
        self.io.write.merge(&interval.data_writes.service);
        self.log_writes.merge(&interval.log_writes.service);
    }

    /// A count as a rate, a second.
    pub fn per_s(&self, events: u64) -> f64 {
        rate(events, seconds(self.io.elapsed_ns))
    }
}

/// What an I/O of the host is for; in the highest bits of its tag.
const READ: u64 = 0;
const DATA_WRITE: u64 = 1;
const LOG_WRITE: u64 = 2;
const KIND_SHIFT: u32 = 48;

/// Something that happens without the device.
#[derive(Clone, Copy)]
enum HostEvent {
    /// Another host has answered a session.
    Answered(usize),
    /// A session is done with its processor.
    Computed(usize),
    /// The log writer of a host can write again.
    Rested(usize),
}

/// A session in its round: wait for other hosts, read, compute, change, commit.
#[derive(Clone, Copy, Default)]
struct HostSession {
    host: usize,
    begun_ns: u64,
    /// Commits that are still to be waited for before the next read.
    commits: u32,
}

struct SimulatedHost {
    cpus: Cpus,
    data: DataWriters,
    log: SimulatedLogWriter,
}

/// The simulation of hosts on a device.
struct HostsWorld<'a> {
    load: &'a SessionLoad,
    device: &'a mut dyn Device,
    now_ns: u64,
    block_bytes: u32,
    blocks: u64,
    sessions: Vec<HostSession>,
    hosts: Vec<SimulatedHost>,
    events: EventQueue<HostEvent>,
    random: Random,
    burst: crate::service::ServiceSource,
    intervals: HostIntervals,
    run: HostRun,
}

/// How a watched run of hosts ended.
#[derive(Clone, Debug)]
pub struct HostEnd {
    /// All of the measured time together.
    pub run: HostRun,
    /// When nothing was in flight any more, on the device's clock, ns.
    pub now_ns: u64,
    /// Whether it was ended before its time.
    pub is_broken_off: bool,
}

/// Runs sessions on a fresh device for `elapsed_ns` of measured time after `warm_up_ns`.
pub fn run_host(
    load: &SessionLoad,
    device: &mut dyn Device,
    warm_up_ns: u64,
    elapsed_ns: u64,
    seed: u64,
) -> HostRun {
    let interval_ns = elapsed_ns.div_ceil(count_of(TIME_PARTS)).max(1);
    let times = HostTimes { start_ns: 0, warm_up_ns, elapsed_ns, interval_ns };
    let mut parts = Vec::with_capacity(TIME_PARTS);
    let mut run = watch_host(load, device, times, seed, &mut |interval| {
        parts.push(interval.reads.ios);
        ControlFlow::Continue(())
    })
    .run;
    parts.resize(TIME_PARTS, 0);
    run.io.read_parts = parts;
    run
}

/// Runs sessions on a device whose clock is at `times.start_ns`; every interval is shown to
/// `watch`, which may end the run. Nothing is in flight when it returns.
pub fn watch_host(
    load: &SessionLoad,
    device: &mut dyn Device,
    times: HostTimes,
    seed: u64,
    watch: IntervalsWatch<'_>,
) -> HostEnd {
    let mut world = HostsWorld::new(load, device, times, seed);
    (0..world.sessions.len()).for_each(|session| world.next_round(session));
    let mut done = Vec::new();
    while let Some(now_ns) = world.next_ns().filter(|at_ns| *at_ns < world.intervals.end_ns()) {
        world.moves_to(now_ns, watch);
        world.device.advance(now_ns, &mut done);
        for (tag, _) in done.drain(..) {
            world.completed(tag);
        }
        while let Some(event) = world.events.pop(now_ns) {
            world.happened(event);
        }
    }
    world.moves_to(world.intervals.end_ns(), watch);
    world.drain(done)
}

impl<'a> HostsWorld<'a> {
    fn new(load: &'a SessionLoad, device: &'a mut dyn Device, times: HostTimes, seed: u64) -> Self {
        let hosts = load.hosts as usize;
        let host = |_| SimulatedHost {
            cpus: Cpus::new(load.cpus),
            data: DataWriters::new(load),
            log: SimulatedLogWriter::new(load),
        };
        let session = |index: usize| HostSession { host: index % hosts, ..HostSession::default() };
        Self {
            device,
            now_ns: times.start_ns,
            block_bytes: u32::try_from(load.block.0).unwrap_or(u32::MAX),
            blocks: load.active.0 / load.block.0,
            sessions: (0..load.sessions as usize).map(session).collect(),
            hosts: (0..hosts).map(host).collect(),
            events: EventQueue::default(),
            random: Random::part(seed, 0x4057),
            burst: crate::service::ServiceSource::new(load.cpu_per_read, Spread::Half, seed),
            intervals: HostIntervals::new(times),
            run: HostRun::default(),
            load,
        }
    }

    /// The clock goes on; intervals that are over join the whole.
    #[inline]
    fn moves_to(&mut self, now_ns: u64, watch: IntervalsWatch<'_>) {
        while now_ns >= self.intervals.edge_ns() {
            if let Some(over) = self.intervals.roll(self.intervals.edge_ns(), watch) {
                self.run.take(&over);
            }
        }
        self.intervals.roll(now_ns, watch);
        self.now_ns = now_ns;
    }

    /// Lets come back what is in flight; nobody waits for it any more.
    fn drain(mut self, mut done: Vec<(u64, i32)>) -> HostEnd {
        while self.intervals.flying() > 0 {
            let Some(now_ns) = self.device.next_event_ns() else { break };
            self.now_ns = now_ns.max(self.now_ns);
            self.device.advance(self.now_ns, &mut done);
            done.drain(..).for_each(|_| self.intervals.ends());
        }
        self.run.io.elapsed_ns = self.intervals.measured_ns();
        HostEnd {
            run: self.run,
            now_ns: self.now_ns,
            is_broken_off: self.intervals.is_broken_off(),
        }
    }

    fn next_ns(&self) -> Option<u64> {
        earlier(self.device.next_event_ns(), self.events.next_ns())
    }

    /// A session begins again: first it asks the other hosts.
    fn next_round(&mut self, session: usize) {
        let mean_ns = real(self.load.cluster_wait.0);
        if mean_ns <= 0.0 {
            return self.read(session);
        }
        let wait_ns = count(mean_ns * self.random.exponential());
        if self.intervals.is_measuring() {
            self.run.cluster_ns += wait_ns;
            self.run.cluster_waits += 1;
        }
        self.events.push(self.now_ns + wait_ns, HostEvent::Answered(session));
    }

    fn read(&mut self, session: usize) {
        self.sessions[session].begun_ns = self.now_ns;
        let offset = self.place();
        let tag = READ << KIND_SHIFT | count_of(session);
        self.submit(tag, DeviceIo::read(offset, self.block_bytes));
    }

    #[inline]
    fn submit(&mut self, tag: u64, io: DeviceIo) {
        self.intervals.starts();
        self.device.submit(self.now_ns, tag, io);
    }

    /// A block of the active data, any of them equally likely.
    fn place(&mut self) -> u64 {
        self.random.below(self.blocks) * u64::from(self.block_bytes)
    }

    fn completed(&mut self, tag: u64) {
        self.intervals.ends();
        let who = index_of(tag & ((1 << KIND_SHIFT) - 1));
        match tag >> KIND_SHIFT {
            READ => self.wake(who),
            DATA_WRITE => self.written(who),
            _ => self.logged(who),
        }
    }

    fn happened(&mut self, event: HostEvent) {
        match event {
            HostEvent::Answered(session) => self.read(session),
            HostEvent::Computed(session) => self.computed(session),
            HostEvent::Rested(host) => {
                self.hosts[host].log.rest_is_over();
                self.write_log(host);
            }
        }
    }

    /// A session's block has come: its wait ends when it has a processor.
    fn wake(&mut self, session: usize) {
        let host = self.sessions[session].host;
        if self.hosts[host].cpus.ask(session) == ProcessorAdmission::Now {
            self.compute(session);
        }
    }

    fn compute(&mut self, session: usize) {
        let waited_ns = self.now_ns - self.sessions[session].begun_ns;
        let burst_ns = self.burst.next_ns();
        self.intervals.record(Operation::Read, self.load.block.0, waited_ns);
        if self.intervals.is_measuring() {
            self.run.cpu_ns += burst_ns;
        }
        self.events.push(self.now_ns + burst_ns, HostEvent::Computed(session));
    }

    /// A burst is over: the processor goes to the next session, this one ends its statements.
    fn computed(&mut self, session: usize) {
        let host = self.sessions[session].host;
        if let Some(next) = self.hosts[host].cpus.release() {
            self.compute(next);
        }
        let updates = self.statements();
        self.change(session, updates);
    }

    /// Statements that one physical read stands for; gives those that changed data.
    fn statements(&mut self) -> u32 {
        let misses = self.load.logical_reads_mean * (1.0 - self.load.cache_hits.0);
        let statements = self.whole(1.0 / misses.max(1e-6));
        let share = self.load.update_share.0;
        let updates = (0..statements).filter(|_| self.random.chance(share));
        let updates = u32::try_from(updates.count()).unwrap_or(u32::MAX);
        if self.intervals.is_measuring() {
            self.run.executions += u64::from(statements);
            self.run.updates += u64::from(updates);
            self.run.redo_bytes += u64::from(updates) * self.load.redo.0;
        }
        updates
    }

    /// A mean as a whole number, up or down by chance.
    fn whole(&mut self, mean: f64) -> u32 {
        let part = u32::from(self.random.chance(mean.fract()));
        u32::try_from(index_of(count(mean.floor()))).unwrap_or(0) + part
    }

    fn change(&mut self, session: usize, updates: u32) {
        if updates == 0 {
            return self.next_round(session);
        }
        let host = self.sessions[session].host;
        self.sessions[session].commits = updates;
        let blocks = self.whole(self.load.dirty_blocks_mean * f64::from(updates));
        if self.hosts[host].data.is_full() {
            self.hosts[host].data.wait(session, blocks, self.now_ns);
        } else {
            self.hosts[host].data.soil(blocks);
            self.commit(session);
        }
        self.write_data(host);
    }

    fn commit(&mut self, session: usize) {
        let host = self.sessions[session].host;
        if !self.load.commit_waits {
            let commits = std::mem::take(&mut self.sessions[session].commits);
            self.hosts[host].log.append(u64::from(commits) * self.load.redo.0, None);
            self.write_log(host);
            return self.next_round(session);
        }
        self.sessions[session].commits -= 1;
        let waiter = Some((session, self.now_ns));
        self.hosts[host].log.append(self.load.redo.0, waiter);
        self.write_log(host);
    }

    fn write_data(&mut self, host: usize) {
        while let Some(slot) = self.hosts[host].data.start(self.now_ns) {
            let io = DeviceIo::write(self.place(), self.block_bytes);
            let who = narrow(u128::from(slot) << 8) | count_of(host);
            self.submit(DATA_WRITE << KIND_SHIFT | who, io);
        }
    }

    fn written(&mut self, who: usize) {
        let (host, slot) = (who & 0xff, who >> 8);
        let begun_ns = self.hosts[host].data.end(slot);
        self.intervals.record(Operation::Write, self.load.block.0, self.now_ns - begun_ns);
        if let Some((session, since_ns)) = self.hosts[host].data.admit() {
            if self.intervals.is_measuring() {
                self.run.free_buffer_ns += self.now_ns - since_ns;
                self.run.free_buffer_waits += 1;
            }
            self.commit(session);
        }
        self.write_data(host);
    }

    fn write_log(&mut self, host: usize) {
        let Some((offset, bytes)) = self.hosts[host].log.start(self.now_ns) else {
            return;
        };
        let tag = LOG_WRITE << KIND_SHIFT | count_of(host);
        for copy in 0..u64::from(self.load.log_copies) {
            let at = (offset + copy * writers::LOG_BYTES) % self.load.active.0;
            self.submit(tag, DeviceIo::write(at, bytes));
        }
    }

    fn logged(&mut self, host: usize) {
        let Some((begun_ns, bytes)) = self.hosts[host].log.end_one() else {
            return;
        };
        let measured = self.intervals.is_measuring();
        self.intervals.record_log(bytes, self.now_ns - begun_ns);
        for (session, since_ns) in self.hosts[host].log.take_written() {
            if measured {
                self.run.log_syncs.record(self.now_ns - since_ns);
            }
            if self.sessions[session].commits > 0 {
                self.commit(session);
            } else {
                self.next_round(session);
            }
        }
        let ready_ns = self.now_ns + self.load.log_pause.0;
        self.events.push(ready_ns, HostEvent::Rested(host));
    }
}

#[cfg(test)]
mod tests;
