//! What sessions did since somebody looked, and what became of all its steps.

use super::method::{Kind, StepResult};
use assay_model::failure::{Failure, Refusal};
use assay_model::measurement::{NamedResult, Operation, OperationResult};
use assay_model::{Histogram, Precision};
use std::collections::BTreeMap;

/// Counts of a kind with the words of a failure.
type Words = BTreeMap<(usize, String), u64>;

/// What one session, or a few, did since somebody looked.
#[derive(Default)]
pub(super) struct Slot {
    /// One a kind that happened.
    results: Vec<Option<OperationResult>>,
    /// Failures by their words.
    failures: Words,
    /// What was refused and tried again, by what the refusal means, too.
    retries: BTreeMap<(usize, Refusal, String), u64>,
}

/// What became of the steps of sessions from their first to their last, those of the warm-up among them; one number a
/// kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps that the server acknowledged: none of them may be lost.
    pub acknowledged: Vec<u64>,
    /// Steps without an answer: the server may have done them or not.
    pub unknown: Vec<u64>,
}

impl Slot {
    pub(super) fn new(kinds: usize) -> Self {
        Self { results: vec![None; kinds], ..Self::default() }
    }

    /// Counts a step; `response_ns` from the moment at which it was due, where arrivals are open.
    #[inline]
    pub(super) fn count(&mut self, done: &StepResult, service_ns: u64, response_ns: Option<u64>) {
        let result = self.results[done.kind]
            .get_or_insert_with(|| OperationResult::empty(Precision::Fine, response_ns.is_some()));
        result.ios += 1;
        result.bytes += done.bytes;
        result.service.record(service_ns);
        if let Some((response, time_ns)) = result.response.as_mut().zip(response_ns) {
            response.record(time_ns);
        }
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

    /// Adds what was counted to totals of each kind, and forgets it.
    pub(super) fn drain(&mut self, kinds: &[Kind], into: &mut [NamedResult]) {
        for ((kind, mine), total) in kinds.iter().zip(&mut self.results).zip(into) {
            let Some(mine) = mine.as_mut().filter(|mine| mine.ios > 0) else {
                continue;
            };
            let total = total.operations.slot(kind.operation);
            total.get_or_insert_with(|| none_of(mine)).merge(mine);
            (mine.ios, mine.bytes) = (0, 0);
            mine.service.clear();
            mine.response.iter_mut().for_each(Histogram::clear);
        }
    }

    /// Forgets all that was counted: it was the warm-up.
    pub(super) fn forget(&mut self, kinds: &[Kind]) {
        let mut nowhere = nothing(kinds);
        self.drain(kinds, &mut nowhere);
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
pub(super) fn nothing(kinds: &[Kind]) -> Vec<NamedResult> {
    let named = |kind: &Kind| NamedResult { name: kind.name.to_owned(), ..NamedResult::default() };
    kinds.iter().map(named).collect()
}

/// Whether anything of a kind happened.
pub(super) fn happened(stream: &NamedResult) -> bool {
    Operation::ALL.iter().any(|operation| stream.operations.get(*operation).is_some())
}

impl Tally {
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
