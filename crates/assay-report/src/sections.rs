//! What a report shows: every section made once, as blocks for the page, the terminal and pictures.
//! To add a figure is to add a block here; nothing else has to know.

mod answer;
mod best_steps;
mod capacity;
mod cluster;
mod comparison;
mod comparison_headline;
mod conduct;
mod cut_details;
mod database_check;
mod database_faults;
mod document_headline;
mod dss;
mod durability;
mod environment;
mod environment_facts;
mod headline;
mod imported;
mod integrity;
mod kernel;
mod latency_limits;
mod levels;
mod load;
mod load_over_time;
mod locality;
mod log_times;
mod matrix;
mod method;
mod mix_card;
mod notes;
mod numbers;
mod over_time;
mod overlay;
mod page_protection;
mod projection;
mod published;
mod quantity_names;
mod rates;
mod repeat;
mod run;
mod soak;
mod study;
mod styles;
mod summary;
mod verdict;
mod verification;
mod watch;
mod watch_facts;
mod zoom;

use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::view::{View, ViewAnswer, ViewBlock, ViewSection};
use assay_model::environment::Environment;
use assay_model::run::Utc;

/// Everything that a report shows: first the answer, then the evidence, then how it was made and
/// how to do it again.
pub(crate) fn view(report: &GivenReport, format: Formatter) -> View<'_> {
    let outcome = report
        .verdict
        .as_ref()
        .map_or_else(String::new, |verdict| format!("{}: ", verdict.outcome.name()));
    View {
        title: format!("{outcome}{} of {} – Assay", report.title, report.target),
        program: report.program.clone(),
        subject: report.title.clone(),
        facts: facts(report),
        answer: answer(report, &format),
        sections: sections(report, format),
    }
}

/// The answer with its verdict and what to know before relying on it.
pub(crate) fn answer<'a>(report: &GivenReport, format: &Formatter) -> ViewAnswer<'a> {
    let found = answer::answer(report, format);
    let summary = summary::summary(report, format);
    ViewAnswer {
        summary: summary.blocks(*format),
        asked: summary.asked,
        outcome: found.outcome,
        headline: found.headline,
        details: found.details,
        verdict: report
            .verdict
            .as_ref()
            .map_or_else(Vec::new, |verdict| verdict::blocks(verdict, format)),
        reading: format.reading(),
        notes: notes::notes(report, format),
    }
}

/// All of the answer of a check for a database on a first screen; nothing of other reports.
pub(crate) fn short_answer<'a>(report: &GivenReport, format: &Formatter) -> Option<ViewAnswer<'a>> {
    let headline = answer::answer(report, format).headline;
    database_check::short(report, headline, format)
}

/// Everything that is known of the place of a measurement.
pub(crate) fn environment(environment: &Environment, is_brief: bool) -> Vec<ViewBlock<'static>> {
    if is_brief { environment::brief_blocks(environment) } else { environment::blocks(environment) }
}

/// What a report is about.
fn facts(report: &GivenReport) -> Vec<(&'static str, String)> {
    let mut facts = vec![("on", report.target.clone())];
    let hosts = report.cluster.as_ref().and_then(cluster::names);
    let host = report.environment.as_ref().map(|found| ("host", found.host.name.clone()));
    facts.extend(hosts.map(|names| ("hosts", names)).or(host));
    facts.push(("started", format!("{} UTC", Utc::of(report.created_unix_ns))));
    let runs: f64 = report.runs.iter().map(|run| run.measurement.elapsed_s()).sum();
    let measured_s =
        runs + report.calibration.as_ref().map_or(0.0, |calibration| calibration.elapsed_s);
    facts.extend((measured_s > 0.0).then(|| ("measured for", show_length(measured_s))));
    facts
}

/// Whether storage keeps what it acknowledged, in a sentence.
pub use durability::sentence as durability_sentence;

/// The parts that have something to show.
fn sections(report: &GivenReport, format: Formatter) -> Vec<ViewSection<'_>> {
    let mut sections = Vec::new();
    let (checked, asked) = match (&report.projection, &report.calibration) {
        (Some(found), Some(_)) => (Some(found), None),
        (found, _) => (None, found.as_ref()),
    };
    if let Some(found) = asked {
        sections.extend(projection::sections(found, format));
    }
    if let Some(found) = &report.verified {
        sections.extend(verification::sections(found));
    }
    if let Some(found) = &report.comparison {
        sections.extend(comparison::sections(found, format));
    }
    sections.extend(report.durability().map(|found| durability::section(found, format)));
    sections.extend(report.integrity.as_ref().map(|found| integrity::section(found, format)));
    sections.extend(report.cluster.as_ref().map(|found| {
        // Sessions of a load are dealt to hosts; a load of storage is the same on each.
        cluster::section(found, report.load.is_none(), format)
    }));
    sections.extend(report.dss.as_ref().map(|found| dss::section(found, format)));
    if let Some(found) = &report.soak {
        sections.extend(soak::sections(found, format));
    }
    sections.extend(report.locality.as_ref().map(|found| locality::section(found, format)));
    if let Some(found) = &report.study {
        sections.extend(study::sections(found, format));
    }
    let section = |id, title: &str, blocks| ViewSection { id, title: title.to_owned(), blocks };
    sections.extend([
        section("capacity", "Capacity", capacity::blocks(report, format)),
        section("load", "Database load", load::blocks(report, format)),
        section("runs", "Measured load", run::blocks(report, format)),
        section("watch", "Host during the run", watch::blocks(report, format)),
    ]);
    sections.extend(checked.map(|found| {
        let own = database_check::blocks(report);
        own.map_or_else(|| projection::ending(found), |own| projection::ending_of_check(found, own))
    }));
    sections.extend([
        section("conduct", "Tool health", conduct::blocks(report, format)),
        section("environment", "Environment", environment::section(report)),
        section("method", "Method", method::blocks(report, format)),
        section("repeat", "Reproduction", repeat::blocks(report, format)),
    ]);
    sections
}
