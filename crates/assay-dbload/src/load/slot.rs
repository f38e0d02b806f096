//! What sessions did since somebody looked, and what became of all its steps.

use super::edges::Edges;
use super::method::{StepKind, StepResult};
use assay_model::failure::{Failure, Refusal};
use assay_model::measurement::{NamedResult, Operation, OperationResult};
use assay_model::{Histogram, Precision};
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// Counts of a kind with the words of a failure.
type SlotWords = BTreeMap<(usize, String), u64>;

/// What happened in an interval, by kind.
type SlotPage = Vec<Option<OperationResult>>;

/// What one session, or a few, did since somebody looked.
#[derive(Default)]
pub(super) struct IntervalSlot {
    /// The interval that is due next, and those that began before somebody looked.
    pages: VecDeque<SlotPage>,
    /// The interval of the first page.
    first: u64,
    /// Known from the start of the measured time on.
    edges: Option<Edges>,
    kinds: usize,
    /// Failures by their words.
    failures: SlotWords,
    /// What was refused and tried again, by what the refusal means, too.
    retries: BTreeMap<(usize, Refusal, String), u64>,
}

/// What became of the steps of sessions from their first to their last, those of the warm-up among
/// them; one number a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlotTally {
    /// Steps that the server acknowledged: none of them may be lost.
    pub acknowledged: Vec<u64>,
    /// Steps without an answer: the server may have done them or not.
    pub unknown: Vec<u64>,
}

impl IntervalSlot {
    pub(super) fn new(kinds: usize) -> Self {
        Self { kinds, ..Self::default() }
    }

    /// The measured time begins: what was counted a moment before belongs to its first interval.
    pub(super) fn begin(&mut self, edges: Edges) {
        self.edges = Some(edges);
    }

    /// Counts a step that ended then; `response_ns` from the moment at which it was due, where
    /// arrivals are open.
    #[inline]
    pub(super) fn count(
        &mut self,
        done: &StepResult,
        ended: Instant,
        service_ns: u64,
        response_ns: Option<u64>,
    ) {
        let Some(page) = self.page(ended) else { return };
        let result = page[done.kind]
            .get_or_insert_with(|| OperationResult::empty(Precision::Fine, response_ns.is_some()));
        result.ios += 1;
        result.bytes += done.bytes;
        result.service.record(service_ns);
        if let Some((response, time_ns)) = result.response.as_mut().zip(response_ns) {
            response.record(time_ns);
        }
    }

    /// The interval of a step; none after the end of the measured time: one slow last step would
    /// stretch all the others'.
    fn page(&mut self, ended: Instant) -> Option<&mut SlotPage> {
        let index = self.edges.map_or(Some(self.first), |edges| edges.index(ended))?;
        let place = usize::try_from(index.saturating_sub(self.first)).ok()?;
        while self.pages.len() <= place {
            self.pages.push_back(vec![None; self.kinds]);
        }
        self.pages.get_mut(place)
    }

    /// Counts a step that failed for good.
    pub(super) fn fail(&mut self, kind: usize, words: String) {
        *self.failures.entry((kind, words)).or_default() += 1;
    }

    /// Counts what was refused before a step came to its end.
    pub(super) fn retry(&mut self, kind: usize, refused: &Failure) {
        let class = refused.meaning().unwrap_or(Refusal::Other);
        *self.retries.entry((kind, class, refused.to_string())).or_default() += 1;
    }

    /// Adds what was counted in the first interval to totals of each kind, and forgets it.
    pub(super) fn drain(&mut self, kinds: &[StepKind], into: &mut [NamedResult]) {
        self.first += 1;
        let Some(mut page) = self.pages.pop_front() else { return };
        for ((kind, mine), total) in kinds.iter().zip(&mut page).zip(into) {
            let Some(mine) = mine.as_mut().filter(|mine| mine.ios > 0) else {
                continue;
            };
            let total = total.operations.slot(kind.operation);
            total.get_or_insert_with(|| none_of(mine)).merge(mine);
            (mine.ios, mine.bytes) = (0, 0);
            mine.service.clear();
            mine.response.iter_mut().for_each(Histogram::clear);
        }
        // The page of the interval that just began: its histograms are not allocated again.
        if self.pages.is_empty() {
            self.pages.push_back(page);
        }
    }

