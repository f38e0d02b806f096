//! The folder that SLOB's script leaves of a run: its reports, its settings, and what tools saw of
//! the host.

use crate::reports::{ReportRequest, read_files};
use assay_archives::oswatcher::tool_means;
use assay_formats::results::{
    ImportedContent, ImportedResult, ImportedRow, Lack, report_row, slob_settings, trace_program,
};
use assay_methods::files::read_foreign_plain;
use assay_model::profile::{Profile, ProfileSource};
use assay_model::study::{FactorValue, StudySetting};
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Estimate, Result};
use std::path::{Path, PathBuf};

/// What the script leaves of the host next to the report.
const HOST_FILES: [&str; 2] = ["iostat.out", "vmstat.out"];
/// The settings of the load.
const SETTINGS_FILE: &str = "slob.conf";
/// The kind of a report of all instances.
const ALL_INSTANCES: &str = "awr_global";
/// Reports of one interval agree up to the time that each counts until its snapshot.
const DIFFERENCE_MAX: f64 = 0.01;

/// What the folder of a SLOB run holds.
pub struct SlobDirectory {
    /// A row for each interval.
    pub result: ImportedResult,
    /// What makes it the same folder.
    pub content: String,
    /// What was joined, used and left out, in words.
    pub notes: Vec<String>,
}

/// Files of a folder that are not results, to be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFiles {
    traces: Vec<String>,
    others: Vec<String>,
}

impl NamedFiles {
    /// Adds a file by what it holds.
    pub fn add(&mut self, name: String, text: &str) {
        let names = if trace_program(text).is_some() { &mut self.traces } else { &mut self.others };
        names.push(name);
    }

