//! A model held against what was published of the system: every figure simulated, and the error of
//! each.

use crate::drive::{Closed, SequentialRun, TIME_PARTS};
use crate::host::{HostRun, profile, run_host};
use crate::{ArraySpec, find};
use assay_model::array::{
    ArrayModel, ClosedLoad, Experiment, ExperimentLoad, ExperimentMeasure, FigureCheck,
};
use assay_model::number::{count_of, rate, real, seconds};
use assay_model::{Error, Histogram, Profile, Result};
use std::collections::BTreeMap;

/// Reads within this share of those at the end have settled.
const SETTLED_SHARE: f64 = 0.02;

/// What came out of an experiment.
pub struct ExperimentOutcome {
    io: SequentialRun,
    host: Option<HostRun>,
    block_size_bytes: f64,
    hasten: f64,
}

/// Simulates every experiment that a figure of the model refers to, and holds the figures against
/// them.
pub fn verify(model: &ArrayModel, mut progress: impl FnMut(&str)) -> Result<Vec<FigureCheck>> {
    model.check()?;
    let mut outcomes: BTreeMap<&str, ExperimentOutcome> = BTreeMap::new();
    let mut checked = Vec::new();
    for figure in &model.figures {
        for name in [&figure.experiment, &figure.over].into_iter().flatten() {
            if !outcomes.contains_key(name.as_str()) {
                progress(name);
                outcomes.insert(name, named(model, name)?);
            }
        }
        let of = |name: &Option<String>| {
            let outcome = outcomes.get(name.as_deref()?)?;
            outcome.measure(figure.measure)
        };
        let over = figure.over.as_ref().map(|_| of(&figure.over));
        let simulated = match (of(&figure.experiment), over) {
            (Some(value), None) => Some(value),
            (Some(value), Some(Some(over))) => Some(value / over),
            _ => None,
        };
        checked.push(FigureCheck {
            array: model.name.clone(),
            figure: figure.clone(),
            measured_value: simulated,
            is_simulated: true,
        });
    }
    Ok(checked)
}

/// What comes out of an experiment of the model, or of another one where the name is
/// `MODEL/EXPERIMENT`.
fn named(model: &ArrayModel, name: &str) -> Result<ExperimentOutcome> {
    let other = name.split_once('/').map(|(other, _)| find(other));
    let other = other.transpose()?;
    let (model, name) = match (&other, name.split_once('/')) {
        (Some(other), Some((_, name))) => (other, name),
        _ => (model, name),
    };
    let unknown = || {
        Error::usage(
            format!("'{}' has no experiment '{name}'", model.name),
            "specify an [[experiment]] of that document",
        )
    };
    let experiment = model.experiment(name).ok_or_else(unknown)?;
    Ok(simulate(model, experiment))
}

/// The array as an experiment uses it.
pub fn spec(model: &ArrayModel, experiment: &Experiment) -> ArraySpec {
    let mut spec = ArraySpec::new(model.clone());
    if let Some(capacity) = experiment.capacity {
        spec.capacity_bytes = capacity.0;
    }
    spec.hasten_times = experiment.hasten_times;
    if let Some(nodes) = experiment.nodes {
        spec = spec.with_nodes(nodes);
    }
    if let Some(volumes) = experiment.volumes {
        spec = spec.with_volumes(volumes);
    }
    spec
}

/// The profile of a simulated database: the experiment of that name, which must be one of sessions.
///
/// # Errors
/// A usage error that names the experiments that are.
pub fn session_profile(model: &ArrayModel, name: &str) -> Result<Profile> {
    let known = model.experiment(name);
    let Some((experiment, ExperimentLoad::Sessions(load))) = known.map(|one| (one, &one.load))
    else {
        let is_of_sessions = |one: &&Experiment| matches!(one.load, ExperimentLoad::Sessions(_));
        let names = model.experiments.iter().filter(is_of_sessions);
        let names: Vec<&str> = names.map(|one| one.name.as_str()).collect();
        return Err(Error::usage(
            format!("'{}' has no experiment of sessions '{name}'", model.name),
            format!("its experiments of sessions: {}", names.join(", ")),
        ));
    };
    let spec = spec(model, experiment);
    let (warm_up, duration) = (experiment.warm_up.0, experiment.duration.0);
    let run = run_host(load, spec.build().as_mut(), warm_up, duration, spec.seed);
    Ok(profile(&run, load, &model.name))
}

fn simulate(model: &ArrayModel, experiment: &Experiment) -> ExperimentOutcome {
    let spec = spec(model, experiment);
    let times = (experiment.warm_up.0, experiment.duration.0);
    let (io, host, bytes) = match &experiment.load {
        ExperimentLoad::Closed(load) => (closed(&spec, load, times), None, load.block_size.0),
        ExperimentLoad::Sessions(load) => {
            let host = run_host(load, spec.build().as_mut(), times.0, times.1, spec.seed);
            (host.io.clone(), Some(host), load.block.0)
        }
    };
    ExperimentOutcome {
        io,
        host,
        block_size_bytes: real(bytes),
        hasten: real(experiment.hasten_times),
    }
}

