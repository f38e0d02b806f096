//! Which number of sessions comes next, and when the ladder has shown what it can.

use assay_model::load::{Goal, Rung};
use assay_model::number::real;
use assay_model::spelling::LimitStatistic;
use assay_model::{Estimate, Histogram};
use assay_stats::curve::{CurveKnee, LoadPoint, knee};

/// Share of all processors' time from which on they, and not the storage, limit the load.
const BUSY_MAX: f64 = 0.95;
/// Of the busy time, server and client must have this share, else it is somebody else who is busy.
const OWN_SHARE_MIN: f64 = 0.5;
/// Twice as many sessions must gain at least this share, or the ladder has reached its top.
const GAIN_MIN: f64 = 0.05;

/// How the ladder is climbed.
#[derive(Clone, Debug, PartialEq)]
pub enum LadderSearch {
    /// These numbers of sessions.
    Given(Vec<u32>),
    /// Twice as many each time until that gives no more.
    Knee {
        /// Sessions at most.
        most: u32,
    },
    /// The most sessions whose times keep a limit.
    Limit {
        /// What of the times the limit is on.
        quantile: LimitStatistic,
        /// The limit, ns.
        limit_ns: f64,
        /// Sessions at most.
        most: u32,
    },
}

/// What the ladder needs of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LadderPoint {
    /// Sessions.
    pub sessions: u32,
    /// Statements per second.
    pub statements_per_s: f64,
    /// The quantile or mean of the times that the limit is on, ns.
    pub limited_ns: f64,
    /// Share of all processors' time that was busy, 0..=1, where known.
    pub busy_share: Option<f64>,
    /// Share of that time that server and client had, 0..=1, where known.
    pub own_share: Option<f64>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStepSize {
    /// Measure with this number of sessions.
    Measure(u32),
    /// Nothing; why, in a sentence.
    End(String),
}

impl LadderPoint {
    /// What a step shows; the limit is on this `statistic` of `times`, `processors` are those of
    /// the machine.
    pub fn of(rung: &Rung, times: &Histogram, statistic: LimitStatistic, processors: f64) -> Self {
        let busy_s = rung.host_busy_share.map(|busy| busy * processors * rung.elapsed_s());
        let own_s = rung.server_cpu_s.map(|server_s| server_s + rung.client_cpu_s);
        Self {
            sessions: rung.sessions,
            statements_per_s: rung.statements_per_s(),
            limited_ns: statistic.of_ns(times),
            busy_share: rung.host_busy_share,
            own_share: own_s.zip(busy_s).map(|(own_s, busy_s)| own_s / busy_s.max(1e-9)),
        }
    }

    /// Whether the processors were the limit, and ours were the work.
    fn is_cpu_bound(&self) -> bool {
        let busy = self.busy_share.is_some_and(|busy| busy >= BUSY_MAX);
        // A server elsewhere does not use these processors; then it is this program that is the
        // limit.
        busy && self.own_share.is_none_or(|own| own >= OWN_SHARE_MIN)
    }
}

impl LadderSearch {
    /// What comes after these steps, in the order in which they were measured.
    pub fn next(&self, done: &[LadderPoint]) -> NextStepSize {
        let Some(last) = done.last() else {
            return NextStepSize::Measure(self.first());
        };
        if let Self::Limit { limit_ns, most, .. } = self {
            return search(done, *limit_ns, *most);
        }
        if last.is_cpu_bound() && self.is_above(last.sessions) {
            return NextStepSize::End(cpu_words(last));
        }
        match self {
            Self::Given(sessions) => sessions.get(done.len()).map_or_else(
                || NextStepSize::End("all steps were completed".to_owned()),
                |next| NextStepSize::Measure(*next),
            ),
            Self::Knee { most } | Self::Limit { most, .. } => double(done, *most),
        }
    }

    fn first(&self) -> u32 {
        match self {
            Self::Given(sessions) => sessions.first().copied().unwrap_or(1),
            Self::Knee { .. } | Self::Limit { .. } => 1,
        }
    }

    /// Whether more than this number of sessions would still come.
    fn is_above(&self, sessions: u32) -> bool {
        match self {
            Self::Given(given) => given.iter().any(|more| *more > sessions),
            Self::Knee { most } | Self::Limit { most, .. } => *most > sessions,
        }
    }

    /// Sessions at most, of all steps that may come.
    pub fn sessions_max(&self) -> u32 {
        match self {
            Self::Given(sessions) => sessions.iter().copied().max().unwrap_or(1),
            Self::Knee { most } | Self::Limit { most, .. } => *most,
        }
    }

