//! Reads the sides of a comparison from the store and from files of profiles, and compares them.

use crate::loaded_run::{LoadedRun, read_cell, series_of_rungs};
use crate::reports::read_profile;
use crate::run_part::{RunPart, plain};
use crate::rung_cell::is_rung;
use assay_judge::JudgedLoadFacts;
use assay_judge::compare::{
    CompareRules, ComparedCells, RunFacts, SideFacts, compare, facts_of_calibration, facts_of_dss,
    facts_of_load, facts_of_profile, facts_of_row, facts_of_run, facts_of_study, joined, of_parts,
    with_intervals,
};
use assay_methods::target::array_model;
use assay_model::array::ExperimentMeasure;
use assay_model::calibration::Calibration;
use assay_model::comparison::Comparison;
use assay_model::dss::Dss;
use assay_model::load::Load;
use assay_model::study::{CellResult, StudyResult};
use assay_model::verdict::Unit;
use assay_model::{Error, Result, Workload};
use assay_store::{CellReader, RunReader, Store, StoredDocument};
use std::path::Path;

mod history;

/// Runs of all sides together.
const RUNS_MAX: usize = 256;
/// Keys in which runs over different numbers of nodes differ by their nature.
const BY_NODES: [&str; 4] =
    ["stream.0.arrival.closed.queue_depth", "stream.0.arrival.open", "stream.0.workers", "layout"];

/// What is compared, and how strictly.
#[derive(Clone, Debug)]
pub struct ComparePlan {
    /// Each side: a run (id, its beginning, name, `latest`, directory, or RUN:CELL), repeats
    /// joined by commas, or the file of a profile. The first one is the base.
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
    let named = NamedRuns::open(&plan.sides, store)?;
    let mut sides: Vec<SideFacts> = plan
        .sides
        .iter()
        .zip(&named.sides)
        .map(|(side, runs)| read_side(side, runs, &named, store))
        .collect::<Result<_>>()?;
    named.check_distinct()?;
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
        format!("specify at most {RUNS_MAX}, repeats included"),
    ))
}

/// The runs of every side; none of a side that is a profile.
struct NamedRuns {
    sides: Vec<Vec<RunPart>>,
    /// Ids of all of them.
    ids: Vec<String>,
    /// What every side names: the run and its cell, and the words that named it.
    places: Vec<(String, String)>,
}

impl NamedRuns {
    /// Opens every run that a side names.
    fn open(sides: &[String], store: &Store) -> Result<Self> {
        let mut opened = Self { sides: Vec::new(), ids: Vec::new(), places: Vec::new() };
        for side in sides {
            let names = side.split(',').filter(|name| !name.is_empty() && !is_profile(side));
            let mut runs: Vec<RunPart> = Vec::new();
            for name in names {
                let run = RunPart::open(name, store)?;
                opened.places.push((run.place(), name.to_owned()));
                runs.push(run);
            }
            opened.places.extend(is_profile(side).then(|| (side.clone(), side.clone())));
            opened.ids.extend(runs.iter().map(|run| run.reader.manifest().id.clone()));
            opened.sides.push(runs);
        }
        Ok(opened)
    }

    /// Refuses what is named a second time: nothing differs from itself, and no run is two repeats.
    fn check_distinct(&self) -> Result<()> {
        let repeated = self.places.iter().enumerate().find_map(|(number, (place, name))| {
            let earlier = self.places[..number].iter().find(|(known, _)| known == place);
            earlier.map(|(_, earlier)| (earlier, name))
        });
        let what = match repeated {
            None => return Ok(()),
            Some((earlier, name)) if earlier == name => format!("{name} is specified twice"),
            Some((earlier, name)) => format!("{earlier} and {name} are the same run"),
        };
        Err(Error::usage(what, "specify each run once; join the repeats of one side with commas"))
    }
}

fn is_profile(side: &str) -> bool {
    Path::new(side).extension().is_some_and(|end| end == "json")
}

