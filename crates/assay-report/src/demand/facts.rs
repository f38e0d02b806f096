//! The sentences and tables of one profile.

use crate::phrases::capital;
use crate::view::ViewTable;
use assay_model::number::real;
use assay_model::profile::{
    Bottleneck, CheckOutcome, CrossCheck, DeviceFinding, DeviceGrade, Figure, IoClass, IoPurpose,
    Outlier, Profile, ProfileDeviceIo, RateKind, RedoFinding, RedoPath, TieringCandidate,
    TimeVerdict,
};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// Tablespaces that a terminal shows; the document has all.
const CANDIDATES_MAX: usize = 10;
/// Stands where a report says nothing.
const ABSENT: &str = "–";

/// Whether faster storage would help, and whose I/O its device carries where that is not the
/// database's alone.
pub(super) fn headline(profile: &Profile) -> String {
    let answer = answer(&profile.verdict);
    match neighbours(profile) {
        Some(words) => format!("{answer} {words}"),
        None => answer,
    }
}

/// The device under a live server, of all programs.
fn device_io(profile: &Profile) -> Option<&ProfileDeviceIo> {
    profile.server.as_ref()?.device.as_ref()
}

/// Said where other programs move much on the same device.
fn neighbours(profile: &Profile) -> Option<String> {
    let device = device_io(profile).filter(|device| device.is_mostly_others())?;
    let others = percent(device.others_share.unwrap_or(0.0));
    Some(format!(
        "Other programs transferred {others} of the bytes on its device {} ({} I/Os per second in \
         total); the demand below is only the database's.",
        device.name,
        rate(device.iops())
    ))
}

/// Whether faster storage would help, in a sentence or two.
fn answer(verdict: &TimeVerdict) -> String {
    let share = verdict.leading_share().map_or_else(|| "most".to_owned(), percent);
    let cause = verdict.cause.as_ref();
    let of = cause.map_or_else(String::new, |cause| format!(", first {cause}"));
    match verdict.bottleneck {
        Bottleneck::Storage => {
            format!("Storage-bound: {share} of DB time was waiting for storage{of}.")
        }
        Bottleneck::Cpu => format!(
            "CPU-bound: {share} of DB time was spent {}, so faster storage cannot help much.",
            verdict.cpu_queue_share.map_or("on a CPU", |_| "on a CPU or waiting for one")
        ),
        Bottleneck::Commit => format!(
            "Commit-bound: {share} of DB time was spent waiting for commits. A faster log device \
             would help."
        ),
        Bottleneck::Contention if verdict.suspected_cause.is_some() => format!(
            "Contention-bound: for {share} of DB time sessions waited for each other{of}. The log \
             device is slow and may be the cause: fix it first."
        ),
        Bottleneck::Contention => format!(
            "Contention-bound: for {share} of DB time sessions waited for each other{of}, so \
             faster storage cannot help much."
        ),
        Bottleneck::Other => format!(
            "Bound by {}: other waits were {share} of DB time, so faster storage cannot help much.",
            cause.map_or("other waits", String::as_str)
        ),
        Bottleneck::Mixed => format!("No single cause leads: {}.", verdict.reason),
        Bottleneck::Idle => format!("Idle: {}.", verdict.reason),
        Bottleneck::Unknown => format!("Inconclusive: {}.", verdict.reason),
    }
}

/// Amdahl's bounds in a sentence: reads alone, then all that storage has a part in.
fn gain(verdict: &TimeVerdict) -> Option<String> {
    let limit = verdict.speedup_limit?;
    let all = match verdict.storage_speedup_limit {
        Some(all) if all > limit * 1.01 => {
            format!(", and {all:.2} times with zero-latency commits and writes")
        }
        Some(_) => String::new(),
        None => {
            "; with commits, writes and waits behind them, storage is all of DB time".to_owned()
        }
    };
    Some(format!(
        "With zero-latency user I/O the database would be at most {limit:.2} times as fast{all}."
    ))
}

/// What else should be known by who reads nothing more.
pub(super) fn details(profile: &Profile) -> Vec<String> {
    let mut details = Vec::new();
    let vague = [Bottleneck::Unknown, Bottleneck::Idle, Bottleneck::Mixed];
    if !vague.contains(&profile.verdict.bottleneck) {
        details.push(format!("{}.", capital(&profile.verdict.reason)));
    }
    details.extend(gain(&profile.verdict));
    details.extend(profile.verdict.devices.iter().filter_map(device));
    details.extend(profile.verdict.notes.iter().cloned());
    details.extend(load(profile));
    details.extend(redo(&profile.redo));
    let frequent = profile.outliers.iter().rev().filter(|outlier| outlier.rate_per_s >= 0.005);
    details.extend(frequent.take(3).map(outlier));
    details
}

