//! The output of the tools: columns by the names above them, because versions differ in their
//! order.

use super::collector::ArchiveCollector;
use assay_model::counters::{DeviceCounters, MemoryGauge, NamedDevice, TcpCounters};
use assay_model::number::{count, count_of, real};
use assay_model::watch::RunQueue;
use std::collections::BTreeMap;

/// Names of shares of CPU time in the order of `/proc/stat`, as `mpstat`, `vmstat` and old versions
/// call them.
pub(super) const CPU_SHARES: [&[&str]; 8] = [
    &["%usr", "%user", "us"],
    &["%nice"],
    &["%sys", "%system", "sy"],
    &["%idle", "id"],
    &["%iowait", "wa"],
    &["%irq"],
    &["%soft"],
    &["%steal", "st"],
];

/// What one sample of one tool contains.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundSample {
    pub(super) devices: Vec<DeviceRow>,
    /// Seconds that its rates cover, where that is less than up to the sample before.
    pub(super) covered_s: Option<u64>,
    /// Shares of all processors' time, in the order of [`CPU_SHARES`].
    pub(super) cpu_share: Option<[f64; 8]>,
    pub(super) processors: Option<u64>,
    pub(super) run_queue: Option<RunQueue>,
    /// KiB a second from and to swap.
    pub(super) swap_kib_per_s: Option<(f64, f64)>,
    /// Since the start of the host.
    pub(super) tcp: Option<TcpCounters>,
    pub(super) memory: Option<MemoryGauge>,
    /// Whether reads and writes were given one time together.
    pub(super) joint_await: bool,
    /// Whether a queue was longer than any.
    pub(super) impossible_queue: bool,
    /// Whether reads and writes were counted together.
    pub(super) has_joint_counts: bool,
}

/// A device in rates.
#[derive(Clone, Debug, Default)]
pub(super) struct DeviceRow {
    name: String,
    read_iops: f64,
    write_iops: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
    read_time_ms_mean: f64,
    write_time_ms_mean: f64,
    flush_iops: f64,
    flush_time_ms_mean: f64,
    joint_iops: f64,
    joint_time_ms_mean: f64,
    queue_depth: f64,
    busy_share: f64,
}

/// Parts of I/Os that the samples of a device so far have left: rates of less than one a sample
/// are I/Os all the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct IoRemainders {
    read: f64,
    write: f64,
    flush: f64,
    joint: f64,
}

/// Those of each device, by its name.
pub(super) type Remainders = BTreeMap<String, IoRemainders>;

impl Default for IoRemainders {
    /// The first one is rounded.
    fn default() -> Self {
        Self { read: 0.5, write: 0.5, flush: 0.5, joint: 0.5 }
    }
}

impl DeviceRow {
    /// The rates as counters over a time.
    pub(super) fn over(&self, elapsed_s: u64, rests: &mut Remainders) -> NamedDevice {
        let rests = rests.entry(self.name.clone()).or_default();
        let times = |per_s: f64| count(per_s * real(elapsed_s));
        let whole = |per_s: f64, rest: &mut f64| {
            let all = per_s.mul_add(real(elapsed_s), *rest);
            *rest = all.fract();
            count(all.floor())
        };
        let waited = |iops: f64, mean_ms: f64| count(iops * real(elapsed_s) * mean_ms * 1e6);
        NamedDevice {
            name: self.name.clone(),
            outstanding_ios: 0,
            counters: DeviceCounters {
                read_ios: whole(self.read_iops, &mut rests.read),
                read_bytes: times(self.read_bytes_per_s),
                read_time_ns: waited(self.read_iops, self.read_time_ms_mean),
                write_ios: whole(self.write_iops, &mut rests.write),
                write_bytes: times(self.write_bytes_per_s),
                write_time_ns: waited(self.write_iops, self.write_time_ms_mean),
                busy_time_ns: times(self.busy_share * 1e9),
                outstanding_time_ns: times(self.queue_depth * 1e9),
                flush_ios: whole(self.flush_iops, &mut rests.flush),
                flush_time_ns: waited(self.flush_iops, self.flush_time_ms_mean),
                joint_ios: whole(self.joint_iops, &mut rests.joint),
                joint_time_ns: waited(self.joint_iops, self.joint_time_ms_mean),
                ..DeviceCounters::default()
            },
        }
    }
}

