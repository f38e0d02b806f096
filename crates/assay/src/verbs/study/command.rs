//! The `assay load` that a cell of a study is, as a command.

use crate::usage::usage_error;
use crate::verbs::load;
use assay_app::command_line::typed;
use assay_app::study::cache;
use assay_app::study::labels::{option, settings};
use assay_model::document::nearest;
use assay_model::study::{Cell, FactorValue, Study, StudyLoad};
use assay_model::{Error, Result};
use clap::{Args, Command};

/// What studies call things that a load has under another name.
const ALIASES: [(&str, &str); 2] = [("memory", "shared-buffers"), ("parallelism", "parallel")];

/// The words of a cell's command behind the program's name.
///
/// # Errors
/// A usage error when there is no such load, or it has no such option or value.
pub fn words(study: &Study, cell: &Cell, target: &str) -> Result<Vec<String>> {
    let Some(load) = &study.load else {
        return Err(Error::usage("the study has no [load]", "write [load] with kind = \"slob\""));
    };
    let known = known(load)?;
    let mut words: Vec<String> = ["load", &load.kind, target].map(str::to_owned).to_vec();
    let has_time = load.options.contains_key("time") || load.options.contains_key("work");
    if !has_time && known.iter().any(|option| option == "time") {
        words.push(format!("--time={}", study.phases.measure));
    }
    let varied = cell.settings.iter().map(|setting| (setting.factor.as_str(), &setting.value));
    let is_varied = |name: &str| varied.clone().any(|(factor, _)| option(factor) == option(name));
    let given = load.options.iter().map(|(name, value)| (name.as_str(), value));
    let all = given.filter(|(name, _)| !is_varied(name)).chain(varied.clone());
    let all = cache::sized(&load.kind, all.map(|(name, value)| (name, value.clone())).collect())?;
    for (name, value) in all {
        words.extend(word(&known, name, &value, &load.kind)?);
    }
    match command().try_get_matches_from(&words) {
        Ok(_) => Ok(words),
        Err(error) => Err(usage_error(&error, &format!("assay load {}", load.kind))),
    }
}

/// The verb `load` with its kinds and their options.
fn command() -> Command {
    load::Options::augment_args(Command::new("load"))
}

/// Long names of the options of a kind of load.
fn known(load: &StudyLoad) -> Result<Vec<String>> {
    let command = command();
    let Some(found) = command.find_subcommand(&load.kind) else {
        let kinds: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        return Err(Error::usage(
            format!("there is no load '{}'", load.kind),
            format!("loads are {}", kinds.join(", ")),
        ));
    };
    Ok(found.get_arguments().filter_map(|option| option.get_long()).map(str::to_owned).collect())
}

/// One option with its value; a flag that is off is left out.
fn word(known: &[String], name: &str, value: &FactorValue, kind: &str) -> Result<Option<String>> {
    let mut spelled = option(name);
    if !known.contains(&spelled) {
        let other = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, other)| *other);
        let Some(other) = other.filter(|other| known.iter().any(|option| option == other)) else {
            let near = nearest(&spelled, known)
                .map(|near| format!("did you mean '{near}'? "))
                .unwrap_or_default();
            return Err(Error::usage(
                format!("the load '{kind}' has no '{name}'"),
                format!("{near}see `assay load {kind} --help`"),
            ));
        };
        other.clone_into(&mut spelled);
    }
    Ok(match value {
        FactorValue::Flag(false) => None,
        FactorValue::Flag(true) => Some(format!("--{spelled}")),
        value => Some(format!("--{spelled}={value}")),
    })
}

/// What a cell is, for the plan.
pub fn phases(study: &Study, cell: &Cell, target: &str) -> (String, Option<String>) {
    match words(study, cell, target) {
        Ok(words) => (format!("assay {}", typed(&words)), None),
        Err(error) => (settings(cell), Some(error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_app::study::outline::is_of_loads;
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
        words(&study, &cells(&study)[1], "/tmp")
    }

    #[test]
    fn options_and_factors_become_the_command_of_a_load() {
        let expected = "load slob /tmp --time=10s --buffered --scale=64MiB --sessions=4 --shared-buffers=64MiB --update-pct=25";
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
