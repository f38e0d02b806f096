//! `assay report`: a kept run as page, text, JSON, JSON lines, CSV or drawings.

use crate::exit::{ExitStatus, print, print_report};
use crate::finish::show;
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use crate::terminal::{layout, say};
use assay_app::finish::CriteriaSource;
use assay_app::import::{import_group, read_groups};
use assay_app::loaded_run::LoadedRun;
use assay_app::new_file::write_new;
use assay_app::run_part::RunPart;
use assay_formats::out::{OrionFiles, OutputRun, fio_json, orion, orion_matrix, slob};
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_report::ReportOptions as Shown;
use assay_store::RunReader;
use clap::{Args, ValueEnum};
use std::fmt::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Write the HTML page, text, JSON or CSV of a run; judge it
#[derive(Args)]
#[command(after_help = "Examples:
  assay report
  assay report latest --html report.html
  assay report latest --criteria oltp-default
  assay report latest --csv curve
  assay report latest --as fio-json
  assay report fio.json")]
pub struct ReportCommandOptions {
    /// A run (id or its first characters, name, `latest`, directory), a cell or step of it
    /// (RUN:CELL, RUN:SESSIONS), or a result file of another program, which is not stored
    #[arg(default_value = "latest")]
    run: String,
    /// Judge by these criteria instead of the run's own, and exit 0 for PASS, 1 for FAIL, 3 for
    /// INCONCLUSIVE: a file, check, oltp-default or dell-2017
    #[arg(long, value_name = "FILE", conflicts_with_all = ["csv", "jsonl", "form"])]
    criteria: Option<PathBuf>,
    /// Write the page to this new file instead of printing text
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the charts as SVG files into this directory
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Print one table as CSV; every row begins with the id of the run
    #[arg(long, value_enum, value_name = "TABLE", conflicts_with = "json")]
    csv: Option<CsvTable>,
    /// Print one table as JSON lines, one object per row
    #[arg(long, value_enum, value_name = "TABLE", conflicts_with_all = ["csv", "json"])]
    jsonl: Option<CsvTable>,
    /// Print the run in another program's format
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORM",
        conflicts_with_all = ["csv", "jsonl", "json", "relative"]
    )]
    form: Option<ExportForm>,
    /// With `--as orion`: write its CSV files and summary to this directory, as new files
    #[arg(long, value_name = "DIR", requires = "form")]
    out: Option<PathBuf>,
    /// Show ratios only, for licences that forbid publishing figures
    #[arg(long, conflicts_with_all = ["csv", "jsonl", "json"])]
    relative: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    output: OutputOptions,
}

/// Tables that can be printed as CSV.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CsvTable {
    /// IOPS and latency by outstanding I/Os
    Curve,
    /// Every interval
    Intervals,
    /// Every bucket of every histogram
    Histograms,
    /// Every query of `bench dss`
    Queries,
    /// Steps of a load on a database, with the counters of server, host and device
    Ladder,
    /// Every kind of transaction of every step of a load
    Transactions,
    /// Every cell of a study with its quantities
    Cells,
    /// Scaling of results with the factors of a study
    Factors,
    /// Published figures next to those of a study
    Published,
    /// Read time by working set
    Locality,
    /// Periods at one level of a soak
    Levels,
    /// Each judged cut
    Cuts,
    /// Each host of a run on several hosts
    Hosts,
    /// The rates of these hosts over time
    HostRates,
    /// Host activity during the run
    Watch,
}

impl CsvTable {
    const ALL: [Self; 15] = [
        Self::Curve,
        Self::Intervals,
        Self::Histograms,
        Self::Queries,
        Self::Ladder,
        Self::Transactions,
        Self::Cells,
        Self::Factors,
        Self::Published,
        Self::Locality,
        Self::Levels,
        Self::Cuts,
        Self::Hosts,
        Self::HostRates,
        Self::Watch,
    ];

