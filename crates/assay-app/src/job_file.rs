//! Job files of other programs: read with what they include, and made to plans on the targets that
//! the caller names.

use crate::dry_run::load_of;
use crate::job_variables::{ValueSources, from_environment};
use crate::other_file::other_file;
use crate::run::RunPlan;
use crate::study::StudyPlan;
use crate::target_plan::TargetPlan;
use assay_formats::{
    Conversion, ConversionPart, ConvertedDocument, FileKind, NamedTarget, Refused, Surroundings,
    detect, fio,
};
use assay_host::size;
use assay_methods::files::{read_foreign, read_foreign_plain};
use assay_methods::target::is_simulated;
use assay_model::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a job file is given by whoever runs it.
#[derive(Clone, Debug, Default)]
pub struct JobSettings {
    /// Values of variables; what is not here is looked for in the environment, where the name
    /// holds no secret.
    pub variables: BTreeMap<String, String>,
    /// Those that job files took so far.
    pub taken: ValueSources,
    /// Which target stands for a file or device that the job file names.
    pub targets: BTreeMap<String, String>,
}

impl JobSettings {
    fn variable(&self, name: &str) -> Option<String> {
        if let Some(value) = self.variables.get(name) {
            self.taken.add(name, "--set");
            return Some(value.clone());
        }
        if let Some(value) = from_environment(name) {
            self.taken.add(name, "the environment");
            return Some(value);
        }
        of_host(name)
    }
}

