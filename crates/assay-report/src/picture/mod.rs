//! The charts as pictures, for a presentation or a ticket: PNG, twice as fine as on the page, in its light colours.

mod canvas;
mod file;
mod glyphs;

use crate::chart::curve::curve;
use crate::chart::depth::depth;
use crate::chart::heat::heat;
use crate::chart::histogram::histogram;
use crate::chart::latency::latency;
use crate::chart::rates::rates;
use crate::chart::scene::{Scene, Size};
use crate::chart::tail::tail;
use crate::format::Formatter;
use crate::input::{Options, Report, RunReport};
use crate::page::kind;
use assay_model::measurement::Operation;
use assay_model::{Error, Histogram, Result};

/// The main charts of a report as PNG, in the order of the page: a file name that says what it shows, for example
/// `load-curve-read.png`, unique in its report, and the file.
///
/// # Errors
/// An environment error when a picture cannot be drawn for lack of memory.
pub fn png(report: &Report, options: Options) -> Result<Vec<(String, Vec<u8>)>> {
    let format = Formatter::new(report, options);
    let mut scenes = of_calibration(report, &format);
    for (number, run) in (1..).zip(&report.runs) {
        let several = report.runs.len() > 1;
        let prefix = if several { format!("run-{number}-") } else { String::new() };
        let named = of_run(run, &format).into_iter();
        scenes.extend(named.map(|(name, scene)| (format!("{prefix}{name}"), scene)));
    }
    let picture = |(name, scene): (String, Scene)| {
        let bytes = canvas::draw(&scene).ok_or_else(|| {
            let hint = "free memory, or take the page, whose charts need none";
            Error::environment(format!("drawing {name}.png: there is no memory for it"), hint)
        })?;
        Ok((format!("{name}.png"), bytes))
    };
    scenes.into_iter().map(picture).collect()
}

/// The charts of the calibration with their names.
fn of_calibration(report: &Report, format: &Formatter) -> Vec<(String, Scene)> {
    let Some(calibration) = &report.calibration else {
        return Vec::new();
    };
    let measured = calibration.mixes.iter().filter(|mix| !mix.curve.is_empty());
    let mut scenes: Vec<(String, Scene)> = measured
        .map(|mix| {
            let scene = curve(mix, &calibration.limit, format, Size::Half);
            (format!("load-curve-{}", file_name(&mix.name)), scene)
        })
        .collect();
    let throughput = depth(&calibration.mixes, format, Size::Half);
    scenes.extend(throughput.map(|scene| ("throughput".to_owned(), scene)));
    scenes
}

/// The charts of one run with their names.
fn of_run(run: &RunReport, format: &Formatter) -> Vec<(String, Scene)> {
    let operations = run.measurement.operations();
    let kind = kind(&operations);
    let timed = operations.iter().map(|(operation, result)| (operation, result.response()));
    let timed: Vec<(Operation, &Histogram)> =
        timed.filter(|(_, times)| !times.is_empty()).collect();
    let mut scenes: Vec<(String, Scene)> = timed
        .iter()
        .map(|(operation, times)| {
            let scene = histogram(*operation, times, kind, format, Size::Half);
            (format!("histogram-{}", operation.name()), scene)
        })
        .collect();
    scenes.extend(tail(&timed, kind, format, Size::Half).map(|scene| ("tail".to_owned(), scene)));
    scenes.extend(over_time(run, format));
    scenes
}

/// The charts over time with their names.
fn over_time(run: &RunReport, format: &Formatter) -> Vec<(String, Scene)> {
    let (timeline, size) = (&run.timeline, Size::Full);
    if timeline.columns().len() < 2 {
        return Vec::new();
    }
    let mut scenes =
        vec![("iops-over-time".to_owned(), rates(timeline, &run.events, format, size))];
    for operation in timeline.operations() {
        let name = operation.name();
        let lines = latency(timeline, operation, &run.events, format, size);
        scenes.push((format!("latency-over-time-{name}"), lines));
        scenes.push((format!("heat-map-{name}"), heat(timeline, operation, format, size)));
    }
    scenes
}

/// Letters and digits of a name, the rest as hyphens.
fn file_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter } else { '-' }
    };
    name.chars().map(plain).collect()
}
