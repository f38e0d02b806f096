//! `assay profile`: what a database asked of its storage, from AWR and Statspack reports, or of a
//! live server.

use crate::demand_options::DemandOptions;
use crate::documents::{ProfileList, ReportTable};
use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::{COMMON, OutputOptions, StoreOptions, context, progress};
use crate::signals::stop_flag;
use crate::table;
use crate::terminal::layout;
use assay_app::capacity::parse_capacities;
use assay_app::database_source::DatabaseSource;
use assay_app::live_profile::{ServerWatch, profile};
use assay_app::new_file::write_new;
use assay_app::reports::{ReadReport, ReportRequest, read_files, skipped};
use assay_dbserver::redacted;
use assay_methods::files::read_document;
use assay_methods::{PlanOptions, plan};
use assay_model::load::Dialect;
use assay_model::profile::{Profile, StorageMedium};
use assay_model::units::Nanos;
use assay_model::{Blame, Error, Result};
use assay_oracle::RAC_STATS_HEADER;
use assay_report::{NamedProfile, profile_text, profiles_html};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Show what a database demands of its storage
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:
  assay profile awr.html
  assay profile reports/ --csv
  assay profile postgresql://user@host/database --time 60s
  assay profile awr.html --workload database.toml")]
pub struct ProfileOptions {
    /// Reports as text or HTML, also compressed with gzip or zip, or folders of them. Assay
    /// detects the type of a file from its content. Or the address of a server, `postgresql://
    /// user@host:port/database` or `mysql://user:password@host:port/database`
    #[arg(value_name = "DB", required = true)]
    files: Vec<PathBuf>,
    /// How long to watch a server
    #[arg(long, alias = "duration", value_name = "TIME", default_value = "60s")]
    time: Nanos,
    /// While watching, read one random block of a PostgreSQL server's largest table 20 times per
    /// second and report its latency
    #[arg(long)]
    canary: bool,
    /// Print one row per report; the default for several reports and for folders
    #[arg(long)]
    table: bool,
    /// Print the rows as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print the rows in another program's format: `rac_stats` is the table of EMC's script
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with_all = ["csv", "json"])]
    form: Option<RowForm>,
    /// Type of storage behind the reports, which sets the latency limits; reports do not state it,
    /// and by default the limits of disks apply
    #[arg(long, value_name = "MEDIUM", value_enum)]
    storage: Option<StorageMedium>,
    /// File of tablespace sizes, one `NAME,SIZE` per line, to rank tablespaces by time saved per
    /// byte on faster storage
    #[arg(long, value_name = "FILE")]
    capacity: Option<PathBuf>,
    /// Write the page to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write each profile to this directory as `NAME.profile.json`
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write the same I/O demand as a workload for `assay run` to this new file; - prints it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["table", "csv", "form", "json"])]
    workload: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Options with --workload")]
    demand: DemandOptions,
    /// Print the profile as JSON, several as a list; with --table, the rows
    #[arg(long, help_heading = COMMON)]
    json: bool,
    /// Print the full text on a terminal, not only the first screen
    #[arg(long, help_heading = COMMON)]
    full: bool,
    /// Do not print progress or notes on standard error
    #[arg(long, short, help_heading = COMMON)]
    quiet: bool,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
}

/// Forms of rows that other programs read.
#[derive(Clone, Copy, ValueEnum)]
enum RowForm {
    /// The table of `rac_stats.sh`
    #[value(name = "rac_stats")]
    RacStats,
}

/// Carries the command out.
///
/// # Errors
/// When no file holds a report, or what is to be written exists; other files that cannot be read
/// are reported one by one, the rest goes on, and the exit code says so.
pub fn run(options: &ProfileOptions) -> Result<ExitStatus> {
    if let Some(path) = &options.workload {
        return write_workload(path, options);
    }
    let (mut reports, errors) = match options.address()? {
        Some(address) => (vec![of_server(address, options)?], Vec::new()),
        None => match options.run() {
            Some(run) => (vec![of_run(run, options)?], Vec::new()),
            None => read(options),
        },
    };
    if reports.is_empty() {
        return Err(only(errors));
    }
    if let Some(path) = &options.capacity {
        rank(&mut reports, path)?;
    }
    write(&reports, options)?;
    show(&reports, options)?;
    say_skipped(options);
    Ok(say_errors(&errors))
}

