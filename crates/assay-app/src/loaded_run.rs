//! Gathers what the store holds of a run into one report, and judges it: the same for a run that
//! just ended and for one of last year.

use crate::host_samples::HostSamples;
use crate::recording::is_clock_step;
use crate::run_part::RunPart;
use crate::rung_cell::{is_rung, rung_cell};
use assay_judge::{
    CriteriaRules, Facts, JudgedLoadFacts, JudgedRun, Series, SeriesBuilder, StreamShare,
    estimates_of_run, last_change, no_interval_of_run, weighted_response,
};
use assay_model::calibration::Calibration;
use assay_model::cluster::Cluster;
use assay_model::dss::Dss;
use assay_model::durability::Durability;
use assay_model::environment::Environment;
use assay_model::integrity::Integrity;
use assay_model::load::{Load, Rung};
use assay_model::locality::Locality;
use assay_model::measurement::Remark;
use assay_model::projection::Projection;
use assay_model::run::{Event, EventKind, RunKind};
use assay_model::soak::Soak;
use assay_model::study::StudyResult;
use assay_model::verdict::{Bias, Doubt, NamedEstimate};
use assay_model::workload::parse_workload;
use assay_model::{Estimate, Outcome, Result, Verdict};
use assay_report::{GivenReport, InputDocument as Text, RunReport, TimelineBuilder};
use assay_store::{CellReader, RunReader, StoredDocument};

mod imported;

/// A run's documents, ready to be shown or judged.
pub struct LoadedRun {
    /// Everything that a page says; the verdict is the stored one.
    pub report: GivenReport,
    /// How each cell went over time, in the order of the report's runs.
    series: Vec<Series>,
    /// How each step of a load went over time, in their order.
    rungs: Vec<Series>,
    /// What watching the machine showed, or another program measured.
    watched: Vec<NamedEstimate>,
}

impl LoadedRun {
    /// Reads a run.
    pub fn read(run: &RunReader) -> Result<Self> {
        let manifest = run.manifest();
        let mut report = GivenReport {
            title: manifest.kind.name().to_owned(),
            target: target_names(&manifest.targets),
            created_unix_ns: manifest.created_unix_ns,
            program: format!("assay {}", manifest.tool_version),
            command: crate::command_line::typed(&manifest.command),
            run_id: manifest.id.clone(),
            verdict: run.json(StoredDocument::Verdict)?,
            calibration: run.json::<Calibration>(StoredDocument::Calibration)?,
            environment: run.json::<Environment>(StoredDocument::Environment)?,
            study: run.json::<StudyResult>(StoredDocument::Results)?,
            locality: run.json::<Locality>(StoredDocument::Locality)?,
            soak: run.json::<Soak>(StoredDocument::Soak)?,
            integrity: run.json::<Integrity>(StoredDocument::Integrity)?,
            load: run.json::<Load>(StoredDocument::Load)?,
            dss: run.json::<Dss>(StoredDocument::Dss)?,
            cluster: run.json::<Cluster>(StoredDocument::Cluster)?,
            projection: run.json::<Projection>(StoredDocument::Projection)?,
            ..GivenReport::default()
        };
        for document in [StoredDocument::Workload, StoredDocument::Criteria, StoredDocument::Study]
        {
            if let Some(text) = run.document(document)? {
                report.documents.push(Text { name: document.file_name().to_owned(), text });
            }
        }
        let events: Vec<Event> = run.events()?.filter_map(Result::ok).collect();
        let mut series = Vec::new();
        let is_paced = report.documents.iter().any(has_pattern);
        for cell in shown_cells(run)? {
            let (run, of_cell) = read_paced_cell(&cell, &events, is_paced)?;
            report.runs.push(run);
            series.push(of_cell);
        }
        // Imported results have events of their own, which their section shows.
        let is_watch = run.manifest().kind == RunKind::Watch;
        let is_shown = |remark: &Remark| is_watch || is_clock_step(remark);
        report.watch_remarks = events.into_iter().filter_map(remark).filter(is_shown).collect();
        let mut watched = watched(run, &mut report)?;
        if let Some(study) = report.study.as_ref() {
            watched.extend(imported::numbers(study));
            let begin = study.cells.iter().filter_map(|row| row.started_unix_ns).min();
            report.created_unix_ns = begin.unwrap_or(report.created_unix_ns);
        }
        let rungs = report.load.as_ref().map_or(Ok(Vec::new()), |load| series_of_rungs(run, load));
        Ok(Self { report, series, rungs: rungs?, watched })
    }

