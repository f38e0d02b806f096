//! Profiles of one database, and the demand of all its instances over the same time.

use crate::sample::DemandSample;
use assay_model::Result;
use assay_model::number::real;
use assay_model::profile::{Profile, ProfileProduct, ReportScope};
use std::collections::BTreeSet;

/// Ends of two reports that lie closer than this share of the shortest one are the same: instances
/// take the same snapshot some seconds apart.
const SAME_EDGE: f64 = 0.05;
/// Lengths that differ by less than this share are the same.
const SAME_LENGTH: f64 = 0.02;

/// A database with what it demanded, sample by sample.
pub(crate) struct SizedDatabase {
    pub(crate) name: String,
    /// What all instances demanded together.
    pub(crate) samples: Vec<DemandSample>,
    /// How the samples came about, where that is not obvious.
    pub(crate) notes: Vec<String>,
}

/// The databases of these profiles, in the order in which they are met.
///
/// # Errors
/// A usage error when a profile has no rates.
pub(crate) fn databases(profiles: &[(&str, &Profile)]) -> Result<Vec<SizedDatabase>> {
    let mut groups: Vec<Vec<InstanceReport<'_>>> = Vec::new();
    for (file, profile) in profiles {
        let report = InstanceReport { file, profile, sample: DemandSample::new(file, profile)? };
        match groups.iter_mut().find(|group| group.iter().any(|one| one.is_same_database(&report)))
        {
            Some(group) => group.push(report),
            None => groups.push(vec![report]),
        }
    }
    let files: Vec<&str> = groups.iter().map(|group| group[0].file).collect();
    let mut found: Vec<SizedDatabase> = groups.into_iter().map(SizedDatabase::new).collect();
    tell_apart(&mut found, &files);
    Ok(found)
}

/// Adds the first file to names that several databases share.
fn tell_apart(databases: &mut [SizedDatabase], files: &[&str]) {
    let names: Vec<String> = databases.iter().map(|one| one.name.clone()).collect();
    for (database, file) in databases.iter_mut().zip(files) {
        let namesakes = names.iter().filter(|name| **name == database.name).count();
        if namesakes > 1 {
            database.name = format!("{} ({file})", database.name);
        }
    }
}

/// One report of one instance.
struct InstanceReport<'a> {
    file: &'a str,
    profile: &'a Profile,
    sample: DemandSample,
}

/// From when to when, on whichever axis.
#[derive(Clone, Copy)]
struct ReportSpan {
    begin: f64,
    end: f64,
}

impl ReportSpan {
    fn length(self) -> f64 {
        self.end - self.begin
    }
}

impl InstanceReport<'_> {
    /// The database without the instance, in which the name of an Oracle report ends unless it is
    /// of all of them.
    fn database(&self) -> &str {
        let name = self.profile.name.as_str();
        let is_instance =
            self.profile.source.product == ProfileProduct::Oracle && !self.is_global();
        name.rsplit_once('/').filter(|_| is_instance).map_or(name, |(database, _)| database)
    }

    /// Number of the instance, else its name.
    fn instance(&self) -> String {
        let name = || self.profile.name.rsplit('/').next().unwrap_or_default().to_owned();
        self.profile.source.instance_number.map_or_else(name, |number| number.to_string())
    }

    fn is_global(&self) -> bool {
        self.profile.source.kind == "awr_global"
    }

    fn is_same_database(&self, other: &Self) -> bool {
        let (one, two) = (&self.profile.source, &other.profile.source);
        let ids = one.database_id.as_ref().zip(two.database_id.as_ref());
        one.product == two.product
            && self.database().eq_ignore_ascii_case(other.database())
            && ids.is_none_or(|(one, two)| one == two)
    }

    /// Whether both are of one instance and one pair of snapshots: two forms of a report, or one
    /// file twice.
    fn is_copy_of(&self, other: &Self) -> bool {
        let (one, two) = (&self.profile.source, &other.profile.source);
        let begins = one.begin_clock_s.zip(two.begin_clock_s);
        let snapshots = one.snapshots.as_ref().zip(two.snapshots.as_ref());
        let lengths = self.sample.elapsed_s.zip(other.sample.elapsed_s);
        let same_length = |(one, two): (f64, f64)| (one - two).abs() <= SAME_LENGTH * one.max(two);
        (snapshots.is_some() || begins.is_some())
            && self.is_global() == other.is_global()
            && self.instance() == other.instance()
            && snapshots.is_none_or(|(one, two)| one == two)
            && begins.is_none_or(|(one, two)| one == two)
            && lengths.is_none_or(same_length)
    }

    /// What the report leaves out of what the storage has to sustain.
    fn scope_note(&self, is_cluster: bool) -> Option<String> {
        let what = match self.profile.report.as_ref()?.scope {
            ReportScope::Instance if !is_cluster => "one instance of several",
            ReportScope::Instance | ReportScope::Database => return None,
            ReportScope::PluggableDatabase => "one pluggable database of a container",
        };
        let file = self.file;
        Some(format!("{file} covers {what}; the others add to the demand on this storage"))
    }

    fn clock(&self) -> Option<ReportSpan> {
        let begin = real(u64::try_from(self.profile.source.begin_clock_s?).ok()?);
        Some(ReportSpan { begin, end: begin + self.sample.elapsed_s? })
    }

    /// Snapshots are numbered for the whole cluster.
    fn snapshots(&self) -> Option<ReportSpan> {
        let (begin, end) = self.profile.source.snapshots.as_ref()?.split_once('-')?;
        let (begin, end): (f64, f64) = (begin.parse().ok()?, end.parse().ok()?);
        (end > begin).then_some(ReportSpan { begin, end })
    }
}

