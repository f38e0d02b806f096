//! The plan of a study: its cells, what happens in each, and how long it takes.

use super::labels::settings;
use super::load_cell::{is_of_loads, outlined};
use assay_methods::sessions::sessions_of;
use assay_methods::study::cells;
use assay_methods::study::{fill_of, shaped, workload_of};
use assay_methods::target::SimulatedDevice;
use assay_model::number::count_of;
use assay_model::study::{Cell, Hooks, Study, StudySetting};
use assay_model::units::{Nanos, show_counted};
use assay_model::{Error, Result};
use serde::Serialize;

/// Number of the last cell.
pub fn study_last(study: &Study) -> u32 {
    u32::try_from(cells(study).len()).unwrap_or(u32::MAX)
}

/// The phases of a cell.
fn phases(study: &Study, cell: &Cell) -> String {
    let (phases, mut words) = (&study.phases, Vec::new());
    if cell.restored {
        words.extend(fill_of(study, cell).map(|fill| format!("fill {:.0}%", fill.0 * 100.0)));
        if phases.precondition_passes > 0 {
            words.push(format!("precondition {} times", phases.precondition_passes));
        }
    }
    let is_last = cell.number == study_last(study);
    let before = if is_last { phases.final_rest } else { Nanos(0) };
    let timed = [
        ("rest first", before),
        ("settle", phases.settle),
        ("warm up", phases.warm_up),
        ("measure", phases.measure),
        ("rest", phases.rest),
    ];
    let timed = timed.into_iter().filter(|(_, time)| time.0 > 0);
    words.extend(timed.map(|(name, time)| format!("{name} {time}")));
    words.join(", ")
}

/// What happens in a cell on a target, and why it could not be measured, if it could not.
fn cell_phases(study: &Study, cell: &Cell, targets: &[String]) -> (String, Option<String>) {
    if let ([only], true) = (targets, is_of_loads(study, targets)) {
        return outlined(study, cell, only);
    }
    (phases(study, cell), problem(study, cell, targets).map(|error| error.message().to_owned()))
}

/// Why a cell could not be made on storage.
fn problem(study: &Study, cell: &Cell, targets: &[String]) -> Option<Error> {
    let on_array = matches!(targets, [only] if only.starts_with("array:"));
    match (on_array && study.sessions.is_some(), study.has_workload()) {
        (true, _) => sessions_of(study, cell).err(),
        (false, true) => workload_of(study, &on(targets, cell)).err(),
        (false, false) => None,
    }
}

/// Refuses a study of which no cell can be made on storage; one that can be made is worth the rest.
pub fn check(study: &Study, targets: &[String]) -> Result<()> {
    let problems: Option<Vec<Error>> =
        cells(study).iter().map(|cell| problem(study, cell, targets)).collect();
    problems.and_then(|all| all.into_iter().next()).map_or(Ok(()), Err)
}

/// The cell without what a simulated array takes for itself.
fn on(targets: &[String], cell: &Cell) -> Cell {
    let device = targets.first().and_then(|only| SimulatedDevice::parse(only).ok().flatten());
    let shaped = device.and_then(|device| shaped(&device, cell).ok());
    shaped.map_or_else(|| cell.clone(), |(_, rest)| rest)
}

/// The plan for a person.
pub fn text(study: &Study, notes: &[String], targets: &[String]) -> String {
    let all = cells(study);
    let capacity = study
        .capacity
        .map_or_else(|| "as large as the target".to_owned(), |capacity| capacity.to_string());
    let mut lines = vec![format!(
        "study {}: {}, data {capacity}",
        study.name,
        show_counted(count_of(all.len()), "cell")
    )];
    lines.extend(notes.iter().map(|note| format!("note: {note}")));
    lines.extend(hooks(study));
    for cell in &all {
        let (phases, problem) = cell_phases(study, cell, targets);
        let problem =
            problem.map_or_else(String::new, |why| format!("  cannot be measured: {why}"));
        lines.push(format!(
            "{:>5}  repeat {}  {}: {}{problem}",
            cell.number,
            cell.repeat,
            settings(cell),
            phases
        ));
    }
    let time_s = study.cells_s(all.len());
    let fills = all.iter().filter(|cell| cell.restored).count();
    let filling = match fills {
        _ if is_of_loads(study, targets) => {
            ", and the time to load and restore the data, or that of the queries".to_owned()
        }
        0 => String::new(),
        1 => ", and filling and preconditioning once, at full speed".to_owned(),
        some => format!(", and filling and preconditioning {some} times, at full speed"),
    };
    lines.push(format!("in total {}{filling}", length(time_s)));
    if let Some(time) = study.stop.time {
        lines.push(format!("no cell starts after {time}"));
    }
    lines.join("\n") + "\n"
}

/// The commands that run around every cell.
fn hooks(study: &Study) -> Vec<String> {
    let limit = study.hooks.time_limit;
    let given = [("before", &study.hooks.before), ("after", &study.hooks.after)];
    let given = given.into_iter().filter_map(|(when, command)| Some((when, command.as_ref()?)));
    given
        .map(|(when, command)| format!("{when} every cell, for {limit} at most: {command}"))
        .collect()
}

/// The plan for a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct StudyListing<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// Name of the study.
    study: &'a str,
    /// How long all cells take together, without filling, s.
    time_s: f64,
    /// What was changed of the study's file, in sentences.
    notes: &'a [String],
    /// Commands around every cell.
    #[cfg_attr(test, schemars(schema_with = "crate::contract::hooks"))]
    hooks: &'a Hooks,
    /// All cells in the order of their measurement.
    cells: Vec<CellListing>,
}

/// One cell of the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CellListing {
    /// Its number, from 1.
    number: u32,
    /// Which of the repeats it belongs to, from 1.
    repeat: u32,
    /// One setting a factor.
    #[cfg_attr(test, schemars(schema_with = "crate::contract::settings"))]
    settings: Vec<StudySetting>,
    /// Whether the target is filled and preconditioned before it.
    restored: bool,
    /// What happens in it, in words.
    phases: String,
    /// Why it could not be measured, if it could not.
    problem: Option<String>,
}

impl<'a> StudyListing<'a> {
    /// The plan of a study on these targets.
    pub fn of(study: &'a Study, notes: &'a [String], targets: &[String]) -> Self {
        let all = cells(study);
        let outlined = |cell: &Cell| {
            let (phases, problem) = cell_phases(study, cell, targets);
            CellListing {
                number: cell.number,
                repeat: cell.repeat,
                settings: cell.settings.clone(),
                restored: cell.restored,
                phases,
                problem,
            }
        };
        Self {
            format: 1,
            study: &study.name,
            time_s: study.cells_s(all.len()),
            notes,
            hooks: &study.hooks,
            cells: all.iter().map(outlined).collect(),
        }
    }
}

/// A length of time: `2 h 5 min`.
pub fn length(time_s: f64) -> String {
    let whole = assay_model::number::count(time_s);
    match whole {
        ..120 => format!("{time_s:.0} s"),
        120..7200 => format!("{} min", whole / 60),
        7200..172_800 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {} h", whole / 86_400, whole / 3600 % 24),
    }
}
