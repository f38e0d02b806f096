//! Reads the sides of a comparison from the store and from files of profiles, and compares them.

use crate::loaded_run::{is_rung, read_cell, series_of_rungs};
use assay_judge::LoadFacts;
use assay_judge::compare::{
    CompareRules, RunFacts, SideFacts, compare, facts_of_calibration, facts_of_dss, facts_of_load,
    facts_of_profile, facts_of_row, facts_of_run, joined, of_parts, with_intervals,
};
use assay_methods::files::read_document;
use assay_model::calibration::Calibration;
use assay_model::comparison::Comparison;
use assay_model::dss::Dss;
use assay_model::load::Load;
use assay_model::profile::parse_profile;
use assay_model::run::RunKind;
use assay_model::study::{CellResult, StudyResult};
use assay_model::{Error, Result, Workload};
use assay_store::{CellReader, Document, RunReader, Store};
use std::path::Path;

/// Runs of all sides together.
const RUNS_MAX: usize = 256;
/// Keys in which runs over different numbers of nodes differ by their nature.
const BY_NODES: [&str; 4] =
    ["stream.0.arrival.closed.outstanding", "stream.0.arrival.open", "stream.0.workers", "layout"];

/// What is compared, and how strictly.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// Each side: a run (id, its beginning, name, `latest`, directory, or RUN:CELL), repeats joined by commas, or the
    /// file of a profile. The first one is the base.
    pub sides: Vec<String>,
    /// Nodes, bricks or sessions behind each side; empty where scaling is not asked for.
    pub nodes: Vec<f64>,
    /// Keys of the workload that differ on purpose.
    pub varied: Vec<String>,
    /// When a difference matters.
    pub rules: CompareRules,
}

/// Compares the sides with the first one.
///
/// # Errors
/// What the store says, or a usage error when the sides cannot be compared.
pub fn compare_sides(plan: &ComparePlan, store: &Store) -> Result<Comparison> {
    check_count(&plan.sides)?;
    let mut sides: Vec<SideFacts> =
        plan.sides.iter().map(|side| read_side(side, store)).collect::<Result<_>>()?;
    name_apart(&mut sides);
    give_nodes(&mut sides, &plan.nodes)?;
    let mut varied = plan.varied.clone();
    if !plan.nodes.is_empty() {
        varied.extend(BY_NODES.map(str::to_owned));
    }
    compare(&sides, &varied, &plan.rules)
}

/// Sides that are called alike are shown by their ids.
fn name_apart(sides: &mut [SideFacts]) {
    let names: Vec<String> = sides.iter().map(|facts| facts.side.name.clone()).collect();
    for facts in sides.iter_mut().filter(|facts| !facts.side.ids.is_empty()) {
        if names.iter().filter(|name| **name == facts.side.name).count() > 1 {
            facts.side.name = std::mem::take(&mut facts.side.ids).join(", ");
        }
    }
}

/// Every side is read whole, and held against the first.
fn check_count(sides: &[String]) -> Result<()> {
    let runs: usize = sides.iter().map(|side| side.split(',').count()).sum();
    if runs <= RUNS_MAX {
        return Ok(());
    }
    Err(Error::usage(
        format!("{runs} runs are too many to compare at once"),
        format!("name at most {RUNS_MAX}, repeats included"),
    ))
}

/// One side: a profile, or one or more repeats of a run.
fn read_side(named: &str, store: &Store) -> Result<SideFacts> {
    let path = Path::new(named);
    if path.extension().is_some_and(|end| end == "json") {
        let profile = parse_profile(&read_document(path, "profile")?);
        return Ok(facts_of_profile(&profile.map_err(|error| error.context(named))?));
    }
    let names: Vec<&str> = named.split(',').filter(|name| !name.is_empty()).collect();
    let repeats: Vec<SideFacts> =
        names.iter().map(|name| read_run(name, store)).collect::<Result<_>>()?;
    for repeat in repeats.iter().skip(1) {
        // Repeats of one side are one workload, whatever differs between the sides.
        let pair = [repeats[0].clone(), repeat.clone()];
        compare(&pair, &[], &CompareRules::default())
            .map_err(|error| error.context(format!("the repeats {named}")))?;
    }
    let is_dss = repeats.iter().any(SideFacts::is_of_queries);
    let whole = joined(repeats).ok_or_else(|| {
        Error::usage(
            format!("'{named}' names no run"),
            "name a run by its id, or a profile by its file",
        )
    })?;
    if is_dss { with_intervals(whole) } else { Ok(whole) }
}

fn read_run(name: &str, store: &Store) -> Result<SideFacts> {
    let (name, wanted) = match name.rsplit_once(':') {
        Some((run, cell)) => (run, Some(cell)),
        None => (name, None),
    };
    let run = store.open(name)?;
    let mut facts = match rows(&run, wanted)? {
        Some(rows) => rows,
        None => facts_of(&run, wanted)?,
    };
    if let Some(label) = run.label() {
        let id = &run.manifest().id;
        let named = facts.side.name.replacen(id, &label, 1);
        facts.side.ids = vec![std::mem::replace(&mut facts.side.name, named)];
    }
    Ok(facts)
}

