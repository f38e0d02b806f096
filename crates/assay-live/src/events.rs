//! Time of sessions by event: what is counted comes first, what is sampled fills in the rest with
//! its doubt.

use crate::classes::{CPU, OTHER, USER_IO};
use crate::host_context::IntervalEstimator;
use crate::samples::{SessionSamples, SessionState};
use assay_model::Estimate;
use assay_model::number::{real, seconds};
use assay_model::profile::{TimeSource, TimedEvent};

/// Events that were seen less often say too little by themselves.
const SEEN_MIN: u64 = 10;
/// Name of the CPU time of which a part was counted in waits as well.
const CPU_OUTSIDE_WAITS: &str = "CPU outside waits";

/// A time that was counted, with how often it happened where that is known; nothing where nothing
/// happened.
pub fn counted(
    event: impl Into<String>,
    class: &str,
    time_s: f64,
    waits: Option<u64>,
) -> Option<TimedEvent> {
    (time_s > 0.0).then(|| TimedEvent {
        event: event.into(),
        class: class.to_owned(),
        known: TimeSource::Counted,
        time_s: Estimate::exact(time_s, waits.unwrap_or(1)),
        db_time_share: None,
        waits,
        seen: None,
    })
}

/// Time of client sessions on a CPU by the scheduler's count; nothing where they are not this
/// host's.
pub fn on_cpu(samples: &SessionSamples) -> Option<TimedEvent> {
    counted(CPU, CPU, seconds(samples.tasks?.clients.on_cpu_ns), None)
}

/// CPU time that is not part of a wait. The scheduler counts the kernel's work for a read, and the
/// server the time of the read with that work in it, so what both exceed DB time by was counted
/// twice, as far as there was I/O; and a session cannot use more CPU for statements than these
/// take.
fn disjoint(events: &mut [TimedEvent], db_time_s: f64) {
    let excess_s = |of: fn(&Estimate) -> f64| -> f64 {
        events.iter().map(|event| of(&event.time_s)).sum::<f64>() - db_time_s
    };
    let most_s = excess_s(|time_s| time_s.value);
    let least_s = excess_s(|time_s| time_s.low);
    let user_io = events.iter().filter(|event| event.class == USER_IO);
    let user_io_s = user_io.map(|event| event.time_s.value).sum::<f64>().max(0.0);
    let is_cpu = |event: &&mut TimedEvent| event.class == CPU && event.known == TimeSource::Counted;
    let Some(cpu) = events.iter_mut().find(is_cpu).filter(|_| db_time_s > 0.0) else {
        return;
    };
    let counted_s = cpu.time_s.value;
    let outside_s =
        |excess_s: f64| (counted_s - excess_s.clamp(0.0, user_io_s)).clamp(0.0, db_time_s);
    cpu.time_s = outside_waits(outside_s(most_s), outside_s(least_s), cpu.time_s.n);
    if cpu.time_s.value < counted_s {
        CPU_OUTSIDE_WAITS.clone_into(&mut cpu.event);
    }
}

/// CPU time outside waits by the values of sampled waits, and by their low ends, s. If few samples
/// fill the DB time that counted waits leave, the CPU time is unknown and not 0: it is between 0
/// and what the low ends leave.
fn outside_waits(value_s: f64, most_s: f64, n: u64) -> Estimate {
    if value_s > 0.0 || most_s <= 0.0 {
        return Estimate::exact(value_s, n);
    }
    Estimate { value: most_s / 2.0, low: 0.0, high: most_s, confidence: 0.95, n }
}

/// The same events with their shares of DB time, most time first; nothing of the CPU time is
/// counted in a wait as well.
pub fn ordered(mut events: Vec<TimedEvent>, db_time_s: f64) -> Vec<TimedEvent> {
    disjoint(&mut events, db_time_s);
    for event in &mut events {
        event.db_time_share = (db_time_s > 0.0).then(|| event.time_s.value / db_time_s);
    }
    events.sort_by(|left, right| right.time_s.value.total_cmp(&left.time_s.value));
    events
}

/// Mean time of what was counted, seconds.
pub fn mean_s(time_s: f64, ios: u64) -> Option<f64> {
    (ios > 0 && time_s > 0.0).then(|| time_s / real(ios))
}

/// Makes times of what samples saw.
#[derive(Clone, Copy)]
pub struct EventSampler<'a> {
    /// What was seen.
    pub samples: &'a SessionSamples,
    /// Gives its intervals.
    pub bars: &'a dyn IntervalEstimator,
    /// The time that is divided, seconds.
    pub db_time_s: f64,
}

