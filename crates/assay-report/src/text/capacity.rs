//! What the storage gives, as text.

use super::layout::Text;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::input::Report;
use crate::phrases::{self, is_cut_short, is_lower_bound, nines};
use assay_model::Estimate;
use assay_model::calibration::{Calibration, Capacity, LimitStep, MixCalibration};
use assay_model::verdict::Unit;

/// A row a number of each mix, remarks below, and the series of limits; nothing without a calibration.
pub(super) fn capacity(text: &mut Text, report: &Report, format: &Formatter) {
    let Some(calibration) = &report.calibration else {
        return;
    };
    text.heading("What the storage gives");
    let mut rows = vec![["", "value", "95 % interval", "queue depth"].map(str::to_owned).to_vec()];
    rows.extend(calibration.mixes.iter().flat_map(|mix| rows_of(mix, calibration, format)));
    text.table(&rows);
    for mix in &calibration.mixes {
        remarks(text, mix, format);
    }
    steps(text, calibration, format);
}

/// The numbers of one mix, each with its interval.
fn rows_of(
    mix: &MixCalibration,
    calibration: &Calibration,
    format: &Formatter,
) -> Vec<Vec<String>> {
    let limit = &calibration.limit;
    let within = if format.is_relative() {
        format!("IOPS within the limit on p{}", nines(limit.quantile))
    } else {
        let time = format.chosen(Unit::Ns, limit.service_time_ns);
        format!("IOPS with p{} ≤ {time}", nines(limit.quantile))
    };
    let name = |what: &str| format!("{}: {what}", mix.name);
    let bounded = |what: &str, unit: Unit, capacity: &Capacity| {
        let sign = if is_lower_bound(capacity) { "≥ " } else { "" };
        let value = format!("{sign}{}", format.value(unit, capacity.rate.value));
        vec![
            name(what),
            value,
            format.interval(unit, &capacity.rate),
            capacity.outstanding.to_string(),
        ]
    };
    let single = |what: &str, unit: Unit, estimate: &Estimate| {
        let value = format.value(unit, estimate.value);
        vec![name(what), value, format.interval(unit, estimate), "1".to_owned()]
    };
    let none = || vec![name(&within), "none".to_owned(), String::new(), String::new()];
    let mut rows = vec![
        mix.iops_within_limit
            .as_ref()
            .map_or_else(none, |capacity| bounded(&within, Unit::IosPerS, capacity)),
        bounded("most IOPS", Unit::IosPerS, &mix.iops_max),
    ];
    let most = mix.throughput_max_bytes_per_s.as_ref();
    rows.extend(most.map(|most| bounded("throughput", Unit::BytesPerS, most)));
    let stream = mix.single_stream_bytes_per_s.as_ref();
    rows.extend(stream.map(|stream| single("one stream", Unit::BytesPerS, stream)));
    rows.push(single("mean latency", Unit::Ns, &mix.base_service_time_ns));
    rows
}

/// A number with its doubt.
fn doubted(unit: Unit, estimate: &Estimate, format: &Formatter) -> String {
    let shown = format!("{} {}", format.value(unit, estimate.value), format.doubt(unit, estimate));
    shown.trim_end().to_owned()
}

/// What a lower bound, a burst or a knee of a mix needs in words.
fn remarks(text: &mut Text, mix: &MixCalibration, format: &Formatter) {
    let (name, iops) = (&mix.name, &mix.iops_max);
    if is_cut_short(iops.bound) {
        text.item(&format!("{name}, most IOPS: {}.", phrases::bound(iops.bound)));
    }
    for contradiction in &mix.contradictions {
        text.item(&format!("{name}: {}.", phrases::contradiction(*contradiction)));
    }
    if let Some(burst) = &iops.burst_rate {
        let length = iops.burst_s.map(|length_s| format!(" for {}", show_length(length_s)));
        let (burst, length) =
            (format.value(Unit::IosPerS, burst.value), length.unwrap_or_default());
        text.item(&format!("{name}: a burst of {burst}{length}, then the sustained rate above."));
    }
    if let Some(knee) = &mix.knee {
        let iops = format.value(Unit::IosPerS, knee.iops);
        let time = format.value(Unit::Ns, knee.service_time_ns);
        let depth = knee.outstanding;
        text.item(&format!("{name}: the knee is at {depth} outstanding, {iops} at {time} mean."));
    }
}

/// The series of limits; hidden in relative reports, because limits are absolute.
fn steps(text: &mut Text, calibration: &Calibration, format: &Formatter) {
    let mixes = calibration.mixes.iter().filter(|mix| !mix.steps.is_empty());
    let mixes: Vec<&MixCalibration> = mixes.collect();
    let Some(first) = mixes.first().filter(|_| !format.is_relative()) else {
        return;
    };
    let head = mixes.iter().map(|mix| mix.name.clone());
    let mut rows = vec![[String::new()].into_iter().chain(head).collect()];
    for (place, step) in first.steps.iter().enumerate() {
        let limit = format.chosen(Unit::Ns, step.limit.service_time_ns);
        let name = format!("p{} ≤ {limit}", nines(step.limit.quantile));
        let cells = mixes.iter().map(|mix| step_cell(mix.steps.get(place), format));
        rows.push([name].into_iter().chain(cells).collect());
    }
    text.heading("IOPS by latency limit");
    text.table(&rows);
}

/// The answer of one mix for one limit.
fn step_cell(step: Option<&LimitStep>, format: &Formatter) -> String {
    let capacity = step.and_then(|step| step.iops.as_ref());
    let doubted = |capacity: &Capacity| doubted(Unit::IosPerS, &capacity.rate, format);
    capacity.map_or_else(|| "none".to_owned(), doubted)
}
