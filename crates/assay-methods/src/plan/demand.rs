//! Which I/O of a profile becomes a stream of its own, and what is left for a stream of the rest.

use super::options::PlanOptions;
use super::sick::accepted;
use assay_model::profile::{Figure, IoClass, IoPurpose, Profile};
use assay_model::units::{show_bytes, show_count, show_time_ns};
use assay_model::{Error, Result};

/// Purposes that a report counts apart, with the names of their streams.
const PURPOSES: [(IoPurpose, &str); 8] = [
    (IoPurpose::SingleBlockRead, "single-block reads"),
    (IoPurpose::MultiBlockRead, "multi-block reads"),
    (IoPurpose::DirectRead, "direct reads"),
    (IoPurpose::DirectWrite, "direct writes"),
    (IoPurpose::Temporary, "temporary files"),
    (IoPurpose::DataFileWrite, "data file writes"),
    (IoPurpose::LogWrite, "redo log"),
    (IoPurpose::Backup, "backup"),
];
/// Less than this share of all I/Os is left out.
const REST_SHARE: f64 = 0.01;
/// A purpose with less than this share of all I/Os and less than ten times it of all bytes gets no
/// stream of its own.
const PURPOSE_SHARE: f64 = 0.001;
/// A database splits what is larger: the largest I/O that Oracle issues.
const IO_BYTES_MAX: f64 = 1_048_576.0;
/// Purposes that add up to more than this many times the whole were not counted alike.
const EXCESS: f64 = 1.25;

/// What one stream is to do.
#[derive(Clone, Debug)]
pub(super) struct PlannedDemand {
    pub(super) name: &'static str,
    /// I/Os per second.
    pub(super) rate: Figure,
    /// Mean bytes an I/O.
    pub(super) block_size: Figure,
    /// Share of reads, 0..=1.
    pub(super) read_share: f64,
    /// Mean time that the database waited, s.
    pub(super) latency: Option<Figure>,
    /// What is asked instead, s, where the time is that of sick storage.
    pub(super) accepted: Option<Figure>,
    /// The database's block, bytes.
    pub(super) block_bytes: Option<f64>,
    pub(super) is_log: bool,
    /// What it is for; all I/O where it is what the purposes leave.
    pub(super) purpose: IoPurpose,
    /// Its rate from second to second, where that changes.
    pub(super) pattern: Vec<f64>,
}

impl PlannedDemand {
    fn bytes_per_s(&self) -> f64 {
        self.rate.value * self.block_size.value
    }

    fn matters_in(&self, whole: &Self) -> bool {
        self.rate.value >= PURPOSE_SHARE * whole.rate.value
            || self.bytes_per_s() >= 10.0 * PURPOSE_SHARE * whole.bytes_per_s()
    }

    /// The same bytes in I/Os that a database issues. Times of the larger ones say nothing of
    /// these.
    fn split(mut self) -> Self {
        let parts = (self.block_size.value / IO_BYTES_MAX).ceil();
        if parts > 1.0 {
            let shown = show_bytes(self.block_size.value);
            self.block_size.value /= parts;
            let source = &self.block_size.source;
            self.block_size.source =
                format!("{source}; {shown} is issued in {parts} parts, as a database does");
            self.rate.value *= parts;
            self.latency = None;
            self.accepted = None;
        }
        self
    }

    /// Where its numbers came from, a line each.
    pub(super) fn notes(&self, options: &PlanOptions) -> Vec<String> {
        let rate = (self.rate.value * 100.0).round() / 100.0;
        let factor = options.factor();
        let scaled =
            if (factor - 1.0).abs() < 1e-12 { String::new() } else { format!(" x {factor:.4}") };
        let mut notes = vec![
            format!("rate: {rate}/s{scaled}; {}", self.rate.source),
            format!(
                "block size: mean {}; {}",
                show_bytes(self.block_size.value),
                self.block_size.source
            ),
        ];
        notes.push(match &self.latency {
            Some(latency) => {
                let queue_depth = self.rate.value * latency.value;
                let time = show_time_ns(latency.value * 1e9);
                format!(
                    "time: {time}, {queue_depth:.1} outstanding by Little's law; {}",
                    latency.source
                )
            }
            None => "time: not in the profile, so it has no limit".to_owned(),
        });
        notes.extend(self.accepted.as_ref().map(|accepted| {
            format!("asked: {}; {}", show_time_ns(accepted.value * 1e9), accepted.source)
        }));
        notes
    }
}

