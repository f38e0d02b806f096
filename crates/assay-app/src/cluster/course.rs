//! How far one workload has come on all hosts: what each said of it, and how the whole ended.

use super::wire::{AHEAD, ENDED_THERE, TOO_MUCH};
use assay_cluster::findings::{HostRecord, StartFindings};
use assay_cluster::merge::{Merged, Merger};
use assay_cluster::protocol::{Began, MeasuredPart, NodeAnswer, RungRecord};
use assay_cluster::schedule::HostStart;
use assay_model::measurement::{Finish, Measurement};
use assay_model::{Error, Result};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Intervals of a host that wait for those of others, bytes in memory; a host is lost after 3 s of
/// silence.
const WAITING_BYTES_MAX: u64 = 32 << 20;

/// Intervals that a host may say beyond those that its time has.
const INTERVALS_SPARE: u64 = 16;

/// Hears every interval of all hosts together; breaking off ends the measurement.
pub(super) type MergedObserver<'a> = &'a mut dyn FnMut(&Merged) -> ControlFlow<()>;

/// A workload that was measured on all hosts.
pub(super) struct Measured {
    pub(super) merger: Merger,
    pub(super) start: StartFindings,
    pub(super) finish: Finish,
    /// What each host measured, where it came to its end.
    pub(super) measurements: Vec<Option<Measurement>>,
    /// What else the sessions of each came to.
    pub(super) rungs: Vec<Option<RungRecord>>,
}

/// What an attempt to measure came to.
pub(super) enum Attempt {
    /// All hosts began.
    Measured(Box<Measured>),
    /// A host knew the start too late, by this many ns.
    Late { host: usize, by_ns: u64 },
}

/// How a host's part ended.
enum CourseEnd {
    Measured(Box<Measurement>, Option<Began>, Option<Box<RungRecord>>),
    Refused(Error),
}

/// One workload on all hosts.
pub(super) struct HostsCourse<'a> {
    /// Numbers of the hosts that take part; what follows is in their order.
    members: Vec<usize>,
    merger: Merger,
    observer: MergedObserver<'a>,
    ends: Vec<Option<CourseEnd>>,
    late: Option<(usize, u64)>,
    /// Bytes of the intervals of each that wait for those of others.
    waiting_bytes: Vec<VecDeque<u64>>,
    /// Intervals that have come of each, and how many there can be.
    intervals: Vec<u64>,
    intervals_max: u64,
    is_broken_off: bool,
    /// Whether the hosts were asked to stop.
    pub(super) is_stopping: bool,
    /// Whether somebody outside wants it to end.
    pub(super) was_stopped: bool,
}

impl<'a> HostsCourse<'a> {
    /// For hosts that have this number of intervals to say.
    pub(super) fn new(members: Vec<usize>, intervals: u64, observer: MergedObserver<'a>) -> Self {
        Self {
            merger: Merger::new(members.len()),
            observer,
            ends: members.iter().map(|_| None).collect(),
            late: None,
            waiting_bytes: vec![VecDeque::new(); members.len()],
            intervals: vec![0; members.len()],
            intervals_max: intervals.saturating_add(INTERVALS_SPARE),
            members,
            is_broken_off: false,
            is_stopping: false,
            was_stopped: false,
        }
    }

    /// Takes a host's word, with the bytes that it takes in memory; why the host does not go on,
    /// where it is too far ahead.
    pub(super) fn take(
        &mut self,
        host: usize,
        word: NodeAnswer,
        bytes: u64,
    ) -> std::result::Result<(), String> {
        let Some(member) = self.members.iter().position(|one| *one == host) else {
            return Ok(());
        };
        match word {
            NodeAnswer::Interval(part) => return self.take_interval(member, *part, bytes),
            NodeAnswer::Finished { measurement, .. } if self.ended_by_itself(&measurement) => {
                return Err(ENDED_THERE.to_owned());
            }
            NodeAnswer::Finished { measurement, began, rung } => {
                self.ends[member] = Some(CourseEnd::Measured(measurement, began, rung));
            }
            NodeAnswer::Refused(refusal) => {
                self.ends[member] = Some(CourseEnd::Refused(refusal.into()));
            }
            NodeAnswer::Late(by_ns) => self.late = Some((host, by_ns)),
            // Words of another phase that were on their way.
            _ => {}
        }
        Ok(())
    }

    /// Whether somebody stopped a node that the driver did not stop.
    fn ended_by_itself(&self, measurement: &Measurement) -> bool {
        let is_early = matches!(measurement.finish, Finish::Interrupted | Finish::Unfinished);
        is_early && !self.is_stopping
    }

    fn take_interval(
        &mut self,
        member: usize,
        part: MeasuredPart,
        bytes: u64,
    ) -> std::result::Result<(), String> {
        self.intervals[member] += 1;
        if self.intervals[member] > self.intervals_max {
            return Err(TOO_MUCH.to_owned());
        }
        self.waiting_bytes[member].push_back(bytes);
        if self.waiting_bytes[member].iter().sum::<u64>() > WAITING_BYTES_MAX {
            self.waiting_bytes[member].clear();
            return Err(AHEAD.to_owned());
        }
        let merged = self.merger.add(member, part);
        for (member, waiting) in self.waiting_bytes.iter_mut().enumerate() {
            let merged = waiting.len().saturating_sub(self.merger.waiting(member));
            waiting.drain(..merged);
        }
        let wants_more = merged.is_none_or(|merged| (self.observer)(&merged).is_continue());
        self.is_broken_off |= !wants_more;
        Ok(())
    }

