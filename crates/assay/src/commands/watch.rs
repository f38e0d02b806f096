//! `assay watch`: the machine while others work.

use crate::exit::{ExitStatus, exit_status, print};
use crate::finish::conclude;
use crate::live_options::LiveOptions;
use crate::options::{COMMON, OutputOptions, StartOptions, StoreOptions, measuring_context};
use assay_app::ProgressSender;
use assay_app::cluster::{HostNames, HostsMoment, WatchHosts};
use assay_app::finish::{CriteriaSource, finish_run};
use assay_app::host_sampler::SamplerPace;
use assay_app::machine_trace::read_machine;
use assay_archives::oswatcher::ArchiveWriter;
use assay_host::clock::unix_ns;
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_host::watch::{HostWatch, busy_disks, device_names};
use assay_model::environment::Environment;
use assay_model::measurement::{
    Finish, Interval, Operation, OperationResult, PerOperation, Remark,
};
use assay_model::run::{Event, EventKind, RunKind};
use assay_model::units::Nanos;
use assay_model::verdict::Unit;
use assay_model::watch::Moment;
use assay_model::{Error, Result};
use assay_report::{WATCH_HEADER, watch_csv};
use assay_store::{NewRun, RunWriter, StoredDocument, WatchLog};
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a wait may last before the program looks whether it is to end.
const NAP: Duration = Duration::from_millis(100);
/// Faster than this the kernel's millisecond counters say nothing.
const EVERY_MIN: Nanos = Nanos(100_000_000);

/// Watch CPUs, disks and network under any load
#[derive(Args)]
#[command(after_help = "Examples:
  assay watch --time 60s
  assay watch /mnt/data --interval 100ms --csv
  assay watch /mnt/data --hosts hA,hB --time 60s
  assay watch --from oswatcher-archive/
  assay watch --from iostat.txt")]
