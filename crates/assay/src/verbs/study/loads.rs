//! A study of a load on a real database: every cell is one `assay load`, kept as a run of its own in the same store.

use super::conduct::{Done, Ground};
use super::data::Data;
use super::figures::measures;
use super::{around, cache, plan};
use crate::cli::CommandLine;
use crate::options::StoreOptions;
use crate::progress::Progress;
use crate::usage::mistake;
use assay_methods::target::is_simulated;
use assay_model::document::nearest;
use assay_model::number::real;
use assay_model::run::RunKind;
use assay_model::study::{Cell, CellResult, CellState, FactorValue, Study, StudyLoad, StudyResult};
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_store::{Document, RunReader, RunWriter};
use clap::{Command, CommandFactory, Parser};
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a load is looked after.
const LOOK: Duration = Duration::from_millis(100);
/// A load that was asked to end is given this long to put its server away.
const GRACE: Duration = Duration::from_secs(20);
/// What studies call things that a load has under another name.
const ALIASES: [(&str, &str); 2] = [("memory", "shared-buffers"), ("parallelism", "parallel")];

/// Whether cells are loads: on the address of a server, or on a directory where the study has nothing else.
pub fn is_meant(study: &Study, targets: &[String]) -> bool {
    let [only] = targets else { return false };
    let is_address = only.contains("://");
    study.load.is_some() && (is_address || (!study.has_workload() && !is_simulated(only)))
}

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
    let line = std::iter::once("assay".to_owned()).chain(words.iter().cloned());
    match CommandLine::try_parse_from(line) {
        Ok(_) => Ok(words),
        Err(error) => Err(mistake(&error, &format!("assay load {}", load.kind))),
    }
}

/// Long names of the options of a kind of load.
fn known(load: &StudyLoad) -> Result<Vec<String>> {
    let program = CommandLine::command();
    let kinds = program.find_subcommand("load");
    let names = |command: &Command| -> Vec<String> {
        command.get_subcommands().map(|kind| kind.get_name().to_owned()).collect()
    };
    let found = kinds.and_then(|kinds| kinds.find_subcommand(&load.kind));
    let Some(found) = found else {
        return Err(Error::usage(
            format!("there is no load '{}'", load.kind),
            format!("loads are {}", kinds.map(names).unwrap_or_default().join(", ")),
        ));
    };
    Ok(found.get_arguments().filter_map(|option| option.get_long()).map(str::to_owned).collect())
}

/// A name as options are spelled.
pub fn option(name: &str) -> String {
    name.replace('_', "-")
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

/// Where loads run and are kept.
pub struct Place<'a> {
    /// The directory, or the server.
    pub target: &'a str,
    /// The target without secrets, as runs name it.
    pub shown: &'a str,
    /// Where runs are kept.
    pub store: &'a StoreOptions,
    /// Set when the program is asked to end.
    pub stop: &'a AtomicBool,
    /// The run of the study.
    pub writer: &'a RunWriter,
    /// What a person sees meanwhile.
    pub progress: &'a mut Progress,
    /// When the study began or went on.
    pub began: Instant,
    /// The data that cells share, where they are made by the study.
    pub data: Option<Data>,
}

