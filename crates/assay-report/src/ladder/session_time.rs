//! Where the time of the sessions of a load went.

use crate::chart::scene::SceneSize;
use crate::chart::stack::stack;
use crate::format::Formatter;
use crate::view::Chart;
use assay_model::load::{Load, Rung};

/// Where the time of the sessions of each step went.
pub(super) fn time_of_sessions<'a>(
    load: &'a Load,
    format: Formatter,
    who: &'static str,
    caption: &'static str,
) -> Chart<'a> {
    let rungs: Vec<&Rung> = load.rungs.iter().collect();
    let draw = move |size| stack(&rungs, who, load.processors, &format, size);
    Chart::new("time-of-sessions", SceneSize::Half, caption, draw)
}