    /// The same, where a search has no more than `room` sessions; what was given stays as it was.
    #[must_use]
    pub fn within(&self, room: u32) -> Self {
        let mut within = self.clone();
        if let Self::Knee { most } | Self::Limit { most, .. } = &mut within {
            *most = (*most).min(room.max(1));
        }
        within
    }

    /// What of the times is of interest.
    pub fn statistic(&self) -> LimitStatistic {
        match self {
            Self::Limit { quantile, .. } => *quantile,
            Self::Given(_) | Self::Knee { .. } => LimitStatistic::Quantile(0.99),
        }
    }

    /// The answer of a search.
    pub fn goal(&self, done: &[LadderPoint]) -> Option<Goal> {
        let Self::Limit { quantile, limit_ns, .. } = self else {
            return None;
        };
        let (good, bad) = bounds(done, *limit_ns);
        Some(Goal {
            quantile: *quantile,
            limit_ns: *limit_ns,
            sessions: good,
            is_bounded: bad.is_some(),
        })
    }
}

fn cpu_words(last: &LadderPoint) -> String {
    format!(
        "the CPUs are the limit at {} sessions ({:.0}% busy): more sessions would not measure the storage",
        last.sessions,
        100.0 * last.busy_share.unwrap_or(1.0)
    )
}

fn most_words(most: u32) -> String {
    format!("{most} sessions are the maximum that --sessions or the server allows")
}

fn double(done: &[LadderPoint], most: u32) -> NextStepSize {
    let gains =
        done.windows(2).map(|pair| pair[1].statements_per_s / pair[0].statements_per_s - 1.0);
    let flat = gains.rev().take_while(|gain| *gain < GAIN_MIN).count();
    let last = done.last().map_or(0, |last| last.sessions);
    if flat >= 2 {
        return NextStepSize::End(format!(
            "doubling the sessions twice added less than {:.0}%",
            100.0 * GAIN_MIN
        ));
    }
    if last >= most {
        return NextStepSize::End(most_words(most));
    }
    NextStepSize::Measure(last.saturating_mul(2).clamp(1, most))
}

/// The most sessions that keep the limit and the fewest that break it.
fn bounds(done: &[LadderPoint], limit_ns: f64) -> (Option<u32>, Option<u32>) {
    let bad =
        done.iter().filter(|point| point.limited_ns > limit_ns).map(|point| point.sessions).min();
    let below = |point: &&LadderPoint| {
        point.limited_ns <= limit_ns && bad.is_none_or(|bad| point.sessions < bad)
    };
    (done.iter().filter(below).map(|point| point.sessions).max(), bad)
}

/// Doubles until the limit breaks, then halves what lies between.
fn search(done: &[LadderPoint], limit_ns: f64, most: u32) -> NextStepSize {
    match bounds(done, limit_ns) {
        (None, None | Some(0 | 1)) => {
            NextStepSize::End("even one session misses the limit".to_owned())
        }
        (None, Some(fewest)) => NextStepSize::End(format!(
            "even {fewest} sessions, one on each database, miss the limit"
        )),
        (Some(good), Some(bad)) if bad - good <= 1 => {
            NextStepSize::End(format!("{bad} sessions miss the limit"))
        }
        (Some(good), Some(bad)) => NextStepSize::Measure(good + (bad - good) / 2),
        (Some(good), None) if good >= most => NextStepSize::End(most_words(most)),
        (Some(_), None) => match done.last() {
            Some(last) if last.is_cpu_bound() => NextStepSize::End(cpu_words(last)),
            last => NextStepSize::Measure(
                last.map_or(1, |last| last.sessions.saturating_mul(2)).clamp(1, most),
            ),
        },
    }
}

/// Sessions at the knee: the most power, statements per second over their mean time, before the
/// last step. Repeats count together; without intervals on both sides there is none.
pub fn knee_of(rungs: &[Rung]) -> Option<u32> {
    let mut first: Vec<&Rung> = rungs.iter().filter(|rung| rung.repeat == 1).collect();
    first.sort_by_key(|rung| rung.sessions);
    first.dedup_by_key(|rung| rung.sessions);
    let points: Vec<LoadPoint> = first.iter().map(|rung| point(rung)).collect::<Option<_>>()?;
    if points.len() < 3 {
        return None;
    }
    match knee(&points) {
        CurveKnee::Found { at, .. } => Some(first[at].sessions),
        CurveKnee::StillRising | CurveKnee::Undecided => None,
    }
}