impl SizedDatabase {
    /// A demand without a report.
    pub(crate) fn given(sample: DemandSample) -> Self {
        Self { name: String::new(), samples: vec![sample], notes: Vec::new() }
    }

    fn new(reports: Vec<InstanceReport<'_>>) -> Self {
        let name = reports.first().map_or_else(String::new, |one| one.database().to_owned());
        let (reports, mut notes) = without_copies(reports);
        let instances: BTreeSet<String> = reports.iter().map(InstanceReport::instance).collect();
        let is_cluster = instances.len() > 1 || reports.iter().any(InstanceReport::is_global);
        notes.extend(reports.iter().filter_map(|one| one.scope_note(is_cluster)));
        if !is_cluster || reports.len() == 1 {
            let samples = reports.into_iter().map(|one| one.sample).collect();
            return Self { name, samples, notes };
        }
        let spans = spans(&reports);
        let samples = match &spans {
            Some(spans) => {
                let (samples, missing) = summed(&reports, spans);
                notes.extend(missing.into_iter().map(|what| format!("{name}: {what}")));
                samples
            }
            None => vec![peaks(&reports)],
        };
        notes.extend(spans.is_none().then(|| {
            format!(
                "{name}: the times of its reports are unknown, so the peaks of its instances are \
                 added up"
            )
        }));
        Self { name, samples, notes }
    }
}