    /// Adds all that was counted, of whatever interval, and forgets it.
    pub(super) fn drain_all(&mut self, kinds: &[StepKind], into: &mut [NamedResult]) {
        for _ in 0..self.pages.len() {
            self.drain(kinds, into);
        }
    }

    /// Forgets all that was counted: it was the warm-up.
    pub(super) fn forget(&mut self) {
        self.pages.clear();
        self.first = 0;
        self.failures.clear();
        self.retries.clear();
    }

    /// Failures so far, by kind and words.
    pub(super) fn failures(&self) -> impl Iterator<Item = (usize, &str, u64)> {
        self.failures.iter().map(|((kind, words), times)| (*kind, words.as_str(), *times))
    }

    /// What was refused and tried again so far, by kind, class and words.
    pub(super) fn retries(&self) -> impl Iterator<Item = (usize, Refusal, &str, u64)> {
        let all = self.retries.iter();
        all.map(|((kind, class, words), times)| (*kind, *class, words.as_str(), *times))
    }
}

/// Nothing yet, of the same sort.
fn none_of(like: &OperationResult) -> OperationResult {
    OperationResult::empty(Precision::Fine, like.response.is_some())
}

/// No result of any kind.
pub(super) fn nothing(kinds: &[StepKind]) -> Vec<NamedResult> {
    let named =
        |kind: &StepKind| NamedResult { name: kind.name.to_owned(), ..NamedResult::default() };
    kinds.iter().map(named).collect()
}

/// Whether anything of a kind happened.
pub(super) fn happened(stream: &NamedResult) -> bool {
    Operation::ALL.iter().any(|operation| stream.operations.get(*operation).is_some())
}

impl SlotTally {
    pub(super) fn new(kinds: usize) -> Self {
        Self { acknowledged: vec![0; kinds], unknown: vec![0; kinds] }
    }

    /// Adds those of other sessions.
    pub fn add(&mut self, other: &Self) {
        let pairs =
            [(&mut self.acknowledged, &other.acknowledged), (&mut self.unknown, &other.unknown)];
        for (mine, theirs) in pairs {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(mine, more)| *mine += more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const KINDS: [StepKind; 1] = [StepKind { name: "reads", operation: Operation::Read }];

    fn step() -> StepResult {
        StepResult { kind: 0, bytes: 8192, answer: Ok(()), retried: Vec::new() }
    }

    fn drained(slot: &mut IntervalSlot) -> u64 {
        let mut into = nothing(&KINDS);
        slot.drain(&KINDS, &mut into);
        into[0].operations.ios()
    }

    /// Somebody who looks three seconds late finds each second by itself, and nothing from after
    /// the end.
    #[test]
    fn a_late_look_finds_every_interval_by_itself() {
        let started = Instant::now();
        let mut slot = IntervalSlot::new(1);
        slot.count(&step(), started, 5, None);
        slot.forget();
        slot.begin(Edges::new(started, Some(Duration::from_secs(4))));
        for after_ms in [1, 500, 1100, 3100, 3200, 3900, 4100] {
            slot.count(&step(), started + Duration::from_millis(after_ms), 5, None);
        }
        assert_eq!([(); 4].map(|()| drained(&mut slot)), [2, 1, 0, 3]);
        assert_eq!(drained(&mut slot), 0);
    }

    #[test]
    fn a_rung_that_is_stopped_keeps_all_that_was_counted() {
        let started = Instant::now();
        let mut slot = IntervalSlot::new(1);
        slot.begin(Edges::new(started, None));
        for after_s in 0..3 {
            slot.count(&step(), started + Duration::from_secs(after_s), 5, None);
        }
        let mut into = nothing(&KINDS);
        slot.drain_all(&KINDS, &mut into);
        assert_eq!(into[0].operations.ios(), 3);
    }
}
