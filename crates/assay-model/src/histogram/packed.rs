//! A histogram at rest: the bytes of its written form, uncompressed.

use super::Histogram;

/// The counts of a histogram as `HdrHistogram` writes them, one byte for most buckets and for a run
/// of empty ones, with its exact sum, minimum and maximum. What another program printed of its own
/// histogram is not kept: measured histograms have no such quantiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedHistogram {
    plain: Box<[u8]>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Histogram {
    /// The same in about a tenth of the memory; no count is lost.
    pub fn pack(&self) -> PackedHistogram {
        let plain = self.plain().into_boxed_slice();
        PackedHistogram { plain, sum: self.sum, min: self.min, max: self.max }
    }
}

impl PackedHistogram {
    /// The histogram that was packed.
    ///
    /// # Panics
    /// Never: the bytes were written by [`Histogram::pack`].
    pub fn unpack(&self) -> Histogram {
        let counts = Histogram::from_plain(&self.plain)
            .unwrap_or_else(|error| unreachable!("packed by this program: {}", error.message()));
        Histogram { sum: self.sum, min: self.min, max: self.max, ..counts }
    }

    /// Memory of the counts.
    pub const fn bytes(&self) -> usize {
        self.plain.len()
    }
}
