//! What to do after reading a report, with the commands that do it.

use crate::input::GivenReport;
use crate::summary::shell_word;
use assay_model::cause::CauseKind;
use assay_model::comparison::{Comparison, SpreadSource};
use assay_model::durability::Durability;
use assay_model::load::PhysicalVerdict;
use assay_model::target::is_simulated;
use assay_model::verdict::Outcome;

/// A step and its command.
type AdvisedStep = (&'static str, String);

/// After an answer: a calibration of the present storage, where there is none; else what shows how
/// right the answer was.
fn of_projection(report: &GivenReport, has_closure: bool) -> Vec<AdvisedStep> {
    let command = report.command.as_str();
    let database = word_after(command, "predict").filter(|word| !word.starts_with('-'));
    let database = database.unwrap_or("DB");
    if !has_closure {
        return vec![
            (
                "Calibrate the present storage for a more certain answer",
                format!("assay calibrate DIR --for {database} --name present"),
            ),
            (
                "Then predict from it",
                format!("assay predict {database}{} --from present", options(command, &["--on"])),
            ),
        ];
    }
    let before = database.split_once(':').map_or("BEFORE", |(run, _)| run);
    vec![(
        "After the move, compare prediction and measurement to refine the model",
        format!(
            "assay predict --verify {before} AFTER{}",
            options(command, &["--on", "--from", "--log"])
        ),
    )]
}

/// After a check for a database: what would decide it, or what the model says of more work.
fn of_database_check(report: &GivenReport, target: &str) -> Option<Vec<AdvisedStep>> {
    report.projection.as_ref()?.replay.as_ref()?;
    let outcome = report.verdict.as_ref()?.outcome;
    let database = word_after(&report.command, "--for").unwrap_or("latest");
    Some(match outcome {
        Outcome::Inconclusive => vec![(
            "Measure longer, on an idle host",
            format!("assay check {target} --for {} --time 5min", shell_word(database)),
        )],
        Outcome::Pass | Outcome::Fail => {
            let id = &report.run_id;
            vec![(
                "Predict more users, another cache or other CPUs",
                format!("assay predict {id} --on {id} --users 200"),
            )]
        }
    })
}

/// The named options of a command with their values, each behind a blank.
fn options(command: &str, names: &[&str]) -> String {
    let words: Vec<&str> = command.split_whitespace().collect();
    let named = words.windows(2).filter(|pair| names.contains(&pair[0]));
    named.flatten().fold(String::new(), |text, word| text + " " + word)
}

/// The value of an option in a command.
fn word_after<'a>(command: &'a str, option: &str) -> Option<&'a str> {
    let mut words = command.split_whitespace().skip_while(|word| *word != option);
    words.nth(1)
}

/// What was measured, as a command names it: from all its hosts, and the data of a server where
/// that is named by its address.
fn target(report: &GivenReport) -> String {
    let target = if report.target.contains("://") {
        "DATA-DIRECTORY".to_owned()
    } else {
        shell_word(&report.target)
    };
    let mut words = report.command.split_whitespace().skip_while(|word| *word != "--hosts");
    let hosts = words.nth(1).filter(|_| report.cluster.is_some());
    hosts.map_or_else(|| target.clone(), |hosts| format!("{target} --hosts {hosts}"))
}

pub(super) fn next(report: &GivenReport) -> Vec<AdvisedStep> {
    let target = target(report);
    if let Some(steps) = of_database_check(report, &target) {
        return steps;
    }
    if let Some(found) = &report.projection {
        return of_projection(report, found.closure.is_some());
    }
    if let Some(found) = &report.comparison {
        return of_comparison(found);
    }
    if report.dss.is_some() {
        return vec![keep(report)];
    }
    if report.soak.is_some() || report.locality.is_some() {
        return vec![hold(&target), keep(report)];
    }
    if report.study.is_some() {
        return vec![keep(report)];
    }
    let found = report.integrity.as_ref().and_then(|found| found.durability.as_ref());
    if let Some(found) = found {
        return of_cuts(report, found, &target);
    }
    if let Some(verdict) = &report.verdict {
        return match verdict.outcome {
            Outcome::Inconclusive => undecided(report, &target),
            outcome => of_outcome(outcome, report, &target),
        };
    }
    if let Some(load) = &report.load {
        let cached =
            |rung: &assay_model::load::Rung| rung.physical.verdict == PhysicalVerdict::Cached;
        return if load.best().is_some_and(cached) {
            vec![(
                "To measure the storage, use a server with direct I/O (PostgreSQL 18) or more data",
                String::new(),
            )]
        } else {
            vec![alone(&target), keep(report)]
        };
    }
    if report.calibration.is_some() || !report.runs.is_empty() {
        return vec![hold(&target), endure(&target), keep(report)];
    }
    vec![alone(".")]
}

