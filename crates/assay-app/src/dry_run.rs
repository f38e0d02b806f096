//! What a plan would do, where and for how long, for a person who wants to know before anything is
//! touched.

use crate::calibrate::CalibrationRunPlan;
use crate::check::CheckPlan;
use crate::cluster::{HostNames, HostsPlan};
use crate::load::LoadPlan;
use crate::locality::LocalityPlan;
use crate::recording::is_short;
use crate::run::RunPlan;
use crate::soak::SoakPlan;
use crate::target_plan::TargetPlan;
use crate::verify::VerifyPlan;
use assay_methods::patterns::describe;
use assay_methods::target::{Targets, foreseen, parse_targets};
use assay_model::number::{count_of, real};
use assay_model::units::{Nanos, show_bytes};
use assay_model::{Error, Result, Workload};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

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
    fn summary(&self, write: bool, direct: bool, grows: bool) -> Result<Vec<TargetSummary>> {
        self.check()?;
        let whats = match parse_targets(&self.targets)? {
            Targets::Simulated(_) => vec!["simulated: nothing real is touched".to_owned()],
            Targets::Paths(paths) => foreseen(&paths, &self.opening(write, direct, grows))?,
        };
        let targets = self.targets.iter().cloned().zip(whats);
        Ok(targets.map(|(target, what)| TargetSummary { target, what }).collect())
    }

    /// How long filling may take, where a test file may have to be filled.
    fn filling(&self) -> String {
        if self.targets.iter().any(|target| self.is_directory(target)) {
            return format!(", after up to {} to fill a new test file", self.fill_time);
        }
        String::new()
    }
}

/// A workload and on whom it is; one that does not describe itself, as of a job file, by its
/// streams.
fn load_of(workload: &Workload, hosts: Option<&HostNames>) -> String {
    let streams = || workload.streams.iter().map(describe).collect::<Vec<_>>().join("; ");
    let load = Some(workload.description.clone()).filter(|said| !said.is_empty());
    let load = load.unwrap_or_else(streams);
    match hosts {
        Some(hosts) => format!("{load}; on each of {hosts}"),
        None => load,
    }
}

impl RunPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        self.workload.check()?;
        let workload = &self.workload;
        Ok(PlanSummary {
            format: 1,
            title: format!("run {}", workload.name),
            load: load_of(workload, HostsPlan::names(self.hosts.as_ref())),
            time: format!(
                "{} measured after {} of warm-up{}",
                workload.duration,
                workload.warm_up,
                self.target.filling()
            ),
            targets: self.target.summary(workload.writes(), workload.direct, is_short(workload))?,
            server: None,
        })
    }
}

impl CalibrationRunPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        let plan = self.resolved();
        let mixes: Vec<String> =
            plan.read_share.iter().map(|share| format!("{:.0}%", 100.0 * share.0)).collect();
        let all = Nanos(self.time.0.saturating_mul(count_of(mixes.len())));
        Ok(PlanSummary {
            format: 1,
            title: "calibrate".to_owned(),
            load: format!(
                "random {} with read shares of {}, and sequential {}, up to full speed",
                self.transfer,
                mixes.join(", "),
                self.large_transfer
            ),
            time: format!("up to {all}{}", plan.target.filling()),
            targets: plan.target.summary(plan.writes(), true, true)?,
            server: None,
        })
    }
}

impl SoakPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        let (cycles, workload) = (&self.cycles, &self.workload);
        let time = match cycles.cycles {
            1 => format!("{} of load", cycles.work),
            count => {
                format!("{count} cycles of {} of load and {} of rest", cycles.work, cycles.rest)
            }
        };
        let rest = match cycles.final_rest {
            Nanos(0) => String::new(),
            rest => format!(", then {rest} of rest and one more cycle"),
        };
        Ok(PlanSummary {
            format: 1,
            title: format!("soak {}", workload.name),
            load: load_of(workload, HostsPlan::names(self.hosts.as_ref())),
            time: format!("{time}{rest}{}", self.target.filling()),
            targets: self.target.summary(workload.writes(), workload.direct, is_short(workload))?,
            server: None,
        })
    }
}

