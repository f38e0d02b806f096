//! Results at rest: the same counts in about a tenth of the memory.

use super::{Operation, OperationResult, PerOperation};
use crate::histogram::{Histogram, PackedHistogram};

/// Results that are kept while others are measured. A fine histogram takes tens of KiB, mostly of
/// empty buckets, and a calibration keeps one for each second or two.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedOperations {
    ios: u64,
    results: Vec<PackedResult>,
}

/// One operation of them.
#[derive(Clone, Debug, PartialEq)]
struct PackedResult {
    operation: Operation,
    ios: u64,
    bytes: u64,
    errors: u64,
    service: PackedHistogram,
    response: Option<PackedHistogram>,
}

impl PackedOperations {
    /// Packs results; nothing is lost.
    pub fn new(operations: &PerOperation) -> Self {
        let results = operations.iter().map(|(operation, result)| PackedResult {
            operation,
            ios: result.ios,
            bytes: result.bytes,
            errors: result.errors,
            service: result.service.pack(),
            response: result.response.as_ref().map(Histogram::pack),
        });
        Self { ios: operations.ios(), results: results.collect() }
    }

    /// Reads and writes completed, as in [`PerOperation::ios`].
    pub const fn ios(&self) -> u64 {
        self.ios
    }

    /// The results that were packed.
    pub fn unpack(&self) -> PerOperation {
        let mut operations = PerOperation::default();
        for packed in &self.results {
            *operations.slot(packed.operation) = Some(OperationResult {
                ios: packed.ios,
                bytes: packed.bytes,
                errors: packed.errors,
                service: packed.service.unpack(),
                response: packed.response.as_ref().map(PackedHistogram::unpack),
            });
        }
        operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Precision;
    use proptest::prelude::*;

    fn histogram(values: &[u64], precision: Precision) -> Histogram {
        let mut histogram = Histogram::new(precision);
        for value in values {
            histogram.record(*value);
        }
        histogram
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            reads in prop::collection::vec(0u64..1 << 40, 0..200),
            writes in prop::collection::vec(0u64..=u64::MAX, 1..50),
        ) {
            let result = |values: &[u64], precision| OperationResult {
                ios: values.len() as u64,
                bytes: 8192,
                errors: 1,
                service: histogram(values, precision),
                response: None,
            };
            let mut write = result(&writes, Precision::Coarse);
            write.response = Some(histogram(&reads, Precision::Fine));
            let operations = PerOperation {
                read: Some(result(&reads, Precision::Fine)),
                write: Some(write),
                sync: None,
            };
            let packed = PackedOperations::new(&operations);
            let again = packed.unpack();
            prop_assert_eq!(&again, &operations);
            prop_assert_eq!(packed.ios(), operations.ios());
            for (one, other) in again.iter().zip(operations.iter()) {
                // Equality of histograms compares counts; the sum and the ends are exact as well.
                let ends = |of: &Histogram| (of.mean_ns().to_bits(), of.min_ns(), of.max_ns());
                prop_assert_eq!(ends(&one.1.service), ends(&other.1.service));
            }
        }
    }

    #[test]
    fn a_packed_second_takes_less_than_a_sixth() {
        let values: Vec<u64> = (0..50_000u64).map(|i| 60_000 + i * i % 900_000).collect();
        let fine = histogram(&values, Precision::Fine);
        let dense_bytes = fine.buckets().last().unwrap().0.ilog2() as usize * 1024 * 8 / 2;
        assert!(fine.pack().bytes() * 6 < dense_bytes, "{} of {dense_bytes}", fine.pack().bytes());
    }
}
