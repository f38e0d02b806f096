//! Results of other programs become runs of the store, with what they lack said in them.

use crate::context::Context;
use crate::finish::{FinishedRun, finish_run, finish_with_page};
use crate::other_file::{has_report, other_file};
use crate::plan_document::PlanDocument;
use crate::slob_folder::{NamedFiles, read_folder};
use assay_formats::results::{
    ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, NamedText, are_of_one_run,
    companion, drop_rounded_times, import_files, program,
};
use assay_host::clock::unix_ns;
use assay_judge::{factor_scaling, imported_curves};
use assay_methods::files::{read_foreign, read_foreign_plain};
use assay_methods::patterns::describe;
use assay_model::measurement::{Finish, Measurement, Remark, Window};
use assay_model::number::count_of;
use assay_model::run::{Event, EventKind, RunKind, Utc};
use assay_model::study::{Cell, CellResult, CellState, StudyResult};
use assay_model::{Error, Outcome, Result};
use assay_oracle::read_listing;
use assay_store::{CellStart, NewRun, RunWriter, StoredDocument, WriteDurability};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What was imported; kept as the plan of the run, so that the same file is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportPlan {
    /// The program that measured.
    pub program: String,
    /// Name of the file or folder.
    pub file: String,
    /// Checksum of its content.
    pub crc32: u32,
    /// Its length.
    pub bytes: u64,
}

/// The form in which the plan of an import is kept.
#[derive(Deserialize)]
struct KeptPlan {
    plan: ImportPlan,
}

/// Files of one run, and the first of them, by which they are called in errors.
pub struct ImportGroup {
    path: PathBuf,
    files: Vec<ImportedFile>,
    /// Files of a folder that are not results.
    left_out: NamedFiles,
}

/// A file as it was read.
struct ImportedFile {
    name: String,
    text: String,
}

impl ImportedFile {
    fn named(&self) -> NamedText<'_> {
        NamedText { name: &self.name, text: &self.text }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Reads files and puts together those that are of one run; the folder of a SLOB run is a group of
/// its own, and any other folder stands for the results in it.
///
/// # Errors
/// A usage error when a file cannot be read, or is not text.
pub fn read_groups(paths: &[PathBuf]) -> Result<Vec<ImportGroup>> {
    let mut groups: Vec<ImportGroup> = Vec::new();
    for path in paths {
        match path.is_dir().then(|| results_of(path)).transpose()? {
            Some(FolderFiles { results, .. }) if results.is_empty() => {
                groups.push(ImportGroup {
                    path: path.clone(),
                    files: Vec::new(),
                    left_out: NamedFiles::default(),
                });
            }
            Some(FolderFiles { results, left_out }) => {
                let first = groups.len();
                for (path, file) in results {
                    join(&mut groups, &path, file);
                }
                groups[first..]
                    .iter_mut()
                    .take(1)
                    .for_each(|group| group.left_out.clone_from(&left_out));
            }
            None => {
                let file =
                    ImportedFile { name: name_of(path), text: read_foreign(path, "result")? };
                join(&mut groups, path, file);
            }
        }
    }
    groups.iter_mut().for_each(add_companion);
    Ok(groups)
}

/// Puts a file to those of its run.
fn join(groups: &mut Vec<ImportGroup>, path: &Path, file: ImportedFile) {
    let same = |group: &&mut ImportGroup| {
        let first = group.files.first().filter(|_| group.path.parent() == path.parent());
        first.is_some_and(|first| are_of_one_run(&first.named(), &file.named()))
    };
    match groups.iter_mut().find(same) {
        Some(group) => group.files.push(file),
        None => groups.push(ImportGroup {
            path: path.to_owned(),
            files: vec![file],
            left_out: NamedFiles::default(),
        }),
    }
}

/// What a folder holds: results by path, and the names of its other files.
#[derive(Default)]
struct FolderFiles {
    results: Vec<(PathBuf, ImportedFile)>,
    left_out: NamedFiles,
}

/// The results in a folder by name, and the names of its other files; no results where it has AWR
/// reports.
fn results_of(folder: &Path) -> Result<FolderFiles> {
    let unreadable = |error: std::io::Error| {
        Error::environment(
            format!("reading {}: {error}", folder.display()),
            "specify a directory that you can read",
        )
    };
    let mut found = FolderFiles::default();
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let name = name_of(&path);
        match read_foreign_plain(&path, "result") {
            Ok(text) if program(&text).is_some() => {
                found.results.push((path, ImportedFile { name, text }));
            }
            Ok(text) if has_report(&text) => return Ok(FolderFiles::default()),
            read => found.left_out.add(name, read.as_deref().unwrap_or_default()),
        }
    }
    Ok(found)
}