/// A closed load with the outstanding I/Os it says, or the most that stay below its limit.
fn closed(spec: &ArraySpec, load: &ClosedLoad, times: (u64, u64)) -> SequentialRun {
    let run = |queue_depth: u32| {
        let closed = Closed {
            queue_depth,
            read_share: load.read_share.0,
            block_size_bytes: u32::try_from(load.block_size.0).unwrap_or(u32::MAX),
            space_bytes: assay_model::number::count(real(spec.capacity_bytes) * load.locality.0),
            sequential: load.sequential,
            seed: spec.seed,
            warm_up_ns: times.0,
        };
        closed.run(spec.build().as_mut(), times.1)
    };
    let Some(limit) = load.latency_max else {
        return run(load.queue_depth);
    };
    let keeps = |run: &SequentialRun| {
        let limit_ns = real(limit.0);
        run.read.mean_ns() <= limit_ns && run.write.mean_ns() <= limit_ns
    };
    let (mut low, mut high) = (1, load.queue_depth.max(1) + 1);
    let mut best = run(low);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let tried = run(middle);
        if keeps(&tried) {
            (low, best) = (middle, tried);
        } else {
            high = middle;
        }
    }
    best
}

impl ExperimentOutcome {
    /// A measure of the experiment in its unit; `None` where there was nothing to measure.
    pub fn measure(&self, measure: ExperimentMeasure) -> Option<f64> {
        let elapsed_s = seconds(self.io.elapsed_ns);
        let per_s = |ios: u64| Some(rate(ios, elapsed_s));
        match measure {
            ExperimentMeasure::Iops => Some(self.io.iops()),
            ExperimentMeasure::ReadIops => per_s(self.io.read.ios()),
            ExperimentMeasure::WriteIops => per_s(self.io.write.ios()),
            ExperimentMeasure::BytesPerS => Some(self.io.iops() * self.block_size_bytes),
            ExperimentMeasure::ReadLatencyS => mean_s(&self.io.read),
            ExperimentMeasure::WriteLatencyS => mean_s(&self.io.write),
            ExperimentMeasure::ReadsBelow1ms => below(&self.io.read, 1_000_000),
            ExperimentMeasure::ReadsBelow2ms => below(&self.io.read, 2_000_000),
            ExperimentMeasure::FirstReadIops => Some(self.eighth(0)),
            ExperimentMeasure::LastToFirst => Some(self.eighth(7) / self.eighth(0)),
            ExperimentMeasure::FallS => self.fall_s(),
            ExperimentMeasure::SettledS => Some(self.settled_s()),
            _ => self.of_host(measure),
        }
    }

    fn of_host(&self, measure: ExperimentMeasure) -> Option<f64> {
        let host = self.host.as_ref()?;
        match measure {
            ExperimentMeasure::RedoBytesPerS => Some(host.per_s(host.redo_bytes)),
            ExperimentMeasure::LogWriteS => mean_s(&host.log_writes),
            ExperimentMeasure::LogSyncS => mean_s(&host.log_syncs),
            ExperimentMeasure::LogWritesPerS => Some(host.per_s(host.log_writes.ios())),
            ExperimentMeasure::ExecutionsPerS => Some(host.executions_per_s()),
            ExperimentMeasure::DbCpus => Some(real(host.cpu_ns) / real(self.io.elapsed_ns)),
            _ => None,
        }
    }

    /// Reads a second in an eighth of the measured time.
    fn eighth(&self, index: usize) -> f64 {
        let length = TIME_PARTS / 8;
        let reads: u64 = self.io.read_parts[index * length..(index + 1) * length].iter().sum();
        real(reads) * 8.0 / seconds(self.io.elapsed_ns)
    }

    /// Length of one part of the time, s.
    fn part_s(&self) -> f64 {
        seconds(self.io.elapsed_ns) / real(count_of(TIME_PARTS))
    }

    /// When reads begin to stay near the last eighth, seconds of the real pace: from there on every
    /// stretch of an eighth of the time does. A single part of the time would tell its noise.
    fn settled_s(&self) -> f64 {
        let length = TIME_PARTS / 8;
        let last: u64 = self.io.read_parts[TIME_PARTS - length..].iter().sum();
        let is_off =
            |reads: &[u64]| (real(reads.iter().sum()) / real(last) - 1.0).abs() > SETTLED_SHARE;
        let stretches: Vec<&[u64]> = self.io.read_parts.windows(length).collect();
        let settled = stretches.iter().rposition(|reads| is_off(reads)).map_or(0, |off| off + 1);
        real(count_of(settled)) * self.part_s() * self.hasten
    }

    /// When reads first are below 90% of what they were for two parts of the time, seconds
    /// of the real pace.
    fn fall_s(&self) -> Option<f64> {
        let part_s = self.part_s();
        let limit = 0.9 * self.eighth(0) * part_s;
        let both_low = |two: &[u64]| two.iter().all(|reads| real(*reads) < limit);
        let fall = self.io.read_parts.windows(2).position(both_low)?;
        Some(real(count_of(fall)) * part_s * self.hasten)
    }
}

fn mean_s(times: &Histogram) -> Option<f64> {
    (!times.is_empty()).then(|| times.mean_ns() / 1e9)
}

fn below(times: &Histogram, limit_ns: u64) -> Option<f64> {
    let above = assay_model::number::share(times.ios_above(limit_ns), times.ios());
    (!times.is_empty()).then_some(1.0 - above)
}

#[cfg(test)]
mod tests;
