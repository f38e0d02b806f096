//! What makes a study impossible or contradictory, said before anything is touched.

use super::{FACTORS, Factor, Study};
use crate::document::{nearest, parse_toml};
use crate::error::{Error, Result};

/// More cells than this take longer than anybody waits.
const CELLS_MAX: usize = 100_000;

/// Reads a study document and checks that it is valid and consistent.
///
/// # Errors
/// A usage error that names the line, the factor or the phase, and what would be accepted.
pub fn parse_study(text: &str) -> Result<Study> {
    let study: Study = parse_toml(text, "study")?;
    study.check()?;
    Ok(study)
}

fn refuse<T>(message: impl Into<String>, hint: impl Into<String>) -> Result<T> {
    Err(Error::usage(message, hint))
}

impl Study {
    /// Refuses what is invalid or contradictory.
    ///
    /// # Errors
    /// A usage error that names what contradicts what.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            return refuse(
                format!("format {} is not known", self.format),
                "this version reads format = 1",
            );
        }
        if self.repeats == 0 {
            return refuse("repeats = 0 measures nothing", "write repeats = 1 or more");
        }
        self.check_work()?;
        self.check_phases()?;
        self.factors.iter().try_for_each(|factor| factor.check(self.load.is_some()))?;
        self.check_names()?;
        match self
            .factors
            .iter()
            .try_fold(crate::number::index_of(u64::from(self.repeats)), |cells, factor| {
                cells.checked_mul(factor.values.len())
            }) {
            Some(cells) if cells <= CELLS_MAX => Ok(()),
            _ => refuse(
                format!("the study has more than {CELLS_MAX} cells"),
                "leave out values, factors or repeats",
            ),
        }
    }

    /// What is measured: one workload, sessions of a simulated database, a load on a real one.
    fn check_work(&self) -> Result<()> {
        let both = self.preset.is_some() && self.workload.is_some();
        if both || !(self.has_workload() || self.sessions.is_some() || self.load.is_some()) {
            return refuse(
                "a study has one workload: a preset or its own",
                "write preset = \"oltp\", or a [workload] with its [[workload.stream]]; or a \
                 [load] on a database",
            );
        }
        match &self.sessions {
            Some(sessions) => sessions.check().map_err(|error| error.context("[sessions]")),
            None => Ok(()),
        }
    }

    /// Whether there is something for storage without a database.
    pub const fn has_workload(&self) -> bool {
        self.preset.is_some() || self.workload.is_some()
    }

    fn check_phases(&self) -> Result<()> {
        let phases = &self.phases;
        if phases.measure.0 == 0 {
            return refuse(
                "phases: measure = 0s measures nothing",
                "write for example measure = \"60s\"",
            );
        }
        if self.hooks.time_limit.0 == 0 {
            return refuse(
                "hooks: time_limit = 0s ends every hook before it starts",
                "write for example time_limit = \"30s\", or leave it out",
            );
        }
        if self.capacity.is_some_and(|size| size.0 == 0) {
            return refuse(
                "capacity = 0B leaves no data",
                "write for example capacity = \"16GiB\", or leave it out to use the whole target",
            );
        }
        if phases.final_rest.0 > 0 && self.repeats < 2 {
            return refuse(
                "final_rest needs more than one cell",
                "write repeats = 2 or more, or leave final_rest out",
            );
        }
        let writes_before = phases.fill.is_some() || phases.precondition_passes > 0;
        let varies_fill = self.factors.iter().any(|factor| factor.name == "fill");
        if self.restore_every.is_some() && !writes_before && !varies_fill && self.load.is_none() {
            return refuse(
                "restore_every has nothing to restore: the phases neither fill nor precondition",
                "add fill = \"100%\" or precondition_passes = 2 to [phases], or leave \
                 restore_every out",
            );
        }
        if self.restore_every == Some(0) {
            return refuse(
                "restore_every = 0 would never measure",
                "write 1 to restore before every cell",
            );
        }
        if varies_fill && phases.fill.is_some() {
            return refuse(
                "fill is both a factor and a phase",
                "omit fill from [phases]: the factor sets it",
            );
        }
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = Vec::new();
        for factor in &self.factors {
            let key = (&factor.name, &factor.stream);
            if seen.contains(&key) {
                return refuse(
                    format!("the factor '{}' occurs twice", factor.name),
                    "join the values of both",
                );
            }
            seen.push(key);
        }
        Ok(())
    }
}

impl Factor {
    /// A load may have any factor: its own options say what they are.
    fn check(&self, has_load: bool) -> Result<()> {
        if !has_load && !FACTORS.iter().any(|(name, _)| *name == self.name) {
            let names: Vec<String> = FACTORS.iter().map(|(name, _)| (*name).to_owned()).collect();
            let near = nearest(&self.name, &names)
                .map(|near| format!("did you mean '{near}'? "))
                .unwrap_or_default();
            return refuse(
                format!("there is no factor '{}'", self.name),
                format!("{near}known are {}", names.join(", ")),
            );
        }
        if self.values.is_empty() {
            return refuse(
                format!("the factor '{}' has no values", self.name),
                "write for example values = [1, 2, 4]",
            );
        }
        Ok(())
    }
}