/// Reads the file next to one that does not say everything itself.
fn add_companion(group: &mut ImportGroup) {
    let [only] = group.files.as_slice() else { return };
    let Some(name) = companion(&only.name) else { return };
    let text = read_foreign(&group.path.with_file_name(&name), "summary");
    group.files.extend(text.ok().map(|text| ImportedFile { name, text }));
}

/// Imports the files of one run, or the folder of a SLOB run; each measurement in it becomes a run.
///
/// # Errors
/// A usage error when it is not a known result, is cut off, or was already imported and `again` is
/// not set.
pub fn import_group(
    group: &ImportGroup,
    again: bool,
    context: &Context,
) -> Result<Vec<FinishedRun>> {
    let path = &group.path;
    let mut names = BTreeSet::new();
    if let Some(twice) = group.files.iter().find(|file| !names.insert(&file.name)) {
        let twice = path.with_file_name(&twice.name);
        return Err(Error::usage(
            format!("{} is specified twice", twice.display()),
            "specify every file of a run once",
        ));
    }
    let (result, content) = if group.files.is_empty() {
        let folder = read_folder(path, &name_of(path))?;
        folder.notes.iter().for_each(|note| context.progress.say(note));
        (folder.result, folder.content)
    } else {
        group.left_out.notes().iter().for_each(|note| context.progress.say(note));
        let files: Vec<NamedText<'_>> = group.files.iter().map(ImportedFile::named).collect();
        let result = import_files(&files)
            .or_else(|error| listing(&files).ok_or(error))
            .map_err(|error| not_imported(error, &files, path))?;
        (result, files.iter().map(|file| file.text).collect::<String>())
    };
    let more = group.files.len().saturating_sub(1);
    let name = name_of(path);
    let plan = ImportPlan {
        program: result.program.clone(),
        file: if more > 0 { format!("{name} and {more} more") } else { name },
        crc32: crc32fast::hash(content.as_bytes()),
        bytes: count_of(content.len()),
    };
    if let Some(run) = imported_before(&plan, context)?.filter(|_| !again) {
        return Err(Error::usage(
            format!("{} was already imported as the run {run}", path.display()),
            "use that run, or import it again with --again",
        ));
    }
    match &result.content {
        ImportedContent::Runs(runs) => {
            runs.iter().map(|run| keep_run(run, &result, &plan, context)).collect()
        }
        ImportedContent::Rows(rows) => Ok(vec![keep_rows(rows, &result, &plan, context)?]),
    }
}

