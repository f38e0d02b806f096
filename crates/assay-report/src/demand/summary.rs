//! What a manager reads of profiles before their details.

use super::named_profile::NamedProfile;
use crate::summary::{FoundHere, PlainSummary, Reach, shell_word};
use assay_model::profile::{Bottleneck, Figure, IoPurpose, Profile, TimeVerdict};

/// Numbers of a database are of reads under its load.
const READING: &str =
    " This is the latency under the database's load; known storage is shown at queue depth 1.";
/// Profiles whose reads are drawn among the classes.
const FOUND_MAX: usize = 4;

pub(super) fn summary(profiles: &[NamedProfile<'_>]) -> PlainSummary {
    match profiles {
        [one] => of_one(*one),
        several => of_several(several),
    }
}

fn of_one(named: NamedProfile<'_>) -> PlainSummary {
    let profile = named.profile;
    let file = shell_word(named.file);
    PlainSummary {
        asked: format!("Would faster storage make {} faster?", profile.name),
        meaning: meaning(&profile.verdict),
        found: vec![found("this database", profile)],
        reading: READING,
        next: next(named.file, &file),
    }
}

/// What can be done with a profile; an address names a database, and no file that a plan could be
/// made of.
fn next(name: &str, file: &str) -> Vec<(&'static str, String)> {
    let check = (
        "Test whether storage is fast enough for this database",
        format!("assay check DIR --for {file}"),
    );
    if name.contains("://") {
        let keep = "Keep the profile for planning and sizing";
        return vec![check, (keep, format!("assay profile {file} --output DIR"))];
    }
    let plan = ("Write its demand as a workload", format!("assay profile {file} --workload FILE"));
    vec![check, plan]
}

fn of_several(profiles: &[NamedProfile<'_>]) -> PlainSummary {
    let storage = |named: &&NamedProfile<'_>| {
        matches!(named.profile.verdict.bottleneck, Bottleneck::Storage | Bottleneck::Commit)
    };
    let bound: Vec<&NamedProfile<'_>> = profiles.iter().filter(storage).collect();
    let meaning = match bound.as_slice() {
        [] => "No report shows a database that mainly waits for storage: faster storage would \
               change little."
            .to_owned(),
        some => format!(
            "In {} of {} reports the database mainly waited for storage or for its log. These \
             would gain from faster storage, the others would not.",
            some.len(),
            profiles.len()
        ),
    };
    let busiest = profiles.iter().max_by(|one, other| total(one).total_cmp(&total(other)));
    let busiest = busiest.map_or_else(String::new, |named| shell_word(named.file));
    let shown = if bound.is_empty() { profiles.iter().collect() } else { bound };
    let shown = shown.into_iter().take(FOUND_MAX);
    PlainSummary {
        asked: format!("Which of {} reports would gain from faster storage?", profiles.len()),
        meaning: vec![meaning],
        found: shown.map(|named| found(&named.profile.name, named.profile)).collect(),
        reading: READING,
        next: vec![(
            "Test whether storage is fast enough for the busiest one",
            format!("assay check DIR --for {busiest}"),
        )],
    }
}

/// The I/Os per second of a profile.
fn total(named: &NamedProfile<'_>) -> f64 {
    let all = named.profile.class(IoPurpose::All).and_then(|all| all.rate_iops.as_ref());
    all.map_or(0.0, |rate| rate.value)
}

/// By Amdahl's law: reads that take half the time, and reads that take none.
fn meaning(verdict: &TimeVerdict) -> Vec<String> {
    let first = match verdict.bottleneck {
        Bottleneck::Storage => "Yes: it mainly waits for its storage.",
        Bottleneck::Commit => "Yes, for the log: it mainly waits for commits.",
        Bottleneck::Cpu => {
            "Not much: it is mainly CPU-bound. More or faster CPUs, or cheaper statements, help \
             first."
        }
        Bottleneck::Contention if verdict.suspected_cause.is_some() => {
            "Perhaps: its sessions mainly wait for each other, and a slow log device may be why."
        }
        Bottleneck::Contention => {
            "Not much: its sessions mainly wait for each other. The application is the limit, not \
             the storage."
        }
        Bottleneck::Other => "Not much: it mainly waits for something other than storage.",
        Bottleneck::Mixed => "Somewhat: storage is one of several causes, and none of them leads.",
        Bottleneck::Idle => {
            "No: it was nearly idle, so this interval says nothing about its storage."
        }
        Bottleneck::Unknown => "Undecided from this profile, for the reason above.",
    };
    let is_told = !matches!(verdict.bottleneck, Bottleneck::Idle | Bottleneck::Unknown);
    let share = verdict.user_io_share.filter(|share| is_told && (0.005..=1.0).contains(share));
    // Where shares overlap, no storage saves more than the bound.
    let bound = verdict.speedup_limit.map_or(1.0, |limit| 1.0 - 1.0 / limit);
    let half = share.map(|share| {
        format!(
            "If reads took half as long, the same work would take {:.0}% less time; if they took \
             no time, {:.0}% less.",
            100.0 * (0.5 * share).min(bound),
            100.0 * share.min(bound)
        )
    });
    [first.to_owned()].into_iter().chain(half).collect()
}

fn found(name: &str, profile: &Profile) -> FoundHere {
    let class = |purpose| profile.class(purpose);
    let single = class(IoPurpose::SingleBlockRead);
    let time = single.and_then(|class| class.latency_s.as_ref());
    let all = class(IoPurpose::All);
    let reads = all.and_then(|all| {
        let (iops, share) = (all.rate_iops.as_ref()?, all.read_share.as_ref()?);
        Some(iops.value * share.value)
    });
    FoundHere {
        name: name.to_owned(),
        read_time_ns: time.map(|time: &Figure| Reach::exactly(time.value * 1e9)),
        reads_per_s: reads.map(Reach::exactly),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halved_reads_save_half_their_share() {
        let verdict = TimeVerdict {
            bottleneck: Bottleneck::Storage,
            user_io_share: Some(0.6),
            ..TimeVerdict::default()
        };
        let said = meaning(&verdict);
        assert!(
            said[0].starts_with("Yes")
                && said[1].contains("30% less")
                && said[1].contains("60% less")
        );
    }
}
