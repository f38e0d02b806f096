//! Archives of `OSWatcher`: trees of text files with the output of `iostat`, `vmstat`, `mpstat`,
//! `netstat` and `/proc/meminfo`, each sample below a line with its time. They are read whatever
//! version of the tools wrote them, and written so that what reads such archives reads ours.

mod archive;
mod collector;
mod means;
mod parse;
mod stamp;
mod trace;
mod write;

pub use means::{ToolMeans, tool_means};
pub use trace::read_trace;
pub use write::ArchiveWriter;

use archive::{ArchiveSample, read_archive};
use assay_model::counters::{Counters, CpuCounters, SwapCounters, TcpCounters};
use assay_model::number::{count, real};
use assay_model::watch::Moment;
use assay_model::{Error, Result};
use collector::ArchiveCollector;
use parse::{FoundSample, Remainders};
use std::collections::BTreeMap;
use std::path::Path;

const SECOND_NS: u64 = 1_000_000_000;

const ZONE_NOTE: &str = "times are in the host's own time zone, treated as UTC";
const JOINT_COUNTS_NOTE: &str =
    "sar counts the reads and writes of a device together: how many of them were reads is unknown";

fn joint_await_note(is_joint: bool) -> Option<String> {
    const NOTE: &str =
        "this version of iostat has one await for reads and writes together; both use it";
    is_joint.then(|| NOTE.to_owned())
}

fn impossible_queue_note(is_impossible: bool) -> Option<String> {
    const NOTE: &str =
        "impossible queue lengths are left out with their busy shares, and shown as 0";
    is_impossible.then(|| NOTE.to_owned())
}

/// Devices whose I/Os never took any time: older kernels do not measure those of md arrays.
fn untimed_note(moments: &[Moment]) -> Option<String> {
    let mut timed: BTreeMap<&str, bool> = BTreeMap::new();
    for device in moments.iter().flat_map(|moment| &moment.counters.devices) {
        let counters = &device.counters;
        if [counters.read_ios, counters.write_ios, counters.joint_ios].iter().any(|ios| *ios > 0) {
            let times_ns = [
                counters.read_time_ns,
                counters.write_time_ns,
                counters.joint_time_ns,
                counters.outstanding_time_ns,
                counters.busy_time_ns,
            ];
            *timed.entry(&device.name).or_default() |= times_ns.iter().any(|time_ns| *time_ns > 0);
        }
    }
    let names = timed.into_iter().filter_map(|(name, is_timed)| (!is_timed).then_some(name));
    let names = names.collect::<Vec<_>>().join(", ");
    (!names.is_empty()).then(|| {
        format!("the kernel does not measure times of {names}: their zeros are treated as unknown")
    })
}

/// What an archive contains.
#[derive(Debug, Default)]
pub struct Imported {
    /// The moments in the order of their time.
    pub moments: Vec<Moment>,
    /// What a reader of them has to know.
    pub notes: Vec<String>,
}

/// Reads an archive: its directory, or one of the directories in it.
///
/// # Errors
/// A usage error when nothing in it is known, an environment error when it cannot be read.
pub fn read(directory: &Path) -> Result<Imported> {
    let mut archive = read_archive(directory)?;
    let mut notes = archive.notes;
    let parsed: Vec<Parsed> = ArchiveCollector::ALL
        .into_iter()
        .map(|collector| Parsed::of(&mut archive.samples, collector))
        .collect();
    let Some(base) = parsed.iter().find(|one| !one.times_s.is_empty()) else {
        return Err(Error::usage(
            format!("{} does not contain readable OSWatcher samples", directory.display()),
            "specify the directory that holds oswiostat, oswvmstat, oswmpstat, oswnetstat or \
             oswmeminfo",
        ));
    };
    let mut moments = merged(base, &parsed, archive.processors);
    difference_of_tcp(&mut moments);
    notes.extend(joint_await_note(parsed.iter().any(|one| one.has_joint_await)));
    notes.extend(impossible_queue_note(parsed.iter().any(|one| one.has_impossible_queue)));
    notes.extend(untimed_note(&moments));
    if archive.has_local_times {
        notes.push(ZONE_NOTE.to_owned());
    }
    Ok(Imported { moments, notes })
}

/// The samples of one collector, understood.
#[derive(Debug, Default)]
struct Parsed {
    times_s: Vec<u64>,
    found: Vec<FoundSample>,
    has_joint_await: bool,
    has_impossible_queue: bool,
}

impl Parsed {
    /// Takes the samples of a collector out of all.
    fn of(samples: &mut Vec<ArchiveSample>, collector: ArchiveCollector) -> Self {
        let mut parsed = Self::default();
        for sample in samples.extract_if(.., |sample| sample.collector == collector) {
            parsed.has_joint_await |= sample.found.joint_await;
            parsed.has_impossible_queue |= sample.found.impossible_queue;
            parsed.times_s.push(sample.at_unix_s);
            parsed.found.push(sample.found);
        }
        parsed
    }

