//! The load that a cell of a study is: as a plan, and as the command that a person would type.

use super::cache::sized;
use super::labels::{option, settings};
use crate::command_line::typed;
use crate::load::LoadPlan;
use assay_methods::target::is_simulated;
use assay_model::study::{Cell, FactorValue, Study};
use assay_model::{Error, Result};

/// The load of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCell {
    /// The load, with the factors set.
    pub plan: LoadPlan,
    /// The words of the command that asks the same, behind the program's name.
    pub words: Vec<String>,
}

/// Where the target stands among the words.
pub const TARGET: usize = 2;

/// Whether cells are loads: on the address of a server, or on a directory where the study has nothing else.
pub fn is_of_loads(study: &Study, targets: &[String]) -> bool {
    let [only] = targets else { return false };
    let is_address = only.contains("://");
    study.load.is_some() && (is_address || (!study.has_workload() && !is_simulated(only)))
}

impl LoadCell {
    /// The load of a cell on a target, which is not touched.
    ///
    /// # Errors
    /// A usage error when there is no such load, or it has no such option or value.
    pub fn new(study: &Study, cell: &Cell, target: &str) -> Result<Self> {
        let Some(load) = &study.load else {
            return Err(Error::usage(
                "the study has no [load]",
                "write [load] with kind = \"slob\"",
            ));
        };
        let plan = LoadPlan::named(&load.kind, target)?;
        let words = ["bench", &load.kind, target].map(str::to_owned).to_vec();
        let mut found = Self { plan, words };
        let has_length = load.options.contains_key("time") || load.options.contains_key("work");
        let time = FactorValue::Text(study.phases.measure.to_string());
        if !has_length && found.plan.spelled("time").is_ok() {
            found.set("time", &time)?;
        }
        let varied = cell.settings.iter().map(|setting| (setting.factor.as_str(), &setting.value));
        let is_varied =
            |name: &str| varied.clone().any(|(factor, _)| option(factor) == option(name));
        let given = load.options.iter().map(|(name, value)| (name.as_str(), value));
        let all = given.filter(|(name, _)| !is_varied(name)).chain(varied.clone());
        let all = all.map(|(name, value)| (name, value.clone())).collect();
        for (name, value) in sized(&found.plan, all)? {
            found.set(name, &value)?;
        }
        found.plan.load().check()?;
        Ok(found)
    }

    /// Sets an option; a flag that is off adds no word to the command.
    fn set(&mut self, name: &str, value: &FactorValue) -> Result<()> {
        self.plan.set(name, value)?;
        let spelled = self.plan.spelled(name)?;
        match value {
            FactorValue::Flag(false) => (),
            FactorValue::Flag(true) => self.words.push(format!("--{spelled}")),
            value => self.words.push(format!("--{spelled}={value}")),
        }
        Ok(())
    }
}

/// What a cell is, for the outline of the study, and why it cannot be measured, if it cannot.
pub fn outlined(study: &Study, cell: &Cell, target: &str) -> (String, Option<String>) {
    match LoadCell::new(study, cell, target) {
        Ok(found) => (format!("assay {}", typed(&found.words)), None),
        Err(error) => (settings(cell), Some(error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_methods::study::cells;
    use assay_model::study::parse_study;

    const STUDY: &str = r#"
        format = 1
        name = "slob"
        [phases]
        measure = "10s"
        [[factor]]
        name = "memory"
        values = ["64MiB", "128MiB"]
        [[factor]]
        name = "update_pct"
        values = [0, 25]
        [load]
        kind = "slob"
        options = { scale = "64MiB", update_pct = 5, sessions = 4, buffered = true }
    "#;

    fn first(text: &str) -> Result<Vec<String>> {
        let study = parse_study(text).unwrap();
        LoadCell::new(&study, &cells(&study)[1], "/tmp").map(|found| found.words)
    }

    #[test]
    fn options_and_factors_become_the_command_of_a_load() {
        let expected = "bench slob /tmp --time=10s --buffered --scale=64MiB --sessions=4 --buffer-pool=64MiB --update-pct=25";
        assert_eq!(first(STUDY).unwrap().join(" "), expected);
    }

    #[test]
    fn what_a_load_does_not_have_is_refused_before_it_runs() {
        for (from, to, message) in [
            ("\"slob\"\n        options", "\"slab\"\n        options", "no load 'slab'"),
            ("\"memory\"", "\"memry\"", "has no 'memry'"),
            ("[0, 25]", "[0, \"many\"]", "--update-pct"),
            ("\"128MiB\"", "\"128\"", ""),
        ] {
            let found = first(&STUDY.replace(from, to));
            match found {
                Err(error) => assert!(error.message().contains(message), "{error}"),
                Ok(words) => assert!(message.is_empty(), "{words:?}"),
            }
        }
    }

    #[test]
    fn loads_are_meant_on_databases_and_where_there_is_nothing_else() {
        let study = parse_study(STUDY).unwrap();
        let meant = |target: &str| is_of_loads(&study, &[target.to_owned()]);
        assert!(meant("postgresql://localhost/x") && meant("/tmp") && !meant("array:xtremio-1"));
        let both =
            parse_study(&STUDY.replace("name = \"slob\"", "name = \"slob\"\npreset = \"oltp\""))
                .unwrap();
        assert!(is_of_loads(&both, &["mysql://localhost/x".to_owned()]));
        assert!(!is_of_loads(&both, &["/tmp".to_owned()]));
    }
}
