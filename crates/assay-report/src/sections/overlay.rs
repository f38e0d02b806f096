//! Curves, distributions and courses of several sides over each other.

use super::styles::STYLES;
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::SceneSize;
use crate::format::Formatter;
use crate::view::{ViewBlock, ViewSection};
use assay_model::Estimate;
use assay_model::comparison::{Comparison, Overlay, OverlayAxis, OverlayLine};
use assay_model::verdict::Unit;

/// From this ratio of the largest to the smallest place on, equal ratios are equally long.
const WIDE: f64 = 8.0;

/// Everything that can be drawn over each other: none, one or two sections.
pub(super) fn sections<'a>(found: &Comparison, format: Formatter) -> Vec<ViewSection<'a>> {
    let is_curve = |overlay: &&Overlay| {
        matches!(overlay.over, OverlayAxis::Outstanding | OverlayAxis::Sessions)
    };
    let (curves, courses): (Vec<&Overlay>, Vec<&Overlay>) =
        found.overlays.iter().partition(|overlay| is_curve(overlay));
    [
        section(
            "curves",
            "Overlaid curves",
            "Each side under the same loads; the shaded band is the 95% interval of every point.",
            &curves,
            format,
        ),
        section(
            "courses",
            "Latencies and rates, overlaid",
            "Share of I/Os above each latency, and the rate over time; each repeat has its own \
             line.",
            &courses,
            format,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn section<'a>(
    id: &'static str,
    title: &'static str,
    lead: &str,
    overlays: &[&Overlay],
    format: Formatter,
) -> Option<ViewSection<'a>> {
    let charts = overlays.iter().map(|overlay| chart(overlay).chart(SceneSize::Half, format));
    (!overlays.is_empty()).then(|| ViewSection {
        id,
        title: title.to_owned(),
        blocks: vec![
            ViewBlock::OnPage(vec![ViewBlock::Lead(vec![lead.to_owned()])]),
            ViewBlock::SideBySide(charts.map(ViewBlock::Chart).collect()),
        ],
    })
}

fn chart(overlay: &Overlay) -> ChartLines {
    let (across, across_name) = across(overlay);
    let is_distribution = overlay.over == OverlayAxis::LatencyNs;
    ChartLines {
        title: title(overlay),
        across,
        across_name: across_name.to_owned(),
        name: if is_distribution { "share of slower I/Os" } else { unit_name(overlay.unit) }
            .to_owned(),
        unit: overlay.unit,
        log: is_distribution || overlay.unit == Unit::Ns,
        curves: lines(overlay, is_distribution),
        marks: Vec::new(),
    }
}

fn title(overlay: &Overlay) -> String {
    let what = crate::phrases::capital(&overlay.what);
    match overlay.over {
        OverlayAxis::Outstanding => format!("{what} by queue depth"),
        OverlayAxis::Sessions => format!("{what} by sessions"),
        OverlayAxis::LatencyNs => {
            what.replace("within a latency", "that take longer than a latency")
        }
        OverlayAxis::ElapsedS => format!("{what} over time"),
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::IosPerS => "per second",
        Unit::PerMinute => "per minute",
        Unit::PerHour => "per hour",
        Unit::BytesPerS => "throughput",
        Unit::Ns => "latency",
        Unit::Bytes => "size",
        Unit::Share => "share",
        Unit::Count => "number",
    }
}

fn across(overlay: &Overlay) -> (Across, &'static str) {
    let places = || overlay.lines.iter().flat_map(|line| line.points.iter().map(|point| point.x));
    let (low, high) = (places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max));
    let wide = low > 0.0 && high / low >= WIDE;
    match overlay.over {
        OverlayAxis::Outstanding if wide => (Across::Log, "queue depth"),
        OverlayAxis::Outstanding => (Across::Linear, "queue depth"),
        OverlayAxis::Sessions if wide => (Across::Log, "sessions"),
        OverlayAxis::Sessions => (Across::Linear, "sessions"),
        OverlayAxis::LatencyNs => (Across::LogTime, "latency"),
        OverlayAxis::ElapsedS => (Across::Time, "measured time"),
    }
}

/// A line a side and repeat; only the first of a side stands in the legend.
fn lines(overlay: &Overlay, is_distribution: bool) -> Vec<ChartLine> {
    let mut named: Vec<usize> = Vec::new();
    let line = |line: &OverlayLine| {
        let first = !named.contains(&line.side);
        named.push(line.side);
        let (ink, stroke) = STYLES[line.side % STYLES.len()];
        let is_curve = matches!(overlay.over, OverlayAxis::Outstanding | OverlayAxis::Sessions);
        ChartLine {
            name: if first { side_name(line.side) } else { String::new() },
            ink,
            stroke,
            dots: is_curve,
            band: is_curve,
            points: points(line, is_distribution),
        }
    };
    overlay.lines.iter().map(line).collect()
}

fn side_name(side: usize) -> String {
    match side {
        0 => "base".to_owned(),
        1 => "other".to_owned(),
        more => format!("other {more}"),
    }
}

/// A distribution is drawn by what takes longer, on equal ratios: that is where tails can be seen.
fn points(line: &OverlayLine, is_distribution: bool) -> Vec<(f64, Estimate)> {
    let points = line.points.iter().map(|point| (point.x, point.value));
    if !is_distribution {
        return points.collect();
    }
    let longer = points.map(|(at, share)| (at, Estimate::exact(1.0 - share.value, share.n)));
    longer.filter(|(_, share)| share.value > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::comparison::OverlayPoint;

    fn overlay(over: OverlayAxis, unit: Unit, sides: &[usize]) -> Overlay {
        let point = |at: f64| OverlayPoint { x: at, value: Estimate::exact(at / 64.0, 10) };
        let line = |side: &usize| OverlayLine {
            side: *side,
            points: [1.0, 8.0, 64.0].map(point).to_vec(),
        };
        let what = "share of reads within a latency".to_owned();
        Overlay { what, over, unit, lines: sides.iter().map(line).collect() }
    }

    #[test]
    fn a_distribution_shows_what_takes_longer_and_ends_above_zero() {
        let chart = chart(&overlay(OverlayAxis::LatencyNs, Unit::Share, &[0, 1]));
        assert_eq!(chart.title, "Share of reads that take longer than a latency");
        let shares: Vec<f64> = chart.curves[0].points.iter().map(|point| point.1.value).collect();
        assert_eq!(shares, [63.0 / 64.0, 56.0 / 64.0]);
        assert!(chart.log && chart.across == Across::LogTime);
    }

    #[test]
    fn repeats_of_a_side_share_its_name_and_colour() {
        let chart = chart(&overlay(OverlayAxis::ElapsedS, Unit::IosPerS, &[0, 0, 1, 1]));
        let names: Vec<&str> = chart.curves.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["base", "", "other", ""]);
        assert_eq!(chart.curves[0].ink, chart.curves[1].ink);
        assert_ne!(chart.curves[1].ink, chart.curves[2].ink);
    }

    #[test]
    fn loads_far_apart_are_laid_out_by_ratios() {
        let wide = overlay(OverlayAxis::Sessions, Unit::IosPerS, &[0, 1]);
        assert_eq!(across(&wide), (Across::Log, "sessions"));
    }
}