/// By Little's law the mean time of a closed load is sessions over rate, so its interval follows
/// from that of the rate.
fn point(rung: &Rung) -> Option<LoadPoint> {
    let number = |estimate: Estimate| assay_stats::IntervalEstimate {
        value: estimate.value,
        low: estimate.low,
        high: estimate.high,
        confidence: estimate.confidence,
        n: usize::try_from(estimate.n).unwrap_or(usize::MAX),
        effective_n: real(estimate.n),
    };
    let sessions = f64::from(rung.sessions);
    let rate = rung.statements?;
    let time = Estimate {
        value: sessions / rate.value.max(1e-9),
        low: sessions / rate.high.max(1e-9),
        high: sessions / rate.low.max(1e-9),
        ..rate
    };
    Some(LoadPoint { load: sessions, throughput: number(rate), latency: number(time) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(sessions: u32, statements_per_s: f64, limited_ns: f64, busy: f64) -> LadderPoint {
        LadderPoint {
            sessions,
            statements_per_s,
            limited_ns,
            busy_share: Some(busy),
            own_share: Some(0.9),
        }
    }

    /// Climbs on a server that serves up to `servers` sessions without delay.
    fn climb(climb: &LadderSearch, servers: f64) -> (Vec<u32>, String, Option<Goal>) {
        let mut done = Vec::new();
        loop {
            match climb.next(&done) {
                NextStepSize::End(why) => {
                    let goal = climb.goal(&done);
                    return (done.iter().map(|point| point.sessions).collect(), why, goal);
                }
                NextStepSize::Measure(sessions) => {
                    let load = f64::from(sessions);
                    let time_ns = 100_000.0 * (load / servers).max(1.0);
                    done.push(point(sessions, load / time_ns * 1e9, time_ns, 0.1));
                }
            }
        }
    }

    #[test]
    fn the_most_sessions_within_a_limit_are_found() {
        let limit =
            |limit_ns, most| LadderSearch::Limit { quantile: LimitStatistic::Mean, limit_ns, most };
        // Ten servers of 100 us keep 250 us up to 25 sessions.
        let (_, _, goal) = climb(&limit(250_000.0, 1024), 10.0);
        assert_eq!(goal.map(|goal| (goal.sessions, goal.is_bounded)), Some((Some(25), true)));
        let (_, _, goal) = climb(&limit(50_000.0, 1024), 10.0);
        assert_eq!(goal.map(|goal| goal.sessions), Some(None));
        let (sessions, why, goal) = climb(&limit(1e9, 12), 10.0);
        assert_eq!((sessions, goal.unwrap().is_bounded), (vec![1, 2, 4, 8, 12], false));
        assert!(why.contains("the server allows"), "{why}");
    }

    #[test]
    fn a_search_stays_within_what_the_server_takes() {
        let (sessions, why, _) = climb(&LadderSearch::Knee { most: 1024 }.within(5), 64.0);
        assert_eq!(sessions, [1, 2, 4, 5]);
        assert!(why.contains("the server allows"), "{why}");
        let given = LadderSearch::Given(vec![1, 9]);
        assert_eq!(
            (given.within(5), LadderSearch::Knee { most: 3 }.within(5).sessions_max()),
            (given, 3)
        );
    }

    #[test]
    fn doubling_ends_behind_the_top() {
        let (sessions, why, _) = climb(&LadderSearch::Knee { most: 1024 }, 8.0);
        assert_eq!(sessions, [1, 2, 4, 8, 16, 32]);
        assert!(why.contains("less than 5%"));
    }

    #[test]
    fn busy_processors_end_the_ladder_only_when_they_work_for_it() {
        let given = LadderSearch::Given(vec![1, 2, 4]);
        let mut busy = point(2, 100.0, 1.0, 0.97);
        let first = point(1, 60.0, 1.0, 0.5);
        assert_eq!(given.next(&[first]), NextStepSize::Measure(2));
        let NextStepSize::End(why) = given.next(&[first, busy]) else { panic!() };
        assert!(why.contains("CPUs") && why.contains("97%"), "{why}");
        busy.own_share = Some(0.2);
        assert_eq!(given.next(&[first, busy]), NextStepSize::Measure(4));
        let last = point(4, 100.0, 1.0, 0.99);
        let NextStepSize::End(why) = given.next(&[first, busy, last]) else { panic!() };
        assert!(why.contains("all steps were completed"), "{why}");
    }
}
