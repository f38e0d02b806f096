//! The strip next to a judged number: the interval against its limit, on one line.

use super::markup::{Markup, tag};
use crate::chart::scale::AxisScale;
use assay_model::Estimate;
use assay_model::verdict::Limit;

/// Width of the strip, pixels.
const WIDTH: f64 = 150.0;
/// Height of the strip, pixels.
const HEIGHT: f64 = 20.0;

/// Draws the interval, the good side of the limit shaded; the strip begins at 0.
pub(super) fn range(limit: Limit, estimate: &Estimate) -> Markup {
    // What has no upper end reaches to the end of the strip.
    let high = if estimate.is_at_least() { 1.3 * estimate.value } else { estimate.high };
    let farthest = (limit.value() * 1.3).max(high * 1.05);
    let scale =
        AxisScale::linear(0.0, if farthest > 0.0 { farthest } else { 1.0 }).onto(1.0, WIDTH - 1.0);
    let limit_x = scale.place(limit.value());
    let (from, to) = match limit {
        Limit::AtMost(_) => (1.0, limit_x),
        Limit::AtLeast(_) => (limit_x, WIDTH - 1.0),
    };
    let (low, high) = (scale.place(estimate.low), scale.place(estimate.high));
    let good = tag("rect")
        .class("good")
        .number("x", from)
        .number("y", 3.0)
        .number("width", to - from)
        .number("height", 14.0);
    let interval = tag("rect")
        .class("span")
        .number("x", low)
        .number("y", 8.5)
        .number("width", (high - low).max(1.0))
        .number("height", 3.0);
    let value = tag("circle")
        .class("value")
        .number("cx", scale.place(estimate.value))
        .number("cy", 10.0)
        .number("r", 3.5);
    let edge = tag("rect")
        .class("edge")
        .number("x", limit_x - 0.75)
        .number("y", 1.0)
        .number("width", 1.5)
        .number("height", 18.0);
    let parts = [good.empty(), edge.empty(), interval.empty(), value.empty()];
    tag("svg")
        .class("range")
        .attribute("aria-hidden", "true")
        .number("width", WIDTH)
        .number("height", HEIGHT)
        .attribute("viewBox", &format!("0 0 {WIDTH} {HEIGHT}"))
        .all(parts)
}
