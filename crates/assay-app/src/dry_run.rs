//! What a plan would do, where and for how long, for a person who wants to know before anything is
//! touched.

use crate::cluster::HostNames;
use crate::target_plan::TargetPlan;
use assay_methods::patterns::describe;
use assay_methods::target::{Targets, foreseen, parse_targets};
use assay_model::{Result, Workload};
use serde::Serialize;
use std::fmt::Write;

/// What would be done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct PlanSummary {
    /// Version of the document's form: 1.
    pub format: u32,
    /// The command in two words, for example `run oltp`.
    pub title: String,
    /// The load on the storage.
    pub load: String,
    /// How long it takes.
    pub time: String,
    /// What becomes of each target.
    pub targets: Vec<TargetSummary>,
    /// The server that is started; none where there is none.
    pub server: Option<String>,
}

/// What becomes of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct TargetSummary {
    /// As it was named.
    pub target: String,
    /// What is written there, or that nothing is.
    pub what: String,
}

impl PlanSummary {
    /// For a person.
    pub fn text(&self) -> String {
        let mut text =
            format!("{}\n  load    {}\n  time    {}\n", self.title, self.load, self.time);
        for target in &self.targets {
            let _ = writeln!(text, "  target  {}: {}", target.target, target.what);
        }
        if let Some(server) = &self.server {
            let _ = writeln!(text, "  server  {server}");
        }
        text + "nothing was touched\n"
    }
}

impl TargetPlan {
    /// What becomes of each target when it is opened; nothing is touched.
    ///
    /// # Errors
    /// A usage error for options that contradict one another and for a target that is not there.
    pub(crate) fn summary(
        &self,
        write: bool,
        direct: bool,
        grows: bool,
    ) -> Result<Vec<TargetSummary>> {
        self.check()?;
        let whats = match parse_targets(&self.targets)? {
            Targets::Simulated(_) => vec!["simulated: nothing real is touched".to_owned()],
            Targets::Paths(paths) => foreseen(&paths, &self.opening(write, direct, grows))?,
        };
        let targets = self.targets.iter().cloned().zip(whats);
        Ok(targets.map(|(target, what)| TargetSummary { target, what }).collect())
    }

    /// How long filling may take, where a test file may have to be filled.
    pub(crate) fn filling(&self) -> String {
        if self.targets.iter().any(|target| self.is_directory(target)) {
            return format!(", after filling a new test file for up to {}", self.fill_time);
        }
        String::new()
    }
}

/// A workload and on whom it is; one that does not describe itself, as of a job file, by its
/// streams.
pub(crate) fn load_of(workload: &Workload, hosts: Option<&HostNames>) -> String {
    let streams = || workload.streams.iter().map(describe).collect::<Vec<_>>().join("; ");
    let load = Some(workload.description.clone()).filter(|said| !said.is_empty());
    let load = load.unwrap_or_else(streams);
    match hosts {
        Some(hosts) => format!("{load}; on each of {hosts}"),
        None => load,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::LoadPlan;
    use crate::plan::CommandPlan;
    use crate::run::RunPlan;
    use assay_methods::presets::preset;
    use std::fs;

    #[test]
    fn a_summary_says_what_would_be_written_and_writes_nothing() {
        let directory = std::env::temp_dir().join(format!("assay-dry-run-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let target =
            TargetPlan { targets: vec![directory.display().to_string()], ..TargetPlan::default() };
        let workload = preset("oltp").unwrap();
        let plan = RunPlan { target: target.clone(), workload, ..RunPlan::default() };
        let text = plan.summary().unwrap().text();
        assert!(
            text.contains("writing a test file of ") && text.contains("30s measured"),
            "{text}"
        );
        let plan = LoadPlan::named("oltp", &target.targets[0]).unwrap();
        assert!(plan.summary().unwrap().text().contains("a new one in"));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir(&directory).unwrap();
        assert!(plan.summary().is_err());
    }
}
