//! What a node keeps on its own host of a workload, and what becomes of it when the driver has
//! died.

use crate::protocol::{Began, KeptRecord, MeasuredPart};
use assay_model::measurement::Measurement;
use serde::{Deserialize, Serialize};

/// A line of what a node keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptLine {
    /// The measured workload begins at this moment of the node's clock, ns.
    Begun(u64),
    /// An interval is over.
    Interval(Box<MeasuredPart>),
    /// The workload has ended.
    Ended {
        /// What was measured.
        measurement: Box<Measurement>,
        /// When the workers began.
        began: Option<Began>,
    },
}

impl KeptRecord {
    /// From the lines of a node; nothing where it has not begun.
    pub fn of(lines: impl IntoIterator<Item = KeptLine>) -> Option<Self> {
        let mut record = Self::default();
        for line in lines {
            match line {
                KeptLine::Begun(start_ns) => record.start_ns = Some(start_ns),
                KeptLine::Interval(part) => record.parts.push(*part),
                KeptLine::Ended { measurement, began } => {
                    (record.measurement, record.began) = (Some(measurement), began);
                }
            }
        }
        (record != Self::default()).then_some(record)
    }
}

/// Where the intervals of several hosts begin that none of them has dropped, ns after the start;
/// nothing where one has none.
pub fn common_begin_ns(records: &[KeptRecord]) -> Option<u64> {
    let first = |record: &KeptRecord| record.parts.first().map(|part| part.start_ns);
    let begins: Option<Vec<u64>> = records.iter().map(first).collect();
    begins?.into_iter().max()
}

/// The intervals of a record that begin at a moment or later; edges of hosts differ by their skew.
pub fn parts_from(record: &KeptRecord, from_ns: u64) -> impl Iterator<Item = &MeasuredPart> {
    let half = |part: &MeasuredPart| part.end_ns.saturating_sub(part.start_ns) / 2;
    record.parts.iter().filter(move |part| part.start_ns + half(part) >= from_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::Window;

    fn part(start_ns: u64) -> MeasuredPart {
        MeasuredPart {
            start_ns,
            end_ns: start_ns + 100,
            queue_depth_mean: 1.0,
            joint: Window::default(),
            moment: None,
        }
    }

    #[test]
    fn lines_become_a_record_and_nothing_none() {
        assert_eq!(KeptRecord::of([]), None);
        let lines = [KeptLine::Begun(7), KeptLine::Interval(Box::new(part(0)))];
        let record = KeptRecord::of(lines).unwrap();
        assert_eq!((record.start_ns, record.parts.len(), record.measurement), (Some(7), 1, None));
    }

    #[test]
    fn hosts_have_in_common_what_none_has_dropped() {
        let record = |starts: &[u64]| KeptRecord {
            parts: starts.iter().map(|start| part(*start)).collect(),
            ..KeptRecord::default()
        };
        let records = [record(&[0, 100, 200]), record(&[101, 201])];
        assert_eq!(common_begin_ns(&records), Some(101));
        let starts = |of: usize| -> Vec<u64> {
            parts_from(&records[of], 101).map(|part| part.start_ns).collect()
        };
        assert_eq!((starts(0), starts(1)), (vec![100, 200], vec![101, 201]));
        assert_eq!(common_begin_ns(&[record(&[0]), record(&[])]), None);
    }
}