    /// The usual distance of samples, s.
    fn period_s(&self) -> u64 {
        let mut gaps: Vec<u64> =
            self.times_s.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        gaps.sort_unstable();
        gaps.get(gaps.len() / 2).copied().unwrap_or(1).max(1)
    }

    /// The sample nearest to a time, no farther than half a period.
    fn nearest(&self, at_s: u64, period_s: u64) -> Option<&FoundSample> {
        let after = self.times_s.partition_point(|time_s| *time_s < at_s);
        let near = [after.checked_sub(1), Some(after)].into_iter().flatten();
        let near = near.filter(|place| *place < self.times_s.len());
        let place = near.min_by_key(|place| self.times_s[*place].abs_diff(at_s))?;
        let distance_s = self.times_s[place].abs_diff(at_s);
        (2 * distance_s <= period_s.max(2)).then(|| &self.found[place])
    }
}

/// One moment for each sample of the collector with the most data, with what the others say of that
/// time; the first lasts as long as samples usually do, unless it says what it covers.
fn merged(base: &Parsed, all: &[Parsed], processors: u64) -> Vec<Moment> {
    let period_s = base.period_s();
    let (mut before_s, mut rests) = (None, Remainders::new());
    let mut moments = Vec::new();
    for at_s in &base.times_s {
        let gap_s = before_s.map_or(period_s, |before: u64| at_s.saturating_sub(before).max(1));
        before_s = Some(*at_s);
        let found: Vec<&FoundSample> =
            all.iter().filter_map(|one| one.nearest(*at_s, period_s)).collect();
        moments.push(moment(*at_s, gap_s, &found, processors, &mut rests));
    }
    moments
}

/// What all collectors say of one time. Percentages and rates become counters over the time that
/// they cover.
fn moment(
    at_s: u64,
    gap_s: u64,
    found: &[&FoundSample],
    processors: u64,
    rests: &mut Remainders,
) -> Moment {
    let pick = |of: &dyn Fn(&FoundSample) -> bool| found.iter().find(|one| of(one)).copied();
    let elapsed_s = found.iter().find_map(|one| one.covered_s).unwrap_or(gap_s);
    let rows = found.iter().filter_map(|one| one.processors).max();
    let processors = rows.unwrap_or(processors);
    let cpu = found.iter().rev().find_map(|one| one.cpu_share);
    let devices = pick(&|one| !one.devices.is_empty());
    let swap = found.iter().find_map(|one| one.swap_kib_per_s);
    let gauge = found.iter().find_map(|one| one.memory);
    Moment {
        at_unix_ns: at_s.saturating_mul(SECOND_NS),
        processors,
        counters: Counters {
            time_ns: elapsed_s.saturating_mul(SECOND_NS),
            devices: devices.map_or_else(Vec::new, |found| {
                found.devices.iter().map(|device| device.over(elapsed_s, rests)).collect()
            }),
            // Without their number, the shares of all processors are times of one.
            cpu: cpu
                .map(|shares| cpu_counters(shares, elapsed_s.saturating_mul(processors.max(1)))),
            swap: swap.map(|(input, output)| SwapCounters {
                in_pages: count(input * real(elapsed_s) / 4.0),
                out_pages: count(output * real(elapsed_s) / 4.0),
            }),
            memory: gauge,
            ..Counters::default()
        },
        run_queue: found.iter().find_map(|one| one.run_queue),
        tcp: found.iter().find_map(|one| one.tcp),
        ..Moment::default()
    }
}

/// Shares of the processors' time as times; the shares are in the order of [`parse::CPU_SHARES`].
fn cpu_counters(shares: [f64; 8], processor_seconds: u64) -> CpuCounters {
    let time_ns = |place: usize| count(shares[place] * real(processor_seconds) * 1e9);
    CpuCounters {
        user_ns: time_ns(0),
        nice_ns: time_ns(1),
        system_ns: time_ns(2),
        idle_ns: time_ns(3),
        io_wait_ns: time_ns(4),
        interrupt_ns: time_ns(5),
        soft_interrupt_ns: time_ns(6),
        steal_ns: time_ns(7),
    }
}

/// `netstat -s` counts since the start of the host: each moment gets what came after the one
/// before.
fn difference_of_tcp(moments: &mut [Moment]) {
    let mut before: Option<TcpCounters> = None;
    for moment in moments {
        let now = moment.tcp;
        moment.tcp = now.zip(before).map(|(now, before)| now.since(&before));
        before = now.or(before);
    }
}

#[cfg(test)]
mod tests;