/// Why files cannot be imported; those of another command are named.
fn not_imported(error: Error, files: &[NamedText<'_>], path: &Path) -> Error {
    let is_known = |file: &&NamedText<'_>| program(file.text).is_some();
    let stranger = files.first().filter(|file| !is_known(file));
    let other = stranger.and_then(|file| other_file(file.text, &path.display().to_string()));
    other.unwrap_or_else(|| error.context(path.display()))
}

/// A listing of a database, as rows.
fn listing(files: &[NamedText<'_>]) -> Option<ImportedResult> {
    let [file] = files else { return None };
    let listing = read_listing(file.text.as_bytes())?;
    let rows = listing.rows.into_iter().map(|row| ImportedRow {
        settings: row.settings,
        measures: row.measures,
        ..ImportedRow::default()
    });
    let mut rows: Vec<ImportedRow> = rows.collect();
    let mut lacks =
        vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment, Lack::Date];
    lacks.extend(drop_rounded_times(&mut rows));
    if !listing.has_rates {
        lacks.push(Lack::Rates);
    }
    Some(ImportedResult {
        program: listing.source.to_owned(),
        name: "listing".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    })
}

/// The run that holds the same content, where there is one.
fn imported_before(plan: &ImportPlan, context: &Context) -> Result<Option<String>> {
    for run in context.store.runs()?.runs {
        let Ok(reader) = context.store.open(&run.path.display().to_string()) else { continue };
        let Ok(Some(text)) = reader.document(StoredDocument::Plan) else { continue };
        let kept = serde_json::from_str::<KeptPlan>(&text).ok().map(|kept| kept.plan);
        if kept.is_some_and(|kept| (kept.crc32, kept.bytes) == (plan.crc32, plan.bytes)) {
            return Ok(Some(reader.manifest().id.clone()));
        }
    }
    Ok(None)
}

fn create(kind: RunKind, plan: &ImportPlan, context: &Context) -> Result<RunWriter> {
    let writer = context.store.create(&NewRun {
        kind,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: context.command.clone(),
        targets: vec![format!("{} of {}", plan.file, plan.program)],
        created_unix_ns: unix_ns(),
    })?;
    PlanDocument::new(plan)?.keep(&writer)?;
    Ok(writer)
}

/// What a reader must know of the result.
fn remarks(result: &ImportedResult, plan: &ImportPlan) -> Vec<Remark> {
    let origin = Remark {
        what: format!("measured by {}, imported from {}", plan.program, plan.file),
        why: "Assay did not check how it was measured".to_owned(),
        remedy: "compare it with runs of Assay only if the load was the same".to_owned(),
    };
    let lack = |lack: &Lack| Remark {
        what: lack.to_string(),
        why: lack.meaning().to_owned(),
        remedy: "measure with `assay run` if that matters".to_owned(),
    };
    std::iter::once(origin).chain(result.lacks.iter().map(lack)).collect()
}

/// The load that the result names, its engine and its date, in one sentence: the numbers are of no
/// other.
fn load(run: &ImportedRun, result: &ImportedResult) -> Option<Remark> {
    if result.lacks.contains(&Lack::Load) {
        return None;
    }
    let mut streams: Vec<(String, usize)> = Vec::new();
    for words in run.workload.streams.iter().map(describe) {
        match streams.last_mut().filter(|(last, _)| *last == words) {
            Some((_, jobs)) => *jobs += 1,
            None => streams.push((words, 1)),
        }
    }
    let words = streams.into_iter().map(|(words, jobs)| match jobs {
        1 => words,
        jobs => format!("{jobs} jobs of {words}"),
    });
    let mut parts = vec![words.collect::<Vec<_>>().join("; ")];
    let engine = run.measurement.conduct.features.get(1);
    parts.extend(engine.map(|engine| format!("engine {engine}")));
    let warm_up = run.workload.warm_up;
    parts.extend((warm_up.0 > 0).then(|| format!("after {warm_up} of warm-up")));
    let started_ns = run.measurement.started_unix_ns;
    parts.extend((started_ns > 0).then(|| format!("started {} UTC", Utc::of(started_ns))));
    Some(Remark {
        what: format!("load of the result: {}", parts.join(", ")),
        why: "the numbers are of this load only".to_owned(),
        remedy: "compare it only with runs of the same load".to_owned(),
    })
}

fn keep_run(
    run: &ImportedRun,
    result: &ImportedResult,
    plan: &ImportPlan,
    context: &Context,
) -> Result<FinishedRun> {
    run.workload.check()?;
    let writer = create(RunKind::Run, plan, context)?;
    let mut measurement: Measurement = run.measurement.clone();
    measurement.conduct.remarks = remarks(result, plan);
    measurement.conduct.remarks.extend(load(run, result));
    if measurement.started_unix_ns == 0 {
        measurement.started_unix_ns = writer.manifest().created_unix_ns;
    }
    let start = CellStart {
        started_unix_ns: measurement.started_unix_ns,
        conduct: measurement.conduct.clone(),
        durability: WriteDurability::Finished,
    };
    let mut cell = writer.create_cell("run", &run.workload, &start)?;
    for (interval, streams) in &run.intervals {
        let joint = Window {
            first_interval: interval.index,
            intervals: 1,
            streams: streams.clone(),
            targets: Vec::new(),
        };
        cell.append_interval(interval, &joint)?;
    }
    let measurement = cell.finish(measurement)?;
    finish_run(writer, &measurement.finish, None)
}

fn keep_rows(
    rows: &[ImportedRow],
    result: &ImportedResult,
    plan: &ImportPlan,
    context: &Context,
) -> Result<FinishedRun> {
    let mut writer = create(RunKind::Study, plan, context)?;
    let remarks = remarks(result, plan);
    for remark in &remarks {
        let what = EventKind::Remark(remark.clone());
        writer.event(&Event { at_unix_ns: unix_ns(), cell: None, what })?;
    }
    let mut cells: Vec<CellResult> = Vec::new();
    for (number, row) in (1..).zip(rows) {
        let before = cells.iter().filter(|cell| cell.cell.settings == row.settings).count();
        let repeat = u32::try_from(before + 1).unwrap_or(u32::MAX);
        let cell = Cell { number, repeat, settings: row.settings.clone(), restored: false };
        cells.push(CellResult {
            started_unix_ns: row.started_unix_ns,
            elapsed_s: row.elapsed_s.unwrap_or(0.0),
            measures: row.measures.clone(),
            ..CellResult::new(cell, CellState::Measured)
        });
    }
    let curves = imported_curves(&cells);
    let study = StudyResult {
        format: 1,
        study: format!("{}: {}", result.program, result.name),
        description: String::new(),
        planned: u32::try_from(cells.len()).unwrap_or(u32::MAX),
        notes: remarks.iter().map(|remark| format!("{}: {}.", remark.what, remark.why)).collect(),
        cells,
        scaling: factor_scaling(&curves),
        curves,
        course: None,
        published: Vec::new(),
        mean_latency_max: None,
    };
    writer.put_json(StoredDocument::Results, &study)?;
    finish_with_page(writer, &Finish::Complete, Outcome::Pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_store::Store;

    const RESULT: &str = "Vuser 1:8 Active Virtual Users configured\nVuser 1:TEST RESULT : System \
                          achieved 600 NOPM from 1200 PostgreSQL TPM\n";

    /// A folder with these files, which its test removes.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("assay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            std::fs::write(folder.join(file), text).unwrap();
        }
        folder
    }

    #[test]
    fn every_result_of_a_folder_is_a_run_and_the_other_files_are_named() {
        let of_jobs = ["500, 1000, 0, 0, 0\n", "500, 500, 0, 0, 0\n"];
        let folder = folder(
            "import",
            &[
                ("a.log", RESULT),
                ("x_bw.1.log", of_jobs[0]),
                ("x_bw.2.log", of_jobs[1]),
                ("notes.md", "the array was cold\n"),
            ],
        );
        let groups = read_groups(std::slice::from_ref(&folder)).unwrap();
        let sizes: Vec<usize> = groups.iter().map(|group| group.files.len()).collect();
        assert_eq!(
            (sizes, &groups[0].left_out.notes()[..]),
            (
                vec![1, 2],
                &["note: not read, because they are not results: notes.md".to_owned()][..]
            )
        );
        let context = Context::new(Store::at(folder.join("runs")));
        for group in &groups {
            assert_eq!(import_group(group, false, &context).unwrap().len(), 1);
        }
        let error = import_group(&groups[0], false, &context).err().unwrap();
        assert!(error.message().contains("was already imported"), "{error}");
        let empty = folder.join("empty");
        std::fs::create_dir(&empty).unwrap();
        let group = &read_groups(&[empty]).unwrap()[0];
        let error = import_group(group, false, &context).err().unwrap();
        assert!(error.message().ends_with("contains neither results nor AWR reports"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_log_of_a_run_that_is_named_twice_is_named() {
        let folder = folder("twice", &[("x_bw.1.log", "500, 1000, 0, 0, 0\n")]);
        let log = folder.join("x_bw.1.log");
        let groups = read_groups(&[log.clone(), log.clone()]).unwrap();
        let context = Context::new(Store::at(folder.join("runs")));
        let error = import_group(&groups[0], false, &context).err().unwrap();
        assert_eq!(error.message(), format!("{} is specified twice", log.display()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
