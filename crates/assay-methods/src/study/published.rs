//! What was published of the experiment that a study repeats, next to what its cells came to.

use crate::target::array_model;
use assay_arrays::{find, names};
use assay_model::array::{
    ArrayModel, Experiment, ExperimentFigure, ExperimentMeasure, FigureCheck, StudyCells,
};
use assay_model::measurement::SessionFigures;
use assay_model::number::real_len;
use assay_model::soak::SoakSeries;
use assay_model::study::{CellResult, StudySetting};
use assay_model::units::Nanos;
use std::collections::BTreeMap;

/// The published figures of a study: those of the simulated array that was measured, or else of
/// every array that a model exists of.
pub fn published(study: &str, targets: &[String], cells: &[CellResult]) -> Vec<FigureCheck> {
    let own = match targets {
        [only] => only.strip_prefix("array:"),
        _ => None,
    };
    let models: Vec<ArrayModel> = own.map_or_else(
        || names().filter_map(|name| find(name).ok()).collect(),
        |own| array_model(own.split('?').next().unwrap_or(own)).into_iter().collect(),
    );
    let of_model = |model: &ArrayModel| {
        let figures = model.figures.iter().filter_map(|figure| {
            let repeated = repeated(model, figure, study)?;
            Some(FigureCheck {
                array: model.name.clone(),
                figure: figure.clone(),
                measured_value: measured(figure.measure, &repeated, cells),
                is_simulated: own.is_some(),
            })
        });
        figures.collect::<Vec<_>>()
    };
    models.iter().flat_map(of_model).collect()
}

/// An experiment and the cells of the study that repeats it.
struct Repeated<'a> {
    experiment: &'a Experiment,
    at: &'a StudyCells,
}

/// The experiments of a figure, the divisor of a ratio last, if the study repeats them.
fn repeated<'a>(
    model: &'a ArrayModel,
    figure: &ExperimentFigure,
    study: &str,
) -> Option<Vec<Repeated<'a>>> {
    let of = |name: &String| {
        let experiment = model.experiment(name)?;
        Some(Repeated { experiment, at: experiment.in_study(study)? })
    };
    figure.experiment.as_ref()?;
    [&figure.experiment, &figure.over].into_iter().flatten().map(of).collect()
}