    /// A line for each kind of file that there is.
    pub fn notes(&self) -> Vec<String> {
        let note = |words: &str, names: &[String]| {
            (!names.is_empty()).then(|| format!("note: {words}: {}", names.join(", ")))
        };
        let notes = [
            note("not read, because they are not results", &self.others),
            note("traces, which `assay watch --from FILE` reads", &self.traces),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// A report with the name of its file.
type SlobProfile = (String, Profile);

/// Reads a folder: the reports of one interval are a row.
///
/// # Errors
/// A usage error where it has no report.
pub fn read_folder(path: &Path, name: &str) -> Result<SlobDirectory> {
    let request = ReportRequest { profiles: true, medium: None };
    let files = read_files(&[PathBuf::from(path)], request);
    let reports = files.into_iter().flat_map(|file| file.reports);
    let profiles: Vec<SlobProfile> =
        reports.filter_map(|report| Some((report.file, report.profile?))).collect();
    if profiles.is_empty() {
        return Err(Error::usage(
            format!("{} contains neither results nor AWR reports", path.display()),
            "specify a file of results, a folder of them, or the folder of a SLOB run with its \
             awr.txt",
        ));
    }
    let mut lacks = vec![Lack::Intervals, Lack::Quantiles, Lack::Load, Lack::Environment];
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for interval in by_interval(&profiles) {
        let (row, differences) = joint_row(&interval);
        if let (true, [first, others @ ..]) = (differences.is_empty(), interval.as_slice())
            && !others.is_empty()
        {
            let names: Vec<&str> = others.iter().map(|(file, _)| file.as_str()).collect();
            notes.push(format!("note: {} agrees with {}", first.0, names.join(", ")));
        }
        lacks.extend(differences.into_iter().map(Lack::ReportsDiffer));
        rows.push(row);
    }
    let mut used = HOST_FILES.to_vec();
    // One run left one output of each tool; those of several runs would be guessed apart.
    if let [row] = rows.as_mut_slice() {
        lacks.extend(add_host(row, path));
        used.extend(add_settings(row, path).then_some(SETTINGS_FILE));
    }
    notes.extend(unused(path, &profiles, &used).notes());
    let content = format!("{rows:?}");
    let result = ImportedResult {
        program: "SLOB".to_owned(),
        name: name.to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    };
    Ok(SlobDirectory { result, content, notes })
}

/// Reports of the same snapshots of a database, that of all instances first.
fn by_interval(profiles: &[SlobProfile]) -> Vec<Vec<&SlobProfile>> {
    let mut ordered: Vec<&SlobProfile> = profiles.iter().collect();
    ordered.sort_by_key(|(_, profile)| profile.source.kind != ALL_INSTANCES);
    let mut intervals: Vec<Vec<&SlobProfile>> = Vec::new();
    for report in ordered {
        match intervals
            .iter_mut()
            .find(|known| is_same_interval(&known[0].1.source, &report.1.source))
        {
            Some(interval) => interval.push(report),
            None => intervals.push(vec![report]),
        }
    }
    let place = |interval: &Vec<&SlobProfile>| interval.iter().map(|(file, _)| file.clone()).min();
    intervals.sort_by_key(place);
    intervals
}

fn is_same_interval(one: &ProfileSource, other: &ProfileSource) -> bool {
    let agree = |one: &Option<String>, other: &Option<String>| {
        one.is_none() || other.is_none() || one == other
    };
    let instances = [one.instance_number, other.instance_number];
    let is_one_instance = one.kind == ALL_INSTANCES
        || instances.contains(&None)
        || one.instance_number == other.instance_number;
    one.snapshots.is_some()
        && one.snapshots == other.snapshots
        && agree(&one.database_id, &other.database_id)
        && is_one_instance
}

/// The row of the first report, and where the others differ from it.
fn joint_row(interval: &[&SlobProfile]) -> (ImportedRow, Vec<String>) {
    let mut rows = interval.iter().map(|(file, profile)| (file, report_row(file, profile)));
    let Some((first, row)) = rows.next() else { return Default::default() };
    let mut differences = Vec::new();
    for (file, other) in rows {
        let pairs = row.measures.iter().filter_map(|named| {
            let same = other.measures.iter().find(|one| one.quantity == named.quantity)?;
            Some((&named.quantity, named.estimate.value, same.estimate.value))
        });
        let differ = pairs.filter(|(_, one, other)| {
            (one - other).abs() > DIFFERENCE_MAX * one.abs().max(other.abs())
        });
        let names: Vec<&str> = differ.map(|(quantity, ..)| quantity.as_str()).collect();
        if !names.is_empty() {
            differences.push(format!("{first} and {file} in {}", names.join(", ")));
        }
    }
    (row, differences)
}

/// Adds what `iostat` and `vmstat` saw of the host: of the busiest device only where it did the
/// I/O of the report.
fn add_host(row: &mut ImportedRow, folder: &Path) -> Option<Lack> {
    let text = |name: &str| read_foreign_plain(&folder.join(name), "output").unwrap_or_default();
    let [iostat, vmstat] = HOST_FILES.map(text);
    let means = tool_means(&iostat, &vmstat);
    let measure = |quantity: &str, value: f64| NamedEstimate {
        quantity: quantity.to_owned(),
        subject: None,
        estimate: Estimate::without_interval(value, 1),
    };
    let reported = row.measures.iter().find(|named| named.quantity == "read.iops");
    let reported = reported.map(|named| named.estimate.value);
    row.measures.extend(means.cpu_busy_share.map(|share| measure("host.cpu_busy", share)));
    let (name, rates) = means.busiest?;
    let is_it = reported.is_none_or(|reads| (0.5 * reads..=2.0 * reads).contains(&rates.read_iops));
    if !is_it {
        return Some(Lack::Device);
    }
    row.settings.push(StudySetting { factor: "device".to_owned(), value: FactorValue::Text(name) });
    row.measures.push(measure("storage.read_throughput", rates.read_bytes_per_s));
    None
}

/// Adds the settings of the load, and says whether there are any.
fn add_settings(row: &mut ImportedRow, folder: &Path) -> bool {
    let text = read_foreign_plain(&folder.join(SETTINGS_FILE), "settings").unwrap_or_default();
    let settings = slob_settings(&text);
    let has_any = !settings.is_empty();
    row.settings.extend(settings);
    has_any
}

/// The files of a folder that are neither reports nor used.
fn unused(folder: &Path, reports: &[SlobProfile], used: &[&str]) -> NamedFiles {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let is_report = |name: &String| {
        let file_of = |file: &str| file.rsplit('/').next().unwrap_or_default().to_owned();
        reports.iter().any(|(file, _)| file_of(file).split('#').next() == Some(name))
    };
    let mut left_out = NamedFiles::default();
    for name in names.into_iter().filter(|name| !used.contains(&name.as_str())) {
        if !is_report(&name) {
            let text = read_foreign_plain(&folder.join(&name), "output").unwrap_or_default();
            left_out.add(name, &text);
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_the_same_snapshots_are_of_one_interval() {
        let source = |snapshots: &str, kind: &str, instance: u32| ProfileSource {
            kind: kind.to_owned(),
            snapshots: (!snapshots.is_empty()).then(|| snapshots.to_owned()),
            instance_number: (instance > 0).then_some(instance),
            ..ProfileSource::default()
        };
        let first = source("160-161", "awr", 1);
        for (other, is_same) in [
            (source("160-161", "awr", 1), true),
            (source("160-161", "awr", 0), true),
            (source("160-161", "awr", 2), false),
            (source("161-162", "awr", 1), false),
        ] {
            assert_eq!(is_same_interval(&first, &other), is_same, "{other:?}");
        }
        let of_all = source("160-161", ALL_INSTANCES, 0);
        assert!(
            [1, 2].iter().all(|one| is_same_interval(&of_all, &source("160-161", "awr", *one)))
        );
        assert!(!is_same_interval(&source("", "awr", 1), &source("", "awr", 1)));
    }

    #[test]
    fn traces_are_named_with_the_command_that_reads_them() {
        let mut left_out = NamedFiles::default();
        assert!(left_out.notes().is_empty());
        left_out.add("notes.md".to_owned(), "the array was cold\n");
        left_out.add(
            "mpstat.out".to_owned(),
            "Linux 6.1.0 (db1) (2 CPU)\n10:00:01 CPU %usr %irq %soft %steal %idle\n",
        );
        assert_eq!(
            left_out.notes(),
            [
                "note: not read, because they are not results: notes.md",
                "note: traces, which `assay watch --from FILE` reads: mpstat.out"
            ]
        );
    }
}
