//! Idle events by the report's own word: its lists are ordered by time, and idle events come last.

use crate::knowledge;
use crate::report::{OracleReport, ReportEvent};

/// The class of idle events.
pub(crate) const IDLE: &str = "Idle";

/// Marks the idle end of each list that has no column of classes.
pub(super) fn mark(report: &mut OracleReport) {
    let lists =
        [&mut report.foreground_events, &mut report.background_events, &mut report.all_events];
    for list in lists {
        if list.iter().all(|event| event.class.is_none()) {
            let from = idle_from(list);
            list.iter_mut().skip(from).for_each(|event| event.class = Some(IDLE.to_owned()));
        }
    }
}

/// Where the time grows again: the first idle event has more than the last one that is not. It must
/// be one that is known, or one known must follow, so that a list in another order loses nothing.
fn idle_from(list: &[ReportEvent]) -> usize {
    let time = |event: &ReportEvent| event.time.map(|time| time.value);
    let grows = |pair: &[ReportEvent]| {
        time(&pair[0]).zip(time(&pair[1])).is_some_and(|(before, after)| after > before)
    };
    let from = list.windows(2).position(grows).map_or(list.len(), |at| at + 1);
    let ordered = list[from..].windows(2).filter(|pair| grows(pair)).count() == 0;
    let known = list[from..].iter().any(|event| knowledge::is_idle(&event.name));
    let busy = list[from..].iter().any(|event| knowledge::is_io(&event.name));
    if ordered && known && !busy { from } else { list.len() }
}
