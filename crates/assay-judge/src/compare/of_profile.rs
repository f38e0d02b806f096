//! A profile as one side of a comparison: what a database's own report says, without intervals.

use super::sides::{BucketCount, SideFacts, SideFigure, WorkRatio};
use assay_model::comparison::{Side, SideKind};
use assay_model::profile::{Figure, IoPurpose, RateKind};
use assay_model::verdict::Unit;
use assay_model::{Estimate, Profile};

/// A profile as one side. Numbers that a run also has carry the run's names, so that either can be
/// compared with either.
pub fn facts_of_profile(profile: &Profile) -> SideFacts {
    let side = Side {
        name: profile.name.clone(),
        kind: SideKind::Profile,
        target: profile.source.host.clone().unwrap_or_default(),
        elapsed_s: profile.elapsed_s.as_ref().map_or(0.0, |elapsed| elapsed.value),
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts {
        measures: measures(profile),
        histograms: histograms(profile),
        work: work(profile),
        ..SideFacts::new(side)
    }
}

/// A number of a report: what the report does not say about its doubt, nobody can.
fn measured(
    quantity: &str,
    unit: Unit,
    factor: f64,
    figure: Option<&Figure>,
) -> Option<SideFigure> {
    let figure = figure.filter(|figure| figure.value > 0.0)?;
    Some(SideFigure::new(quantity, None, unit, Estimate::exact(figure.value * factor, 1)))
}

fn measures(profile: &Profile) -> Vec<SideFigure> {
    let kinds = [RateKind::Total, RateKind::Database, RateKind::Blocks];
    let rate = kinds.into_iter().find_map(|kind| profile.rate(kind));
    let class = |purpose| profile.class(purpose);
    let (all, single) = (class(IoPurpose::All), class(IoPurpose::SingleBlockRead));
    let (log, work) = (class(IoPurpose::LogWrite), &profile.work);
    let (per_s, ns) = (Unit::IosPerS, Unit::Ns);
    [
        measured("read.iops", per_s, 1.0, rate.and_then(|rate| rate.read_per_s.as_ref())),
        measured("write.iops", per_s, 1.0, rate.and_then(|rate| rate.write_per_s.as_ref())),
        measured("iops", per_s, 1.0, all.and_then(|all| all.rate_iops.as_ref())),
        measured(
            "throughput",
            Unit::BytesPerS,
            1.0,
            all.and_then(|all| all.throughput_bytes_per_s.as_ref()),
        ),
        measured(
            "read.service_time.mean",
            ns,
            1e9,
            single.and_then(|single| single.latency_s.as_ref()),
        ),
        measured("log_write.iops", per_s, 1.0, log.and_then(|log| log.rate_iops.as_ref())),
        measured(
            "log_write.service_time.mean",
            ns,
            1e9,
            log.and_then(|log| log.latency_s.as_ref()),
        ),
        measured("commit.response_time.mean", ns, 1e9, profile.redo.sync_latency_s.as_ref()),
        measured("redo", Unit::BytesPerS, 1.0, profile.redo.redo_bytes_per_s.as_ref()),
        measured("sql_executions", per_s, 1.0, work.executions_per_s.as_ref()),
        measured("logical_reads", per_s, 1.0, work.logical_reads_per_s.as_ref()),
        measured("physical_reads", per_s, 1.0, physical_reads(profile)),
        measured("physical_writes", per_s, 1.0, physical_writes(profile)),
        measured("block_changes", per_s, 1.0, work.block_changes_per_s.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Blocks read from storage, a second.
fn physical_reads(profile: &Profile) -> Option<&Figure> {
    let blocks = profile.rate(RateKind::Blocks).and_then(|blocks| blocks.read_per_s.as_ref());
    profile.work.physical_reads_per_s.as_ref().or(blocks)
}

/// Blocks written to storage, a second.
fn physical_writes(profile: &Profile) -> Option<&Figure> {
    profile.rate(RateKind::Blocks).and_then(|blocks| blocks.write_per_s.as_ref())
}

/// The distributions of the report; single-block reads are what a run calls reads.
fn histograms(profile: &Profile) -> Vec<(String, Vec<BucketCount>)> {
    let name = |purpose| match purpose {
        IoPurpose::SingleBlockRead => "read".to_owned(),
        IoPurpose::LogWrite => "log write".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    let curve = |class: &assay_model::profile::IoClass| {
        let curve = class.latency.as_ref()?;
        let rows = curve.buckets.iter();
        let rows = rows.map(|bucket| (bucket.low_ns, bucket.high_ns, bucket.ios));
        Some((name(class.purpose), rows.collect()))
    };
    profile.classes.iter().filter_map(curve).collect()
}

/// SQL executions per logical read, per block read or written, and per block change, with the
/// limits of the EMC paper of 2014 (4%, 2% and 1%). A physical I/O is a read or a write there.
fn work(profile: &Profile) -> Vec<WorkRatio> {
    let executions = profile.work.executions_per_s.as_ref();
    let value = |figure: Option<&Figure>| figure.map(|figure| figure.value);
    let physical = physical_reads(profile)
        .zip(physical_writes(profile))
        .map(|(reads, writes)| reads.value + writes.value);
    let ratio = |what, below: Option<f64>, limit| {
        let below = below.filter(|below| *below > 0.0)?;
        Some(WorkRatio { what, value: executions?.value / below, limit })
    };
    let (logical, changes) = (&profile.work.logical_reads_per_s, &profile.work.block_changes_per_s);
    let ratios = [
        ratio("SQL executions per logical read", value(logical.as_ref()), 0.04),
        ratio("SQL executions per physical read or write", physical, 0.02),
        ratio("SQL executions per block change", value(changes.as_ref()), 0.01),
    ];
    ratios.into_iter().flatten().collect()
}
