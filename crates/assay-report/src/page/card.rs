//! A card for each mix of reads and writes: the number that matters most, and below it what else it gives.

use super::table::{Pair, pairs};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::markup::{Markup, tag, text};
use crate::phrases::{self, capital, is_lower_bound, nines, size};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, LatencyLimit, MixCalibration};
use assay_model::verdict::Unit;

/// The card of one mix.
pub(crate) fn card(mix: &MixCalibration, calibration: &Calibration, format: &Formatter) -> Markup {
    let title = tag("h3").text(&capital(&mix.name));
    let (small, large) = (size(mix.transfer_bytes), size(mix.large_transfer_bytes));
    let sizes = sub(&format!("random {small}, large {large}"));
    let single = mix.single_stream_bytes_per_s.as_ref();
    let entries = [
        Some(capacity("Most IOPS at any depth", &mix.iops_max, Unit::IosPerS, format)),
        mix.throughput_max_bytes_per_s
            .as_ref()
            .map(|most| capacity("Most throughput", most, Unit::BytesPerS, format)),
        single.map(|rate| estimate("One sequential stream", rate, Unit::BytesPerS, format)),
        Some(estimate("Service time, one at a time", &mix.base_service_time_ns, Unit::Ns, format)),
        Some(knee(mix, format)),
    ];
    let entries = entries.into_iter().flatten();
    let figure = figure(mix, &calibration.limit, format);
    tag("article").class("card").all([title, sizes, figure, pairs(entries)])
}

/// A line in small letters.
fn sub(words: &str) -> Markup {
    tag("p").class("sub").text(words)
}

/// IOPS within the latency limit.
fn figure(mix: &MixCalibration, limit: &LatencyLimit, format: &Formatter) -> Markup {
    let bound = if format.is_relative() {
        "within the limit".to_owned()
    } else {
        format!("≤ {}", format.chosen(Unit::Ns, limit.service_time_ns))
    };
    let within = format!("IOPS with p{} {bound}", nines(limit.quantile));
    let Some(capacity) = &mix.iops_within_limit else {
        let none = tag("p").class("figure").text("none");
        return none.and(sub(&format!("{within}: even one at a time takes longer")));
    };
    let value = format.value(Unit::IosPerS, capacity.rate.value);
    let value = bounded(capacity, value.strip_suffix("/s").unwrap_or(&value));
    // The two ends stand below in any case.
    let doubt =
        Some(format.doubt(Unit::IosPerS, &capacity.rate)).filter(|doubt| !doubt.starts_with('('));
    let doubt = tag("small").text(&format!(" {}", doubt.unwrap_or_default()));
    let interval = format.interval(Unit::IosPerS, &capacity.rate);
    let depth = format!("{interval}, {} outstanding", capacity.outstanding);
    tag("p").class("figure").body(text(&value).and(doubt)).and(sub(&within)).and(sub(&depth))
}

/// Marks a number of which only a lower bound is known.
pub(crate) fn bounded(capacity: &Capacity, shown: &str) -> String {
    let sign = if is_lower_bound(capacity) { "≥ " } else { "" };
    format!("{sign}{shown}")
}

/// A capacity with what ended it, and the burst before it.
fn capacity(name: &str, capacity: &Capacity, unit: Unit, format: &Formatter) -> Pair {
    let value = bounded(capacity, &format.value(unit, capacity.rate.value));
    let mut note =
        format!("at {} outstanding: {}", capacity.outstanding, phrases::bound(capacity.bound));
    if let Some(burst) = &capacity.burst_rate {
        let length = capacity.burst_s.map_or_else(String::new, |length_s| {
            format!(" for the first {}", show_length(length_s))
        });
        let burst = format.value(unit, burst.value);
        note = format!("sustained, after {burst}{length}; {note}");
    }
    Pair::new(name, value).doubt(format.doubt(unit, &capacity.rate)).note(note)
}

/// A number with its doubt.
fn estimate(name: &str, estimate: &Estimate, unit: Unit, format: &Formatter) -> Pair {
    Pair::new(name, format.value(unit, estimate.value)).doubt(format.doubt(unit, estimate))
}

/// Where the knee is.
fn knee(mix: &MixCalibration, format: &Formatter) -> Pair {
    let Some(knee) = &mix.knee else {
        return Pair::new("Knee", "none on the curve");
    };
    let iops = format.value(Unit::IosPerS, knee.iops);
    let time = format.value(Unit::Ns, knee.service_time_ns);
    let place = format!("{} outstanding", knee.outstanding);
    Pair::new("Knee", place).note(format!("{iops} at {time} mean"))
}