/// Where an included file lies: in the folder of the job file or below, also behind links.
fn below(folder: &Path, included: &str) -> Result<PathBuf> {
    let refuse = |what: &str| {
        let hint = "put the file next to the job file or in a directory below it";
        Error::usage(format!("'{included}' {what}"), hint)
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = |path: &Path| path.canonicalize().map_err(|_| refuse("is not a file"));
    let found = real(&folder.join(included))?;
    if found.starts_with(real(folder)?) {
        Ok(found)
    } else {
        Err(refuse("is not below the job file"))
    }
}

/// The plan that a document of a job file means.
#[expect(clippy::large_enum_variant, reason = "the values are few, and each is moved once")]
pub enum JobPlan {
    /// One workload.
    Run(RunPlan),
    /// A workload whose parameters are varied.
    Study(StudyPlan),
}

/// The text of a file where it is another program's job file.
///
/// # Errors
/// A usage error when it cannot be read as text, or another command reads it.
pub fn job_text(path: &Path) -> Result<Option<String>> {
    // A document of Assay is never read as another program's, however broken it is.
    if path.extension().is_some_and(|extension| extension == "toml") {
        return Ok(None);
    }
    let text = read_foreign(path, "job file")?;
    let is_job = matches!(
        detect(&text),
        Some(
            FileKind::FioJob
                | FileKind::VdbenchParameters
                | FileKind::IometerConfiguration
                | FileKind::OrionLuns
        )
    );
    if detect(&text).is_none()
        && let Some(error) = other_file(&text, &path.display().to_string())
    {
        return Err(error);
    }
    Ok(is_job.then_some(text))
}

/// Reads a job file with the files that it includes, which lie in its directory or below.
///
/// # Errors
/// A usage error with the line, the option and the reason where nothing can be made of it.
pub fn read_job(path: &Path, text: &str, settings: &JobSettings) -> Result<Conversion> {
    let shown =
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let folder = path.parent().unwrap_or(Path::new(""));
    let convert = |around: &Surroundings<'_>| assay_formats::convert(text, &shown, around);
    with_surroundings(folder, settings, convert)
}

/// Reads the options of fio's command line, `name=value` or a name alone, as the job file that they
/// mean.
///
/// # Errors
/// A usage error with the option and the reason where nothing can be made of them.
pub fn read_job_words(words: &[String], settings: &JobSettings) -> Result<Conversion> {
    let convert = |around: &Surroundings<'_>| fio::convert_words(words, around);
    with_surroundings(Path::new(""), settings, convert)
}

/// What a reader of job files makes of one that may name others in a folder, and variables.
fn with_surroundings(
    folder: &Path,
    settings: &JobSettings,
    convert: impl Fn(&Surroundings<'_>) -> std::result::Result<Conversion, Refused>,
) -> Result<Conversion> {
    let file = |included: &str| {
        let found = below(folder, included)?;
        read_foreign_plain(&found, "included file")
    };
    let variable = |name: &str| settings.variable(name);
    let around = Surroundings { file: &file, variable: &variable };
    let mut conversion = convert(&around).map_err(Refused::into_error)?;
    if !settings.taken.is_empty() {
        let taken = settings.taken.to_string();
        conversion.parts.iter_mut().for_each(|part| describe(&mut part.document, &taken));
    }
    Ok(conversion)
}

/// What fio's words for the host stand for.
fn of_host(word: &str) -> Option<String> {
    let number = match word {
        "$pagesize" => size::page_bytes(),
        "$ncpus" => size::processors(),
        "$mb_memory" => size::memory_bytes() >> 20,
        _ => return None,
    };
    Some(number.to_string())
}

/// Adds a sentence to the description, which the run keeps.
fn describe(document: &mut ConvertedDocument, sentence: &str) {
    let description = match document {
        ConvertedDocument::Workload(workload) => {
            workload.description = load_of(workload, None);
            &mut workload.description
        }
        ConvertedDocument::Study(study) => &mut study.description,
    };
    let separator = if description.is_empty() { "" } else { "; " };
    *description = format!("{description}{separator}{sentence}");
}

/// The targets that a command line names by `filename` or `directory`: whoever typed them meant
/// them.
///
/// # Errors
/// A usage error where it names none.
pub fn typed_targets(conversion: &Conversion) -> Result<Vec<String>> {
    let typed = |target: &NamedTarget| match target.name.rsplit_once('/') {
        // Files that the job would make for itself lie in the directory.
        Some((directory, file)) if file.ends_with(".*") => Some(directory.to_owned()),
        None if target.name.ends_with(".*") => None,
        _ => Some(target.name.clone()),
    };
    let found: Option<Vec<String>> = conversion.targets.iter().map(typed).collect();
    found.ok_or_else(|| {
        Error::usage(
            "no target is named",
            "specify a directory, file or device after the options, or with --filename",
        )
    })
}

/// The targets that stand for those of the job file, in its order. What a file names is never
/// opened by that name alone.
///
/// # Errors
/// A usage error when they are not as many, or a name is not in the file.
pub fn chosen_targets(
    conversion: &Conversion,
    given: &[String],
    settings: &JobSettings,
) -> Result<Vec<String>> {
    let names: Vec<&String> = conversion.targets.iter().map(|target| &target.name).collect();
    if let Some(unknown) = settings.targets.keys().find(|name| !names.contains(name)) {
        return Err(Error::usage(
            format!("--map {unknown}: the job file names no such file or device"),
            format!("it names {}", shown(&conversion.targets)),
        ));
    }
    let mut open: Vec<usize> = Vec::new();
    let mut chosen: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let mapped = settings.targets.get(*name).cloned();
        if mapped.is_none() {
            open.push(index);
        }
        chosen.push(mapped.unwrap_or_default());
    }
    if given.len() > 1 && given.len() != open.len() || given.is_empty() && !open.is_empty() {
        return Err(Error::usage(
            format!(
                "{} targets are given for {} files or devices of the job file",
                given.len(),
                open.len()
            ),
            format!(
                "specify one target for all, one for each, or use --map NAME=TARGET; the file \
                 names {}",
                shown(&conversion.targets)
            ),
        ));
    }
    for (place, index) in open.into_iter().enumerate() {
        chosen[index].clone_from(given.get(place).unwrap_or(&given[0]));
    }
    Ok(chosen)
}

/// The first names, as many as fit on a line.
fn shown(targets: &[NamedTarget]) -> String {
    let names: Vec<&str> = targets.iter().take(6).map(|target| target.name.as_str()).collect();
    let more = targets.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// The plan of one document on the chosen targets; everything else of `target` holds for it, too.
pub fn plan(part: &ConversionPart, chosen: &[String], target: &TargetPlan) -> JobPlan {
    let targets: Vec<String> = part.targets.iter().map(|index| chosen[*index].clone()).collect();
    let is_one = targets.iter().all(|one| Some(one) == targets.first());
    let makes_files = targets.iter().all(|one| !is_simulated(one) && Path::new(one).is_dir());
    let (targets, document) = if targets.len() > 1 && is_one && !makes_files {
        (targets[..1].to_vec(), part.on_one_target())
    } else {
        (targets, part.document.clone())
    };
    let target = TargetPlan { targets, ..target.clone() };
    match document {
        ConvertedDocument::Workload(workload) => {
            JobPlan::Run(RunPlan { workload, target, ..RunPlan::default() })
        }
        ConvertedDocument::Study(study) => {
            JobPlan::Study(StudyPlan { study, target, ..StudyPlan::default() })
        }
    }
}

/// Refuses a file of which a part of the load is missing.
///
/// # Errors
/// A usage error with the first option that was left out.
pub fn check_complete(conversion: &Conversion) -> Result<()> {
    let missing = conversion.refused().find(|(_, reason)| reason.leaves_out_load());
    let Some((note, reason)) = missing else { return Ok(()) };
    Err(Error::usage(
        format!("{} = {}: {reason}, and without it the load would differ", note.origin, note.value),
        format!("{}; `assay run JOB --print` prints the rest", reason.remedy()),
    ))
}