impl EventSampler<'_> {
    /// DB time times the share of some events in what was seen. Where too little was seen for an
    /// interval, the interval is everything.
    pub fn of_share(&self, meant: &dyn Fn(&SessionState) -> bool) -> Estimate {
        let (part, whole) = (self.samples.series(meant), self.samples.active());
        let seen = part.iter().sum::<f64>();
        let estimate = self.bars.ratio(&part, &whole).unwrap_or_else(|| Estimate {
            value: seen / real(self.samples.seen()).max(1.0),
            low: 0.0,
            high: 1.0,
            confidence: 0.95,
            n: 1,
        });
        let (low, high) = (estimate.low.clamp(0.0, 1.0), estimate.high.clamp(0.0, 1.0));
        Estimate { low, high, ..estimate }.scaled(self.db_time_s)
    }

    /// Events that nobody adds up, each with its interval; those that were seen rarely stand
    /// together.
    pub fn events(
        &self,
        is_left: &dyn Fn(&SessionState) -> bool,
        named: &dyn Fn(&SessionState) -> (String, &'static str),
    ) -> Vec<TimedEvent> {
        let left = self.samples.totals().into_iter().filter(|(seen, _)| is_left(seen));
        let (clear, rare): (Vec<_>, Vec<_>) = left.partition(|(_, count)| *count >= SEEN_MIN);
        let one =
            |(name, class): (String, &str), count: u64, meant: &dyn Fn(&SessionState) -> bool| {
                let time_s = self.of_share(meant);
                let (class, known) = (class.to_owned(), TimeSource::Sampled);
                let (db_time_share, waits, seen) = (None, None, Some(count));
                TimedEvent { event: name, class, known, time_s, db_time_share, waits, seen }
            };
        let clear = clear.iter();
        let mut events: Vec<TimedEvent> =
            clear.map(|(seen, count)| one(named(seen), *count, &|other| other == *seen)).collect();
        let count: u64 = rare.iter().map(|(_, count)| count).sum();
        if count > 0 {
            let meant = |other: &SessionState| rare.iter().any(|(seen, _)| *seen == other);
            events.push(one(
                ("events with fewer than 10 samples".to_owned(), OTHER),
                count,
                &meant,
            ));
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(class: &str, known: TimeSource, time_s: Estimate) -> TimedEvent {
        TimedEvent {
            event: class.to_owned(),
            class: class.to_owned(),
            known,
            time_s,
            db_time_share: None,
            waits: None,
            seen: None,
        }
    }

    /// The CPU time among these events of 8.2 s of DB time, of which the scheduler counted 1.9 s.
    fn cpu(user_io_s: f64, sampled_s: Estimate) -> TimedEvent {
        let exact = |class, time_s| event(class, TimeSource::Counted, Estimate::exact(time_s, 1));
        let sampled = event(OTHER, TimeSource::Sampled, sampled_s);
        let events = ordered(vec![exact(CPU, 1.9), exact(USER_IO, user_io_s), sampled], 8.2);
        events.into_iter().find(|event| event.class == CPU).unwrap()
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    /// PostgreSQL 15, of which six samples of other waits made 1.9 s on a CPU 0.
    #[test]
    fn counted_cpu_time_is_not_0_because_of_a_few_samples() {
        let few = Estimate { value: 0.624, low: 0.218, high: 8.2, confidence: 0.95, n: 6 };
        let found = cpu(7.6, few);
        let left_s = 8.2 - 7.6 - 0.218;
        assert!(near(found.time_s.value, left_s / 2.0), "{found:?}");
        assert!(near(found.time_s.low, 0.0) && near(found.time_s.high, left_s), "{found:?}");
        assert_eq!(found.event, CPU_OUTSIDE_WAITS);
    }

    #[test]
    fn cpu_time_in_waits_is_counted_once_and_its_name_says_so() {
        let none = Estimate::exact(0.0, 1);
        let part = cpu(7.0, none);
        assert!(near(part.time_s.value, 1.2) && near(part.time_s.high, 1.2), "{part:?}");
        assert_eq!(part.event, CPU_OUTSIDE_WAITS);
        let whole = cpu(5.0, none);
        assert!(near(whole.time_s.value, 1.9) && whole.event == CPU, "{whole:?}");
    }
}
