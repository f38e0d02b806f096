//! `assay run JOB --print`: a job file of another program as workloads and studies, and nothing is
//! run.

use crate::documents::ConversionDocument;
use crate::exit::{ExitStatus, json, print};
use crate::job_options::{report, say_report};
use assay_app::new_file::write_new;
use assay_formats::annotate::annotated;
use assay_formats::{Conversion, ConvertedDocument, Note, Treatment};
use assay_model::Result;
use std::fmt::Write;
use std::path::Path;

/// Prints the documents with the source of each line, or writes each to a new file of its own in
/// `directory`.
pub fn conversion(
    conversion: &Conversion,
    directory: Option<&Path>,
    as_json: bool,
    quiet: bool,
) -> Result<ExitStatus> {
    if as_json {
        return print(&json(&ConversionDocument::of(conversion))?);
    }
    match directory {
        Some(directory) => write_each(conversion, directory)?,
        None => drop(print(&documents(conversion)?)?),
    }
    say_report(conversion, quiet);
    Ok(ExitStatus::Success)
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
            ConvertedDocument::Workload(_) => "toml",
            ConvertedDocument::Study(_) => "study.toml",
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
