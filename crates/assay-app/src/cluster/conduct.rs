//! What several hosts measured as one measurement: the sums of the intervals that all have, and the
//! worst of how their tools behaved.

use super::course::Measured;
use assay_cluster::findings::HostRecord;
use assay_model::cluster::Transport;
use assay_model::measurement::{
    Conduct, ErrorCount, Measurement, NamedResult, Remark, Submission, Window, merge_errors,
};
use assay_model::{Histogram, Precision};
use std::collections::BTreeMap;

/// What was measured together.
pub(super) struct Whole<'a> {
    /// Name of the workload.
    pub(super) workload: &'a str,
    /// The sum of all intervals.
    pub(super) total: Window,
    /// Paths of the targets.
    pub(super) targets: &'a [String],
    pub(super) hosts: &'a [HostRecord],
    pub(super) transport: Transport,
    pub(super) started_unix_ns: u64,
}

impl Whole<'_> {
    /// As one measurement.
    pub(super) fn measurement(self, measured: &Measured) -> Measurement {
        let conduct = self.conduct(measured);
        let mut errors = Vec::new();
        for (host, measurement) in self.each(measured) {
            merge_errors(&mut errors, named(&host.name, &measurement.errors));
        }
        let streams = self.total.streams;
        let targets = match self.targets {
            // One target saw everything that the streams did.
            [only] => {
                let mut all = NamedResult { name: only.clone(), ..NamedResult::default() };
                for stream in &streams {
                    all.operations.merge(&stream.operations);
                }
                vec![all]
            }
            _ => self.total.targets,
        };
        Measurement {
            format: 1,
            workload: self.workload.to_owned(),
            started_unix_ns: self.started_unix_ns,
            elapsed_ns: measured.merger.elapsed_ns(),
            finish: measured.finish.clone(),
            streams,
            targets,
            errors,
            conduct,
        }
    }

    /// The hosts that came to their end, with what they measured.
    fn each<'m>(
        &'m self,
        measured: &'m Measured,
    ) -> impl Iterator<Item = (&'m HostRecord, &'m Measurement)> {
        let ended = self.hosts.iter().zip(&measured.measurements);
        ended.filter_map(|(host, one)| Some((host, one.as_ref()?)))
    }

    fn conduct(&self, measured: &Measured) -> Conduct {
        let conducts: Vec<(&str, &Conduct)> =
            self.each(measured).map(|(host, one)| (host.name.as_str(), &one.conduct)).collect();
        let Some((_, first)) = conducts.first() else { return Conduct::default() };
        let all = || conducts.iter().map(|(_, conduct)| *conduct);
        let sum = |of: fn(&Conduct) -> f64| all().map(of).sum::<f64>();
        let most = |of: fn(&Conduct) -> f64| all().map(of).fold(0.0, f64::max);
        let queue_depth_mean = sum(|conduct| conduct.queue_depth_mean);
        let law = sum(|conduct| conduct.littles_law_ratio * conduct.queue_depth_mean);
        Conduct {
            sessions: None,
            stream_elapsed_ns: BTreeMap::new(),
            backend: first.backend,
            backend_reason: first.backend_reason.clone(),
            direct_io: first
                .direct_io
                .map(|_| all().all(|conduct| conduct.direct_io == Some(true))),
            passthrough: passthrough(all()),
            clock: first.clock,
            submission: worst_submission(all()),
            features: first.features.clone(),
            enters: all().map(|conduct| conduct.enters).sum(),
            cpu_user_s: sum(|conduct| conduct.cpu_user_s),
            cpu_system_s: sum(|conduct| conduct.cpu_system_s),
            worker_busy_share_max: most(|conduct| conduct.worker_busy_share_max),
            worker_delayed_share_max: all()
                .filter_map(|conduct| conduct.worker_delayed_share_max)
                .reduce(f64::max),
            host_busy_share: all().filter_map(|conduct| conduct.host_busy_share).reduce(f64::max),
            ceiling_iops: all().map(|conduct| conduct.ceiling_iops).sum(),
            // All processes of one machine see the same counters; those of several machines do not
            // add up.
            kernel: first.kernel.clone().filter(|_| self.transport == Transport::Local),
            queue_depth_mean,
            littles_law_ratio: if queue_depth_mean > 0.0 { law / queue_depth_mean } else { 0.0 },
            start_error: start_errors(all()),
            missed_arrivals: all().map(|conduct| conduct.missed_arrivals).sum(),
            abandoned_ios: all().map(|conduct| conduct.abandoned_ios).sum(),
            early_end: None,
            remarks: remarks(&conducts),
        }
    }
}

