//! The address space of a stream: its targets joined or striped, cut to its span, in places of its
//! smallest transfer.

use crate::target::TargetBounds;
use assay_model::number::{count, real};
use assay_model::units::Bytes;
use assay_model::workload::{Layout, Stream};
use assay_model::{Error, Result};

/// Maps addresses of a stream to targets and offsets.
#[derive(Clone, Debug)]
pub struct AddressSpace {
    extents: Vec<SpaceExtent>,
    stripe_bytes: u64,
    from_bytes: u64,
    length_bytes: u64,
}

/// The usable part of one target; `before_bytes` is what lies in front of it when joined.
#[derive(Clone, Copy, Debug)]
struct SpaceExtent {
    target: u32,
    first_byte: u64,
    length_bytes: u64,
    before_bytes: u64,
}

/// Where an I/O goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Index of the target.
    pub target: u32,
    /// Offset in it, bytes.
    pub offset: u64,
}

impl AddressSpace {
    /// The space of a stream over all targets of the workload.
    ///
    /// # Errors
    /// A usage error when a target index does not exist, a stripe unit does not fit the transfers,
    /// or nothing is left.
    pub fn new(stream: &Stream, layout: Layout, bounds: &[TargetBounds]) -> Result<Self> {
        let block_size = largest_transfer_bytes(stream);
        let stripe_bytes = match layout {
            Layout::Concat => 0,
            Layout::Stripe { unit }
                if unit.0 >= block_size && unit.0.is_multiple_of(block_size) =>
            {
                unit.0
            }
            Layout::Stripe { unit } => {
                return Err(Error::usage(
                    format!(
                        "stream '{}': a stripe of {unit} is not a multiple of the block size {}",
                        stream.name,
                        Bytes(block_size)
                    ),
                    "choose a stripe unit that is a multiple of the largest block size",
                ));
            }
        };
        let grain = if stripe_bytes > 0 { stripe_bytes } else { block_size };
        let mut space = Self {
            extents: chosen(stream, bounds, grain)?,
            stripe_bytes,
            from_bytes: 0,
            length_bytes: 0,
        };
        space.cut(stream, block_size)?;
        Ok(space)
    }

    /// Applies the layout's loss and the span, both in whole transfers.
    fn cut(&mut self, stream: &Stream, block_size: u64) -> Result<()> {
        if self.stripe_bytes > 0 {
            let smallest = self.extents.iter().map(|extent| extent.length_bytes).min().unwrap_or(0);
            self.extents.iter_mut().for_each(|extent| extent.length_bytes = smallest);
        }
        let mut total = 0;
        for extent in &mut self.extents {
            extent.before_bytes = total;
            total += extent.length_bytes;
        }
        let edge = |share: f64| (count(real(total) * share) / block_size * block_size).min(total);
        self.from_bytes = edge(stream.span.from.0);
        self.length_bytes = edge(stream.span.to.0).saturating_sub(self.from_bytes);
        if self.length_bytes >= block_size {
            return Ok(());
        }
        Err(Error::usage(
            format!(
                "stream '{}': the target is too small: {total} bytes are too few for an I/O of \
                 {block_size} in the span",
                stream.name
            ),
            "use a larger target, a wider span or a smaller block size",
        ))
    }

    /// Bytes that the stream may touch.
    pub const fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Where `bytes` at `address` (below the length) go; an I/O that would straddle two targets
    /// starts earlier.
    #[inline]
    pub fn locate(&self, address: u64, bytes: u64) -> Location {
        let address = self.from_bytes + address;
        if let [only] = self.extents.as_slice() {
            return only.at(address, bytes);
        }
        if self.stripe_bytes == 0 {
            let index = self.extents.partition_point(|extent| extent.before_bytes <= address) - 1;
            let extent = &self.extents[index];
            return extent.at(address - extent.before_bytes, bytes);
        }
        let (row, within) = (address / self.stripe_bytes, address % self.stripe_bytes);
        let columns = assay_model::number::count_of(self.extents.len());
        let extent = &self.extents[assay_model::number::index_of(row % columns)];
        extent.at(row / columns * self.stripe_bytes + within.min(self.stripe_bytes - bytes), bytes)
    }
}

impl SpaceExtent {
    fn at(&self, address: u64, bytes: u64) -> Location {
        let offset = self.first_byte + address.min(self.length_bytes - bytes);
        Location { target: self.target, offset }
    }
}