/// Storage that is slow or busy by itself, whatever the shares are.
fn device(device: &DeviceFinding) -> Option<String> {
    let time = seconds(&device.latency_s);
    let busy = device.queue_depth.as_ref().map_or(0.0, |queue_depth| queue_depth.value);
    match device.grade {
        DeviceGrade::Sound => None,
        DeviceGrade::Saturated => {
            Some(format!("{}: {time} each, saturated (queue depth {busy:.2}).", device.event))
        }
        DeviceGrade::Slow | DeviceGrade::Failing => {
            let how =
                if device.grade == DeviceGrade::Failing { "far too slow" } else { "too slow" };
            Some(format!(
                "{} is {how}: {time}. The limit is {}.",
                device.event, device.limit_source
            ))
        }
    }
}

fn load(profile: &Profile) -> Option<String> {
    let active = profile.time.average_active_sessions.as_ref()?;
    let busy = profile.time.cpus.as_ref().map_or_else(String::new, |cpus| {
        let busy = profile.time.cpu_utilization.as_ref();
        let busy = busy.map_or_else(String::new, |busy| {
            format!(", {} busy with its sessions", percent(busy.value))
        });
        format!(" on {} CPUs{busy}", show_count(cpus.value))
    });
    Some(format!("{:.1} sessions were active on average{busy}.", active.value))
}

fn redo(redo: &RedoPath) -> Option<String> {
    let time = |figure: &Option<Figure>| figure.as_ref().map_or(ABSENT.to_owned(), seconds);
    let times = format!(
        "log file sync {}, log file parallel write {}",
        time(&redo.sync_latency_s),
        time(&redo.write_latency_s)
    );
    let share = redo
        .sync_share
        .map_or_else(String::new, |share| format!(" ({} of DB time)", percent(share)));
    match redo.finding {
        RedoFinding::Unknown => None,
        RedoFinding::NotWaitedFor => {
            Some(format!("Commits cause almost no waits{share}: {times}."))
        }
        RedoFinding::Device => Some(format!("Commits wait for the log device{share}: {times}.")),
        RedoFinding::Saturated => Some(format!(
            "The log writer is busy all the time and commits queue for it{share}: {times}; a \
             faster log device shortens the queue."
        )),
        RedoFinding::BesideTheDevice => Some(format!(
            "Commits wait{share}, but not for the log device: {times}; check CPU scheduling and \
             commit frequency."
        )),
    }
}

/// Slow I/Os by wall clock.
pub(super) fn outlier(outlier: &Outlier) -> String {
    let low = show_time_ns(real(outlier.low_ns));
    let range = outlier.high_ns.map_or_else(
        || format!("{low} or more"),
        |high| format!("{low} to {}", show_time_ns(real(high))),
    );
    format!("{}: {} per second took {range}.", outlier.event, rate(outlier.rate_per_s))
}

/// Sources of the numbers.
pub(super) fn source(profile: &Profile) -> Vec<(String, String)> {
    let source = &profile.source;
    let pairs = [
        ("database", Some(profile.name.clone())),
        ("report", Some(kind(profile))),
        ("host", source.host.clone()),
        ("interval", interval(profile)),
        ("snapshots", source.snapshots.clone()),
        ("sessions", profile.sessions.as_ref().map(|sessions| show_count(sessions.value))),
        ("block", profile.block_bytes.as_ref().map(bytes)),
    ];
    let known = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.collect()
}

fn kind(profile: &Profile) -> String {
    let source = &profile.source;
    let name = match source.kind.as_str() {
        "awr" => "AWR".to_owned(),
        "awr_pdb" => "AWR of a pluggable database".to_owned(),
        "awr_global" => "AWR of all instances".to_owned(),
        "statspack" => "Statspack".to_owned(),
        other => other.to_owned(),
    };
    let release =
        source.release.as_ref().map_or_else(String::new, |release| format!(", release {release}"));
    let cut = if source.complete { "" } else { ", its end is missing" };
    format!("{name}{release}{cut}")
}