/// One side: a profile, or one or more repeats of a run.
fn read_side(named: &str, runs: &[RunPart], all: &NamedRuns, store: &Store) -> Result<SideFacts> {
    if is_profile(named) {
        return Ok(facts_of_profile(&read_profile(Path::new(named))?));
    }
    let repeats: Vec<SideFacts> = runs.iter().map(read_run).collect::<Result<_>>()?;
    for repeat in repeats.iter().skip(1) {
        // Repeats of one side are one workload, whatever differs between the sides.
        let pair = [repeats[0].clone(), repeat.clone()];
        compare(&pair, &[], &CompareRules::default())
            .map_err(|error| error.context(format!("the repeats {named}")))?;
    }
    let is_dss = repeats.iter().any(SideFacts::is_of_queries);
    let mut whole = joined(repeats).ok_or_else(|| {
        Error::usage(
            format!("there is no run '{named}'"),
            "specify a run by its id, or a profile by its file",
        )
    })?;
    if let [first, ..] = runs {
        mark_assumed(&mut whole, first.reader.manifest().targets.as_slice());
        if first.part.is_none() && !whole.is_simulated() {
            let manifest = first.reader.manifest();
            let wanted = history::WantedHistory {
                kind: manifest.kind,
                targets: &manifest.targets,
                compared: &all.ids,
            };
            whole.history = history::history(store, &wanted, &whole, |run| facts_of(run, None))?;
        }
    }
    if is_dss { with_intervals(whole) } else { Ok(whole) }
}

/// Marks times of writes that the model of an array assumes, because nothing was published of them.
fn mark_assumed(facts: &mut SideFacts, targets: &[String]) {
    let model = |target: &String| {
        let name = target.strip_prefix("array:")?.split('?').next()?;
        array_model(name).ok()
    };
    let is_published = |measure: ExperimentMeasure| {
        matches!(
            measure,
            ExperimentMeasure::WriteLatencyS
                | ExperimentMeasure::LogWriteS
                | ExperimentMeasure::LogSyncS
        )
    };
    let is_assumed = targets
        .iter()
        .filter_map(model)
        .any(|model| !model.figures.iter().any(|figure| is_published(figure.measure)));
    for curve in facts.load_curves.iter_mut().filter(|_| is_assumed) {
        curve.is_assumed = curve.mix == "calibration.write";
    }
    for figure in facts.measures.iter_mut().filter(|_| is_assumed) {
        let of_writes = ["write.", "sync.", "calibration.write."];
        let is_of_writes = of_writes.iter().any(|start| figure.quantity.starts_with(start));
        figure.is_assumed = is_of_writes && figure.unit == Unit::Ns;
    }
}

fn read_run(named: &RunPart) -> Result<SideFacts> {
    let run = &named.reader;
    let mut facts = match imported_rows(run, named.part.as_deref())? {
        Some(rows) => rows,
        None => facts_of(run, named.part.as_deref())?,
    };
    let causes = LoadedRun::read_part(named)?.report.causes();
    facts.side.causes = causes.into_iter().map(|cause| cause.what).collect();
    if let Some(label) = run.label() {
        let id = &run.manifest().id;
        let named = facts.side.name.replacen(id, &label, 1);
        facts.side.ids = vec![std::mem::replace(&mut facts.side.name, named)];
    }
    Ok(facts)
}

/// The rows of another program's result that are meant: the one of that number, or all where they
/// are repeats of one load. Nothing of a run that Assay measured, and of rows of several loads,
/// which are compared cell by cell.
fn imported_rows(run: &RunReader, wanted: Option<&str>) -> Result<Option<SideFacts>> {
    let Some(study) = run.json::<StudyResult>(StoredDocument::Results)? else { return Ok(None) };
    let rows: Vec<&CellResult> = study.cells.iter().filter(|row| row.is_imported()).collect();
    let Some(first) = rows.first() else { return Ok(None) };
    let number = wanted.and_then(|wanted| wanted.parse::<u32>().ok());
    let is_meant = |row: &&&CellResult| match number {
        Some(number) => row.cell.number == number,
        None => row.cell.settings == first.cell.settings,
    };
    let meant: Vec<&CellResult> = rows.iter().filter(is_meant).copied().collect();
    if meant.is_empty() || number.is_none() && (wanted.is_some() || meant.len() < rows.len()) {
        return Ok(None);
    }
    let id = &run.manifest().id;
    let name = number.map_or_else(|| id.clone(), |number| format!("{id}:{number}"));
    let target = run.manifest().targets.join(", ");
    Ok(joined(meant.into_iter().map(|row| facts_of_row(&name, &target, row)).collect()))
}