/// Writes the workload to a new file; `-` is standard output.
///
/// # Errors
/// What the profile or the options say, or a file that cannot be written; an existing file is not
/// overwritten.
fn write_workload(path: &Path, options: &ProfileOptions) -> Result<ExitStatus> {
    let [named] = options.files.as_slice() else {
        return Err(Error::usage(
            "--workload takes one database",
            "specify one report, one folder with reports of one database, a profile, a run or an \
             address",
        ));
    };
    let quiet = OutputOptions { json: false, full: true, quiet: options.quiet };
    let context = context(&options.store, &quiet)?;
    let profile = DatabaseSource::open(&named.to_string_lossy(), options.time, &context)?.profile;
    let usual = PlanOptions::default();
    let text = plan(&profile, &options.demand.plan(usual.duration, usual.warm_up))?.to_toml()?;
    if path == Path::new("-") {
        return print(&text);
    }
    write_new(path, text.as_bytes())?;
    Ok(ExitStatus::Success)
}

/// Names what folders hold and nothing has read.
fn say_skipped(options: &ProfileOptions) {
    let skipped = skipped(&options.files);
    if !skipped.is_empty() && !options.quiet {
        let names: Vec<String> = skipped.iter().map(|path| path.display().to_string()).collect();
        crate::terminal::say(&format!(
            "note: not read, because the names are not those of reports: {}",
            names.join(", ")
        ));
    }
}

/// A live server, watched for a while.
fn of_server(address: &str, options: &ProfileOptions) -> Result<ReadReport> {
    let output = OutputOptions { json: options.json, full: true, quiet: options.quiet };
    refuse_existing(options.html.as_deref())?;
    let document =
        |name: &str| options.output.as_deref().map(|directory| directory.join(document_name(name)));
    let named = |name: &str| refuse_existing(document(name).as_deref());
    let wanted =
        ServerWatch { address, length: options.time, canary: options.canary, named: &named };
    let profile = profile(&wanted, &stop_flag()?, &progress(&output))?;
    // What the next commands name: the document that is written, else the server; its address may
    // hold a password.
    let file = document(&profile.name)
        .map_or_else(|| redacted(address), |path| path.display().to_string());
    Ok(ReadReport { file, row: Vec::new(), rac_stats: String::new(), profile: Some(profile) })
}

/// A run that keeps a profile, or a step of a benchmark.
fn of_run(named: &str, options: &ProfileOptions) -> Result<ReadReport> {
    let output = OutputOptions { json: options.json, full: true, quiet: options.quiet };
    let context = context(&options.store, &output)?;
    let profile = DatabaseSource::open(named, options.time, &context)?.profile;
    let file = named.to_owned();
    Ok(ReadReport { file, row: Vec::new(), rac_stats: String::new(), profile: Some(profile) })
}

/// Refuses what cannot be written before anything is watched.
fn refuse_existing(path: Option<&Path>) -> Result<()> {
    match path.filter(|path| path.exists()) {
        None => Ok(()),
        Some(path) => Err(Error::usage(
            format!("{} already exists", path.display()),
            "specify a new file or another directory",
        )),
    }
}

/// The name of the document of a profile.
fn document_name(name: &str) -> String {
    let name = Path::new(name).file_name().unwrap_or_default().display().to_string();
    if name.ends_with(DOCUMENT) { name } else { format!("{name}{DOCUMENT}") }
}

/// How names of profiles end.
const DOCUMENT: &str = ".profile.json";

/// All reports, and what was wrong with the rest.
fn read(options: &ProfileOptions) -> (Vec<ReadReport>, Vec<Error>) {
    let rows_only = options.is_table() && options.html.is_none() && options.output.is_none();
    let wanted = ReportRequest { profiles: !rows_only, medium: options.storage };
    let files = read_files(&options.files, wanted).into_iter();
    let (reports, errors): (Vec<_>, Vec<_>) = files.map(|file| (file.reports, file.errors)).unzip();
    (flat(reports), flat(errors))
}

fn flat<T>(lists: Vec<Vec<T>>) -> Vec<T> {
    lists.into_iter().flatten().collect()
}

impl ProfileOptions {
    /// The server that is asked for; its profile is one, and no row of reports.
    fn address(&self) -> Result<Option<&str>> {
        let names = || self.files.iter().filter_map(|file| file.to_str());
        let address = names().find(|name| Dialect::of_address(name).is_some());
        if address.is_some() && self.storage.is_some() {
            return Err(Error::usage(
                "--storage applies to reports only: a server is profiled without limits for its \
                 storage",
                "leave --storage out",
            ));
        }
        if address.is_some() && (self.files.len() > 1 || self.table || self.csv) {
            return Err(Error::usage(
                "a server cannot be combined with other sources or printed as a table",
                "specify only the server, without --table and --csv",
            ));
        }
        Ok(address)
    }

