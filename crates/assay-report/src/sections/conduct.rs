//! How the tool itself behaved, so that a reader can distinguish the storage's limits from the
//! tool's.

use super::kernel::kernel;
use super::notes::remark;
use crate::format::Formatter;
use crate::input::{GivenReport, RunReport};
use crate::phrases;
use crate::view::ViewBlock;
use assay_model::measurement::Conduct;
use assay_model::number::real;
use assay_model::units::{show_count, show_time_ns};
use assay_model::verdict::Unit;

/// One list a run, and all remarks; a terminal has a sentence of each run, and the remarks before
/// everything else.
pub(super) fn blocks<'a>(report: &GivenReport, format: Formatter) -> Vec<ViewBlock<'a>> {
    let mut blocks: Vec<ViewBlock<'a>> = report.runs.iter().map(|run| one(run, &format)).collect();
    let remarks = report.remarks().map(|found| remark(found, &format)).collect();
    blocks.push(ViewBlock::part("Remarks", vec![ViewBlock::Findings(remarks)]));
    vec![ViewBlock::OnPage(blocks)]
}

/// The conduct of one run.
fn one<'a>(run: &RunReport, format: &Formatter) -> ViewBlock<'a> {
    let conduct = &run.measurement.conduct;
    let entries = how_issued(conduct).into_iter().chain(how_well(run, format));
    let counters = conduct.kernel.as_ref().filter(|_| !format.is_relative());
    let title = format!("Workload “{}”", run.measurement.workload);
    let facts = [ViewBlock::facts(entries)];
    ViewBlock::part(
        title,
        facts
            .into_iter()
            .chain(counters.map(|counters| kernel(counters, &conduct.passthrough)))
            .collect(),
    )
}

/// The way that I/Os went.
fn how_issued(conduct: &Conduct) -> Vec<(&'static str, String)> {
    let backend = match &conduct.backend_reason {
        Some(reason) => format!("{}: {reason}", conduct.backend),
        None => conduct.backend.to_string(),
    };
    let direct = match conduct.direct_io {
        Some(true) => "yes: the page cache was bypassed",
        Some(false) => "no: the page cache is part of the result",
        None if phrases::is_imported(conduct) => "unknown",
        None => "not applicable",
    };
    let mut entries = vec![
        ("Backend", backend),
        ("Direct I/O", direct.to_owned()),
        ("Submission", phrases::submission(conduct.submission).to_owned()),
        ("Clock", conduct.clock.to_string()),
    ];
    if !conduct.passthrough.is_empty() {
        let names = conduct.passthrough.join(", ");
        let bypassed = format!(
            "bypassed for {names}: NVMe commands, unseen by its scheduler, limits and counters"
        );
        entries.push(("Block layer", bypassed));
    }
    if !conduct.features.is_empty() {
        entries.push(("In force", conduct.features.join(", ")));
    }
    entries
}

/// How busy the tool and the host were.
fn how_well(run: &RunReport, format: &Formatter) -> Vec<(&'static str, String)> {
    let conduct = &run.measurement.conduct;
    let share = |share: f64| format.value(Unit::Share, share);
    let host = conduct.host_busy_share.map(|busy| format!("{} busy", share(busy)));
    let worker = format!("{} of its time", share(conduct.worker_busy_share_max));
    let law = format!(
        "{:.3} (rate × service time over queue depth; ideally 1)",
        conduct.littles_law_ratio
    );
    let own = |text: String| {
        if phrases::is_imported(conduct) { "unknown".to_owned() } else { text }
    };
    let mut entries = vec![
        ("Busiest worker", own(worker)),
        ("Host CPU", host.unwrap_or_else(|| "unknown".to_owned())),
        ("Outstanding I/Os, mean", format!("{:.2}", conduct.queue_depth_mean)),
        ("Little's law", own(law)),
    ];
    if !format.is_relative() {
        entries.extend(in_figures(run));
    }
    entries
}

/// What would give absolute figures away.
fn in_figures(run: &RunReport) -> Vec<(&'static str, String)> {
    let conduct = &run.measurement.conduct;
    let mut entries = vec![("CPU time", cpu_time(run))];
    if let Some(ceiling_iops) = conduct.ceiling_iops {
        let ceiling = Unit::IosPerS.show(ceiling_iops);
        entries.push(("Ceiling of the tool", format!("{ceiling} on the null device")));
    }
    if let Some(error) = &conduct.start_error {
        let at = |quantile: f64| show_time_ns(real(error.quantile_ns(quantile)));
        let behind = format!("median {}, p99 {}", at(0.5), at(0.99));
        entries.push(("Starts behind schedule", behind));
        entries.push(("Missed arrivals", show_count(real(conduct.missed_arrivals))));
    }
    if conduct.abandoned_ios > 0 {
        let ios = show_count(real(conduct.abandoned_ios));
        entries.push(("Not completed at the end", ios));
    }
    entries
}

/// CPU time in all and a million I/Os.
fn cpu_time(run: &RunReport) -> String {
    let conduct = &run.measurement.conduct;
    let ios = run.measurement.operations().ios();
    // No I/O is free: another program's result does not say it.
    if conduct.cpu_user_s + conduct.cpu_system_s <= 0.0 {
        return "unknown".to_owned();
    }
    format!(
        "{:.2} s user, {:.2} s system, {:.2} s per million I/Os",
        conduct.cpu_user_s,
        conduct.cpu_system_s,
        conduct.cpu_s_per_million_ios(ios)
    )
}