impl Ground for Place<'_> {
    fn now_s(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn say(&mut self, words: &str) {
        self.progress.say(words);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn keep(&self, result: &StudyResult) -> Result<()> {
        self.writer.put_json(Document::Results, result)
    }

    fn measured(&mut self, study: &Study, cell: &Cell) -> Result<Option<Done>> {
        let run = self.writer.path().display().to_string();
        let done = measured(study, cell, self, &run)?;
        Ok(done.map(|done| {
            let broken = broken(study, &done);
            (done, broken)
        }))
    }
}

/// Whether the limit on times is broken; a load says itself how busy its host was.
fn broken(study: &Study, done: &CellResult) -> Option<String> {
    let limit = study.stop.latency?;
    let slowest = done
        .measures
        .iter()
        .filter(|named| named.subject.is_none() && named.quantity.ends_with("_time.q0.99"))
        .map(|named| named.estimate.value)
        .fold(0.0, f64::max);
    (slowest > real(limit.0)).then(|| {
        let shown = assay_model::units::show_time_ns(slowest);
        format!("p99 was {shown} at a lower value, more than {limit}")
    })
}

/// Carries one cell out; nothing when a person stopped it.
///
/// # Errors
/// What the load, a hook or the store says.
fn measured(
    study: &Study,
    cell: &Cell,
    place: &mut Place<'_>,
    run: &str,
) -> Result<Option<CellResult>> {
    let mut words = words(study, cell, place.target)?;
    if let Some(data) = &mut place.data {
        words = data.arranged(study, cell, &words)?;
    }
    let mut hooks = Vec::new();
    hooks.extend(around::hook(study, study.hooks.before.as_ref(), cell, run)?);
    let (begun, begun_unix_ns) = (Instant::now(), assay_host::clock::unix_ns());
    let carried_out = carried_out(&words, place);
    if let Some(data) = &mut place.data {
        data.look()?;
    }
    if !carried_out? {
        return Ok(None);
    }
    let kept = newest(place, begun_unix_ns)?;
    hooks.extend(around::hook(study, study.hooks.after.as_ref(), cell, run)?);
    rest(study.phases.rest, place.stop);
    Ok(Some(CellResult {
        cell: cell.clone(),
        state: CellState::Measured,
        directory: String::new(),
        run: kept.manifest().id.clone(),
        elapsed_s: begun.elapsed().as_secs_f64(),
        host_busy_share: None,
        measures: measures(&kept)?,
        course: None,
        hooks,
    }))
}

/// Runs the program itself; false when it was stopped.
fn carried_out(words: &[String], place: &Place<'_>) -> Result<bool> {
    let program = std::env::current_exe().map_err(|error| failed(&error.to_string()))?;
    let mut child = std::process::Command::new(program)
        .args(words)
        .arg("--quiet")
        .arg("--store")
        .arg(&place.store.store)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error.to_string()))?;
    let complaints = child.stderr.take().map(|mut stream| {
        std::thread::spawn(move || {
            let mut text = String::new();
            drop(stream.read_to_string(&mut text));
            text
        })
    });
    let code = wait(&mut child, place.stop)?;
    let complaints = complaints.and_then(|reader| reader.join().ok()).unwrap_or_default();
    match code {
        _ if place.stop.load(Ordering::Relaxed) => Ok(false),
        // What a load judges of itself is in its own run.
        Some(0 | 1 | 3) => Ok(true),
        Some(130) => Ok(false),
        _ => {
            let line = complaints.lines().find_map(|line| line.strip_prefix("error: "));
            Err(failed(line.unwrap_or("it ended without a word")))
        }
    }
}

/// What a load that came to nothing says.
pub fn failed(why: &str) -> Error {
    Error::environment(format!("the load: {why}"), "run `assay load` by hand, and look after it")
}

/// Waits for the load; one that does not end when it is asked to is ended.
fn wait(child: &mut Child, stop: &AtomicBool) -> Result<Option<i32>> {
    let mut stopped = None;
    loop {
        if let Some(status) = child.try_wait().map_err(|error| failed(&error.to_string()))? {
            return Ok(status.code());
        }
        if stop.load(Ordering::Relaxed) {
            let since: &mut Instant = stopped.get_or_insert_with(Instant::now);
            if since.elapsed() > GRACE {
                drop(child.kill());
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn rest(time: Nanos, stop: &AtomicBool) {
    let end = Instant::now() + Duration::from_nanos(time.0);
    while !stop.load(Ordering::Relaxed) && Instant::now() < end {
        std::thread::sleep(LOOK.min(end.saturating_duration_since(Instant::now())));
    }
}

/// The run that the load left: the newest of its kind and target since it began.
fn newest(place: &Place<'_>, begun_unix_ns: u64) -> Result<RunReader> {
    let store = place.store.open();
    let is_here = |target: &String| match &place.data {
        Some(data) => data.holds(target),
        None => target == place.shown,
    };
    for listed in store.runs()?.runs {
        let run = store.open(&listed.path.display().to_string())?;
        let manifest = run.manifest();
        let is_it = manifest.kind == RunKind::Load
            && manifest.created_unix_ns >= begun_unix_ns
            && manifest.targets.iter().any(is_here);
        if is_it {
            return Ok(run);
        }
    }
    Err(failed("it kept no run"))
}

/// What a cell is, for the plan.
pub fn phases(study: &Study, cell: &Cell, target: &str) -> (String, Option<String>) {
    match words(study, cell, target) {
        Ok(words) => (format!("assay {}", crate::options::typed(&words)), None),
        Err(error) => (plan::settings(cell), Some(error.message().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::study::{cells, parse_study};

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
        let meant = |target: &str| is_meant(&study, &[target.to_owned()]);
        assert!(meant("postgresql://localhost/x") && meant("/tmp") && !meant("array:xtremio-1"));
        let both =
            parse_study(&STUDY.replace("name = \"slob\"", "name = \"slob\"\npreset = \"oltp\""))
                .unwrap();
        assert!(is_meant(&both, &["mysql://localhost/x".to_owned()]));
        assert!(!is_meant(&both, &["/tmp".to_owned()]));
    }
}
