//! A card for each mix of reads and writes: the number that matters most, and below it what else it
//! gives.

use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::{self, bounded, is_cut_short, is_lower_bound, size, within_limit};
use crate::view::{FigureCard, KeyFigure};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, LatencyLimit, MixCalibration};
use assay_model::verdict::Unit;

/// The card of one mix.
pub(super) fn card(
    mix: &MixCalibration,
    calibration: &Calibration,
    format: &Formatter,
) -> FigureCard {
    let (small, large) = (size(mix.block_size_bytes), size(mix.large_block_size_bytes));
    let single = mix.single_stream_bytes_per_s.as_ref();
    let others = [
        Some(capacity("Maximum IOPS at any depth", &mix.iops_max, Unit::IosPerS, format)),
        mix.throughput_max_bytes_per_s
            .as_ref()
            .map(|most| capacity("Maximum throughput", most, Unit::BytesPerS, format)),
        single.map(|rate| estimate("One sequential stream", rate, Unit::BytesPerS, format)),
        Some(estimate("Latency at queue depth 1", &mix.base_service_time_ns, Unit::Ns, format)),
        Some(knee(mix, format)),
    ];
    FigureCard {
        title: mix.name.clone(),
        subtitle: format!("random {small}, large {large}"),
        figure: figure(mix, &calibration.limit, format),
        others: others.into_iter().flatten().collect(),
    }
}

/// The name of the highest rate without a limit.
const ANY_LATENCY: &str = "IOPS at any latency";

/// IOPS within the latency limit, or at any latency if no load meets it.
fn figure(mix: &MixCalibration, limit: &LatencyLimit, format: &Formatter) -> KeyFigure {
    let (name, capacity) = if limit.is_asked() {
        let bound = format!("{} {}", limit.quantile, within_limit(limit, format));
        match &mix.iops_within_limit {
            Some(within) => (format!("IOPS with {bound}"), within),
            None => (format!("{ANY_LATENCY}; {bound} is exceeded at queue depth 1"), &mix.iops_max),
        }
    } else {
        (ANY_LATENCY.to_owned(), &mix.iops_max)
    };
    let value = bounded(capacity, Unit::IosPerS, format);
    // A lower bound is itself the lower end of the interval, and the upper end is unknown.
    let (doubt, interval) = if is_lower_bound(capacity) {
        (String::new(), String::new())
    } else {
        let doubt = Formatter::plus_minus(Unit::IosPerS, &capacity.rate).unwrap_or_default();
        (doubt, format.interval(Unit::IosPerS, &capacity.rate))
    };
    KeyFigure {
        name,
        number: value.strip_suffix("/s").unwrap_or(&value).to_owned(),
        value,
        doubt,
        interval,
        queue_depth: Some(capacity.queue_depth),
        ..KeyFigure::default()
    }
}

/// A capacity with what ended it, and the burst before it.
fn capacity(name: &str, capacity: &Capacity, unit: Unit, format: &Formatter) -> KeyFigure {
    let mut note =
        format!("at queue depth {}: {}", capacity.queue_depth, phrases::bound(capacity.bound));
    if let Some(burst) = &capacity.burst_rate {
        let length = capacity.burst_s.map_or_else(String::new, |length_s| {
            format!(" for the first {}", show_length(length_s))
        });
        let burst = format.value(unit, burst.value);
        note = format!("sustained, after {burst}{length}; {note}");
    }
    let mut shown = estimate(name, &capacity.rate, unit, format);
    if is_lower_bound(capacity) {
        // "≥" and the lower end say all that is known.
        (shown.doubt, shown.interval) = (String::new(), String::new());
    }
    KeyFigure {
        value: bounded(capacity, unit, format),
        queue_depth: Some(capacity.queue_depth),
        note,
        is_noteworthy: is_cut_short(capacity.bound) || capacity.burst_rate.is_some(),
        ..shown
    }
}

/// A number of one I/O at a time with its doubt.
fn estimate(name: &str, estimate: &Estimate, unit: Unit, format: &Formatter) -> KeyFigure {
    let estimated = format.estimated(unit, estimate);
    KeyFigure {
        name: name.to_owned(),
        value: estimated.value,
        doubt: estimated.doubt,
        interval: estimated.interval,
        queue_depth: Some(1),
        ..KeyFigure::default()
    }
}

/// Where the knee is.
fn knee(mix: &MixCalibration, format: &Formatter) -> KeyFigure {
    let name = "Knee".to_owned();
    let Some(knee) = &mix.knee else {
        let value = "none on the curve".to_owned();
        return KeyFigure { name, value, ..KeyFigure::default() };
    };
    let iops = format.value(Unit::IosPerS, knee.iops);
    let time = format.value(Unit::Ns, knee.service_time_ns);
    KeyFigure {
        name,
        value: format!("queue depth {}", knee.queue_depth),
        note: format!("{iops} at {time} mean"),
        is_noteworthy: true,
        ..KeyFigure::default()
    }
}
