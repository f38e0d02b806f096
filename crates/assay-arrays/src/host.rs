//! A database host above an array: sessions without think time, processors, a buffer cache, database writers and a
//! log writer, in virtual time.

use crate::drive::Run;
use crate::due::{Due, earlier};
use assay_model::Histogram;
use assay_model::array::{SessionLoad, Spread};
use assay_model::device::{Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{count, index_of, narrow, rate, real, seconds};
use assay_model::random::Random;

mod processors;
mod profile;
mod writers;

use processors::{Cpus, Granted};
use writers::{DataWriters, LogWriter};

pub use profile::profile;

/// What a simulated database saw.
#[derive(Clone, Debug, Default)]
pub struct HostRun {
    /// Reads as sessions waited for them (until they were on a processor again), and writes of data blocks.
    pub io: Run,
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
    /// Statements a second.
    pub fn executions_per_s(&self) -> f64 {
        self.per_s(self.executions)
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
enum Event {
    /// Another host has answered a session.
    Answered(usize),
    /// A session is done with its processor.
    Computed(usize),
    /// The log writer of a host can write again.
    Rested(usize),
}

/// A session in its round: wait for other hosts, read, compute, change, commit.
#[derive(Clone, Copy, Default)]
struct Session {
    host: usize,
    begun_ns: u64,
    /// Commits that are still to be waited for before the next read.
    commits: u32,
}

struct Host {
    cpus: Cpus,
    data: DataWriters,
    log: LogWriter,
}

/// The simulation of hosts on a device.
struct World<'a> {
    load: &'a SessionLoad,
    device: &'a mut dyn Device,
    now_ns: u64,
    measure_ns: u64,
    sessions: Vec<Session>,
    hosts: Vec<Host>,
    events: Due<Event>,
    random: Random,
    burst: crate::service::Service,
    run: HostRun,
}

/// Runs sessions on a device for `elapsed_ns` of measured time after `warm_up_ns`.
pub fn run_host(
    load: &SessionLoad,
    device: &mut dyn Device,
    (warm_up_ns, elapsed_ns): (u64, u64),
    seed: u64,
) -> HostRun {
    let mut world = World::new(load, device, (warm_up_ns, elapsed_ns), seed);
    (0..world.sessions.len()).for_each(|session| world.next_round(session));
    let (end_ns, mut done) = (warm_up_ns + elapsed_ns, Vec::new());
    while let Some(now_ns) = world.next_ns().filter(|at_ns| *at_ns < end_ns) {
        world.now_ns = now_ns;
        world.device.advance(now_ns, &mut done);
        for (tag, _) in done.drain(..) {
            world.completed(tag);
        }
        while let Some(event) = world.events.pop(now_ns) {
            world.happened(event);
        }
    }
    world.run
}

impl<'a> World<'a> {
    fn new(
        load: &'a SessionLoad,
        device: &'a mut dyn Device,
        (measure_ns, elapsed_ns): (u64, u64),
        seed: u64,
    ) -> Self {
        let hosts = load.hosts as usize;
        let host = |_| Host {
            cpus: Cpus::new(load.cpus),
            data: DataWriters::new(load),
            log: LogWriter::new(load),
        };
        let session = |index: usize| Session { host: index % hosts, ..Session::default() };
        Self {
            device,
            now_ns: 0,
            measure_ns,
            sessions: (0..load.sessions as usize).map(session).collect(),
            hosts: (0..hosts).map(host).collect(),
            events: Due::default(),
            random: Random::part(seed, 0x4057),
            burst: crate::service::Service::new(load.cpu_per_read, Spread::Half, seed),
            run: HostRun { io: Run::of(elapsed_ns), ..HostRun::default() },
            load,
        }
    }

    fn next_ns(&self) -> Option<u64> {
        earlier(self.device.next_event_ns(), self.events.next_ns())
    }

    /// Time since measuring began, if it has.
    fn since(&self) -> Option<u64> {
        self.now_ns.checked_sub(self.measure_ns)
    }

    /// A session begins again: first it asks the other hosts.
    fn next_round(&mut self, session: usize) {
        let mean_ns = real(self.load.cluster_wait.0);
        if mean_ns <= 0.0 {
            return self.read(session);
        }
        let wait_ns = count(mean_ns * self.random.exponential());
        if self.since().is_some() {
            self.run.cluster_ns += wait_ns;
            self.run.cluster_waits += 1;
        }
        self.events.push(self.now_ns + wait_ns, Event::Answered(session));
    }

    fn read(&mut self, session: usize) {
        self.sessions[session].begun_ns = self.now_ns;
        let offset = self.place();
        let bytes = u32::try_from(self.load.block.0).unwrap_or(u32::MAX);
        let tag = READ << KIND_SHIFT | assay_model::number::count_of(session);
        self.device.submit(self.now_ns, tag, DeviceIo::read(offset, bytes));
    }

    /// A block of the active data, any of them equally likely.
    fn place(&mut self) -> u64 {
        self.random.below(self.load.active.0 / self.load.block.0) * self.load.block.0
    }

    fn completed(&mut self, tag: u64) {
        let who = index_of(tag & ((1 << KIND_SHIFT) - 1));
        match tag >> KIND_SHIFT {
            READ => self.wake(who),
            DATA_WRITE => self.written(who),
            _ => self.logged(who),
        }
    }

    fn happened(&mut self, event: Event) {
        match event {
            Event::Answered(session) => self.read(session),
            Event::Computed(session) => self.computed(session),
            Event::Rested(host) => {
                self.hosts[host].log.rest_is_over();
                self.write_log(host);
            }
        }
    }

    /// A session's block has come: its wait ends when it has a processor.
    fn wake(&mut self, session: usize) {
        let host = self.sessions[session].host;
        if self.hosts[host].cpus.ask(session) == Granted::Now {
            self.compute(session);
        }
    }

    fn compute(&mut self, session: usize) {
        let waited_ns = self.now_ns - self.sessions[session].begun_ns;
        let burst_ns = self.burst.next_ns();
        if let Some(since_ns) = self.since() {
            self.run.io.record(Operation::Read, waited_ns, since_ns);
            self.run.cpu_ns += burst_ns;
        }
        self.events.push(self.now_ns + burst_ns, Event::Computed(session));
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
        if self.since().is_some() {
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
            let bytes = u32::try_from(self.load.block.0).unwrap_or(u32::MAX);
            let io = DeviceIo::write(self.place(), bytes);
            let who = narrow(u128::from(slot) << 8) | assay_model::number::count_of(host);
            self.device.submit(self.now_ns, DATA_WRITE << KIND_SHIFT | who, io);
        }
    }

    fn written(&mut self, who: usize) {
        let (host, slot) = (who & 0xff, who >> 8);
        let begun_ns = self.hosts[host].data.end(slot);
        if let Some(since_ns) = self.since() {
            let time_ns = self.now_ns - begun_ns;
            self.run.io.record(Operation::Write, time_ns, since_ns);
        }
        if let Some((session, since_ns)) = self.hosts[host].data.admit() {
            if self.since().is_some() {
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
        let tag = LOG_WRITE << KIND_SHIFT | assay_model::number::count_of(host);
        for copy in 0..u64::from(self.load.log_copies) {
            let at = (offset + copy * writers::LOG_BYTES) % self.load.active.0;
            self.device.submit(self.now_ns, tag, DeviceIo::write(at, bytes));
        }
    }

    fn logged(&mut self, host: usize) {
        let Some(begun_ns) = self.hosts[host].log.end_one() else {
            return;
        };
        let measured = self.since().is_some();
        if measured {
            self.run.log_writes.record(self.now_ns - begun_ns);
        }
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
        self.events.push(ready_ns, Event::Rested(host));
    }
}

#[cfg(test)]
mod tests;
