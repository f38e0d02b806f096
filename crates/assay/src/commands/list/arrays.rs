//! `assay list arrays`: the simulated arrays, what is assumed of them, and how far they are from
//! what was published.

use crate::documents::{ArrayList, CheckedFigure, FigureList};
use crate::exit::{ExitStatus, json, print};
use crate::options::COMMON;
use crate::terminal::say;
use assay_arrays::{Checked, find, names, session_profile, verify};
use assay_methods::target::array_model;
use assay_model::array::{ArrayModel, Measure, Role};
use assay_model::document::to_toml;
use assay_model::units::{show_bytes, show_count, show_time_ns};
use assay_model::{Error, Result};
use clap::Args;
use std::fmt::Write;

/// A fitted figure further away than this means that the model misses it.
const FITTED_WITHIN: f64 = 0.05;

/// What a figure that no parameter was chosen by should stay within.
const HELD_BACK_AIM: f64 = 0.15;

/// List simulated arrays, or print or verify a model
#[derive(Args)]
#[command(after_help = "Examples:
  assay list arrays
  assay list arrays xtremio-1 --verify")]
pub struct Options {
    /// Arrays or model files to print or verify; by default all built-in ones
    #[arg(value_name = "ARRAY")]
    arrays: Vec<String>,
    /// Simulate every published figure and print its error; exit 1 if a fitted one is off by more
    /// than 5%
    #[arg(long)]
    verify: bool,
    /// Run an experiment with database sessions on one array and print its profile document
    #[arg(long, value_name = "EXPERIMENT", conflicts_with = "verify")]
    profile: Option<String>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
}

/// Carries the command out.
///
/// # Errors
/// When there is no such array or experiment.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let models = models(options)?;
    if let Some(experiment) = &options.profile {
        return print_profile(&models, experiment);
    }
    if options.verify {
        return print_verified(&models, options.json);
    }
    if options.json {
        return print(&json(&ArrayList::of(&models))?);
    }
    if options.arrays.is_empty() {
        return print(&list(&models));
    }
    print(&models.iter().map(model_text).collect::<Result<Vec<_>>>()?.join("\n"))
}

fn models(options: &Options) -> Result<Vec<ArrayModel>> {
    if options.arrays.is_empty() {
        return names().map(find).collect();
    }
    options.arrays.iter().map(|name| array_model(name)).collect()
}

fn list(models: &[ArrayModel]) -> String {
    let mut text = String::new();
    for model in models {
        let figures = model.figures.len();
        let _ = writeln!(text, "{:16} {} ({figures} published figures)", model.name, model.title);
    }
    text + "use one as target array:NAME, for example `assay run oltp array:xtremio-1`\n"
}

/// The model as a file: as it ships, with the reasons for its numbers, or as it was read.
fn model_text(model: &ArrayModel) -> Result<String> {
    assay_arrays::text(&model.name).map_or_else(|| to_toml(model), |text| Ok(text.to_owned()))
}

fn print_profile(models: &[ArrayModel], experiment: &str) -> Result<ExitStatus> {
    let [model] = models else {
        return Err(Error::usage(
            "--profile needs one array",
            "specify it, for example `assay list arrays xtremio-1 --profile slob-1h`",
        ));
    };
    print(&json(&session_profile(model, experiment)?)?)
}

fn print_verified(models: &[ArrayModel], as_json: bool) -> Result<ExitStatus> {
    let verified = models.iter().map(|model| {
        say(&format!("{}: simulating {} published figures", model.name, model.figures.len()));
        Ok((model, verify(model, |_| ())?))
    });
    let verified = verified.collect::<Result<Vec<_>>>()?;
    print(&if as_json { json(&figures(&verified))? } else { text(&verified) })?;
    let misses = verified.iter().any(|(_, checked)| checked.iter().any(misses_fit));
    Ok(if misses { ExitStatus::Failure } else { ExitStatus::Success })
}

/// One model and what became of its figures.
type Verified<'a> = (&'a ArrayModel, Vec<Checked>);

fn figures<'a>(verified: &'a [Verified<'a>]) -> FigureList<'a> {
    let of_model = |(model, checked): &'a Verified<'a>| {
        checked.iter().map(|one| CheckedFigure::of(model, one, remark(one)))
    };
    FigureList::of(verified.iter().flat_map(of_model).collect())
}

fn text(verified: &[Verified<'_>]) -> String {
    verified.iter().map(|(model, checked)| table(model, checked)).collect()
}

fn misses_fit(checked: &Checked) -> bool {
    let is_near = |error: f64| error.abs() <= FITTED_WITHIN;
    checked.figure.role == Role::Fitted && !checked.error().is_some_and(is_near)
}

/// What a reader must know of a figure, in a word or two.
fn remark(checked: &Checked) -> &'static str {
    match (checked.figure.role, checked.error()) {
        (_, None) => "not published",
        (Role::Fitted, Some(_)) if misses_fit(checked) => "fitted, MISSES",
        (Role::Fitted, Some(_)) => "fitted",
        (role, Some(error)) => {
            let [within, misses] = match role {
                Role::Seen => ["seen", "seen, MISSES"],
                Role::Implied => ["implied", "implied, MISSES"],
                Role::Fitted | Role::HeldBack => ["held back", "held back, MISSES"],
            };
            if error.abs() > HELD_BACK_AIM { misses } else { within }
        }
    }
}

fn table(model: &ArrayModel, checked: &[Checked]) -> String {
    let mut text = format!("{}: {}\n", model.name, model.title);
    if checked.is_empty() {
        text += "  it has no published figures to compare with\n";
    }
    for one in checked {
        let measure = one.figure.measure;
        let is_ratio = one.figure.over.is_some();
        let simulated = one
            .simulated_value
            .map_or_else(|| "-".to_owned(), |value| show(measure, is_ratio, value));
        let error =
            one.error().map_or_else(|| "-".to_owned(), |error| format!("{:+.1}%", 100.0 * error));
        let _ = writeln!(
            text,
            "  {:42} {:>12} {simulated:>12} {error:>9}  {}, {}",
            one.figure.name,
            show(measure, is_ratio, one.figure.published_value),
            remark(one),
            one.figure.place
        );
        if let Some(why) = &one.figure.why {
            let _ = writeln!(text, "    {why}");
        }
    }
    text
}

/// A value in the unit of its measure.
fn show(measure: Measure, is_ratio: bool, value: f64) -> String {
    match measure {
        _ if is_ratio => format!("{value:.3}"),
        Measure::ReadLatencyS | Measure::WriteLatencyS | Measure::LogWriteS | Measure::LogSyncS => {
            show_time_ns(value * 1e9)
        }
        Measure::FallS | Measure::SettledS => format!("{value:.0} s"),
        Measure::BytesPerS | Measure::RedoBytesPerS => format!("{}/s", show_bytes(value)),
        Measure::ReadsBelow1ms | Measure::ReadsBelow2ms => format!("{:.1}%", 100.0 * value),
        Measure::LastToFirst => format!("{value:.3}"),
        Measure::DbCpus => format!("{value:.1} CPUs"),
        _ => format!("{}/s", show_count(value)),
    }
}
