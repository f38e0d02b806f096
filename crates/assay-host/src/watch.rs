//! Watches the machine: reads the kernel's counters periodically, and reports what was counted in
//! between.

use crate::clock::unix_ns;
use crate::counters::{counters_with, read_pressure, tagged, thread_cpu_ns};
use crate::root::SysRoot;
use assay_model::counters::{InterfaceCounters, TaskCounters, TcpCounters};
use assay_model::number::count_of;
use assay_model::stack::BlockStack;
use assay_model::watch::{Moment, NamedInterface, RunQueue};

/// Reads the machine at samples that the caller chooses.
#[derive(Debug)]
pub struct HostWatch {
    root: SysRoot,
    devices: Vec<String>,
    last: Moment,
}

impl HostWatch {
    /// Reads the machine for the first time; devices by kernel name, see [`device_names`].
    pub fn new(root: SysRoot, devices: Vec<String>) -> Self {
        let last = read_moment(&root, &devices);
        Self { root, devices, last }
    }

    /// What was counted since the last call. The caller says by how much it comes too late, ns.
    pub fn sample(&mut self, late_ns: u64) -> Moment {
        let before_ns = thread_cpu_ns();
        let now = read_moment(&self.root, &self.devices);
        let mut moment = now.since(&self.last);
        self.last = now;
        let spent_ns = thread_cpu_ns().saturating_sub(before_ns);
        moment.late_ns = late_ns;
        moment.watcher_cpu_ns = spent_ns;
        moment
    }
}

/// Kernel names of all layers under some paths from the top down, each once.
pub fn device_names<'a>(stacks: impl IntoIterator<Item = &'a BlockStack>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for layer in stacks.into_iter().flat_map(|stack| &stack.layers) {
        if !names.contains(&layer.name) {
            names.push(layer.name.clone());
        }
    }
    names
}

/// Kernel names of all whole disks that did anything since the host was started: what is watched
/// when no target is named. Partitions and devices of memory are left out.
pub fn busy_disks(root: &SysRoot) -> Vec<String> {
    let text = root.text("/proc/diskstats").unwrap_or_default();
    let names = text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let worked = words.get(3..).is_some_and(|counts| counts.iter().any(|count| *count != "0"));
        words.get(2).filter(|_| worked).map(|name| name.replace('/', "!"))
    });
    let is_disk = |name: &String| {
        let memory = ["ram", "loop", "zram"].iter().any(|kind| name.starts_with(kind));
        !memory && root.path(format!("/sys/block/{name}")).exists()
    };
    names.filter(is_disk).collect()
}

/// The machine at this sample.
fn read_moment(root: &SysRoot, devices: &[String]) -> Moment {
    let text = |path: &str| root.text(path).unwrap_or_default();
    let stat = text("/proc/stat");
    Moment {
        at_unix_ns: unix_ns(),
        processors: processors(&stat),
        run_queue: parse_run_queue(&stat),
        counters: counters_with(root, devices, &stat),
        cpu_pressure: read_pressure(root, "cpu"),
        memory_pressure: read_pressure(root, "memory"),
        tcp: parse_tcp(&text("/proc/net/snmp"), &text("/proc/net/netstat")),
        interfaces: parse_interfaces(&text("/proc/net/dev")),
        ..Moment::default()
    }
}

/// Processors that run: `/proc/stat` has a line for each.
fn processors(stat: &str) -> u64 {
    let is_one = |line: &&str| {
        let number = line.strip_prefix("cpu");
        number.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    count_of(stat.lines().filter(is_one).count())
}

fn parse_run_queue(stat: &str) -> Option<RunQueue> {
    Some(RunQueue {
        running: tagged(stat, "procs_running ")?,
        blocked: tagged(stat, "procs_blocked ")?,
    })
}

/// The counters of a protocol by name: a line of names is followed by one of numbers, both opened
/// by the protocol.
fn protocol<'a>(text: &'a str, opening: &str) -> impl Fn(&str) -> Option<u64> + use<'a> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(opening));
    let names = lines.next().unwrap_or_default();
    let numbers = lines.next().unwrap_or_default();
    move |name: &str| {
        let place = names.split_whitespace().position(|found| found == name)?;
        numbers.split_whitespace().nth(place)?.parse().ok()
    }
}

fn parse_tcp(snmp: &str, netstat: &str) -> Option<TcpCounters> {
    let (basic, extended) = (protocol(snmp, "Tcp:"), protocol(netstat, "TcpExt:"));
    Some(TcpCounters {
        in_segments: basic("InSegs")?,
        out_segments: basic("OutSegs")?,
        retransmitted_segments: basic("RetransSegs")?,
        lost_retransmits: extended("TCPLostRetransmit").unwrap_or_default(),
        timeouts: extended("TCPTimeouts").unwrap_or_default(),
    })
}

/// Every interface but loopback, which carries no storage.
fn parse_interfaces(text: &str) -> Vec<NamedInterface> {
    let one = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let numbers: Vec<u64> =
            numbers.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let at = |place: usize| numbers.get(place).copied();
        let counters = InterfaceCounters {
            receive_bytes: at(0)?,
            receive_packets: at(1)?,
            receive_failures: at(2)?.saturating_add(at(3)?),
            send_bytes: at(8)?,
            send_packets: at(9)?,
            send_failures: at(10)?.saturating_add(at(11)?),
        };
        let name = name.trim().to_owned();
        (name != "lo").then_some(NamedInterface { name, counters })
    };
    text.lines().filter_map(one).collect()
}

/// Time of a task on a CPU and in the run queue, by its process id; readable by everybody.
///
/// `None` where it is gone, or the kernel does not keep account (`CONFIG_SCHED_INFO`).
pub fn task_counters(root: &SysRoot, process_id: u32) -> Option<TaskCounters> {
    let text = root.text(format!("/proc/{process_id}/schedstat")).ok()?;
    let mut words = text.split_whitespace().map_while(|word| word.parse().ok());
    Some(TaskCounters { on_cpu_ns: words.next()?, queued_ns: words.next()? })
}

#[cfg(test)]
mod tests;
