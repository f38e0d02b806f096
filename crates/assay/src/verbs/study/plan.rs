//! The plan of a study: its cells, what happens in each, and how long it takes.

use assay_methods::study::{fill_of, workload_of};
use assay_model::number::real_len;
use assay_model::study::{Cell, Study, cells};

/// Settings in words: `read_share 70%, sessions 8`.
pub fn settings(cell: &Cell) -> String {
    let words: Vec<String> = cell
        .settings
        .iter()
        .map(|setting| format!("{} {}", setting.factor, setting.value))
        .collect();
    match words.as_slice() {
        [] => "as it is".to_owned(),
        some => some.join(", "),
    }
}

/// What happens in and around a cell.
fn phases(study: &Study, cell: &Cell) -> String {
    let (phases, mut words) = (&study.phases, Vec::new());
    if cell.restored {
        words.extend(fill_of(study, cell).map(|fill| format!("fill {:.0} %", fill.0 * 100.0)));
        if phases.precondition_passes > 0 {
            words.push(format!("precondition {} times", phases.precondition_passes));
        }
    }
    let timed = [
        ("settle", phases.settle),
        ("warm up", phases.warm_up),
        ("measure", phases.measure),
        ("rest", phases.rest),
    ];
    let timed = timed.into_iter().filter(|(_, time)| time.0 > 0);
    words.extend(timed.map(|(name, time)| format!("{name} {time}")));
    words.join(", ")
}

/// Why a cell could not be measured, if it could not.
fn problem(study: &Study, cell: &Cell) -> Option<String> {
    workload_of(study, cell).err().map(|error| error.message().to_owned())
}

/// The plan for a person.
pub fn text(study: &Study) -> String {
    let all = cells(study);
    let capacity = study
        .capacity
        .map_or_else(|| "as large as the target".to_owned(), |capacity| capacity.to_string());
    let mut lines = vec![format!("study {}: {} cells, data {capacity}", study.name, all.len())];
    for cell in &all {
        let problem = problem(study, cell)
            .map_or_else(String::new, |why| format!("  cannot be measured: {why}"));
        lines.push(format!(
            "{:>5}  repeat {}  {}: {}{problem}",
            cell.number,
            cell.repeat,
            settings(cell),
            phases(study, cell)
        ));
    }
    let time_s = study.cell_s() * real_len(all.len());
    let fills = all.iter().filter(|cell| cell.restored).count();
    let filling = match fills {
        0 => String::new(),
        some => format!(
            ", and {some} times filling and preconditioning, as fast as the target takes it"
        ),
    };
    lines.push(format!("in all {}{filling}", length(time_s)));
    if let Some(time) = study.stop.time {
        lines.push(format!("no cell begins after {time}"));
    }
    lines.join("\n") + "\n"
}

/// The plan for a program.
pub fn document(study: &Study) -> serde_json::Value {
    let all = cells(study);
    let cell = |cell: &Cell| {
        serde_json::json!({
            "number": cell.number,
            "repeat": cell.repeat,
            "settings": cell.settings,
            "restored": cell.restored,
            "phases": phases(study, cell),
            "problem": problem(study, cell),
        })
    };
    serde_json::json!({
        "study": study.name,
        "time_s": study.cell_s() * real_len(all.len()),
        "cells": all.iter().map(cell).collect::<Vec<_>>(),
    })
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