    /// The table of a run; none where the run has no row of it.
    fn of(self, loaded: &LoadedRun, run: &RunPart) -> Result<Option<String>> {
        let (report, id) = (&loaded.report, run.reader.manifest().id.as_str());
        Ok(match self {
            Self::Curve => assay_report::curve_csv(report, id),
            Self::Intervals => intervals(run)?,
            Self::Histograms => assay_report::histograms_csv(report, id),
            Self::Queries => assay_report::queries_csv(report, id),
            Self::Ladder => assay_report::ladder_csv(report, id),
            Self::Transactions => assay_report::transactions_csv(report, id),
            Self::Cells => assay_report::cells_csv(report, id),
            Self::Factors => assay_report::factors_csv(report, id),
            Self::Published => assay_report::published_csv(report, id),
            Self::Locality => assay_report::locality_csv(report, id),
            Self::Levels => assay_report::levels_csv(report, id),
            Self::Cuts => assay_report::cuts_csv(report, id),
            Self::Hosts => assay_report::hosts_csv(report, id),
            Self::HostRates => assay_report::host_rates_csv(report, id),
            Self::Watch => watch(&run.reader)?,
        })
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Forms of other programs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportForm {
    /// fio's JSON of version 3.3x
    FioJson,
    /// ORION's summary
    Orion,
    /// SLOB's table of AWR reports
    Slob,
}

/// Carries the command out.
///
/// # Errors
/// What the store says, or a file that cannot be written; an existing file is not overwritten.
pub fn run(options: &ReportCommandOptions) -> Result<ExitStatus> {
    // Invalid criteria are refused before the run is read.
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let file = Path::new(&options.run);
    if file.is_file() {
        return report_file(file, options, criteria.as_ref());
    }
    let run = RunPart::open(&options.run, &options.store.open())?;
    let loaded = LoadedRun::read_part(&run)?;
    report_run(&run, loaded, options, criteria.as_ref())
}

/// Judges a run where that is required, and prints it.
fn report_run(
    run: &RunPart,
    mut loaded: LoadedRun,
    options: &ReportCommandOptions,
    criteria: Option<&CriteriaSource>,
) -> Result<ExitStatus> {
    if let Some(criteria) = criteria {
        loaded.report.verdict = Some(loaded.judge(&criteria.rules));
    }
    write_or_print(options, run, &loaded)?;
    Ok(match &loaded.report.verdict {
        Some(verdict) if options.criteria.is_some() => verdict.outcome.into(),
        _ => ExitStatus::Success,
    })
}

/// The result of another program: imported into a store that ends with the command. Of several runs
/// in one file the first end that is not a success counts.
fn report_file(
    file: &Path,
    options: &ReportCommandOptions,
    criteria: Option<&CriteriaSource>,
) -> Result<ExitStatus> {
    let store = TemporaryStore::create()?;
    let store_options = StoreOptions { store: Some(store.directory.clone()) };
    let context = context(&store_options, &options.output)?;
    let mut worst = ExitStatus::Success;
    for group in read_groups(&[file.to_owned()])? {
        for finished in import_group(&group, true, &context)? {
            let run = RunPart { reader: finished.run, part: None };
            let status = report_run(&run, finished.loaded, options, criteria)?;
            if worst == ExitStatus::Success {
                worst = status;
            }
        }
    }
    Ok(worst)
}

/// A store of one command, readable only by its user.
struct TemporaryStore {
    directory: PathBuf,
}

impl TemporaryStore {
    fn create() -> Result<Self> {
        let directory = std::env::temp_dir().join(format!("assay-report-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&directory).map_err(|error| {
            Error::environment(
                format!("creating {}: {error}", directory.display()),
                "set TMPDIR to a directory that you can write, or use `assay runs import FILE`",
            )
        })?;
        Ok(Self { directory })
    }
}

impl Drop for TemporaryStore {
    fn drop(&mut self) {
        // What is left behind is a copy.
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

/// The page, the drawings, or one of the forms on standard output.
fn write_or_print(
    options: &ReportCommandOptions,
    run: &RunPart,
    loaded: &LoadedRun,
) -> Result<ExitStatus> {
    let shown = Shown { relative: options.relative };
    if let Some(path) = &options.html {
        write_new(path, assay_report::html(&loaded.report, shown).as_bytes())?;
    }
    if let Some(directory) = &options.svg {
        for (name, drawing) in assay_report::svg(&loaded.report, shown) {
            write_new(&directory.join(name), drawing.as_bytes())?;
        }
    }
    if let Some(form) = options.form {
        return print_as(form, run, loaded, options.out.as_deref());
    }
    if let Some(table) = options.jsonl {
        return print(&assay_report::json_lines(&csv(table, loaded, run)?));
    }
    match options.csv {
        Some(table) => print(&csv(table, loaded, run)?),
        None if options.html.is_some() || options.svg.is_some() => Ok(ExitStatus::Success),
        None if options.relative || is_of_file(options) && !options.output.json => {
            print_report(&assay_report::text(&loaded.report, shown, layout(options.output.full)))
        }
        None => show(loaded, &run.reader, &options.output),
    }
}

/// Whether the run is only shown and not kept.
fn is_of_file(options: &ReportCommandOptions) -> bool {
    Path::new(&options.run).is_file()
}

/// The run in another program's form.
///
/// # Errors
/// A usage error where the run holds nothing of what the form shows.
fn print_as(
    form: ExportForm,
    run: &RunPart,
    loaded: &LoadedRun,
    out: Option<&Path>,
) -> Result<ExitStatus> {
    let nothing = |what: &str| {
        Error::usage(
            format!("the run {} has no {what}", run.place()),
            "specify another run or another format",
        )
    };
    match form {
        ExportForm::FioJson => print_measured(run),
        ExportForm::Orion => {
            let files = orion_files(run, loaded);
            let first = files.first().ok_or_else(|| nothing("calibration or matrix"))?;
            if let Some(directory) = out {
                files.iter().try_for_each(|files| write_orion(directory, files))?;
            } else if files.len() > 1 {
                say(&format!("note: this is the first of {} mixes; --out writes all", files.len()));
            }
            print(&first.summary)
        }
        ExportForm::Slob => {
            let load = loaded.report.load.as_ref().ok_or_else(|| nothing("load of a database"))?;
            print(&slob(load))
        }
    }
}

/// ORION's files of each mix of a calibration, or of the matrix of a study, named as its test.
fn orion_files(run: &RunPart, loaded: &LoadedRun) -> Vec<OrionFiles> {
    let words = &run.reader.manifest().command;
    let command = words.join(" ");
    if let Some(study) = &loaded.report.study {
        return orion_matrix(study, &command).into_iter().collect();
    }
    let calibration = loaded.report.calibration.as_ref();
    let mut files = calibration.map(|calibration| orion(calibration, &command)).unwrap_or_default();
    let name = words.iter().skip_while(|word| *word != "-testname").nth(1);
    if let (Some(first), Some(name)) = (files.first_mut(), name) {
        first.name.clone_from(name);
    }
    files
}

fn write_orion(directory: &Path, files: &OrionFiles) -> Result<()> {
    let texts = [
        ("summary.txt", &files.summary),
        ("iops.csv", &files.iops),
        ("mbps.csv", &files.mbps),
        ("lat.csv", &files.latency),
    ];
    texts.iter().try_for_each(|(what, text)| {
        write_new(&directory.join(format!("{}_{what}", files.name)), text.as_bytes())
    })
}

/// Every cell of the run with its intervals.
fn print_measured(run: &RunPart) -> Result<ExitStatus> {
    let mut cells = Vec::new();
    for cell in run.reader.cells()?.into_iter().filter(|cell| run.has(cell)) {
        let intervals = cell.summaries()?.collect::<Result<Vec<_>>>()?;
        cells.push((cell.measurement()?, cell.workload().ok(), intervals));
    }
    let written: Vec<OutputRun<'_>> = cells
        .iter()
        .map(|(measurement, workload, intervals)| OutputRun {
            measurement,
            workload: workload.as_ref(),
            intervals,
        })
        .collect();
    if written.is_empty() {
        return Err(Error::usage(
            format!("the run {} does not contain the measurement of a workload", run.place()),
            "specify a run of `assay run`, `soak` or `study`",
        ));
    }
    print(&fio_json(&written, &run.reader.manifest().tool_version))
}

/// A table of a run.
///
/// # Errors
/// A usage error with the tables that the run has, where this one would have no row.
fn csv(table: CsvTable, loaded: &LoadedRun, run: &RunPart) -> Result<String> {
    if let Some(text) = table.of(loaded, run)? {
        return Ok(text);
    }
    let mut names = Vec::new();
    for other in CsvTable::ALL {
        if other.of(loaded, run)?.is_some() {
            names.push(other.name());
        }
    }
    let manifest = run.reader.manifest();
    let message =
        format!("the run {} ({}) has no {}", manifest.id, manifest.kind.name(), table.name());
    let hint = match names.as_slice() {
        names if table == CsvTable::Watch && manifest.kind == RunKind::Bench => format!(
            "a load keeps the host activity per step: use --csv ladder (it has {})",
            names.join(", ")
        ),
        [] => "it has no tables".to_owned(),
        names => format!("it has {}", names.join(", ")),
    };
    Err(Error::usage(message, hint))
}

/// Every interval of every cell.
fn intervals(run: &RunPart) -> Result<Option<String>> {
    let (mut text, id) = (String::new(), run.reader.manifest().id.as_str());
    for cell in run.reader.cells()?.into_iter().filter(|cell| run.has(cell)) {
        let workload = cell.workload().map(|workload| workload.name).unwrap_or_default();
        for summary in cell.summaries()? {
            let origin = [id, cell.name(), &workload];
            text.push_str(&assay_report::intervals_csv(origin, &[summary?]));
        }
    }
    Ok((!text.is_empty()).then(|| assay_report::INTERVALS_HEADER.to_owned() + &text))
}

/// Every moment of the host during the run.
fn watch(run: &RunReader) -> Result<Option<String>> {
    let (mut text, id) = (String::new(), run.manifest().id.as_str());
    for moment in run.moments()? {
        for line in assay_report::watch_csv(&moment?).lines() {
            let _ = writeln!(text, "{id},{line}");
        }
    }
    Ok((!text.is_empty()).then(|| format!("run_id,{}{text}", assay_report::WATCH_HEADER)))
}
