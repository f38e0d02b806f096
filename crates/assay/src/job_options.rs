//! Options of commands that take job files of other programs, and what is said of such a file.

use assay_app::job_file::JobSettings;
use assay_formats::{Conversion, Treatment};
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a job file is given.
#[derive(Args)]
#[command(next_help_heading = "Job file options")]
pub struct JobOptions {
    /// Target to use for a file or device named in the job file; repeat it for others
    #[arg(long, value_name = "NAME=TARGET", value_parser = pair)]
    pub map: Vec<(String, String)>,
    /// Set a variable of the job file; others come from the environment unless their names suggest
    /// a secret
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub set: Vec<(String, String)>,
}

impl JobOptions {
    /// As the library takes them.
    pub fn settings(&self) -> JobSettings {
        let all = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeMap<_, _>>();
        let (variables, targets) = (all(&self.set), all(&self.map));
        JobSettings { variables, targets, ..JobSettings::default() }
    }
}

/// `NAME=VALUE`; the last equals sign separates names that have one themselves.
fn pair(text: &str) -> Result<(String, String), String> {
    let found = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) =
        found.ok_or_else(|| format!("'{text}' has no equals sign; write NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// What was changed and what was left out, one option a line; options without effect are one line.
pub fn report(conversion: &Conversion) -> String {
    let mut text = String::new();
    for note in &conversion.notes {
        let (word, why) = match &note.treatment {
            Treatment::Exact | Treatment::NoEffect => continue,
            Treatment::Approximated(how) => ("near", how.to_string()),
            Treatment::Refused(reason) => ("left out", reason.to_string()),
        };
        let value =
            if note.value.is_empty() { String::new() } else { format!(" = {}", note.value) };
        _ = writeln!(text, "{word}: {}{value}: {why}", note.origin);
    }
    let unused = conversion.without_effect();
    if !unused.is_empty() {
        _ = writeln!(text, "no effect: {}", unused.join(", "));
    }
    if conversion.hosts.len() > 1 {
        _ = writeln!(text, "hosts: {}", conversion.hosts.join(", "));
    }
    text
}

/// Says on standard error what was changed and what was left out.
pub fn say_report(conversion: &Conversion, quiet: bool) {
    if !quiet {
        report(conversion).lines().for_each(crate::terminal::say);
    }
}

/// Says which variables the job file took: it may be another one's, and the run keeps their values.
pub fn say_taken(settings: &JobSettings, quiet: bool) {
    if !quiet && !settings.taken.is_empty() {
        crate::terminal::say(&format!("note: {}", settings.taken));
    }
}