/// Errors with the host in front of the target.
fn named(host: &str, errors: &[ErrorCount]) -> Vec<ErrorCount> {
    let name = |error: &ErrorCount| {
        let target = format!("{host}: {}", error.target);
        ErrorCount { target, ..error.clone() }
    };
    errors.iter().map(name).collect()
}

/// That of all hosts where they agree; else what least may be relied on.
fn worst_submission<'a>(mut all: impl Iterator<Item = &'a Conduct>) -> Submission {
    let Some(first) = all.next() else { return Submission::Unknown };
    let agreed = |rest: &Conduct| rest.submission == first.submission;
    if all.all(agreed) { first.submission } else { Submission::Unknown }
}

/// Targets that some host reached past the block layer, each once: all hosts call them the same.
fn passthrough<'a>(all: impl Iterator<Item = &'a Conduct>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in all.flat_map(|conduct| &conduct.passthrough) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

fn start_errors<'a>(all: impl Iterator<Item = &'a Conduct>) -> Option<Histogram> {
    let mut errors = Histogram::new(Precision::Fine);
    all.filter_map(|conduct| conduct.start_error.as_ref())
        .for_each(|of_host| errors.merge(of_host));
    (!errors.is_empty()).then_some(errors)
}

/// The remarks of all hosts: what all of them say once, the rest with who says it.
fn remarks(conducts: &[(&str, &Conduct)]) -> Vec<Remark> {
    let mut said: Vec<(Remark, Vec<&str>)> = Vec::new();
    for (host, conduct) in conducts {
        for remark in &conduct.remarks {
            match said.iter_mut().find(|(known, _)| known == remark) {
                Some((_, hosts)) => hosts.push(host),
                None => said.push((remark.clone(), vec![host])),
            }
        }
    }
    let say = |(remark, hosts): (Remark, Vec<&str>)| {
        if hosts.len() == conducts.len() {
            return remark;
        }
        Remark { what: format!("{}: {}", hosts.join(", "), remark.what), ..remark }
    };
    said.into_iter().map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_of_all_are_said_once_and_others_with_the_host() {
        let remark = |what: &str| Remark {
            what: what.to_owned(),
            why: String::new(),
            remedy: String::new(),
        };
        let conduct = |remarks: Vec<Remark>| Conduct { remarks, ..Conduct::default() };
        let (one, other) =
            (conduct(vec![remark("cached")]), conduct(vec![remark("cached"), remark("slow")]));
        let said = remarks(&[("hA", &one), ("hB", &other)]);
        let said: Vec<&str> = said.iter().map(|remark| remark.what.as_str()).collect();
        assert_eq!(said, ["cached", "hB: slow"]);
    }

    #[test]
    fn submissions_that_differ_are_unknown() {
        let of = |submission| Conduct { submission, ..Conduct::default() };
        let (one, other) = (of(Submission::Inline), of(Submission::Asynchronous));
        assert_eq!(worst_submission([&one, &one].into_iter()), Submission::Inline);
        assert_eq!(worst_submission([&one, &other].into_iter()), Submission::Unknown);
        assert_eq!(worst_submission(std::iter::empty()), Submission::Unknown);
    }
}