    /// Reads a run, or a cell or step of it alone. A part has no verdict of its own until it is
    /// judged.
    ///
    /// # Errors
    /// A usage error with the parts of the run where it has no such part, and what the store says.
    pub fn read_part(named: &RunPart) -> Result<Self> {
        let mut loaded = Self::read(&named.reader)?;
        let Some(part) = &named.part else { return Ok(loaded) };
        let kept = named.reader.cells()?;
        let cell = kept.iter().find(|cell| !is_rung(cell.name()) && named.has(cell));
        let report = &mut loaded.report;
        if let Some(cell) = cell {
            let events: Vec<Event> = named.reader.events()?.filter_map(Result::ok).collect();
            let (run, series) = read_cell(cell, &events)?;
            (report.runs, loaded.series) = (vec![run], vec![series]);
            (report.study, report.soak, report.calibration) = (None, None, None);
        } else if let Some(study) = row_of(report.study.take(), named.number()) {
            report.study = Some(study);
        } else if let Some(load) = step_of(report.load.take(), named.sessions()) {
            loaded.rungs = series_of_rungs(&named.reader, &load)?;
            report.load = Some(load);
        } else {
            return Err(named.unknown()?);
        }
        report.verdict = None;
        report.title = format!("{}, {part}", report.title);
        Ok(loaded)
    }

    /// Whether data was damaged, transactions were lost or queries failed: a failure whatever was
    /// asked.
    pub fn is_broken(&self) -> bool {
        let GivenReport { load, dss, integrity, .. } = &self.report;
        load.as_ref().is_some_and(Load::is_damaged)
            || integrity.as_ref().is_some_and(|found| found.outcome() == Outcome::Fail)
            || dss.as_ref().is_some_and(|dss| dss.outcome() == Outcome::Fail)
    }

    /// An outcome, or that nothing is decided where nothing could be verified or the sum over hosts
    /// is none.
    pub fn verified(&self, judged: Outcome) -> Outcome {
        let verified = self.report.integrity.as_ref().map(Integrity::outcome);
        let summed = self.report.cluster.as_ref().and_then(Cluster::doubt);
        let summed = summed.map(|_| Outcome::Inconclusive);
        let of_load = self.report.load.as_ref().and_then(|load| load.durability.as_ref());
        let cut = of_load.and_then(Durability::outcome);
        // Memory promises nothing that a power cut could break.
        let timed = self.report.integrity.as_ref().and_then(|found| found.durability.as_ref());
        let in_memory = timed.filter(|_| self.report.is_in_memory());
        let in_memory = in_memory.map(|_| Outcome::Inconclusive);
        let others = verified.into_iter().chain(summed).chain(cut).chain(in_memory);
        Outcome::of_all(std::iter::once(judged).chain(others))
    }

    /// Whether a host of several was lost: what the others measured is kept, and decides nothing.
    pub fn has_lost_host(&self) -> bool {
        self.report.cluster.as_ref().is_some_and(|cluster| cluster.lost().next().is_some())
    }