/// How long, and from when.
pub(super) fn interval(profile: &Profile) -> Option<String> {
    let elapsed = profile.elapsed_s.as_ref()?;
    let length = crate::clock::show_length(elapsed.value);
    let begin = profile.source.begin.as_ref();
    Some(begin.map_or_else(|| length.clone(), |begin| format!("{length} from {begin}")))
}

/// I/O by purpose.
pub(super) fn classes(profile: &Profile) -> ViewTable {
    let names = ["", "IOPS", "size", "throughput", "reads", "time", "queue depth"];
    let table = ViewTable::of_numbers("I/O by purpose", &names);
    table.with(profile.classes.iter().map(class).chain(device_io(profile).map(device_row)))
}

/// The device of all programs, next to what the database asks.
fn device_row(device: &ProfileDeviceIo) -> Vec<String> {
    let iops = device.iops();
    let shown = |is_known: bool, words: String| if is_known { words } else { ABSENT.to_owned() };
    vec![
        format!("device {}, all programs", device.name),
        rate(iops),
        shown(iops > 0.0, show_bytes(device.bytes_per_s() / iops.max(1e-9))),
        show_throughput(device.bytes_per_s()),
        shown(iops > 0.0, percent(device.read_iops / iops.max(1e-9))),
        device.latency_s.map_or(ABSENT.to_owned(), show_seconds),
        device.latency_s.map_or(ABSENT.to_owned(), |time_s| format!("{:.1}", iops * time_s)),
    ]
}

fn class(class: &IoClass) -> Vec<String> {
    let shown = |figure: &Option<Figure>, show: fn(f64) -> String| {
        figure.as_ref().map_or(ABSENT.to_owned(), |figure| show(figure.value))
    };
    vec![
        purpose(class.purpose).to_owned(),
        shown(&class.rate_iops, rate),
        shown(&class.block_size_bytes, show_bytes),
        shown(&class.throughput_bytes_per_s, show_throughput),
        shown(&class.read_share, percent),
        class.latency_s.as_ref().map_or(ABSENT.to_owned(), seconds),
        shown(&class.queue_depth, |queue_depth| format!("{queue_depth:.1}")),
    ]
}

/// The name of a purpose.
pub(super) const fn purpose(purpose: IoPurpose) -> &'static str {
    match purpose {
        IoPurpose::All => "all I/O",
        IoPurpose::SingleBlockRead => "single-block reads",
        IoPurpose::MultiBlockRead => "multi-block reads",
        IoPurpose::DirectRead => "direct reads",
        IoPurpose::DirectWrite => "direct writes",
        IoPurpose::DataFileWrite => "data file writes",
        IoPurpose::LogWrite => "redo log writes",
        IoPurpose::Temporary => "temporary files",
        IoPurpose::Backup => "backup",
    }
}

/// What a section counts.
pub(super) const fn counted(kind: RateKind) -> &'static str {
    match kind {
        RateKind::Database => "requests of the database",
        RateKind::Total => "requests that reach the storage",
        RateKind::FileType => "requests by type of file",
        RateKind::Tablespace => "requests by tablespace",
        RateKind::Blocks => "blocks, not requests",
    }
}

/// Requests as each section counts them.
pub(super) fn rates(profile: &Profile) -> ViewTable {
    let shown = |figure: &Option<Figure>| {
        figure.as_ref().map_or(ABSENT.to_owned(), |figure| format!("{}/s", rate(figure.value)))
    };
    let rows = profile.rates.iter().map(|one| {
        vec![counted(one.kind).to_owned(), shown(&one.read_per_s), shown(&one.write_per_s)]
    });
    ViewTable::of_numbers("Requests by section", &["", "reads", "writes"]).with(rows)
}

/// DB time: name, seconds and share.
pub(super) fn time(profile: &Profile) -> Vec<(String, f64, Option<f64>)> {
    let time = &profile.time;
    let whole = time.db_time_s.as_ref().map(|whole| whole.value).filter(|whole| *whole > 0.0);
    let share = |seconds: f64| whole.map(|whole| seconds / whole);
    let mut parts = Vec::new();
    if let Some(cpu) = &time.db_cpu_s {
        parts.push(("CPU".to_owned(), cpu.value, share(cpu.value)));
    }
    let waits = time.waits.iter();
    parts.extend(
        waits.map(|wait| (wait.class.clone(), wait.time_s.value, share(wait.time_s.value))),
    );
    if let Some(rest) = &time.unaccounted_s {
        // Where the machine has no processor to spare the verdict names what no event accounts for.
        let is_queue = profile.report.is_some() && profile.verdict.cpu_queue_share.is_some();
        let name = if is_queue { "waiting for a CPU" } else { "unaccounted" };
        parts.push((name.to_owned(), rest.value, share(rest.value)));
    }
    parts
}

