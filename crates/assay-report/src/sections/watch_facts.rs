//! The machine over a run in words, for the page and for the terminal.

use crate::format::three_digits;
use crate::view::{CellLook, ViewTable};
use assay_model::cause::HostLoad;
use assay_model::counters::{CpuCounters, InterfaceCounters, PressureCounters};
use assay_model::number::{rate, real};
use assay_model::units::{show_bytes, show_count, show_throughput};
use assay_model::verdict::Unit;
use assay_model::watch::{DeviceRates, Moment, Summary};

/// The host in names and values; what the kernel does not report is left out.
pub(super) fn watched_host(summary: &Summary) -> Vec<(&'static str, String)> {
    let total = &summary.total;
    let facts = [
        ("CPUs", total.counters.cpu.as_ref().map(|cpu| processors(cpu, total))),
        ("CPU users", HostLoad::from_watch(summary).and_then(|load| load.users())),
        ("Run queue", total.run_queue.map(|_| run_queue(summary))),
        ("Pressure", pressure(total)),
        ("Memory", memory(summary)),
        ("Network", network(total)),
        (
            "TCP retransmits",
            total.tcp.map(|tcp| match tcp.retransmit_share() {
                Some(again) => {
                    format!("{:.3}% of {}", again * 100.0, show_count(real(tcp.out_segments)))
                }
                None => "none was sent".to_owned(),
            }),
        ),
        (
            "Watching",
            Some(format!(
                "{} samples, {} of them late; {:.2}% of a core",
                summary.moments,
                summary.late_moments,
                summary.watcher_cpu_share() * 100.0
            )),
        ),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn processors(cpu: &CpuCounters, total: &Moment) -> String {
    let share = |share: f64| Unit::Share.show(share);
    let number = match total.processors {
        0 => "number unknown".to_owned(),
        number => number.to_string(),
    };
    format!(
        "{number}: {} busy ({} programs, {} kernel), {} idle with outstanding I/O, {} stolen",
        share(cpu.busy_share()),
        share(cpu.user_share()),
        share(cpu.system_share()),
        share(cpu.io_wait_share()),
        share(cpu.steal_share()),
    )
}

fn run_queue(summary: &Summary) -> String {
    format!(
        "{} running or ready on average, maximum {}; {} blocked by I/O, maximum {}",
        three_digits(summary.running_mean),
        summary.running_max,
        three_digits(summary.blocked_mean),
        summary.blocked_max
    )
}

/// Share of the time in which some task had to wait.
fn pressure(total: &Moment) -> Option<String> {
    let one = |name: &str, pressure: Option<PressureCounters>| {
        let share = total.pressure_share(pressure)?;
        Some(format!("{name} {}", Unit::Share.show(share)))
    };
    let known: Vec<String> = [
        one("CPU", total.cpu_pressure),
        one("I/O", total.counters.io_pressure),
        one("memory", total.memory_pressure),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!known.is_empty()).then(|| format!("some task waited: {}", known.join(", ")))
}

fn memory(summary: &Summary) -> Option<String> {
    let least = show_bytes(real(summary.available_bytes_min?));
    let swap = summary.total.counters.swap.unwrap_or_default();
    let pages = swap.in_pages.saturating_add(swap.out_pages);
    Some(format!("minimum available {least}, {} pages swapped", show_count(real(pages))))
}

fn network(total: &Moment) -> Option<String> {
    let sum = |of: fn(&InterfaceCounters) -> u64| {
        let counted = total.interfaces.iter().map(|one| of(&one.counters)).sum();
        show_throughput(rate(counted, total.elapsed_s()))
    };
    let failures: u64 = total
        .interfaces
        .iter()
        .map(|one| one.counters.receive_failures.saturating_add(one.counters.send_failures))
        .sum();
    (!total.interfaces.is_empty()).then(|| {
        format!(
            "{} received, {} sent, {} packet errors or drops",
            sum(|counters| counters.receive_bytes),
            sum(|counters| counters.send_bytes),
            show_count(real(failures))
        )
    })
}

/// A column of the table of devices: its heading, and its value.
type DeviceColumn = (&'static str, fn(&DeviceRates) -> String);

/// A row for each device; some traces count reads and writes together.
pub(super) fn watched_devices(summary: &Summary) -> ViewTable {
    let total = &summary.total.counters;
    let (rates, times): (&[DeviceColumn], &[DeviceColumn]) =
        if total.devices.iter().any(|device| device.counters.joint_ios > 0) {
            (
                &[("reads and writes", |one| Unit::IosPerS.show(one.joint_iops))],
                &[("mean time", |one| time(one.joint_time_mean_ns))],
            )
        } else {
            (
                &[
                    ("reads", |one| Unit::IosPerS.show(one.read_iops)),
                    ("writes", |one| Unit::IosPerS.show(one.write_iops)),
                ],
                &[
                    ("read time", |one| time(one.read_time_mean_ns)),
                    ("write time", |one| time(one.write_time_mean_ns)),
                ],
            )
        };
    let bytes: [DeviceColumn; 2] = [
        ("read", |one| show_throughput(one.read_bytes_per_s)),
        ("written", |one| show_throughput(one.write_bytes_per_s)),
    ];
    let queue: [DeviceColumn; 2] = [
        ("queue depth", |one| three_digits(one.queue_depth_mean)),
        ("busy", |one| Unit::Share.show(one.busy_share)),
    ];
    let columns = [rates, &bytes, times, &queue].concat();
    let names: Vec<&str> =
        std::iter::once("Device").chain(columns.iter().map(|(name, _)| *name)).collect();
    let rows = total.devices.iter().map(|device| {
        let rates = device.rates(total.time_ns);
        let is_timed = device.counters.has_times();
        let cells = columns.iter().map(|(name, value)| match *name {
            "queue depth" | "busy" if !is_timed => "–".to_owned(),
            _ => value(&rates),
        });
        std::iter::once(device.name.clone()).chain(cells).collect()
    });
    ViewTable::of_numbers("Devices during the run", &names).look(CellLook::Slim).with(rows)
}

fn time(mean_ns: Option<f64>) -> String {
    mean_ns.map_or("–".to_owned(), |mean_ns| Unit::Ns.show(mean_ns))
}