pub struct WatchOptions {
    /// Directories, files or block devices whose devices to watch; by default all disks with any
    /// I/O since boot
    #[arg(value_name = "STORAGE", conflicts_with = "from")]
    targets: Vec<PathBuf>,
    /// How long to watch; by default until Ctrl-C
    #[arg(long, alias = "duration", value_name = "TIME", conflicts_with = "from")]
    time: Option<Nanos>,
    /// Sampling interval
    #[arg(long, value_name = "TIME", default_value = "1s", conflicts_with = "from")]
    interval: Nanos,
    /// Hosts to watch together, on one clock: local:N
    /// (processes here), ssh:A,B, or names in a Ray cluster: A,B
    #[arg(long, value_name = "HOSTS", conflicts_with_all = ["from", "oswatcher"])]
    hosts: Option<HostNames>,
    /// Read another machine from an archive of `OSWatcher`, or from a trace of iostat, vmstat,
    /// mpstat, sar or sadf
    #[arg(long, value_name = "DIR|FILE")]
    from: Option<PathBuf>,
    /// Also write the samples as an archive of `OSWatcher` into this directory
    #[arg(long, value_name = "DIR")]
    oswatcher: Option<PathBuf>,
    /// Print every sample as CSV immediately
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Criteria to judge by: a file, oltp-default or dell-2017; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Also write the HTML page of the run to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    live: LiveOptions,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the command out.
pub fn run(options: &WatchOptions) -> Result<ExitStatus> {
    let asked = CriteriaSource::named(options.criteria.as_deref())?;
    if options.interval.0 < EVERY_MIN.0 {
        return Err(Error::usage(
            format!("--interval {} is too short", options.interval),
            format!("write at least {EVERY_MIN}: the kernel counts times in milliseconds"),
        ));
    }
    // Before Ctrl-C only sets a flag: an archive may be long.
    let imported = options.from.as_deref().map(read_machine).transpose()?;
    let start = StartOptions { dry_run: false, yes: true, name: None, html: options.html.clone() };
    let context = measuring_context(&options.store, &options.output, &start, &options.live)?;
    let progress = &context.progress;
    progress.show("watching the host", 0.0, None);
    let mut hosts = match &options.hosts {
        Some(names) => Some(WatchHosts::open(names, &named(&options.targets), &context)?),
        None => None,
    };
    // What this machine is says nothing of the one that wrote an archive.
    let environment = match (&hosts, &options.from) {
        (Some(hosts), _) => hosts.environment.clone(),
        (None, Some(_)) => None,
        (None, None) => Some(environment(options)?),
    };
    let mut writer = context.store.create(&NewRun {
        kind: RunKind::Watch,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: context.command.clone(),
        targets: targets(options),
        created_unix_ns: unix_ns(),
    })?;
    progress.run(writer.path(), &format!("watch of {}", writer.manifest().targets.join(", ")));
    if let Some(environment) = &environment {
        writer.put_json(StoredDocument::Environment, environment)?;
    }
    let mut sink = WatchSink::open(options, &writer, environment.as_ref())?;
    let finish = match (imported, &mut hosts) {
        (_, Some(hosts)) => together(options, hosts, &writer, &mut sink, progress)?,
        (Some(imported), None) => {
            keep_notes(&imported.notes, &mut writer)?;
            // Rows that are printed are not followed by words.
            let said = imported.notes.iter().filter(|_| options.csv);
            said.for_each(|note| progress.say(&format!("note: {note}")));
            imported.moments.iter().try_for_each(|moment| sink.take(moment))?;
            Finish::Complete
        }
        (None, None) => live(options, environment.as_ref(), &mut sink, progress, &context.stop)?,
    };
    drop(hosts);
    progress.clear();
    sink.log.sync()?;
    finish_with(options, writer, &finish, asked.as_ref())
}

/// Keeps what a reader of a trace must know.
fn keep_notes(notes: &[String], writer: &mut RunWriter) -> Result<()> {
    notes.iter().try_for_each(|note| {
        let remark = Remark { what: note.clone(), why: String::new(), remedy: String::new() };
        writer.event(&Event { at_unix_ns: unix_ns(), cell: None, what: EventKind::Remark(remark) })
    })
}

/// The page, and the verdict where one is asked for; rows that were printed are not followed by
/// words.
fn finish_with(
    options: &WatchOptions,
    writer: RunWriter,
    finish: &Finish,
    asked: Option<&CriteriaSource>,
) -> Result<ExitStatus> {
    let finished = finish_run(writer, finish, asked)?;
    if options.csv {
        return Ok(exit_status(&finished.finish, finished.outcome));
    }
    conclude(&finished, &options.output, options.html.as_deref())
}

fn environment(options: &WatchOptions) -> Result<Environment> {
    let paths: Vec<&Path> = options.targets.iter().map(PathBuf::as_path).collect();
    capture_environment(&SysRoot::live(), &paths, &[])
}

/// What was watched, for the list of runs.
fn targets(options: &WatchOptions) -> Vec<String> {
    let mut named = named(&options.targets);
    named.extend(options.from.as_ref().map(|path| path.display().to_string()));
    if named.is_empty() {
        let all = options.hosts.as_ref().map_or("this machine".to_owned(), HostNames::to_string);
        return vec![all];
    }
    named
}

fn named(targets: &[PathBuf]) -> Vec<String> {
    targets.iter().map(|path| path.display().to_string()).collect()
}

/// Where samples go.
struct WatchSink {
    log: WatchLog,
    archive: Option<ArchiveWriter>,
    csv: bool,
}

impl WatchSink {
    fn open(
        options: &WatchOptions,
        writer: &RunWriter,
        environment: Option<&Environment>,
    ) -> Result<Self> {
        let host = environment.map_or("host", |environment| environment.host.name.as_str());
        let archive = options.oswatcher.as_ref();
        let sink = Self {
            log: writer.watch_log()?,
            archive: archive.map(|place| ArchiveWriter::new(place.clone(), host)),
            csv: options.csv,
        };
        if sink.csv {
            print(WATCH_HEADER)?;
        }
        Ok(sink)
    }

    fn take(&mut self, moment: &Moment) -> Result<()> {
        self.log.append(moment)?;
        if let Some(archive) = &mut self.archive {
            archive.append(moment)?;
        }
        if self.csv {
            print(&watch_csv(moment))?;
        }
        Ok(())
    }
}

/// Watches hosts until the time is over or a person ends it, as [`live`] does this machine.
fn together(
    options: &WatchOptions,
    hosts: &mut WatchHosts,
    writer: &RunWriter,
    sink: &mut WatchSink,
    progress: &ProgressSender,
) -> Result<Finish> {
    let length = options.time.map(|length| Duration::from_nanos(length.0));
    let mut see = |now: HostsMoment<'_>| {
        sink.take(now.moment)?;
        progress.interval(now.interval);
        show(now.moment, length, Duration::from_nanos(now.interval.end_ns), progress);
        Ok(())
    };
    let (finish, found) = hosts.watch(options.interval, options.time, &mut see)?;
    writer.put_json(StoredDocument::Cluster, &found)?;
    Ok(match finish {
        Finish::Interrupted if options.time.is_none() => Finish::Complete,
        finish => finish,
    })
}