/// The same as a table.
pub(super) fn time_table(profile: &Profile) -> ViewTable {
    let parts = time(profile).into_iter().filter(|(_, time_s, _)| time_s.abs() > 0.0);
    let rows = parts.map(|(name, time_s, share)| {
        vec![name, show_seconds(time_s), share.map_or(ABSENT.to_owned(), percent)]
    });
    ViewTable::of_numbers("DB time", &["", "time", "share of DB time"]).with(rows)
}

/// Tablespaces by what faster storage would save; those that nobody waited for are left out.
pub(super) fn tiering(candidates: &[TieringCandidate]) -> ViewTable {
    let sized = candidates.iter().any(|candidate| candidate.capacity_bytes.is_some());
    let sizes: &[&str] = if sized { &["size", "waited per second and GB"] } else { &[] };
    let names = [&["", "waited per second"], sizes, &["cumulative share"]].concat();
    let waited = candidates.iter().filter(|candidate| candidate.read_wait_ratio > 0.0);
    let rows = waited.map(|candidate| tiering_row(candidate, sized));
    let table = ViewTable::of_numbers("Tablespaces by read wait time", &names);
    ViewTable { terminal_rows_max: Some(CANDIDATES_MAX), ..table.with(rows) }
}

fn tiering_row(candidate: &TieringCandidate, sized: bool) -> Vec<String> {
    let mut row = vec![candidate.tablespace.clone(), show_seconds(candidate.read_wait_ratio)];
    if sized {
        let size =
            candidate.capacity_bytes.map_or(ABSENT.to_owned(), |bytes| show_bytes(real(bytes)));
        let density = candidate.density_ratio().map(|density| show_seconds(density * 1e9));
        row.extend([size, density.unwrap_or_else(|| ABSENT.to_owned())]);
    }
    row.push(percent(candidate.cumulative_share));
    row
}

/// Sections that should say the same.
pub(super) fn checks(checks: &[CrossCheck]) -> ViewTable {
    let shown = |figure: &Option<Figure>| {
        figure.as_ref().map_or(ABSENT.to_owned(), |figure| significant(figure.value))
    };
    let rows = checks.iter().map(|check| {
        let outcome = match check.outcome {
            CheckOutcome::Agrees => "agrees",
            CheckOutcome::Contradicts => "contradicts",
            CheckOutcome::NotPossible => "not possible",
        };
        vec![check.what.clone(), shown(&check.left), shown(&check.right), outcome.to_owned()]
    });
    ViewTable::of_numbers("Section comparison", &["", "one", "other", "outcome"]).with(rows)
}

/// `41.0%`.
pub(super) fn percent(share: f64) -> String {
    // What rounds to nothing has no sign.
    let tenths = (share * 1000.0).round() + 0.0;
    format!("{:.1}%", tenths / 10.0)
}

fn seconds(figure: &Figure) -> String {
    show_seconds(figure.value)
}

/// A time in the unit that suits it; nothing is `0 s`.
pub(super) fn show_seconds(time_s: f64) -> String {
    if time_s.abs() < 1e-12 {
        return "0 s".to_owned();
    }
    let sign = if time_s < 0.0 { "-" } else { "" };
    format!("{sign}{}", show_time_ns(time_s.abs() * 1e9))
}

fn bytes(figure: &Figure) -> String {
    show_bytes(figure.value)
}

/// A rate with the digits that matter: `4,818`, `9.8`, `0.03`.
pub(super) fn rate(per_s: f64) -> String {
    match per_s {
        large if large >= 99.95 => show_count(large),
        middle if middle >= 0.995 => format!("{middle:.1}"),
        small => format!("{small:.2}"),
    }
}

/// A number of any unit with the digits that matter.
pub(super) fn significant(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1000.0 => show_count(value),
        middle if middle >= 1.0 => format!("{value:.2}"),
        small if small >= 0.001 => format!("{value:.4}"),
        small if small >= 0.000_05 => format!("{value:.4}"),
        _ => "below 0.0001".to_owned(),
    }
}