/// The rows of another program's result that are meant: the one of that number, or all where they are repeats of one load.
/// Nothing of a run that Assay measured.
fn rows(run: &RunReader, wanted: Option<&str>) -> Result<Option<SideFacts>> {
    let Some(study) = run.json::<StudyResult>(Document::Results)? else { return Ok(None) };
    let rows: Vec<&CellResult> = study.cells.iter().filter(|row| row.is_imported()).collect();
    let Some(first) = rows.first() else { return Ok(None) };
    let number = wanted.and_then(|wanted| wanted.parse::<u32>().ok());
    let meant: Vec<&CellResult> = match number {
        Some(number) => rows.iter().copied().filter(|row| row.cell.number == number).collect(),
        None if wanted.is_some() => Vec::new(),
        None => {
            rows.iter().copied().filter(|row| row.cell.settings == first.cell.settings).collect()
        }
    };
    let id = &run.manifest().id;
    if meant.is_empty() || number.is_none() && meant.len() < rows.len() {
        return Err(Error::usage(
            format!("the run {id} does not say which of its {} rows is meant", rows.len()),
            format!("name a row as its table numbers it, for example {id}:{}", first.cell.number),
        ));
    }
    let name = number.map_or_else(|| id.clone(), |number| format!("{id}:{number}"));
    let target = run.manifest().targets.join(", ");
    Ok(joined(meant.into_iter().map(|row| facts_of_row(&name, &target, row)).collect()))
}

/// What a run measured: the wanted cell of it, or all of its parts.
fn facts_of(run: &RunReader, wanted: Option<&str>) -> Result<SideFacts> {
    let manifest = run.manifest();
    let (id, targets) = (&manifest.id, manifest.targets.join(", "));
    if let Some(wanted) = wanted {
        return facts_of_cell(run, &only_cell(run, Some(wanted))?, &targets, Some(wanted));
    }
    if let Some(dss) = run.json::<Dss>(Document::Dss)? {
        return Ok(facts_of_dss(id, &targets, &dss));
    }
    let mut parts = Vec::new();
    if let Some(calibration) = run.json::<Calibration>(Document::Calibration)? {
        parts.push(facts_of_calibration(id, &targets, &calibration));
    }
    if let Some(load) = run.json::<Load>(Document::Load)? {
        let series = series_of_rungs(run, &load)?;
        let facts = LoadFacts { load: &load, series: &series };
        parts.push(facts_of_load(id, &targets, facts));
    }
    let workload = run.cells()?.iter().any(|cell| !is_rung(cell.name()));
    if workload || parts.is_empty() {
        parts.push(facts_of_cell(run, &only_cell(run, None)?, &targets, None)?);
    }
    of_parts(parts).ok_or_else(|| nothing_measured(id))
}

fn nothing_measured(name: &str) -> Error {
    Error::usage(format!("the run {name} has measured nothing"), "name a run that ended")
}

/// The cell that is meant: the one of that name, or the only one that is not a rung of a ladder.
fn only_cell(run: &RunReader, wanted: Option<&str>) -> Result<CellReader> {
    let mut cells = run.cells()?;
    let directory = wanted.map(|wanted| directory_of(run, wanted)).transpose()?;
    cells.retain(|cell| match &directory {
        Some(wanted) => cell.name().starts_with(wanted),
        None => !is_rung(cell.name()),
    });
    let many = wanted.is_none() && run.manifest().kind == RunKind::Study && cells.len() > 1;
    cells.pop().filter(|_| !many).ok_or_else(|| {
        Error::usage(
            format!("the run {} does not say which workload is meant", run.manifest().id),
            format!(
                "name a cell as its table numbers it, for example {}:1; or a run of one workload",
                run.manifest().id
            ),
        )
    })
}

/// The directory of a cell that is named by its number or by its directory.
fn directory_of(run: &RunReader, wanted: &str) -> Result<String> {
    let number = wanted.parse::<u32>().ok();
    let Some(study) = run.json::<StudyResult>(Document::Results)? else {
        return Ok(wanted.to_owned());
    };
    let of_number = study.cells.iter().find(|row| Some(row.cell.number) == number);
    let directory = of_number.map(|row| row.directory.clone()).filter(|name| !name.is_empty());
    Ok(directory.unwrap_or_else(|| wanted.to_owned()))
}

/// One workload as a side, or as part of one.
fn facts_of_cell(
    run: &RunReader,
    cell: &CellReader,
    targets: &str,
    wanted: Option<&str>,
) -> Result<SideFacts> {
    let (report, series) = read_cell(cell, &[])?;
    let suffix = wanted.map(|_| format!(":{}", cell.name()));
    Ok(facts_of_run(&RunFacts {
        name: run.manifest().id.clone() + &suffix.unwrap_or_default(),
        target: targets.to_owned(),
        keys: keys(&cell.workload()?)?,
        measurement: &report.measurement,
        estimates: &report.estimates,
        series: &series,
    }))
}

/// Every value of a workload with its place.
fn keys(workload: &Workload) -> Result<Vec<(String, String)>> {
    let value = toml::Value::try_from(workload).map_err(|error| {
        Error::environment(format!("writing a workload: {error}"), "report this as a bug")
    })?;
    let mut keys = Vec::new();
    flatten("", &value, &mut keys);
    Ok(keys)
}

fn flatten(place: &str, value: &toml::Value, keys: &mut Vec<(String, String)>) {
    let below = |name: &str| {
        if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
    };
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                flatten(&below(name), value, keys);
            }
        }
        toml::Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                flatten(&below(&index.to_string()), value, keys);
            }
        }
        plain => keys.push((place.to_owned(), plain.to_string().trim_matches('"').to_owned())),
    }
}

/// Puts the numbers of nodes to the sides.
fn give_nodes(sides: &mut [SideFacts], nodes: &[f64]) -> Result<()> {
    if nodes.is_empty() {
        return Ok(());
    }
    if nodes.len() != sides.len() || nodes.iter().any(|nodes| *nodes < 1.0) {
        return Err(Error::usage(
            format!("--nodes has {} numbers for {} sides", nodes.len(), sides.len()),
            "give one number of 1 or more for each side, for example --nodes 1,2",
        ));
    }
    for (facts, nodes) in sides.iter_mut().zip(nodes) {
        facts.side.nodes = Some(*nodes);
    }
    Ok(())
}