/// What a sample contains; `None` where it contains nothing.
pub(super) fn sample(collector: ArchiveCollector, lines: &[&str]) -> Option<FoundSample> {
    match collector {
        ArchiveCollector::Iostat => iostat(lines),
        ArchiveCollector::Vmstat => vmstat(lines),
        ArchiveCollector::Mpstat => mpstat(lines),
        ArchiveCollector::Netstat => netstat(lines),
        ArchiveCollector::Meminfo => meminfo(lines),
    }
}

/// A row under a head: numbers by the names of their columns.
pub(super) struct SampleRow<'a> {
    pub(super) head: &'a [&'a str],
    pub(super) cells: Vec<&'a str>,
}

impl SampleRow<'_> {
    /// The last column of these names: `vmstat` of BSD, AIX and Solaris counts system calls in one
    /// called `sy`, before the share of the same name.
    pub(super) fn number(&self, names: &[&str]) -> Option<f64> {
        number(self.cell(names)?)
    }

    fn cell(&self, names: &[&str]) -> Option<&str> {
        let place = self.head.iter().rposition(|name| names.contains(name))?;
        self.cells.get(place).copied()
    }

    /// The cell of this column.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.cells.get(self.head.iter().position(|known| *known == name)?).copied()
    }

    /// Bytes a second in the first of these units that the row has.
    fn bytes_per_s(&self, [kib, mib, sectors]: [&str; 3]) -> Option<f64> {
        let scaled = |name: &str, unit: f64| amount(self.cell(&[name])?, unit);
        scaled(kib, 1024.0).or_else(|| scaled(mib, 1_048_576.0)).or_else(|| scaled(sectors, 512.0))
    }
}