/// Watches this machine until the time is over or a person ends it; both are a good end where no
/// time was named.
fn live(
    options: &WatchOptions,
    environment: Option<&Environment>,
    sink: &mut WatchSink,
    progress: &ProgressSender,
    stop: &AtomicBool,
) -> Result<Finish> {
    let storage = environment.map_or(&[][..], |environment| &environment.storage);
    let stacks = storage.iter().map(|storage| &storage.stack);
    let named = device_names(stacks);
    let root = SysRoot::live();
    let devices = if options.targets.is_empty() { busy_disks(&root) } else { named };
    let mut sampler = HostWatch::new(root, devices);
    let mut pace = SamplerPace::new(Duration::from_nanos(options.interval.0));
    let begun = Instant::now();
    let length = options.time.map(|length| Duration::from_nanos(length.0));
    let mut end_ns = 0;
    loop {
        let left = length.map(|length| length.saturating_sub(begun.elapsed()));
        let is_last = wait(&pace, left, stop);
        let late_ns = if is_last { 0 } else { pace.step() };
        let moment = sampler.sample(late_ns);
        sink.take(&moment)?;
        end_ns += moment.counters.time_ns;
        progress.interval(&interval(&moment, end_ns));
        show(&moment, length, begun.elapsed(), progress);
        if stop.load(Ordering::Relaxed) {
            let is_meant = length.is_none();
            return Ok(if is_meant { Finish::Complete } else { Finish::Interrupted });
        }
        if is_last {
            return Ok(Finish::Complete);
        }
    }
}

/// Waits for the next sample and says whether it is the last.
fn wait(pace: &SamplerPace, left: Option<Duration>, stop: &AtomicBool) -> bool {
    let until = pace.left();
    // The end takes what is left into the previous sample it, where that is almost nothing.
    let is_last = left.is_some_and(|left| left <= until + until / 4);
    let until = left.filter(|_| is_last).unwrap_or(until);
    let begun = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let rest = until.saturating_sub(begun.elapsed());
        if rest.is_zero() {
            break;
        }
        std::thread::sleep(rest.min(NAP));
    }
    is_last
}

/// What the devices did up to a sample that ends this long after the start, ns; the kernel keeps no
/// histograms.
fn interval(moment: &Moment, end_ns: u64) -> Interval {
    let mut operations = PerOperation::default();
    let mut add = |operation, ios, bytes| {
        let result = OperationResult { ios, bytes, ..OperationResult::default() };
        operations.slot(operation).get_or_insert_default().merge(&result);
    };
    for device in &moment.counters.devices {
        let counters = &device.counters;
        add(Operation::Read, counters.read_ios, counters.read_bytes);
        add(Operation::Write, counters.write_ios, counters.write_bytes);
    }
    let rates = moment.counters.devices.iter().map(|device| device.rates(moment.counters.time_ns));
    Interval {
        start_ns: end_ns.saturating_sub(moment.counters.time_ns),
        end_ns,
        operations,
        queue_depth_mean: rates.map(|rates| rates.queue_depth_mean).sum(),
        ..Interval::default()
    }
}

/// The sample in a few words, for the line of progress.
fn show(moment: &Moment, length: Option<Duration>, elapsed: Duration, progress: &ProgressSender) {
    let cpu = moment.counters.cpu.unwrap_or_default();
    let queue = moment.run_queue.unwrap_or_default();
    let busiest = moment
        .counters
        .devices
        .iter()
        .map(|device| (device.rates(moment.counters.time_ns), device));
    let busiest =
        busiest.max_by(|one, other| one.0.queue_depth_mean.total_cmp(&other.0.queue_depth_mean));
    let device = busiest.map_or_else(String::new, |(rates, device)| {
        let iops = Unit::IosPerS.show(rates.read_iops + rates.write_iops);
        format!(", {} {iops}", device.name)
    });
    let busy = Unit::Share.show(cpu.busy_share());
    let words = format!("CPU {busy}, {} ready{device}", queue.running);
    let (share, left_s) = length.map_or((0.0, None), |length| {
        let left = length.saturating_sub(elapsed).as_secs_f64();
        (elapsed.as_secs_f64() / length.as_secs_f64().max(1e-9), Some(left))
    });
    progress.show(&words, share, left_s);
}
