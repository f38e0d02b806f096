//! `assay compare`: runs and profiles side by side.

use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::{COMMON, OutputOptions, StoreOptions};
use crate::spelling::quantity;
use crate::terminal::layout;
use assay_app::loaded_run::{is_rung, read_cell, series_of_rungs};
use assay_app::new_file::write_new;
use assay_judge::LoadFacts;
use assay_judge::compare::{
    CompareRules, RunFacts, SideFacts, compare, facts_of_calibration, facts_of_dss, facts_of_load,
    facts_of_profile, facts_of_run, joined, of_parts, with_intervals,
};
use assay_methods::files::read_document;
use assay_model::calibration::Calibration;
use assay_model::dss::Dss;
use assay_model::load::Load;
use assay_model::profile::parse_profile;
use assay_model::run::RunKind;
use assay_model::units::Share;
use assay_model::{Error, Result, Workload};
use assay_report::{Options as Shown, Report};
use assay_store::{CellReader, Document, RunReader};
use clap::Args;
use std::path::{Path, PathBuf};

/// Runs of all sides together.
const RUNS_MAX: usize = 256;
/// Keys in which runs over different numbers of nodes differ by their nature.
const BY_NODES: [&str; 4] =
    ["stream.0.arrival.closed.outstanding", "stream.0.arrival.open", "stream.0.workers", "layout"];

/// Compares runs or profiles with the first one: ratios with confidence intervals, distributions, parity, scaling
#[derive(Args)]
#[command(after_help = "Examples:
  assay compare RUN latest
  assay compare A1,A2,A3 B1,B2,B3 --html comparison.html
  assay compare before.profile.json after.profile.json")]
pub struct Options {
    /// Runs (id or its beginning, `latest`, directory; a cell of a study as RUN:CELL) or profiles (`*.profile.json`); join
    /// repeats of one side with commas: A1,A2 B1,B2
    #[arg(value_name = "SIDE", required = true, num_args = 1..)]
    sides: Vec<String>,
    /// Change for the worse that does not matter
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "2%")]
    tolerance: Share,
    /// How much one storage system differs from run to run (standard deviation), for sides with a single run; 0% if they share everything
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "3%")]
    run_to_run: Share,
    /// Nodes, bricks or sessions behind each side, for scaling: 1,2,4,8
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    nodes: Vec<f64>,
    /// Key of the workload that differs on purpose, as the refusal names it; once per key
    #[arg(long, value_name = "KEY")]
    varied: Vec<String>,
    /// Write the page to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the measures as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Carries the verb out.
///
/// # Errors
/// What the store says, sides that cannot be compared, or a page that cannot be written.
pub fn run(options: &Options) -> Result<ExitStatus> {
    check_count(&options.sides)?;
    let mut sides: Vec<SideFacts> =
        options.sides.iter().map(|side| read_side(side, options)).collect::<Result<_>>()?;
    give_nodes(&mut sides, &options.nodes)?;
    let mut varied = options.varied.clone();
    if !options.nodes.is_empty() {
        varied.extend(BY_NODES.map(str::to_owned));
    }
    let rules = CompareRules {
        tolerance: options.tolerance.0,
        run_to_run_share: options.run_to_run.0,
        ..CompareRules::default()
    };
    let found = compare(&sides, &varied, &rules)?;
    let outcome = found.outcome;
    let report = Report {
        title: "compare".to_owned(),
        target: options.sides.join(" with "),
        created_unix_ns: assay_host::clock::unix_ns(),
        program: format!("assay {}", env!("CARGO_PKG_VERSION")),
        command: assay_app::command_line::typed(&crate::options::command_line()),
        comparison: Some(found),
        ..Report::default()
    };
    if let Some(path) = &options.html {
        write_new(path, assay_report::html(&report, Shown::default()).as_bytes())?;
    }
    if options.csv {
        let table = report.comparison.as_ref().and_then(assay_report::comparison_csv);
        print(&table.ok_or_else(nothing_in_common)?)?;
    } else if options.output.json {
        print(&json(&report.comparison)?)?;
    } else {
        print_report(&assay_report::text(&report, Shown::default(), layout(options.output.full)))?;
    }
    Ok(outcome.into())
}

fn nothing_in_common() -> Error {
    Error::usage("the sides have no measure in common", "compare runs of the same kind")
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
fn read_side(named: &str, options: &Options) -> Result<SideFacts> {
    let path = Path::new(named);
    if path.extension().is_some_and(|end| end == "json") {
        let profile = parse_profile(&read_document(path, "profile")?);
        return Ok(facts_of_profile(&profile.map_err(|error| error.context(named))?));
    }
    let names: Vec<&str> = named.split(',').filter(|name| !name.is_empty()).collect();
    let repeats: Vec<SideFacts> =
        names.iter().map(|name| read_run(name, options)).collect::<Result<_>>()?;
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

fn read_run(name: &str, options: &Options) -> Result<SideFacts> {
    let (name, wanted) = match name.rsplit_once(':') {
        Some((run, cell)) => (run, Some(cell)),
        None => (name, None),
    };
    let run = options.store.open().open(name)?;
    let manifest = run.manifest();
    let (id, targets) = (manifest.id.clone(), manifest.targets.join(", "));
    if let Some(wanted) = wanted {
        return facts_of_cell(&run, &only_cell(&run, Some(wanted))?, &targets, Some(wanted));
    }
    if let Some(dss) = run.json::<Dss>(Document::Dss)? {
        return Ok(facts_of_dss(&id, &targets, &dss));
    }
    let mut parts = Vec::new();
    if let Some(calibration) = run.json::<Calibration>(Document::Calibration)? {
        parts.push(facts_of_calibration(&id, &targets, &calibration));
    }
    if let Some(load) = run.json::<Load>(Document::Load)? {
        let series = series_of_rungs(&run, &load)?;
        let facts = LoadFacts { load: &load, series: &series };
        parts.push(facts_of_load(&id, &targets, facts));
    }
    let workload = run.cells()?.iter().any(|cell| !is_rung(cell.name()));
    if workload || parts.is_empty() {
        parts.push(facts_of_cell(&run, &only_cell(&run, None)?, &targets, None)?);
    }
    of_parts(parts).ok_or_else(|| nothing_measured(name))
}

fn nothing_measured(name: &str) -> Error {
    Error::usage(format!("the run {name} has measured nothing"), "name a run that ended")
}

/// The cell that is meant: the one of that name, or the only one that is not a rung of a ladder.
fn only_cell(run: &RunReader, wanted: Option<&str>) -> Result<CellReader> {
    let mut cells = run.cells()?;
    cells.retain(|cell| {
        wanted.map_or(!is_rung(cell.name()), |wanted| cell.name().starts_with(wanted))
    });
    let many = wanted.is_none() && run.manifest().kind == RunKind::Study && cells.len() > 1;
    cells.pop().filter(|_| !many).ok_or_else(|| {
        Error::usage(
            format!("the run {} does not say which workload is meant", run.manifest().id),
            "name a cell of a study as RUN:CELL, for example 20261121:00003; or a run of one workload",
        )
    })
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
pub fn keys(workload: &Workload) -> Result<Vec<(String, String)>> {
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

#[cfg(test)]
mod tests;