/// After a verification.
fn of_cuts(report: &GivenReport, found: &Durability, target: &str) -> Vec<AdvisedStep> {
    if found.broken() > 0 {
        return vec![inspect(target), keep(report)];
    }
    let given = options(&report.command, &["--ledger", "--witness", "--token-file"]);
    let ledger =
        if given.is_empty() { " --ledger FILE-ON-OTHER-STORAGE".to_owned() } else { given };
    vec![if found.cuts.is_empty() {
        ("Test whether data survive a power cut", format!("assay verify {target}{ledger}"))
    } else {
        (
            "Repeat the cut: every cut lowers the limit",
            format!("assay verify {target} --after --resume --cut power{ledger}"),
        )
    }]
}

/// A simulated device has neither a stack nor a host that could be busy.
fn of_outcome(outcome: Outcome, report: &GivenReport, target: &str) -> Vec<AdvisedStep> {
    match (outcome, is_simulated(&report.target)) {
        (Outcome::Pass, _) => vec![hold(target), endure(target), keep(report)],
        (Outcome::Fail, false) => vec![inspect(target), again(target), keep(report)],
        (Outcome::Fail, true) => vec![hold(target), keep(report)],
        (Outcome::Inconclusive, _) => vec![longer(target)],
    }
}

/// What would decide it on this machine: without the cause that made it undecided, or with more
/// time.
fn undecided(report: &GivenReport, target: &str) -> Vec<AdvisedStep> {
    let causes = report.causes();
    let Some(cause) = causes.iter().find(|cause| cause.bias.is_some()) else {
        return vec![longer(target)];
    };
    let what = match cause.kind {
        CauseKind::BusyHost => "Stop other programs on this host, then repeat",
        CauseKind::Neighbour => "Stop other programs that use the device, then repeat",
        CauseKind::ControlGroup => "Raise the control-group limit, then repeat",
        CauseKind::Memory => "Repeat on a directory that is not in memory",
        CauseKind::PageCache => "Repeat with direct I/O, or with a file larger than memory",
        CauseKind::Paused => "Repeat while the host is not suspended",
        CauseKind::Stalls | CauseKind::BlockingCalls => return vec![longer(target)],
    };
    vec![(what, format!("assay check {target}"))]
}

/// Single runs are repeated.
fn of_comparison(found: &Comparison) -> Vec<AdvisedStep> {
    let is_single = found.pairs.iter().any(|pair| pair.run_to_run == SpreadSource::Unknown);
    let sides = found.sides.iter().zip('A'..).map(|(side, letter)| {
        let first = side.ids.first().unwrap_or(&side.name);
        format!("{},{letter}2,{letter}3", shell_word(first))
    });
    let command = format!("assay compare {}", sides.collect::<Vec<_>>().join(" "));
    let repeat = "Measure each side twice more, alternately, and compare all runs";
    is_single.then_some((repeat, command)).into_iter().collect()
}

fn hold(target: &str) -> AdvisedStep {
    (
        "Compare it with the demand in your AWR or Statspack report",
        format!("assay check {target} --for REPORT"),
    )
}

fn endure(target: &str) -> AdvisedStep {
    ("Test whether it sustains this rate for hours", format!("assay soak {target}"))
}

fn inspect(target: &str) -> AdvisedStep {
    ("Inspect the layers between file and device for causes", format!("assay inspect {target}"))
}

fn again(target: &str) -> AdvisedStep {
    ("Measure longer, on an idle host", format!("assay check {target} --time 10min"))
}

fn longer(target: &str) -> AdvisedStep {
    ("Measure for longer", format!("assay check {target} --time 10min"))
}

fn alone(target: &str) -> AdvisedStep {
    ("Measure the storage without the database", format!("assay calibrate {target}"))
}

fn keep(report: &GivenReport) -> AdvisedStep {
    ("After a change, measure again and compare", format!("assay compare {} latest", report.run_id))
}