/// What is to be issued, and what has to be said about it.
///
/// # Errors
/// A usage error when neither the whole nor any purpose has both a rate and a size.
pub(super) fn demands(profile: &Profile) -> Result<(Vec<PlannedDemand>, Vec<String>)> {
    let mut notes = Vec::new();
    let whole = profile.class(IoPurpose::All).and_then(|class| of_class(class, "all I/O", profile));
    let mut apart: Vec<PlannedDemand> =
        PURPOSES.iter().filter_map(|(purpose, name)| of_purpose(profile, *purpose, name)).collect();
    if let Some(whole) = &whole {
        apart.retain(|demand| demand.matters_in(whole));
    }
    let sum: f64 = apart.iter().map(|demand| demand.rate.value).sum();
    match whole {
        None if apart.is_empty() => return Err(nothing()),
        None => notes.push(
            "The profile has no total, so I/O without a known purpose is not issued.".to_owned(),
        ),
        Some(whole) if sum > EXCESS * whole.rate.value => {
            notes.push(format!(
                "The purposes add up to {} I/Os per second, more than the total of {}: they were \
                 counted differently, so the total is issued as one stream.",
                show_count(sum),
                show_count(whole.rate.value)
            ));
            apart = vec![whole];
        }
        Some(whole) => apart.extend(rest(&whole, &apart)),
    }
    Ok((apart.into_iter().map(PlannedDemand::split).collect(), notes))
}

fn nothing() -> Error {
    Error::usage(
        "the profile has no rate and size of I/Os: there is nothing to plan",
        "use a report with Instance Activity Stats or IOStat sections, or a longer excerpt",
    )
}

/// A purpose that has a rate and a size. Temporary files are part of direct I/O where that is
/// counted.
fn of_purpose(profile: &Profile, purpose: IoPurpose, name: &'static str) -> Option<PlannedDemand> {
    let is_direct =
        |class: &&IoClass| matches!(class.purpose, IoPurpose::DirectRead | IoPurpose::DirectWrite);
    if purpose == IoPurpose::Temporary && profile.classes.iter().any(|class| is_direct(&class)) {
        return None;
    }
    let mut demand = of_class(profile.class(purpose)?, name, profile)?;
    demand.is_log = purpose == IoPurpose::LogWrite;
    Some(demand)
}

fn of_class(class: &IoClass, name: &'static str, profile: &Profile) -> Option<PlannedDemand> {
    let rate = class.rate_iops.clone().filter(|rate| rate.value >= 0.01)?;
    let block_size = class.block_size_bytes.clone().filter(|block_size| block_size.value >= 1.0)?;
    let latency = class.latency_s.clone().filter(|latency| latency.value > 0.0);
    Some(PlannedDemand {
        name,
        rate,
        block_size,
        accepted: accepted(profile, class.purpose, latency.as_ref()),
        latency,
        read_share: class.read_share.as_ref().map_or(1.0, |share| share.value.clamp(0.0, 1.0)),
        block_bytes: profile.block_bytes.as_ref().map(|block| block.value),
        is_log: false,
        purpose: class.purpose,
        pattern: Vec::new(),
    })
}

/// What the purposes leave of the whole, where it is worth a stream.
fn rest(whole: &PlannedDemand, apart: &[PlannedDemand]) -> Option<PlannedDemand> {
    let sum = |of: fn(&PlannedDemand) -> f64| apart.iter().map(of).sum::<f64>();
    let rate = whole.rate.value - sum(|demand| demand.rate.value);
    if apart.is_empty() {
        return Some(whole.clone());
    }
    if rate < REST_SHARE * whole.rate.value {
        return None;
    }
    let reads =
        whole.rate.value * whole.read_share - sum(|demand| demand.rate.value * demand.read_share);
    let bytes = whole.rate.value * whole.block_size.value - sum(PlannedDemand::bytes_per_s);
    let block_size = if bytes > rate * 512.0 {
        Figure::new(
            bytes / rate,
            "total bytes minus those of the streams above, divided by the I/Os",
        )
    } else {
        whole.block_size.clone()
    };
    Some(PlannedDemand {
        name: "other I/O",
        rate: Figure::new(rate, format!("{} minus the streams above", whole.rate.source)),
        block_size,
        read_share: (reads / rate).clamp(0.0, 1.0),
        latency: None,
        accepted: None,
        ..whole.clone()
    })
}
