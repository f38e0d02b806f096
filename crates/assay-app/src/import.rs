//! Results of other programs become runs of the store, with what they lack said in them.

use crate::context::Context;
use crate::finish::{FinishedRun, finish_run, finish_with_page};
use crate::plan_document::PlanDocument;
use crate::reports::{ReportRequest, read_files};
use assay_archives::oswatcher::tool_means;
use assay_formats::results::{
    ImportedContent, ImportedResult, ImportedRow, ImportedRun, Lack, import, report_row,
};
use assay_host::clock::unix_ns;
use assay_judge::{factor_curves, factor_scaling};
use assay_methods::files::{read_foreign, read_foreign_plain};
use assay_model::measurement::{Finish, Measurement, Remark, Window};
use assay_model::number::count_of;
use assay_model::run::{Event, EventKind, RunKind};
use assay_model::study::{Cell, CellResult, CellState, FactorValue, Setting, StudyResult};
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Estimate, Outcome, Result};
use assay_store::{CellStart, Document, Durability, NewRun, RunWriter};
use serde::{Deserialize, Serialize};
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

/// Imports a file, or a folder of a SLOB run; each measurement in it becomes a run.
///
/// # Errors
/// A usage error when the file is not a known result, is cut off, or was imported before and `again` is not set.
pub fn import_file(path: &Path, again: bool, context: &Context) -> Result<Vec<FinishedRun>> {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let (result, content) = if path.is_dir() {
        read_folder(path, &name)?
    } else {
        let text = read_foreign(path, "result")?;
        (import(&text, &name).map_err(|error| error.context(path.display()))?, text)
    };
    let plan = ImportPlan {
        program: result.program.clone(),
        file: name,
        crc32: crc32fast::hash(content.as_bytes()),
        bytes: count_of(content.len()),
    };
    if let Some(run) = imported_before(&plan, context)?.filter(|_| !again) {
        return Err(Error::usage(
            format!("{} was imported before, as the run {run}", path.display()),
            "use that run, or import it a second time with --again",
        ));
    }
    match &result.content {
        ImportedContent::Runs(runs) => {
            runs.iter().map(|run| keep_run(run, &result, &plan, context)).collect()
        }
        ImportedContent::Rows(rows) => Ok(vec![keep_rows(rows, &result, &plan, context)?]),
    }
}

/// The run that holds the same content, where there is one.
fn imported_before(plan: &ImportPlan, context: &Context) -> Result<Option<String>> {
    for run in context.store.runs()?.runs {
        let Ok(reader) = context.store.open(&run.path.display().to_string()) else { continue };
        let Ok(Some(text)) = reader.document(Document::Plan) else { continue };
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
        why: "Assay has checked nothing of how it was measured".to_owned(),
        remedy: "compare it with runs of Assay only where the load was the same".to_owned(),
    };
    let lack = |lack: &Lack| Remark {
        what: lack.to_string(),
        why: lack.meaning().to_owned(),
        remedy: "measure with `assay run` where that matters".to_owned(),
    };
    std::iter::once(origin).chain(result.lacks.iter().map(lack)).collect()
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
    if measurement.started_unix_ns == 0 {
        measurement.started_unix_ns = writer.manifest().created_unix_ns;
    }
    let start = CellStart {
        started_unix_ns: measurement.started_unix_ns,
        conduct: measurement.conduct.clone(),
        durability: Durability::Finished,
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
        cells.push(CellResult {
            cell: Cell { number, repeat, settings: row.settings.clone(), restored: false },
            state: CellState::Measured,
            directory: String::new(),
            run: String::new(),
            elapsed_s: row.elapsed_s.unwrap_or(0.0),
            host_busy_share: None,
            measures: row.measures.clone(),
            course: None,
            doubt: None,
            hooks: Vec::new(),
        });
    }
    let curves = factor_curves(&cells);
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
    };
    writer.put_json(Document::Results, &study)?;
    finish_with_page(writer, &Finish::Complete, Outcome::Pass)
}

/// What `iostat` and `vmstat` saw of the host during a SLOB run, which its script writes next to the report.
fn add_host(row: &mut ImportedRow, folder: &Path) {
    let text = |name: &str| read_foreign_plain(&folder.join(name), "output").unwrap_or_default();
    let means = tool_means(&text("iostat.out"), &text("vmstat.out"));
    let measure = |quantity: &str, value: f64| NamedEstimate {
        quantity: quantity.to_owned(),
        subject: None,
        estimate: Estimate::without_interval(value, 1),
    };
    row.measures.extend(means.cpu_busy_share.map(|share| measure("host.cpu_busy", share)));
    if let Some((name, rates)) = means.busiest {
        row.settings.push(Setting { factor: "device".to_owned(), value: FactorValue::Text(name) });
        row.measures.push(measure("storage.read_throughput", rates.read_bytes_per_s));
    }
}

/// A folder of a SLOB run: its AWR texts, each a row.
fn read_folder(path: &Path, name: &str) -> Result<(ImportedResult, String)> {
    let wanted = ReportRequest { profiles: true, medium: None };
    let files = read_files(&[PathBuf::from(path)], wanted);
    let reports = files.into_iter().flat_map(|file| file.reports);
    let profiles: Vec<_> =
        reports.filter_map(|report| Some((report.file, report.profile?))).collect();
    if profiles.is_empty() {
        return Err(Error::usage(
            format!("{} holds no AWR report", path.display()),
            "name a file of results, or the folder of a SLOB run with its awr.txt",
        ));
    }
    let mut rows: Vec<ImportedRow> =
        profiles.iter().map(|(file, profile)| report_row(file, profile)).collect();
    // One run left one report and one output of each tool; those of several runs would be guessed apart.
    if let [row] = rows.as_mut_slice() {
        add_host(row, path);
    }
    let content = format!("{rows:?}");
    let result = ImportedResult {
        program: "SLOB".to_owned(),
        name: name.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks: vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment],
    };
    Ok((result, content))
}