/// What a run measured: the wanted cell of it, or all of its parts.
fn facts_of(run: &RunReader, wanted: Option<&str>) -> Result<SideFacts> {
    let manifest = run.manifest();
    let (id, targets) = (&manifest.id, manifest.targets.join(", "));
    if let Some(wanted) = wanted {
        return facts_of_named_cell(run, wanted, &targets);
    }
    if let Some(study) = run.json::<StudyResult>(StoredDocument::Results)? {
        let facts = facts_of_study(id, &targets, &study, ComparedCells::All);
        return facts.ok_or_else(|| nothing_measured(id));
    }
    if let Some(dss) = run.json::<Dss>(StoredDocument::Dss)? {
        return Ok(facts_of_dss(id, &targets, &dss));
    }
    let mut parts = Vec::new();
    if let Some(calibration) = run.json::<Calibration>(StoredDocument::Calibration)? {
        parts.push(facts_of_calibration(id, &targets, &calibration));
    }
    if let Some(load) = run.json::<Load>(StoredDocument::Load)? {
        let series = series_of_rungs(run, &load)?;
        let facts = JudgedLoadFacts { load: &load, series: &series };
        parts.push(facts_of_load(id, &targets, facts));
    }
    let workload = run.cells()?.iter().any(|cell| !is_rung(cell.name()));
    if workload || parts.is_empty() {
        parts.push(facts_of_cell(run, &only_cell(run)?, &targets, None)?);
    }
    of_parts(parts).ok_or_else(|| nothing_measured(id))
}

/// A cell by its number as it is printed: as a run of its own where it has one, else by its row of
/// the results.
fn facts_of_named_cell(run: &RunReader, wanted: &str, targets: &str) -> Result<SideFacts> {
    let number = wanted.parse::<u32>().ok();
    let is_it = |cell: &CellReader| {
        cell.name() == wanted || number.is_some() && cell.name().parse::<u32>().ok() == number
    };
    if let Some(cell) = run.cells()?.into_iter().find(is_it) {
        return facts_of_cell(run, &cell, targets, Some(wanted));
    }
    let id = &run.manifest().id;
    let study = run.json::<StudyResult>(StoredDocument::Results)?;
    let row = study.zip(number).and_then(|(study, number)| {
        let name = format!("{id}:{number}");
        facts_of_study(&name, targets, &study, ComparedCells::Only(number))
    });
    row.ok_or_else(|| {
        Error::usage(
            format!("the run {id} has no measured cell {wanted}"),
            format!("`assay report {id}` lists its cells"),
        )
    })
}

fn nothing_measured(name: &str) -> Error {
    Error::usage(format!("the run {name} has no measurements"), "specify a completed run")
}

/// The last cell that is not a step of a ladder.
fn only_cell(run: &RunReader) -> Result<CellReader> {
    let mut cells = run.cells()?;
    cells.retain(|cell| !is_rung(cell.name()));
    cells.pop().ok_or_else(|| nothing_measured(&run.manifest().id))
}

/// One workload as a side, or as part of one.
fn facts_of_cell(
    run: &RunReader,
    cell: &CellReader,
    targets: &str,
    wanted: Option<&str>,
) -> Result<SideFacts> {
    let (report, series) = read_cell(cell, &[])?;
    let suffix = wanted.map(|_| format!(":{}", plain(cell.name())));
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
