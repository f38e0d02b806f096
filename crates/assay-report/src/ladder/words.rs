//! Sentences that are said of every ladder: how many sessions keep a limit, and why it ended.

use assay_model::load::{Goal, Load, Rung};
use assay_model::units::{show_count, show_time_ns};

/// Why a ladder ended that measured all that was asked for.
const COMPLETED: &str = "all steps were completed";

/// A number of sessions, which are called `who`: `1 user`, `2 users`.
pub(crate) fn several(sessions: u32, who: &str) -> String {
    if sessions == 1 { format!("1 {who}") } else { format!("{sessions} {who}s") }
}

/// A rate of the middle repeat, with the least and the most of all repeats where there are several.
pub(super) fn rate_of_repeats(
    load: &Load,
    rung: &Rung,
    rate: impl Fn(&Rung) -> f64,
    unit: &str,
) -> String {
    let value = format!("{} {unit}", show_count(rate(rung)));
    let all: Vec<f64> = load.repeats_of(rung.sessions).map(&rate).collect();
    if all.len() < 2 {
        return value;
    }
    let (least, most) = (
        all.iter().copied().fold(f64::INFINITY, f64::min),
        all.iter().copied().fold(0.0, f64::max),
    );
    format!(
        "{value} (median of {} repeats, {} – {})",
        all.len(),
        show_count(least),
        show_count(most)
    )
}

/// How many sessions, which are called `who`, keep the limit; what is limited is said of one of
/// them and of several.
pub(super) fn goal_words(goal: &Goal, who: &str, [of_one, of_several]: [&str; 2]) -> String {
    let (limit, quantile) = (show_time_ns(goal.limit_ns), goal.quantile);
    match goal.sessions {
        None => format!("Even one {who} misses the limit: {quantile} of {of_one} within {limit}."),
        Some(sessions) if goal.is_bounded => {
            format!("Up to {sessions} {who}s meet {quantile} of {of_several} within {limit}.")
        }
        Some(sessions) => {
            format!(
                "{sessions} {who}s meet {quantile} of {of_several} within {limit}; more were not \
                 measured."
            )
        }
    }
}

/// Why the ladder ended, where that is known and is not that it was done.
pub(super) fn end_words(load: &Load) -> Option<String> {
    let says = !load.end.is_empty() && load.end != COMPLETED;
    says.then(|| format!("The steps ended because {}.", load.end))
}
