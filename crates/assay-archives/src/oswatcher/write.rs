//! Writes moments as an archive: a file an hour and collector, each sample below its time.

use super::collector::ArchiveCollector;
use assay_model::counters::{CpuCounters, TcpCounters};
use assay_model::number::{index_of, rate, real};
use assay_model::run::Utc;
use assay_model::watch::Moment;
use assay_model::{Error, Result};
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// Adds moments to an archive; nothing that is in it is changed.
#[derive(Debug)]
pub struct ArchiveWriter {
    directory: PathBuf,
    host: String,
    /// `netstat -s` counts from a beginning.
    tcp: TcpCounters,
}

impl ArchiveWriter {
    /// An archive in a directory, made if it is not there; `host` stands in the names of its files.
    pub fn new(directory: PathBuf, host: &str) -> Self {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
        let host: String = host.chars().filter(|letter| plain(*letter)).collect();
        Self {
            directory,
            host: if host.is_empty() { "host".to_owned() } else { host },
            tcp: TcpCounters::default(),
        }
    }

    /// Appends a moment to the files of its hour.
    pub fn append(&mut self, moment: &Moment) -> Result<()> {
        if let Some(tcp) = moment.tcp {
            self.tcp = self.tcp.plus(&tcp);
        }
        let texts = [
            (ArchiveCollector::Iostat, iostat(moment)),
            (ArchiveCollector::Vmstat, vmstat(moment)),
            (ArchiveCollector::Mpstat, mpstat(moment)),
            (ArchiveCollector::Netstat, moment.tcp.map(|_| netstat(&self.tcp))),
            (ArchiveCollector::Meminfo, meminfo(moment)),
        ];
        for (collector, text) in texts {
            if let Some(text) = text {
                self.write(collector, moment, &text)?;
            }
        }
        Ok(())
    }

    fn write(&self, collector: ArchiveCollector, moment: &Moment, text: &str) -> Result<()> {
        let hour = hour_of(Utc::of(moment.at_unix_ns));
        let directory = self.directory.join(format!("osw{}", collector.name()));
        let path = directory.join(format!("{}_{}_{}.dat", self.host, collector.name(), hour));
        let refused = |error: std::io::Error| {
            Error::environment(
                format!("writing {}: {error}", path.display()),
                "specify a directory that you can write to, with enough free space",
            )
        };
        fs::create_dir_all(&directory).map_err(refused)?;
        let mut whole = String::new();
        if !path.exists() {
            // Infallible: a String takes everything.
            let _ = writeln!(
                whole,
                "Linux OSWatcher layout, written by Assay\nCPU_COUNT {}",
                moment.processors
            );
        }
        let _ = writeln!(whole, "zzz ***{}\n{text}", stamp_of(moment.at_unix_ns));
        let mut file = OpenOptions::new().append(true).create(true).open(&path).map_err(refused)?;
        file.write_all(whole.as_bytes()).map_err(refused)
    }
}

/// `26.11.21.2000`, the hour of a file's name.
fn hour_of(time: Utc) -> String {
    let year = time.year % 100;
    format!("{year:02}.{:02}.{:02}.{:02}00", time.month, time.day, time.hour)
}

/// `Sat Nov 21 20:00:01 UTC 2026`.
fn stamp_of(unix_ns: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let time = Utc::of(unix_ns);
    // 1970 began on a Thursday.
    let weekday = DAYS[index_of(unix_ns / 86_400_000_000_000 % 7)];
    let month = MONTHS[index_of(time.month.saturating_sub(1).min(11))];
    format!("{weekday} {month} {:>2} {} UTC {}", time.day, clock_of(time), time.year)
}

/// `20:00:01`.
fn clock_of(time: Utc) -> String {
    format!("{:02}:{:02}:{:02}", time.hour, time.minute, time.second)
}

/// Shares in percent: in programs, of low priority, in the kernel, idle, idle with I/O, interrupts,
/// deferred ones, stolen.
fn percents(cpu: &CpuCounters) -> [f64; 8] {
    let whole = real(cpu.total_ns()).max(1.0);
    [
        cpu.user_ns,
        cpu.nice_ns,
        cpu.system_ns,
        cpu.idle_ns,
        cpu.io_wait_ns,
        cpu.interrupt_ns,
        cpu.soft_interrupt_ns,
        cpu.steal_ns,
    ]
    .map(|time_ns| 100.0 * real(time_ns) / whole)
}

