//! `assay convert`: a job file of another program as workloads and studies.

use crate::documents::ConversionDocument;
use crate::exit::{ExitStatus, json, print};
use crate::job_options::{JobOptions, report, say_report, say_taken};
use crate::options::COMMON;
use assay_app::job_file::{job_text, read_job};
use assay_app::new_file::write_new;
use assay_formats::annotate::annotated;
use assay_formats::{Conversion, Document, Note, Treatment};
use assay_model::{Error, Result};
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Show the workload in a job file of fio, Vdbench or `IOMeter`, with the source of each line
#[derive(Args)]
#[command(after_help = "Examples:
  assay convert job.fio
  assay convert job.fio --json
  assay convert parameters.vdb --out workloads")]
pub struct Options {
    /// Job file of fio, parameter file of Vdbench, or `.icf` file of `IOMeter`
    file: PathBuf,
    /// Write each document to a new file of its own in this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    job: JobOptions,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
    /// Print neither progress nor notes on standard error
    #[arg(long, short, help_heading = COMMON)]
    quiet: bool,
}

/// Carries the verb out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let text = job_text(&options.file)?.ok_or_else(|| unknown(&options.file))?;
    let settings = options.job.settings();
    let conversion = read_job(&options.file, &text, &settings)?;
    say_taken(&settings, options.quiet);
    if options.json {
        return print(&json(&ConversionDocument::of(&conversion))?);
    }
    match &options.out {
        Some(directory) => write_each(&conversion, directory)?,
        None => drop(print(&documents(&conversion)?)?),
    }
    say_report(&conversion, options.quiet);
    Ok(ExitStatus::Success)
}

fn unknown(file: &Path) -> Error {
    Error::usage(
        format!("{} is not a job file of fio, Vdbench or IOMeter", file.display()),
        "a job file has [sections], a parameter file lines such as sd=, wd= and rd=; results are read by `assay import`",
    )
}

/// All documents behind one another, each with what was changed above it.
fn documents(conversion: &Conversion) -> Result<String> {
    let mut text = String::new();
    let kept = |note: &&Note| matches!(note.treatment, Treatment::Exact);
    let exact = conversion.notes.iter().filter(kept).count();
    let (near, left_out) = (conversion.approximated().count(), conversion.refused().count());
    _ = writeln!(text, "# {exact} options exactly, {near} approximated, {left_out} left out");
    for line in report(conversion).lines() {
        _ = writeln!(text, "# {line}");
    }
    for (number, part) in (1..).zip(&conversion.parts) {
        let count = conversion.parts.len();
        let heading = if count > 1 {
            format!("\n# ---- {number} of {count}: run them in this order\n")
        } else {
            "\n".to_owned()
        };
        text.push_str(&heading);
        text.push_str(&annotated(conversion, part)?);
    }
    Ok(text)
}

fn write_each(conversion: &Conversion, directory: &Path) -> Result<()> {
    for (number, part) in (1..).zip(&conversion.parts) {
        let kind = match part.document {
            Document::Workload(_) => "toml",
            Document::Study(_) => "study.toml",
        };
        let path = directory.join(format!("{number:02}-{}.{kind}", plain(part.document.name())));
        write_new(&path, annotated(conversion, part)?.as_bytes())?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}

/// A name as a file may have it.
fn plain(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_+".contains(letter) { letter } else { '-' }
    };
    name.chars().take(60).map(letter).collect()
}