/// Each instance and pair of snapshots once, the report that is complete before one that is not.
fn without_copies<'a>(reports: Vec<InstanceReport<'a>>) -> (Vec<InstanceReport<'a>>, Vec<String>) {
    let (mut kept, mut notes): (Vec<InstanceReport<'a>>, Vec<String>) = (Vec::new(), Vec::new());
    for report in reports {
        let Some(known) = kept.iter_mut().find(|known| known.is_copy_of(&report)) else {
            kept.push(report);
            continue;
        };
        let is_better = report.profile.source.complete && !known.profile.source.complete;
        let left_out = if is_better { std::mem::replace(known, report) } else { report };
        notes.push(format!(
            "{}: the same instance and snapshots as {}, counted once",
            left_out.file, known.file
        ));
    }
    (kept, notes)
}

/// When each report was taken: by the clock, else by snapshots.
fn spans(reports: &[InstanceReport<'_>]) -> Option<Vec<ReportSpan>> {
    let clock: Option<Vec<ReportSpan>> = reports.iter().map(InstanceReport::clock).collect();
    clock.or_else(|| reports.iter().map(InstanceReport::snapshots).collect())
}

/// The sum of all instances over each stretch of time in which the reports stay the same, and what
/// is missing in it.
fn summed(
    reports: &[InstanceReport<'_>],
    spans: &[ReportSpan],
) -> (Vec<DemandSample>, Vec<String>) {
    let shortest = spans.iter().map(|span| span.length()).fold(f64::INFINITY, f64::min);
    let tolerance = SAME_EDGE * shortest;
    let mut edges: Vec<f64> = spans.iter().flat_map(|span| [span.begin, span.end]).collect();
    edges.sort_by(f64::total_cmp);
    edges.dedup_by(|next, kept| *next - *kept <= tolerance);
    let mut samples: Vec<DemandSample> = Vec::new();
    let mut absences = Absences::default();
    for (begin, end) in edges.iter().zip(edges.iter().skip(1)) {
        let covers =
            |span: &ReportSpan| span.begin <= begin + tolerance && span.end >= end - tolerance;
        let covering: Vec<usize> = (0..spans.len()).filter(|at| covers(&spans[*at])).collect();
        let parts = parts(reports, spans, &covering);
        let Some(first) = parts.first() else { continue };
        let share = (end - begin) / spans[*first].length();
        let elapsed_s = reports[*first].sample.elapsed_s.map(|elapsed_s| share * elapsed_s);
        let sample = DemandSample::sum(parts.iter().map(|at| &reports[*at].sample), elapsed_s);
        if let Some(last) = samples.last_mut().filter(|last| last.name == sample.name) {
            last.lengthen(sample.elapsed_s);
        } else {
            absences.count(reports, &parts);
            samples.push(sample);
        }
    }
    (samples, absences.notes(reports))
}

/// Of the reports that cover a stretch of time one of the whole cluster, else one of each instance:
/// the shortest, which hides its peaks least.
fn parts(reports: &[InstanceReport<'_>], spans: &[ReportSpan], covering: &[usize]) -> Vec<usize> {
    let mut covering = covering.to_vec();
    covering.sort_by(|one, other| spans[*one].length().total_cmp(&spans[*other].length()));
    if let Some(global) = covering.iter().find(|at| reports[**at].is_global()) {
        return vec![*global];
    }
    let mut instances = BTreeSet::new();
    covering.retain(|at| instances.insert(reports[*at].instance()));
    covering.sort_unstable();
    covering
}

/// Instances that are known from other times, and have no report for some.
#[derive(Default)]
struct Absences {
    samples: usize,
    absent: Vec<(String, usize)>,
}

impl Absences {
    fn count(&mut self, reports: &[InstanceReport<'_>], parts: &[usize]) {
        self.samples += 1;
        if parts.iter().any(|at| reports[*at].is_global()) {
            return;
        }
        let known = reports.iter().filter(|one| !one.is_global()).map(InstanceReport::instance);
        for instance in known.collect::<BTreeSet<_>>() {
            if parts.iter().any(|at| reports[*at].instance() == instance) {
                continue;
            }
            match self.absent.iter_mut().find(|(known, _)| *known == instance) {
                Some((_, times)) => *times += 1,
                None => self.absent.push((instance, 1)),
            }
        }
    }

    fn notes(&self, reports: &[InstanceReport<'_>]) -> Vec<String> {
        let mut notes: Vec<String> = self
            .absent
            .iter()
            .map(|(instance, times)| {
                let all = self.samples;
                format!(
                    "instance {instance} has no report for {times} of {all} intervals: its demand \
                     then is missing"
                )
            })
            .collect();
        if reports.iter().any(InstanceReport::is_global) {
            return notes;
        }
        let instances: BTreeSet<String> = reports.iter().map(InstanceReport::instance).collect();
        let named: Vec<&str> = instances.iter().map(String::as_str).collect();
        notes.push(format!(
            "instances {} are added up; if the cluster has more, their reports are missing",
            named.join(", ")
        ));
        notes
    }
}

/// The highest of each quantity and instance, added up: nobody knows whether they came together.
fn peaks(reports: &[InstanceReport<'_>]) -> DemandSample {
    let instances: BTreeSet<String> = reports.iter().map(InstanceReport::instance).collect();
    let highest: Vec<DemandSample> = instances
        .iter()
        .map(|instance| {
            let of = reports.iter().filter(|one| one.instance() == *instance);
            DemandSample::highest(of.map(|one| &one.sample))
        })
        .collect();
    DemandSample::sum(highest.iter(), highest.first().and_then(|one| one.elapsed_s))
}

#[cfg(test)]
mod tests;
