//! The load that a cell of a study is: as a plan, and as the command that a person would type.

use super::cache::{is_size_of_cache, size_cache};
use super::labels::{option, settings};
use crate::command_line::typed;
use crate::load::load_options::LoadOptions;
use assay_methods::target::is_simulated;
use assay_model::study::{Cell, FactorValue, Study};
use assay_model::{Error, Result};

/// Whether cells are loads: on the address of a server, or on a directory where the study has
/// nothing else.
pub fn is_of_loads(study: &Study, targets: &[String]) -> bool {
    let [only] = targets else { return false };
    let is_address = only.contains("://");
    study.load.is_some() && (is_address || (!study.has_workload() && !is_simulated(only)))
}

/// The load of a cell on a target, which is not touched.
///
/// # Errors
/// A usage error when there is no such load, or it has no such option or value.
pub fn load_of(study: &Study, cell: &Cell, target: &str) -> Result<LoadOptions> {
    let Some(load) = &study.load else {
        return Err(Error::usage("the study has no [load]", "write [load] with kind = \"slob\""));
    };
    let mut found = LoadOptions::new(&load.kind, target)?;
    let has_length = load.options.contains_key("time") || load.options.contains_key("work");
    if !has_length && found.name_of("time").is_some() {
        found.set("time", &FactorValue::Text(study.phases.measure.to_string()))?;
    }
    let varied = cell.settings.iter().map(|setting| (setting.factor.as_str(), &setting.value));
    let is_varied = |name: &str| varied.clone().any(|(factor, _)| option(factor) == option(name));
    let fixed = load.options.iter().map(|(name, value)| (name.as_str(), value));
    let fixed = fixed.filter(|(name, _)| !is_varied(name));
    let (caches, others): (Vec<_>, Vec<_>) =
        fixed.chain(varied.clone()).partition(|(name, _)| is_size_of_cache(name));
    for (name, value) in others {
        found.set(name, value)?;
    }
    size_cache(&mut found, &caches)?;
    found.plan()?.load().check()?;
    Ok(found)
}

/// What a cell is, for the outline of the study, and why it cannot be measured, if it cannot.
pub fn outlined(study: &Study, cell: &Cell, target: &str) -> (String, Option<String>) {
    match load_of(study, cell, target) {
        Ok(found) => (format!("assay {}", typed(&found.words())), None),
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
        load_of(&study, &cells(&study)[1], "/tmp").map(|found| found.words())
    }

    #[test]
    fn options_and_factors_become_the_command_of_a_load() {
        let expected = "bench slob /tmp --time=10s --buffered --scale=64MiB --sessions=4 \
                        --buffer-pool=64MiB --update-pct=25";
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
