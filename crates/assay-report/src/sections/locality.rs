//! A locality curve: read times by working set, the places behind them, and how a moving hot spot
//! is followed.

use super::headline::Headline;
use super::styles::STYLES;
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::SceneSize;
use crate::clock::show_length;
use crate::format::Formatter;
use crate::view::{HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::Estimate;
use assay_model::locality::{Locality, LocalityPoint, LocalityTier};
use assay_model::number::{real, real_len};
use assay_model::units::show_bytes;
use assay_model::verdict::Unit;

pub(super) fn headline(found: &Locality, format: &Formatter) -> Headline {
    let words = match found.tiers.as_slice() {
        [] => "The tiers could not be identified from this curve.".to_owned(),
        [only] => format!(
            "All working sets have the same latency, {} on average.",
            format.value(Unit::Ns, only.service_time_ns)
        ),
        several => format!(
            "{} tiers: {}.",
            several.len(),
            several.iter().map(|tier| place(tier, format)).collect::<Vec<_>>().join(", ")
        ),
    };
    Headline { outcome: None, words }
}

fn place(tier: &LocalityTier, format: &Formatter) -> String {
    let time = format.value(Unit::Ns, tier.service_time_ns);
    match tier.holds_bytes {
        Some(bytes) => format!("{time} up to {}", show_bytes(bytes)),
        None => format!("{time} beyond"),
    }
}

pub(super) fn section<'a>(found: &Locality, format: Formatter) -> ViewSection<'a> {
    let points = points(found, &format);
    let points = ViewBlock::folded(points.caption.clone(), vec![ViewBlock::Table(points)]);
    let tables = [ViewBlock::captioned(HeadingLevel::Detail, places(found, &format)), points];
    let head = [
        ViewBlock::Lead(sentences(found)),
        ViewBlock::Chart(curve(found).chart(SceneSize::Full, format)),
    ];
    ViewSection {
        id: "locality",
        title: "Working sets of growing size".to_owned(),
        blocks: head.into_iter().chain(tables).collect(),
    }
}

/// Read times by working set, the sizes of the places marked.
fn curve(found: &Locality) -> ChartLines {
    let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
    let points = found.points.iter();
    let points =
        points.map(|point| (mebibytes(real(point.working_set_bytes)), point.service_time_ns));
    let line = ChartLine {
        name: "mean read time".to_owned(),
        ink: STYLES[0].0,
        stroke: STYLES[0].1,
        dots: true,
        band: false,
        points: points.collect(),
    };
    let sizes = found.tiers.iter().filter_map(|tier| tier.holds_bytes);
    ChartLines {
        title: "Mean read time by working set".to_owned(),
        across: Across::Log,
        across_name: "working set, MiB".to_owned(),
        name: "read time".to_owned(),
        unit: Unit::Ns,
        log: true,
        curves: vec![line],
        marks: sizes.map(|bytes| (mebibytes(bytes), show_bytes(bytes))).collect(),
    }
}

fn points(found: &Locality, format: &Formatter) -> ViewTable {
    let row = |point: &LocalityPoint| {
        vec![
            show_bytes(real(point.working_set_bytes)),
            format.value(Unit::Ns, point.service_time_ns.value),
            format.interval(Unit::Ns, &point.service_time_ns),
        ]
    };
    let names = ["working set", "mean read time", "95% interval"];
    ViewTable::of_numbers("Every working set", &names).with(found.points.iter().map(row))
}

/// The places with their intervals; no row where these are not known.
fn places(found: &Locality, format: &Formatter) -> ViewTable {
    let size =
        |tier: &LocalityTier| tier.holds_bytes.map_or_else(|| "the rest".to_owned(), show_bytes);
    let ends = |interval: &Estimate| {
        format!("{} – {}", show_bytes(interval.low), show_bytes(interval.high))
    };
    let row = |tier: &LocalityTier| {
        vec![
            size(tier),
            tier.holds_interval_bytes.as_ref().map_or_else(String::new, ends),
            format.value(Unit::Ns, tier.service_time_ns),
            tier.interval_ns
                .map_or_else(String::new, |interval| format.interval(Unit::Ns, &interval)),
        ]
    };
    let known = found.tiers.iter().any(|tier| tier.interval_ns.is_some());
    let names = ["holds", "95% interval", "mean read time", "95% interval"];
    ViewTable::of_numbers("Tiers", &names).with(found.tiers.iter().filter(|_| known).map(row))
}

fn sentences(found: &Locality) -> Vec<String> {
    let mut sentences = vec![format!(
        "One random read at a time; the tiers explain the means within {:.1}%.",
        found.misfit * 100.0
    )];
    if !found.doubts.is_empty() {
        sentences = vec!["One random read at a time.".to_owned()];
        sentences.extend(found.doubts.iter().cloned());
    }
    let Some(following) = &found.following else {
        return sentences;
    };
    let mean = |times: &[f64]| times.iter().sum::<f64>() / real_len(times.len().max(1));
    let hot = show_bytes(following.hot_bytes);
    sentences.push(match following.half_s.as_slice() {
        [] => format!(
            "A hot spot of {hot} that jumped every {} did not raise latency.",
            show_length(following.period_s)
        ),
        some => format!(
            "After a hot spot of {hot} jumped, latency had recovered by half after {} and by 90% \
             after {}; mean of {} jumps.",
            show_length(mean(some)),
            show_length(mean(&following.most_s)),
            some.len()
        ),
    });
    sentences
}
