//! `assay list arrays`: the simulated arrays, what is assumed of them, and how far they are from
//! what was published.

use crate::documents::{ArrayList, CheckedFigure, FigureList};
use crate::exit::{ExitStatus, json, print};
use crate::options::COMMON;
use crate::terminal::say;
use assay_arrays::{find, names, session_profile, verify};
use assay_methods::target::array_model;
use assay_model::array::{ArrayModel, FigureCheck};
use assay_model::document::to_toml;
use assay_model::{Error, Result};
use clap::Args;
use std::fmt::Write;

/// List simulated arrays, or print or verify a model
#[derive(Args)]
#[command(after_help = "Examples:
  assay list arrays
  assay list arrays xtremio-1 --verify")]
pub struct ArraysOptions {
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
pub fn run(options: &ArraysOptions) -> Result<ExitStatus> {
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

fn models(options: &ArraysOptions) -> Result<Vec<ArrayModel>> {
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
    let misses = verified.iter().any(|(_, checked)| checked.iter().any(FigureCheck::misses_fit));
    Ok(if misses { ExitStatus::Failure } else { ExitStatus::Success })
}

/// One model and what became of its figures.
type Verified<'a> = (&'a ArrayModel, Vec<FigureCheck>);

fn figures<'a>(verified: &'a [Verified<'a>]) -> FigureList<'a> {
    let of_model = |(_, checked): &'a Verified<'a>| checked.iter().map(CheckedFigure::of);
    FigureList::of(verified.iter().flat_map(of_model).collect())
}

fn text(verified: &[Verified<'_>]) -> String {
    verified.iter().map(|(model, checked)| table(model, checked)).collect()
}

fn table(model: &ArrayModel, checked: &[FigureCheck]) -> String {
    let mut text = format!("{}: {}\n", model.name, model.title);
    if checked.is_empty() {
        text += "  it has no published figures to compare with\n";
    }
    for one in checked {
        let [published, simulated, error] = one.shown();
        let _ = writeln!(
            text,
            "  {:42} {published:>12} {simulated:>12} {error:>9}  {}, {}",
            one.figure.name,
            one.remark(),
            one.figure.place
        );
        if let Some(why) = &one.figure.why {
            let _ = writeln!(text, "    {why}");
        }
    }
    text
}
