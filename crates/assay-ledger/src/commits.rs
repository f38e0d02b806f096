//! What became of acknowledged transactions: the numbers that sessions left in the database against
//! those that a ledger promises.

use assay_model::durability::{CommitHole, JudgedCommits};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;

/// Holes that are kept one by one; all are counted.
const HOLES_KEPT: usize = 100;

/// Transactions of one session that follow one another and are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitRange {
    /// Number of the session.
    pub session: u64,
    /// Number of the first transaction.
    pub first: u64,
    /// Number of the last.
    pub last: u64,
}

/// Compares what sessions left with the last acknowledged number of each. A session begins a
/// transaction when the one before is acknowledged, so that whatever is missing below a number that
/// is there was acknowledged, too, though no ledger says so.
///
/// `found` has no two ranges of a session that touch; `doubled` transactions are there more than
/// once.
pub fn judge_commits<S: BuildHasher>(
    promises: &HashMap<u64, u32, S>,
    found: &[CommitRange],
    doubled: u64,
) -> JudgedCommits {
    let mut ranges: BTreeMap<u64, Vec<CommitRange>> = BTreeMap::new();
    for range in found {
        ranges.entry(range.session).or_default().push(*range);
    }
    let mut judged = JudgedCommits { doubled, ..JudgedCommits::default() };
    let sessions: BTreeSet<u64> = promises.keys().chain(ranges.keys()).copied().collect();
    for session in sessions {
        let promised = promises.get(&session).copied().map_or(0, u64::from);
        add_session(&mut judged, session, promised, ranges.remove(&session).unwrap_or_default());
    }
    judged
}

fn add_session(
    judged: &mut JudgedCommits,
    session: u64,
    promised: u64,
    mut ranges: Vec<CommitRange>,
) {
    ranges.sort_unstable_by_key(|range| range.first);
    let end = ranges.last().map_or(0, |range| range.last).max(promised);
    let mut next = 1;
    // What would follow the last one closes the last hole.
    let starts = ranges.iter().map(|range| (range.first, range.last)).chain([(end + 1, end + 1)]);
    for (first, last) in starts {
        if first > next {
            add_hole(judged, CommitHole { session, first: next, last: first - 1 });
        }
        next = last + 1;
    }
    let up_to =
        |range: &CommitRange, limit: u64| (range.last.min(limit) + 1).saturating_sub(range.first);
    let kept: u64 = ranges.iter().map(|range| up_to(range, promised)).sum();
    let all: u64 = ranges.iter().map(|range| up_to(range, u64::MAX - 1)).sum();
    judged.acknowledged += promised;
    judged.kept += kept;
    judged.newer += all - kept;
}

/// Counts what is missing, and keeps the first of it.
fn add_hole(judged: &mut JudgedCommits, hole: CommitHole) {
    judged.lost += hole.transactions();
    if judged.holes.len() < HOLES_KEPT {
        judged.holes.push(hole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranges(session: u64, numbers: &BTreeSet<u64>) -> Vec<CommitRange> {
        let mut all: Vec<CommitRange> = Vec::new();
        for number in numbers {
            match all.last_mut().filter(|range| range.last + 1 == *number) {
                Some(range) => range.last = *number,
                None => all.push(CommitRange { session, first: *number, last: *number }),
            }
        }
        all
    }

    proptest! {
        /// The oracle looks at each number by itself.
        #[test]
        fn every_number_is_judged_as_it_is_one_by_one(
            sessions in prop::collection::vec((0u32..30, prop::collection::btree_set(1u64..40, 0..20)), 1..4),
        ) {
            let (mut promises, mut found) = (HashMap::new(), Vec::new());
            let mut expected = JudgedCommits::default();
            for (session, (promised, numbers)) in (1..).zip(&sessions) {
                promises.insert(session, *promised);
                found.extend(ranges(session, numbers));
                let promised = u64::from(*promised);
                let end = numbers.last().copied().unwrap_or(0).max(promised);
                expected.acknowledged += promised;
                for number in 1..=end {
                    match (numbers.contains(&number), number <= promised) {
                        (true, true) => expected.kept += 1,
                        (true, false) => expected.newer += 1,
                        (false, _) => expected.lost += 1,
                    }
                }
            }
            found.reverse();
            let judged = judge_commits(&promises, &found, 0);
            let in_holes: u64 = judged.holes.iter().map(CommitHole::transactions).sum();
            prop_assert_eq!(in_holes, judged.lost);
            prop_assert_eq!(JudgedCommits { holes: Vec::new(), ..judged }, expected);
        }
    }

    #[test]
    fn a_hole_below_what_is_there_was_acknowledged_though_no_ledger_says_so() {
        let range = |first, last| CommitRange { session: 7, first, last };
        let judged = judge_commits(&HashMap::new(), &[range(1, 4), range(6, 9)], 2);
        assert_eq!((judged.acknowledged, judged.newer, judged.lost), (0, 8, 1));
        assert_eq!(judged.holes, [CommitHole { session: 7, first: 5, last: 5 }]);
        assert_eq!((judged.doubled, judged.broken()), (2, 3));
    }

    #[test]
    fn a_session_that_left_nothing_lost_all() {
        let judged = judge_commits(&[(3, 12)].into(), &[], 0);
        assert_eq!((judged.acknowledged, judged.kept, judged.lost), (12, 0, 12));
        assert_eq!(judged.holes, [CommitHole { session: 3, first: 1, last: 12 }]);
    }
}