/// The largest single I/O of a stream: a group commit may join several transfers.
pub fn largest_transfer_bytes(stream: &Stream) -> u64 {
    let joined = match stream.arrival {
        assay_model::Arrival::Open { group_commit: Some(limit), .. } => limit.0,
        _ => 0,
    };
    let block_size = stream.block_size.max_bytes();
    block_size.max(joined / block_size * block_size)
}

/// The extents that the stream names, each a whole number of grains.
fn chosen(stream: &Stream, bounds: &[TargetBounds], grain: u64) -> Result<Vec<SpaceExtent>> {
    let all: Vec<usize> = (0..bounds.len()).collect();
    let indices = if stream.targets.is_empty() { &all } else { &stream.targets };
    let extent = |index: &usize| {
        let bounds = bounds.get(*index).ok_or_else(|| {
            Error::usage(
                format!(
                    "stream '{}': there is no target {index}, only {}",
                    stream.name,
                    bounds.len()
                ),
                "targets are counted from 0 in the order of the command line",
            )
        })?;
        let length_bytes = bounds.length_bytes() / grain * grain;
        let target = u32::try_from(*index).unwrap_or(u32::MAX);
        Ok(SpaceExtent { target, first_byte: bounds.first_byte(), length_bytes, before_bytes: 0 })
    };
    indices.iter().map(extent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::Share;
    use assay_model::workload::Span;
    use proptest::prelude::*;

    fn stream(block_size: u64) -> Stream {
        Stream::closed("s", Share(1.0), Bytes(block_size), 1)
    }

    fn spaces(lengths: &[u64]) -> Vec<TargetBounds> {
        lengths.iter().map(|length| TargetBounds::simulated(*length)).collect()
    }

    #[test]
    fn joined_targets_follow_one_another() {
        let space =
            AddressSpace::new(&stream(4096), Layout::Concat, &spaces(&[10_000, 9000])).unwrap();
        assert_eq!(space.length_bytes(), 4 * 4096);
        assert_eq!(space.locate(4096, 4096), Location { target: 0, offset: 4096 });
        assert_eq!(space.locate(8192, 4096), Location { target: 1, offset: 0 });
    }

    #[test]
    fn stripes_are_dealt_out_in_units() {
        let layout = Layout::Stripe { unit: Bytes(8192) };
        let space = AddressSpace::new(&stream(4096), layout, &spaces(&[1 << 20, 1 << 20, 1 << 20]))
            .unwrap();
        let places: Vec<_> = (0..8u64)
            .map(|index| space.locate(index * 4096, 4096))
            .map(|at| (at.target, at.offset))
            .collect();
        assert_eq!(
            places,
            [(0, 0), (0, 4096), (1, 0), (1, 4096), (2, 0), (2, 4096), (0, 8192), (0, 12_288)]
        );
    }

    #[test]
    fn a_span_that_holds_nothing_is_refused() {
        let error =
            AddressSpace::new(&stream(1 << 20), Layout::Concat, &spaces(&[1000])).unwrap_err();
        assert!(error.message().contains("too small"), "{error}");
        let error = AddressSpace::new(
            &stream(4096),
            Layout::Stripe { unit: Bytes(6000) },
            &spaces(&[1 << 20]),
        )
        .unwrap_err();
        assert!(
            error.message().contains("a stripe of 6kB is not a multiple of the block size 4KiB"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn every_address_lands_inside_its_target(
            lengths in prop::collection::vec(65_536u64..1 << 22, 1..5),
            from in 0.0..0.5f64,
            address in any::<u64>(),
            striped in any::<bool>(),
            large in any::<bool>(),
        ) {
            let mut stream = stream(4096);
            stream.span = Span { from: Share(from), to: Share(1.0) };
            let layout = if striped { Layout::Stripe { unit: Bytes(16_384) } } else { Layout::Concat };
            let bounds = spaces(&lengths);
            let space = AddressSpace::new(&stream, layout, &bounds).unwrap();
            let bytes = if large { 4096 } else { 512 };
            let at = space.locate(address % (space.length_bytes() / bytes) * bytes, bytes);
            prop_assert!(at.offset + bytes <= lengths[at.target as usize]);
        }
    }
}