    /// Those who take part.
    pub(super) fn members(&self) -> &[usize] {
        &self.members
    }

    /// Those of them who have not come to their end.
    pub(super) fn awaited(&self) -> impl Iterator<Item = usize> {
        let each = self.members.iter().zip(&self.ends);
        each.filter_map(|(host, end)| end.is_none().then_some(*host))
    }

    /// Whether anything was measured on a host so far.
    pub(super) fn has_begun(&self, host: usize) -> bool {
        let member = self.members.iter().position(|one| *one == host);
        member.is_some_and(|member| self.intervals[member] > 0)
    }

    /// Whether the other hosts have nothing to go on for.
    pub(super) fn must_stop(&self) -> bool {
        let has_failed = |end: &Option<CourseEnd>| match end {
            Some(CourseEnd::Measured(measurement, ..)) => {
                matches!(measurement.finish, Finish::Failed { .. })
            }
            Some(CourseEnd::Refused(_)) => true,
            None => false,
        };
        self.is_broken_off || self.late.is_some() || self.ends.iter().any(has_failed)
    }

    /// What came of it, and what is to be noted of each host.
    ///
    /// # Errors
    /// What a host refused, where nothing was measured because of it.
    pub(super) fn conclude(
        self,
        start: StartFindings,
        hosts: &mut [HostRecord],
    ) -> Result<Attempt> {
        if let Some((host, by_ns)) = self.late {
            return Ok(Attempt::Late { host, by_ns });
        }
        let finish = self.finish(hosts);
        let is_lost = self.members.iter().any(|host| hosts[*host].lost.is_some());
        let has_nothing = self.merger.intervals() == 0 && !is_lost && !self.was_stopped;
        let (mut measurements, mut rungs) = (Vec::new(), Vec::new());
        for (member, end) in self.members.into_iter().zip(self.ends) {
            let host = &mut hosts[member];
            match end {
                Some(CourseEnd::Refused(error)) if has_nothing => {
                    return Err(error.context(&host.name));
                }
                Some(CourseEnd::Measured(measurement, began, rung)) => {
                    host.begin = began.and_then(|began| HostStart::of(began, &host.clock));
                    host.conduct = Some(measurement.conduct.clone());
                    measurements.push(Some(*measurement));
                    rungs.push(rung.map(|rung| *rung));
                }
                Some(CourseEnd::Refused(_)) | None => {
                    measurements.push(None);
                    rungs.push(None);
                }
            }
        }
        let merger = self.merger;
        Ok(Attempt::Measured(Box::new(Measured { merger, start, finish, measurements, rungs })))
    }

    /// How the whole ended: as its worst part.
    fn finish(&self, hosts: &[HostRecord]) -> Finish {
        let members = || self.members.iter().map(|member| &hosts[*member]);
        let lost = members().find_map(|host| Some((host, host.lost.as_ref()?)));
        if let Some((host, loss)) = lost {
            return failed(format!("the host {} was lost: {}", host.name, loss.reason));
        }
        for (host, end) in members().zip(&self.ends) {
            let reason = match end {
                Some(CourseEnd::Refused(error)) if !self.was_stopped => error.message(),
                Some(CourseEnd::Measured(measurement, ..)) => match &measurement.finish {
                    Finish::Failed { reason } => reason,
                    Finish::Interrupted | Finish::Unfinished | Finish::Complete => continue,
                },
                _ => continue,
            };
            return failed(format!("{}: {reason}", host.name));
        }
        if self.was_stopped { Finish::Interrupted } else { Finish::Complete }
    }
}

const fn failed(reason: String) -> Finish {
    Finish::Failed { reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::Conduct;

    fn interval() -> NodeAnswer {
        let text = r#"{"interval":{"start_ns":0,"end_ns":1,"queue_depth_mean":1.0,
            "joint":{"first_interval":0,"intervals":1,"streams":[]}}}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_host_that_ends_by_itself_is_lost_and_one_that_was_stopped_is_not() {
        let finished = || NodeAnswer::Finished {
            measurement: Box::new(Measurement {
                format: 1,
                workload: "w".to_owned(),
                started_unix_ns: 1,
                elapsed_ns: 1,
                finish: Finish::Interrupted,
                streams: Vec::new(),
                targets: Vec::new(),
                errors: Vec::new(),
                conduct: Conduct::default(),
            }),
            began: None,
            rung: None,
        };
        let mut observer = |_: &Merged| ControlFlow::Continue(());
        let mut course = HostsCourse::new(vec![0, 1], 5, &mut observer);
        assert_eq!(course.take(0, finished(), 1), Err(ENDED_THERE.to_owned()));
        course.is_stopping = true;
        assert_eq!(course.take(1, finished(), 1), Ok(()));
        assert_eq!(course.awaited().collect::<Vec<_>>(), [0]);
    }

    /// Hosts that flood together are never ahead of one another.
    #[test]
    fn a_host_says_no_more_intervals_than_its_time_has() {
        let mut observer = |_: &Merged| ControlFlow::Continue(());
        let mut course = HostsCourse::new(vec![0, 1], 5, &mut observer);
        for _ in 0..5 + INTERVALS_SPARE {
            assert!(course.take(0, interval(), 1).is_ok() && course.take(1, interval(), 1).is_ok());
        }
        assert_eq!(course.take(1, interval(), 1), Err(TOO_MUCH.to_owned()));
    }
}
