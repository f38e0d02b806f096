//! The machine over a run in words, for the page and for the terminal.

use crate::format::three_digits;
use crate::view::{Look, Table};
use assay_model::cause::HostLoad;
use assay_model::counters::{CpuCounters, InterfaceCounters, NamedDevice, PressureCounters};
use assay_model::number::{rate, real};
use assay_model::units::{show_bytes, show_count, show_throughput};
use assay_model::verdict::Unit;
use assay_model::watch::{Moment, Summary};

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
    format!(
        "{}: {} busy ({} programs, {} kernel), {} idle with outstanding I/O, {} stolen",
        total.processors,
        share(cpu.busy_share()),
        share(cpu.user_share()),
        share(cpu.system_share()),
        share(cpu.io_wait_share()),
        share(cpu.steal_share()),
    )
}

fn run_queue(summary: &Summary) -> String {
    format!(
        "{} running or ready on average, {} at most; {} blocked by I/O, {} at most",
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
    Some(format!("{least} available at least, {} pages swapped", show_count(real(pages))))
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

/// A row for each device.
pub(super) fn watched_devices(summary: &Summary) -> Table {
    let names = [
        "Device",
        "reads",
        "writes",
        "read",
        "written",
        "read time",
        "write time",
        "outstanding",
        "busy",
    ];
    let total = &summary.total.counters;
    let rows = total.devices.iter().map(|device| row(device, total.time_ns));
    Table::of_numbers("Devices during the run", &names).look(Look::Slim).with(rows)
}

fn row(device: &NamedDevice, elapsed_ns: u64) -> Vec<String> {
    let rates = device.rates(elapsed_ns);
    let time =
        |mean_ns: Option<f64>| mean_ns.map_or("–".to_owned(), |mean_ns| Unit::Ns.show(mean_ns));
    vec![
        device.name.clone(),
        Unit::IosPerS.show(rates.read_iops),
        Unit::IosPerS.show(rates.write_iops),
        show_throughput(rates.read_bytes_per_s),
        show_throughput(rates.write_bytes_per_s),
        time(rates.read_time_mean_ns),
        time(rates.write_time_mean_ns),
        three_digits(rates.outstanding_mean),
        Unit::Share.show(rates.busy_share),
    ]
}