    /// The one word that names a run, or a mistake.
    fn run(&self) -> Option<&str> {
        match self.files.as_slice() {
            [one] if !one.exists() => one.to_str(),
            _ => None,
        }
    }

    /// Whether rows are printed and no profile.
    fn is_table(&self) -> bool {
        let has_folder = || self.files.iter().any(|file| file.is_dir());
        let is_series = !self.json && (self.files.len() > 1 || has_folder());
        self.table || self.csv || self.form.is_some() || is_series
    }
}

/// The last error, after all others were printed.
fn only(mut errors: Vec<Error>) -> Error {
    let last =
        errors.pop().unwrap_or_else(|| Error::usage("no report was named", "specify a report"));
    say_errors(&errors);
    last
}

/// Prints what could not be read; the code of the exit says that there was something.
fn say_errors(errors: &[Error]) -> ExitStatus {
    for error in errors {
        crate::terminal::say(&crate::options::without_passwords(&error.to_string()));
    }
    match errors.iter().map(Error::blame).next() {
        None => ExitStatus::Success,
        Some(Blame::Usage) => ExitStatus::Usage,
        Some(Blame::Environment) => ExitStatus::Aborted,
    }
}

/// Puts sizes to the tablespaces.
fn rank(reports: &mut [ReadReport], path: &Path) -> Result<()> {
    let sizes = parse_capacities(&read_document(path, "capacity")?)
        .map_err(|error| error.context(path.display()))?;
    let size = |name: &str| sizes.get(name).copied();
    for report in reports {
        report.profile = report.profile.take().map(|profile| profile.with_capacities(size));
    }
    Ok(())
}

fn named(reports: &[ReadReport]) -> Vec<NamedProfile<'_>> {
    let named = reports.iter().filter_map(|report| {
        let (file, profile) = (report.file.as_str(), report.profile.as_ref()?);
        Some(NamedProfile { file, profile })
    });
    named.collect()
}

/// Writes the page and the documents that are asked for.
fn write(reports: &[ReadReport], options: &ProfileOptions) -> Result<()> {
    if let Some(path) = &options.html {
        let program = format!("assay {}", env!("CARGO_PKG_VERSION"));
        write_new(path, profiles_html(&named(reports), &program).as_bytes())?;
    }
    let directory = options.output.as_deref();
    directory.map_or(Ok(()), |directory| write_documents(reports, directory))
}

fn write_documents(reports: &[ReadReport], directory: &Path) -> Result<()> {
    for NamedProfile { file, profile } in named(reports) {
        let path = directory.join(document_name(file));
        write_new(&path, json(profile)?.as_bytes())?;
    }
    Ok(())
}

fn show(reports: &[ReadReport], options: &ProfileOptions) -> Result<ExitStatus> {
    if options.is_table() || (reports.len() > 1 && !options.json) {
        return print(&rows(reports, options)?);
    }
    let named = named(reports);
    if options.json {
        return print(&documents(&named)?);
    }
    let layout = layout(options.full);
    let texts = named.iter().map(|named| profile_text(*named, layout));
    print_report(&texts.collect::<Vec<_>>().join("\n"))
}

fn rows(reports: &[ReadReport], options: &ProfileOptions) -> Result<String> {
    if let Some(RowForm::RacStats) = options.form {
        let lines = reports.iter().map(|report| report.rac_stats.as_str());
        let lines: Vec<&str> = std::iter::once(RAC_STATS_HEADER).chain(lines).collect();
        return Ok(lines.join("\n") + "\n");
    }
    let rows: Vec<_> = reports.iter().map(|report| report.row.clone()).collect();
    match (options.csv, options.json) {
        (true, _) => Ok(table::csv(&rows)),
        (false, true) => json(&ReportTable::of(table::json(&rows))),
        (false, false) => Ok(table::text(&rows)),
    }
}

/// One profile as it is, several in a list.
fn documents(named: &[NamedProfile<'_>]) -> Result<String> {
    let profiles: Vec<&Profile> = named.iter().map(|named| named.profile).collect();
    match profiles.as_slice() {
        [one] => json(one),
        several => json(&ProfileList::of(several)),
    }
}