impl VerifyPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        let time = match (self.time, &self.ledger) {
            (Some(time), _) => time.to_string(),
            (None, Some(_)) => "until the storage dies or it is stopped".to_owned(),
            (None, None) => "150s".to_owned(),
        };
        let ledger = self.ledger.as_ref().map_or_else(
            || "times of flushes, then".to_owned(),
            |place| format!("with acknowledgements kept in {place},"),
        );
        Ok(PlanSummary {
            format: 1,
            title: "verify".to_owned(),
            load: format!("{ledger} random writes with flushes, all of them verified"),
            time: format!("{time}{}", self.target.filling()),
            targets: self.sized().summary(true, true, false)?,
            server: None,
        })
    }
}

impl LocalityPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        Ok(PlanSummary {
            format: 1,
            title: "locality".to_owned(),
            load: format!(
                "random {} reads, one at a time, in growing working sets",
                self.curve.transfer
            ),
            time: format!(
                "{} for each working set, and {} before it{}",
                self.curve.time,
                self.curve.warm_up,
                self.target.filling()
            ),
            targets: self.target.summary(false, true, false)?,
            server: None,
        })
    }
}

impl CheckPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        self.check()?;
        let write = self.may_be_written();
        let kinds = if write { "reads and writes" } else { "reads" };
        let server = self.directory().map(|directory| {
            format!(
                "a PostgreSQL server in {directory} with 1.00 GiB of data, removed at the end; \
                 --no-database leaves it out"
            )
        });
        Ok(PlanSummary {
            format: 1,
            title: "check".to_owned(),
            load: format!(
                "{kinds} at full speed, then {}",
                load_of(&self.workload()?, self.hosts.as_ref())
            ),
            time: format!("{}{}", self.time, self.target.filling()),
            targets: self.target.summary(write, true, true)?,
            server,
        })
    }
}

impl LoadPlan {
    /// What it would do.
    pub fn summary(&self) -> Result<PlanSummary> {
        let load = self.load();
        load.check()?;
        let [what, time] = load.summary();
        let data = show_bytes(real(load.data_bytes()?));
        let mut targets = Vec::new();
        let mut server = None;
        for target in self.targets() {
            let is_directory = Path::new(&target).is_dir();
            if !is_directory && !target.contains("://") {
                return Err(Error::usage(
                    format!("there is no directory {target}"),
                    "name a directory on the storage, or the address of a server",
                ));
            }
            let (what, on) = if is_directory {
                (
                    format!("about {data} of data and the log"),
                    "one of its own in that directory, removed at the end unless --keep is given",
                )
            } else {
                (format!("about {data} of data in a schema of its own"), "that of the address")
            };
            server.get_or_insert(on);
            targets.push(TargetSummary { target: assay_dbserver::redacted(&target), what });
        }
        Ok(PlanSummary {
            format: 1,
            title: format!("bench {}", load.kind().name()),
            load: what,
            time,
            targets,
            server: server.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_methods::presets::preset;
    use std::fs;

    #[test]
    fn a_summary_says_what_would_be_written_and_writes_nothing() {
        let directory = std::env::temp_dir().join(format!("assay-dry-run-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let target =
            TargetPlan { targets: vec![directory.display().to_string()], ..TargetPlan::default() };
        let plan = RunPlan {
            target: target.clone(),
            workload: preset("oltp").unwrap(),
            verify: None,
            hosts: None,
        };
        let text = plan.summary().unwrap().text();
        assert!(
            text.contains("writing a test file of ") && text.contains("30s measured"),
            "{text}"
        );
        let plan = LoadPlan::named("oltp", &target.targets[0]).unwrap();
        assert!(plan.summary().unwrap().text().contains("one of its own"));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        fs::remove_dir(&directory).unwrap();
        assert!(plan.summary().is_err());
    }
}