/// A number that can be measured; some locales write a decimal comma, `-h` a percent sign.
pub(super) fn number(cell: &str) -> Option<f64> {
    let value: f64 = cell.trim_end_matches('%').replace(',', ".").parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

/// Bytes in a unit, or in the unit that `-h` writes behind each number.
fn amount(cell: &str, unit: f64) -> Option<f64> {
    const UNITS: [(char, f64); 4] =
        [('k', 1024.0), ('M', 1_048_576.0), ('G', 1_073_741_824.0), ('T', 1_099_511_627_776.0)];
    let own = UNITS.iter().find_map(|(letter, own)| Some((cell.strip_suffix(*letter)?, *own)));
    let (digits, unit) = own.unwrap_or((cell, unit));
    Some(number(digits)? * unit)
}

/// Whether a line names the columns of a table of `iostat`; `-h` puts the devices last.
pub(super) fn is_device_head(line: &str) -> bool {
    line.starts_with("Device") || line.trim_end().ends_with(" Device")
}

pub(super) fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Tables of devices; of several in one sample the first is the mean since the start of the host
/// and does not count.
fn iostat(lines: &[&str]) -> Option<FoundSample> {
    let tables = lines.iter().filter(|line| is_device_head(line)).count();
    let skipped = usize::from(tables > 1);
    let (mut head, mut table) = (Vec::new(), 0);
    let mut rows: Vec<DeviceRow> = Vec::new();
    let (mut joint_await, mut impossible_queue) = (false, false);
    for line in lines {
        if is_device_head(line) {
            (head, table) = (words(line), table + 1);
        } else if line.trim().is_empty() || line.starts_with("avg-cpu") {
            head.clear();
        } else if table > skipped && !head.is_empty() {
            let row = SampleRow { head: &head, cells: words(line) };
            joint_await |= row.number(&["r_await"]).is_none() && row.number(&["await"]).is_some();
            if let Some(mut device) = device(&row) {
                impossible_queue |= device.drop_impossible_queue();
                add(&mut rows, device);
            }
        }
    }
    let counted = real(count_of(tables.saturating_sub(skipped))).max(1.0);
    for row in &mut rows {
        row.divide(counted);
    }
    (!rows.is_empty()).then(|| FoundSample {
        devices: rows,
        covered_s: (tables > 1).then(|| count_of(tables - 1)),
        joint_await,
        impossible_queue,
        ..FoundSample::default()
    })
}

/// A device of which the row has all that `iostat -x` prints; `None` for shorter tables.
fn device(row: &SampleRow<'_>) -> Option<DeviceRow> {
    let joint_ms = row.number(&["await"]);
    let name = row.cells.get(row.head.iter().position(|name| name.starts_with("Device"))?)?;
    Some(DeviceRow {
        name: name.trim_end_matches(':').to_owned(),
        read_iops: row.number(&["r/s"])?,
        write_iops: row.number(&["w/s"])?,
        read_bytes_per_s: row.bytes_per_s(["rkB/s", "rMB/s", "rsec/s"])?,
        write_bytes_per_s: row.bytes_per_s(["wkB/s", "wMB/s", "wsec/s"])?,
        read_time_ms_mean: row.number(&["r_await"]).or(joint_ms)?,
        write_time_ms_mean: row.number(&["w_await"]).or(joint_ms)?,
        // Versions before 12 know no flushes.
        flush_iops: row.number(&["f/s"]).unwrap_or(0.0),
        flush_time_ms_mean: row.number(&["f_await"]).unwrap_or(0.0),
        queue_depth: row.number(&["aqu-sz", "avgqu-sz"])?,
        busy_share: row.number(&["%util"])? / 100.0,
        ..DeviceRow::default()
    })
}

/// I/Os that no device has outstanding: kernels up to 2.4 counted below 0, and around.
const QUEUE_DEPTH_MAX: f64 = 1e6;

impl DeviceRow {
    /// Drops what an impossible count of outstanding I/Os makes of queue and use, and says whether
    /// there is one.
    fn drop_impossible_queue(&mut self) -> bool {
        let is_impossible = self.queue_depth > QUEUE_DEPTH_MAX;
        if is_impossible {
            (self.queue_depth, self.busy_share) = (0.0, 0.0);
        }
        is_impossible
    }

    /// A device of `sar -d`, which counts reads and writes together.
    pub(super) fn joint(name: &str, row: &SampleRow<'_>) -> Option<Self> {
        Some(Self {
            name: name.to_owned(),
            joint_iops: row.number(&["tps"])?,
            joint_time_ms_mean: row.number(&["await"])?,
            read_bytes_per_s: row.bytes_per_s(["rkB/s", "rMB/s", "rd_sec/s"])?,
            write_bytes_per_s: row.bytes_per_s(["wkB/s", "wMB/s", "wr_sec/s"])?,
            queue_depth: row.number(&["aqu-sz", "avgqu-sz"])?,
            busy_share: row.number(&["%util"])? / 100.0,
            ..Self::default()
        })
    }
}

impl DeviceRow {
    /// Adds the next second; times are weighted by their I/Os.
    fn plus(&mut self, next: &Self) {
        let weighted = |one: (f64, f64), two: (f64, f64)| {
            let ios = one.0 + two.0;
            if ios > 0.0 { (one.0 * one.1 + two.0 * two.1) / ios } else { 0.0 }
        };
        self.read_time_ms_mean = weighted(
            (self.read_iops, self.read_time_ms_mean),
            (next.read_iops, next.read_time_ms_mean),
        );
        self.write_time_ms_mean = weighted(
            (self.write_iops, self.write_time_ms_mean),
            (next.write_iops, next.write_time_ms_mean),
        );
        self.flush_time_ms_mean = weighted(
            (self.flush_iops, self.flush_time_ms_mean),
            (next.flush_iops, next.flush_time_ms_mean),
        );
        self.read_iops += next.read_iops;
        self.write_iops += next.write_iops;
        self.read_bytes_per_s += next.read_bytes_per_s;
        self.write_bytes_per_s += next.write_bytes_per_s;
        self.flush_iops += next.flush_iops;
        self.queue_depth += next.queue_depth;
        self.busy_share += next.busy_share;
    }

    /// Sums of rates as their mean.
    fn divide(&mut self, seconds: f64) {
        for rate in [
            &mut self.read_iops,
            &mut self.write_iops,
            &mut self.read_bytes_per_s,
            &mut self.write_bytes_per_s,
            &mut self.flush_iops,
            &mut self.queue_depth,
            &mut self.busy_share,
        ] {
            *rate /= seconds;
        }
    }
}

fn add(rows: &mut Vec<DeviceRow>, next: DeviceRow) {
    match rows.iter_mut().find(|row| row.name == next.name) {
        Some(row) => row.plus(&next),
        None => rows.push(next),
    }
}

/// Rows under the line that begins with `r b`; of several the first is the mean since the start of
/// the host.
fn vmstat(lines: &[&str]) -> Option<FoundSample> {
    let place = lines.iter().position(|line| words(line).starts_with(&["r", "b"]))?;
    let head = words(lines[place]);
    let is_row =
        |line: &&&str| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    let rows: Vec<Vec<&str>> =
        lines[place + 1..].iter().filter(is_row).map(|line| words(line)).collect();
    let cells = rows.last()?.clone();
    let row = SampleRow { head: &head, cells };
    Some(FoundSample {
        run_queue: Some(RunQueue {
            running: count(row.number(&["r"])?),
            blocked: count(row.number(&["b"])?),
        }),
        swap_kib_per_s: row.number(&["si"]).zip(row.number(&["so"])),
        cpu_share: cpu(&row),
        ..FoundSample::default()
    })
}

/// Shares in the order of [`CPU_SHARES`]; `None` where not even idle time is given. What a tool
/// does not name, it counts under another name.
pub(super) fn cpu(row: &SampleRow<'_>) -> Option<[f64; 8]> {
    row.number(CPU_SHARES[3])?;
    Some(CPU_SHARES.map(|names| row.number(names).unwrap_or(0.0) / 100.0))
}

/// The last row of all processors together, and how many rows there are of single ones.
fn mpstat(lines: &[&str]) -> Option<FoundSample> {
    let mut head: Vec<&str> = Vec::new();
    let (mut all, mut numbers) = (None, Vec::new());
    for line in lines {
        let cells = words(line);
        if cells.contains(&"CPU") && cells.contains(&"%idle") {
            head = cells;
            continue;
        }
        let row = SampleRow { head: &head, cells };
        let place = head.iter().position(|name| *name == "CPU");
        let Some(processor) = place.and_then(|place| row.cells.get(place)) else {
            continue;
        };
        if *processor == "all" {
            all = cpu(&row).or(all);
        } else if let Ok(number) = processor.parse::<u64>() {
            numbers.push(number);
        }
    }
    Some(FoundSample {
        cpu_share: Some(all?),
        processors: numbers.into_iter().max().map(|last| last + 1),
        ..FoundSample::default()
    })
}

/// Sentences of `netstat -s`; the kernel's tools have spelt them in two ways.
fn netstat(lines: &[&str]) -> Option<FoundSample> {
    let number = |endings: &[&str]| {
        let line = lines
            .iter()
            .find(|line| endings.iter().any(|ending| line.trim_end().ends_with(ending)))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let tcp = TcpCounters {
        in_segments: number(&[" segments received"])?,
        out_segments: number(&[" segments sent out", " segments send out"])?,
        retransmitted_segments: number(&[" segments retransmitted", " segments retransmited"])?,
        ..TcpCounters::default()
    };
    Some(FoundSample { tcp: Some(tcp), ..FoundSample::default() })
}

fn meminfo(lines: &[&str]) -> Option<FoundSample> {
    let bytes = |tag: &str| {
        let line = lines.iter().find_map(|line| line.strip_prefix(tag))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    };
    let memory = MemoryGauge {
        available_bytes: bytes("MemAvailable:").or_else(|| bytes("MemFree:"))?,
        dirty_bytes: bytes("Dirty:").unwrap_or_default(),
        writeback_bytes: bytes("Writeback:").unwrap_or_default(),
        cached_bytes: bytes("Cached:").unwrap_or_default(),
        resident_bytes_max: 0,
    };
    Some(FoundSample { memory: Some(memory), ..FoundSample::default() })
}