fn iostat(moment: &Moment) -> Option<String> {
    if moment.counters.devices.is_empty() {
        return None;
    }
    let mut text = String::new();
    if let Some(cpu) = &moment.counters.cpu {
        let [user, nice, system, idle, wait, hard, soft, stolen] = percents(cpu);
        let system = system + hard + soft;
        let head = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle";
        let _ = writeln!(
            text,
            "{head}\n          {user:6.2}  {nice:6.2}  {system:6.2}  {wait:6.2}  {stolen:6.2}  \
             {idle:6.2}\n"
        );
    }
    text.push_str(
        "Device            r/s     rkB/s   r_await     w/s     wkB/s   w_await     \
        f/s   f_await   aqu-sz    %util\n",
    );
    let elapsed_s = moment.elapsed_s();
    // iostat has no column for reads and writes together.
    for device in moment.counters.devices.iter().filter(|one| one.counters.joint_ios == 0) {
        let rates = device.rates(moment.counters.time_ns);
        let ms = |mean_ns: Option<f64>| mean_ns.unwrap_or(0.0) / 1e6;
        let flushes = device.counters.flush_ios;
        let flush_ns = (flushes > 0).then(|| real(device.counters.flush_time_ns) / real(flushes));
        let _ = writeln!(
            text,
            "{:<12} {:9.2} {:9.2} {:9.3} {:9.2} {:9.2} {:9.3} {:9.2} {:9.3} {:9.3} {:8.2}",
            device.name,
            rates.read_iops,
            rates.read_bytes_per_s / 1024.0,
            ms(rates.read_time_mean_ns),
            rates.write_iops,
            rates.write_bytes_per_s / 1024.0,
            ms(rates.write_time_mean_ns),
            rate(flushes, elapsed_s),
            ms(flush_ns),
            rates.queue_depth_mean,
            rates.busy_share * 100.0
        );
    }
    Some(text)
}

fn vmstat(moment: &Moment) -> Option<String> {
    let (queue, cpu) = (moment.run_queue?, moment.counters.cpu.as_ref()?);
    let [user, nice, system, idle, wait, hard, soft, stolen] = percents(cpu);
    let memory = moment.counters.memory.unwrap_or_default();
    let swap = moment.counters.swap.unwrap_or_default();
    let kib = |pages: u64| rate(pages.saturating_mul(4), moment.elapsed_s());
    Some(format!(
        "procs -----------memory---------- ---swap-- ------cpu-----\n r  b   free   cache   si   \
         so us sy id wa st\n{} {} {} {} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0} {:.0}\n",
        queue.running,
        queue.blocked,
        memory.available_bytes / 1024,
        memory.cached_bytes / 1024,
        kib(swap.in_pages),
        kib(swap.out_pages),
        user + nice,
        system + hard + soft,
        idle,
        wait,
        stolen
    ))
}

fn mpstat(moment: &Moment) -> Option<String> {
    let [user, nice, system, idle, wait, hard, soft, stolen] =
        percents(moment.counters.cpu.as_ref()?);
    let at = clock_of(Utc::of(moment.at_unix_ns));
    Some(format!(
        "{at}  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal   %idle\n{at}  all  \
         {user:6.2}  {nice:6.2}  {system:6.2}  {wait:6.2}  {hard:6.2}  {soft:6.2}  {stolen:6.2}  \
         {idle:6.2}\n"
    ))
}

fn netstat(tcp: &TcpCounters) -> String {
    format!(
        "Tcp:\n    {} segments received\n    {} segments sent out\n    {} segments retransmitted\n",
        tcp.in_segments, tcp.out_segments, tcp.retransmitted_segments
    )
}

fn meminfo(moment: &Moment) -> Option<String> {
    let memory = moment.counters.memory?;
    let kib = |bytes: u64| bytes / 1024;
    Some(format!(
        "MemAvailable: {} kB\nCached: {} kB\nDirty: {} kB\nWriteback: {} kB\n",
        kib(memory.available_bytes),
        kib(memory.cached_bytes),
        kib(memory.dirty_bytes),
        kib(memory.writeback_bytes)
    ))
}