    /// Mean response times of streams of the last workload together, each times its weight.
    pub(crate) fn weighted_response(&self, weights: &[StreamShare<'_>]) -> Option<Estimate> {
        let (run, series) = self.report.runs.last().zip(self.series.last())?;
        weighted_response(JudgedRun { measurement: &run.measurement, series }, weights)
    }

    /// What a unit of the database's work takes with the times that were measured, where it was
    /// checked for one.
    fn database_response(&self) -> Option<NamedEstimate> {
        let replay = self.report.projection.as_ref()?.replay.as_ref()?;
        let estimate = replay.time_ratio.as_ref()?.scaled(1e9 * replay.base_s()?);
        let quantity = "database.response_time".to_owned();
        Some(NamedEstimate { quantity, subject: None, estimate })
    }

    /// Judges the run by rules.
    pub fn judge(&self, rules: &CriteriaRules) -> Verdict {
        let run = self.report.runs.last().zip(self.series.last());
        let given: Vec<NamedEstimate> =
            self.watched.iter().cloned().chain(self.database_response()).collect();
        let of_hosts = self.report.cluster.iter().filter_map(of_hosts);
        let doubts: Vec<Doubt> = of_hosts.chain(self.report.doubts()).collect();
        rules.judge(&Facts {
            calibration: self.report.calibration.as_ref(),
            run: run.map(|(run, series)| JudgedRun { measurement: &run.measurement, series }),
            load: self
                .report
                .load
                .as_ref()
                .map(|load| JudgedLoadFacts { load, series: &self.rungs }),
            dss: self.report.dss.as_ref(),
            integrity: self.report.integrity.as_ref(),
            given: &given,
            environment: self.report.environment.as_ref(),
            doubts: &doubts,
        })
    }
}

/// The row of that number alone.
fn row_of(study: Option<StudyResult>, number: Option<u32>) -> Option<StudyResult> {
    let (mut study, number) = (study?, number?);
    study.cells.retain(|row| row.cell.number == number);
    study.curves.clear();
    study.scaling.clear();
    (!study.cells.is_empty()).then_some(study)
}

/// The steps of that many sessions alone.
fn step_of(load: Option<Load>, sessions: Option<u32>) -> Option<Load> {
    let (mut load, sessions) = (load?, sessions?);
    load.rungs.retain(|rung| rung.sessions == sessions);
    (!load.rungs.is_empty()).then_some(load)
}

/// What an event says of the whole run.
fn remark(event: Event) -> Option<Remark> {
    match event.what {
        EventKind::Remark(remark) if event.cell.is_none() => Some(remark),
        _ => None,
    }
}

/// Whether a document is a workload whose load itself changes from second to second.
fn has_pattern(document: &Text) -> bool {
    document.name == StoredDocument::Workload.file_name()
        && parse_workload(&document.text).is_ok_and(|workload| workload.has_pattern())
}

/// What of hosts that measured together leaves every number in doubt.
fn of_hosts(cluster: &Cluster) -> Option<Doubt> {
    let remedy = "remove the cause and run again".to_owned();
    cluster.doubt().map(|what| Doubt { what, bias: Bias::Unknown, remedy })
}

/// The cells that a page shows one by one: those of a study or of many cycles are in its results.
fn shown_cells(run: &RunReader) -> Result<Vec<CellReader>> {
    // The steps of a ladder are reported together, from their own document.
    let cells = run.cells()?.into_iter().filter(|cell| !is_rung(cell.name()));
    let cells: Vec<CellReader> = cells.collect();
    let kind = run.manifest().kind;
    let many = kind == RunKind::Study || kind == RunKind::Soak && cells.len() > 1;
    Ok(if many { Vec::new() } else { cells })
}

/// How each step went over time; nothing of those whose intervals were not kept.
pub fn series_of_rungs(run: &RunReader, load: &Load) -> Result<Vec<Series>> {
    let of_rung = |rung: &Rung| {
        let Ok(cell) = run.cell(&rung_cell(rung.sessions, rung.repeat)) else {
            return Ok(Series::default());
        };
        let mut series = SeriesBuilder::new();
        for stretch in cell.joints()? {
            let (interval, joint) = stretch?;
            series.add(&interval);
            series.add_joint(&joint);
        }
        Ok(series.finish())
    };
    load.rungs.iter().map(of_rung).collect()
}

/// Puts what was watched into the report, and gives what it says to the criteria.
fn watched(run: &RunReader, report: &mut GivenReport) -> Result<Vec<NamedEstimate>> {
    let cells = run.cells()?;
    let mut watched = HostSamples::new(cells.last().map(CellReader::name));
    for moment in run.moments()? {
        watched.add(&moment?);
    }
    let given = if run.manifest().kind == RunKind::Watch {
        watched.everything(report.environment.as_ref())
    } else {
        watched.network()
    };
    report.watch = watched.finish();
    Ok(given)
}

/// A cell with its numbers, and how it went over time.
pub fn read_cell(cell: &CellReader, events: &[Event]) -> Result<(RunReport, Series)> {
    read_paced_cell(cell, events, false)
}

/// The same of a load that may itself change from second to second: then a change of level is not
/// the storage's.
fn read_paced_cell(
    cell: &CellReader,
    events: &[Event],
    is_paced: bool,
) -> Result<(RunReport, Series)> {
    let measurement = cell.measurement()?;
    let (mut timeline, mut series) = (TimelineBuilder::new(), SeriesBuilder::new());
    for stretch in cell.joints()? {
        let (interval, joint) = stretch?;
        timeline.add(&interval);
        series.add(&interval);
        series.add_joint(&joint);
    }
    let mut timeline = timeline.finish();
    for summary in cell.summaries()? {
        timeline.refine(&summary?);
    }
    let series = series.finish();
    if is_paced {
        series.keep_one_level();
    }
    let run = JudgedRun { measurement: &measurement, series: &series };
    let (estimates, no_interval) = (estimates_of_run(run), no_interval_of_run(run));
    let level_change = last_change(run).map(|left| left.change);
    let began_ns = measurement.started_unix_ns;
    let mine = events.iter().filter(|event| event.cell.as_deref() == Some(cell.name()));
    let shown = mine.map(|event| assay_report::RunIncident {
        at_ns: event.at_unix_ns.saturating_sub(began_ns),
        what: words(&event.what),
    });
    let report = RunReport {
        events: shown.collect(),
        estimates,
        no_interval,
        level_change,
        timeline,
        measurement,
    };
    Ok((report, series))
}

/// The targets in words; a directory that was named for several test files appears once.
fn target_names(targets: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    for same in targets.chunk_by(|one, next| one == next) {
        words.push(match same.len() {
            1 => same[0].clone(),
            more => format!("{} ({more} test files)", same[0]),
        });
    }
    words.join(", ")
}

/// An event in a few words.
fn words(what: &EventKind) -> String {
    match what {
        EventKind::PhaseBegin { name } => format!("{name} begins"),
        EventKind::PhaseEnd { name } => format!("{name} ends"),
        EventKind::Errors(errors) => {
            format!("{} {} errors: {}", errors.ios, errors.operation.name(), errors.meaning)
        }
        EventKind::Remark(remark) => remark.what.clone(),
        EventKind::Resumed => "the run was resumed".to_owned(),
    }
}