/// What a figure came to; none where no cell has it.
fn measured(
    measure: ExperimentMeasure,
    repeated: &[Repeated<'_>],
    cells: &[CellResult],
) -> Option<f64> {
    let value = |one: &Repeated<'_>| best(measure, one.at, one.experiment.latency_max(), cells);
    let values: Vec<f64> = repeated.iter().map(value).collect::<Option<_>>()?;
    values.into_iter().reduce(|value, over| value / over)
}

/// The mean of a measure over the repeats of the fastest settings within a limit.
fn best(
    measure: ExperimentMeasure,
    at: &StudyCells,
    limit: Option<Nanos>,
    cells: &[CellResult],
) -> Option<f64> {
    let is_within = |cell: &CellResult| limit.is_none_or(|limit| cell.is_within(limit));
    let is_here = |cell: &&CellResult| is_at(&cell.cell.settings, &at.cell) && is_within(cell);
    let iops = |cell: &CellResult| cell.value("iops", None).unwrap_or(0.0);
    let here: Vec<&CellResult> = cells.iter().filter(is_here).collect();
    let fastest = here.iter().max_by(|one, other| iops(one).total_cmp(&iops(other)))?;
    let repeats = here.iter().filter(|cell| cell.cell.settings == fastest.cell.settings);
    let values: Vec<f64> = repeats.filter_map(|cell| value(cell, measure)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real_len(values.len()))
}

fn is_at(settings: &[StudySetting], at: &BTreeMap<String, String>) -> bool {
    at.iter().all(|(factor, value)| {
        let is_it = |setting: &StudySetting| {
            setting.factor == *factor && setting.value.to_string() == *value
        };
        settings.iter().any(is_it)
    })
}

/// A measure of one cell in its unit; none where studies do not measure it.
fn value(cell: &CellResult, measure: ExperimentMeasure) -> Option<f64> {
    let course = || cell.course.as_ref()?.courses.first();
    match measure {
        ExperimentMeasure::Iops => cell.value("iops", None),
        ExperimentMeasure::ReadIops => cell.value("read.iops", None),
        ExperimentMeasure::WriteIops => {
            // Data and log that were counted together cannot be compared.
            let log = cell.value("stream.write.iops", Some("log"))?;
            Some(cell.value("write.iops", None)? - log)
        }
        ExperimentMeasure::BytesPerS => cell.value("throughput", None),
        ExperimentMeasure::ReadLatencyS => Some(cell.value("read.service_time.mean", None)? / 1e9),
        ExperimentMeasure::WriteLatencyS => {
            Some(cell.value("write.service_time.mean", None)? / 1e9)
        }
        ExperimentMeasure::LogWriteS => {
            Some(cell.value("stream.write.service_time.mean", Some("log"))? / 1e9)
        }
        ExperimentMeasure::LogWritesPerS => cell.value("stream.write.iops", Some("log")),
        ExperimentMeasure::LastToFirst => last_to_first(course()?),
        ExperimentMeasure::FallS => fall_s(course()?),
        ExperimentMeasure::SettledS => course()?.steady_since_s,
        ExperimentMeasure::FirstReadIops => first_reads(cell, course()?),
        _ => of_sessions(cell.sessions.as_ref()?, measure),
    }
}

/// What sessions of a simulated database did besides their I/O.
fn of_sessions(sessions: &SessionFigures, measure: ExperimentMeasure) -> Option<f64> {
    match measure {
        ExperimentMeasure::ExecutionsPerS => Some(sessions.executions_per_s),
        ExperimentMeasure::DbCpus => Some(sessions.busy_cpus_mean),
        ExperimentMeasure::RedoBytesPerS => Some(sessions.redo_bytes_per_s),
        ExperimentMeasure::LogSyncS => Some(sessions.log_sync_ns? / 1e9),
        ExperimentMeasure::ReadsBelow1ms => sessions.reads_within_1ms_share,
        ExperimentMeasure::ReadsBelow2ms => sessions.reads_within_2ms_share,
        _ => None,
    }
}

/// Reads per second in the first eighth of the time: the share of reads of the whole cell at the
/// rate of that time.
fn first_reads(cell: &CellResult, course: &SoakSeries) -> Option<f64> {
    let length = course.points.len() / 8;
    let first = course.points.get(..length).filter(|points| !points.is_empty())?;
    let rate = first.iter().map(|point| point.value).sum::<f64>() / real_len(length);
    Some(rate * cell.value("read.iops", None)? / cell.value("iops", None)?)
}

/// Rates in the last eighth of the time over those in the first.
fn last_to_first(course: &SoakSeries) -> Option<f64> {
    let length = course.points.len() / 8;
    let sum = |points: &[_]| -> f64 {
        points.iter().map(|point: &assay_model::soak::SoakPoint| point.value).sum()
    };
    let (first, last) = (course.points.get(..length)?, course.points.len() - length);
    (length > 0).then(|| sum(&course.points[last..]) / sum(first))
}

/// The beginning of the first level below 90% of the first one.
fn fall_s(course: &SoakSeries) -> Option<f64> {
    let first = course.levels.first()?.value.value;
    course.levels.iter().find(|level| level.value.value < 0.9 * first).map(|level| level.from_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped_studies::{STUDIES, study_text};
    use crate::study::cells;
    use assay_model::study::parse_study;

    /// Every reference of an experiment to a study names cells that the study has.
    #[test]
    fn every_repeated_experiment_has_cells_in_its_study() {
        let mut references = 0;
        for model in names().map(|name| find(name).unwrap()) {
            for (experiment, at) in
                model.experiments.iter().flat_map(|one| one.studies.iter().map(move |at| (one, at)))
            {
                let study = parse_study(study_text(&at.name).unwrap()).unwrap();
                let is_there = cells(&study).iter().any(|cell| is_at(&cell.settings, &at.cell));
                assert!(is_there, "{}/{}: {at:?}", model.name, experiment.name);
                references += 1;
            }
        }
        assert!(references > 50, "{references}");
    }

    const PAGE: &str = include_str!("../../../../docs/papers.md");

    #[test]
    fn the_page_of_papers_has_every_published_figure_and_every_study() {
        let mut rows: Vec<String> = Vec::new();
        for model in names().map(|name| find(name).unwrap()) {
            rows.extend(model.figures.iter().map(|figure| {
                // The page has decimal megabytes.
                let is_bytes = figure.unit_name() == "bytes/s";
                let published =
                    if is_bytes { String::new() } else { figure.show(figure.published_value) };
                format!("| {} | {} | {published}", model.name, figure.name)
            }));
        }
        rows.extend(STUDIES.map(|(name, _)| format!("assay study {name} ")));
        rows.retain(|row| !PAGE.contains(row));
        assert!(rows.is_empty(), "{}", rows.join("\n"));
    }

    /// Numbers of a kind in the first column: `Figures 4, 5, 6`.
    fn numbers(section: &str, kind: &str) -> Vec<u32> {
        let first = |line: &str| Some(line.strip_prefix("| ")?.split(" | ").next()?.to_owned());
        let places = section.lines().filter_map(first);
        let named = places.filter_map(|place| {
            Some(place.strip_prefix(kind)?.trim_start_matches('s').trim().to_owned())
        });
        named
            .flat_map(|all| all.split(", ").filter_map(|one| one.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn every_numbered_figure_table_and_listing_has_a_row() {
        let numbered = [
            ("XtremIO", "Figure", 26),
            ("PS Series", "Figure", 18),
            ("PS Series", "Table", 7),
            ("Validating", "Figure", 18),
            ("Validating", "Listing", 4),
        ];
        for (title, kind, last) in numbered {
            let section = PAGE.split("\n## ").find(|section| section.starts_with(title)).unwrap();
            let mut found = numbers(section, kind);
            found.sort_unstable();
            assert_eq!(found, (1..=last).collect::<Vec<u32>>(), "{title}, {kind}");
        }
    }

    fn cell(depth: u64, iops: f64, read_ns: f64, write_ns: f64) -> CellResult {
        use assay_model::Estimate;
        use assay_model::study::{Cell, CellState, FactorValue};
        use assay_model::verdict::NamedEstimate;
        let setting = |factor: &str, value| StudySetting { factor: factor.to_owned(), value };
        let settings = vec![
            setting("read_share", FactorValue::Text("70%".to_owned())),
            setting("capacity", FactorValue::Text("1TB".to_owned())),
            setting("queue_depth", FactorValue::Whole(depth)),
        ];
        let named = |quantity: &str, value| NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::exact(value, 10),
        };
        CellResult {
            measures: vec![
                named("iops", iops),
                named("read.service_time.mean", read_ns),
                named("write.service_time.mean", write_ns),
            ],
            ..CellResult::new(
                Cell { number: 1, repeat: 1, settings, restored: false },
                CellState::Measured,
            )
        }
    }

    #[test]
    fn the_fastest_cell_whose_means_keep_the_limit_stands_next_to_the_figure() {
        let cells = [
            cell(64, 15_000.0, 2e6, 4e6),
            cell(96, 17_510.0, 3e6, 19e6),
            cell(128, 19_000.0, 4e6, 21e6),
        ];
        let target = ["array:ps6110xs?hasten=60".to_owned()];
        let found = published("dell-capacity", &target, &cells);
        let names: Vec<&str> = found.iter().map(|one| one.figure.place.as_str()).collect();
        assert_eq!(names, ["section 5.3.1", "section 5.3.2", "section 5.3.3"]);
        assert_eq!(found[0].measured_value, Some(17_510.0));
        assert_eq!(found[0].shown(), ["17,000/s", "17,510/s", "+3.0%"]);
        assert_eq!((found[0].remark(), found[1].remark()), ("fitted", "not measured"));
        let elsewhere = published("dell-capacity", &["/data".to_owned()], &cells);
        assert_eq!((elsewhere.len(), elsewhere[0].remark()), (3, "other storage"));
    }
}
