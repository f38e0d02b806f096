//! The frames that a ledger is made of, on disk and on the wire alike: length, kind, checksum,
//! content.

use assay_model::number::{count_of, index_of};

/// Bytes before the content.
pub(crate) const FRAME_HEAD_BYTES: usize = 12;
/// Longest content: whoever claims more is not believed.
pub(crate) const CONTENT_BYTES_MAX: usize = 1 << 20;
/// Acknowledgements that one frame carries at most.
pub(crate) const ACKNOWLEDGEMENTS_MAX: usize = 16_384;
const ACKNOWLEDGEMENT_BYTES: usize = 12;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// What begins: JSON.
    Head,
    /// Time, then any number of acknowledgements.
    Acknowledgements,
    /// What came of a cut: JSON.
    Judgement,
}

impl FrameKind {
    const fn number(self) -> u32 {
        match self {
            Self::Head => 1,
            Self::Acknowledgements => 2,
            Self::Judgement => 3,
        }
    }

    /// Longest content: a head is kept in memory for each ledger that is known.
    const fn content_bytes_max(self) -> usize {
        match self {
            Self::Head => 64 << 10,
            Self::Acknowledgements | Self::Judgement => CONTENT_BYTES_MAX,
        }
    }

    const fn of_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Head),
            2 => Some(Self::Acknowledgements),
            3 => Some(Self::Judgement),
            _ => None,
        }
    }
}

/// Of this place everything up to this version is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// A block of the target, or a session.
    pub place: u64,
    /// Version of the block, or number of the session's transaction.
    pub version: u32,
}

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// A whole frame, with the bytes that it takes.
    Whole(FrameKind, &'a [u8], usize),
    /// A part of one, or nothing: this many bytes are needed to know more.
    Short(usize),
    /// No frame.
    Foreign,
}

/// A frame of this content.
///
/// # Panics
/// When the content is longer than a frame may be: a defect of the caller.
pub(crate) fn frame(kind: FrameKind, content: &[u8]) -> Vec<u8> {
    assert!(content.len() <= kind.content_bytes_max(), "a frame of {} bytes", content.len());
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(FRAME_HEAD_BYTES + content.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&kind.number().to_le_bytes());
    let checksum = checksum(&bytes, content);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(content);
    bytes
}

/// CRC-32 (IEEE 802.3) of length, kind and content.
fn checksum(head: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head);
    hasher.update(content);
    hasher.finalize()
}

/// The frame at the start of some bytes.
pub(crate) fn find(bytes: &[u8]) -> Found<'_> {
    let [Some(length), Some(kind), Some(sum)] = [0, 4, 8].map(|at| word(bytes, at)) else {
        return Found::Short(FRAME_HEAD_BYTES);
    };
    let (length, Some(kind)) = (index_of(u64::from(length)), FrameKind::of_number(kind)) else {
        return Found::Foreign;
    };
    if length > kind.content_bytes_max() {
        return Found::Foreign;
    }
    let end = FRAME_HEAD_BYTES + length;
    let Some(content) = bytes.get(FRAME_HEAD_BYTES..end) else { return Found::Short(end) };
    if checksum(&bytes[..8], content) == sum {
        Found::Whole(kind, content, end)
    } else {
        Found::Foreign
    }
}

/// A frame of acknowledgements that came in this time after the start.
pub(crate) fn acknowledged(elapsed_ns: u64, acknowledgements: &[Acknowledgement]) -> Vec<u8> {
    let mut content = Vec::with_capacity(8 + acknowledgements.len() * ACKNOWLEDGEMENT_BYTES);
    content.extend_from_slice(&elapsed_ns.to_le_bytes());
    for one in acknowledgements {
        content.extend_from_slice(&one.place.to_le_bytes());
        content.extend_from_slice(&one.version.to_le_bytes());
    }
    frame(FrameKind::Acknowledgements, &content)
}

/// Time and acknowledgements of such a frame; `None` where its content is of another form.
pub(crate) fn acknowledgements(
    content: &[u8],
) -> Option<(u64, impl Iterator<Item = Acknowledgement>)> {
    let (time, all) = content.split_at_checked(8)?;
    if !all.len().is_multiple_of(ACKNOWLEDGEMENT_BYTES) {
        return None;
    }
    let read = |one: &[u8]| Acknowledgement {
        place: long(one),
        version: word(one, 8).unwrap_or_default(),
    };
    Some((long(time), all.chunks_exact(ACKNOWLEDGEMENT_BYTES).map(read)))
}

/// Acknowledgements that a frame of this content holds.
pub(crate) fn acknowledgements_in(content: &[u8]) -> u64 {
    count_of(content.len().saturating_sub(8) / ACKNOWLEDGEMENT_BYTES)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn long(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_was_written(
            elapsed_ns in any::<u64>(),
            all in prop::collection::vec((any::<u64>(), any::<u32>()), 0..50),
        ) {
            let all: Vec<Acknowledgement> =
                all.into_iter().map(|(place, version)| Acknowledgement { place, version }).collect();
            let bytes = acknowledged(elapsed_ns, &all);
            let Found::Whole(kind, content, length) = find(&bytes) else { panic!("no frame") };
            prop_assert_eq!((kind, length), (FrameKind::Acknowledgements, bytes.len()));
            let (time, read) = acknowledgements(content).unwrap();
            prop_assert_eq!(time, elapsed_ns);
            prop_assert_eq!(read.collect::<Vec<_>>(), all);
        }

        #[test]
        fn no_changed_bit_goes_unnoticed(bit in 0usize..(12 + 8 + 24) * 8) {
            let one = Acknowledgement { place: 7, version: 3 };
            let mut bytes = acknowledged(5, &[one, one]);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!matches!(find(&bytes), Found::Whole(..)));
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = find(&bytes);
            let _ = acknowledgements(&bytes).map(|(_, all)| all.count());
        }
    }

    /// A witness remembers the head of every ledger.
    #[test]
    fn a_head_is_short() {
        let begin = |kind: FrameKind, length: u32| {
            [length.to_le_bytes(), kind.number().to_le_bytes(), [0; 4]].concat()
        };
        assert_eq!(find(&begin(FrameKind::Head, (64 << 10) + 1)), Found::Foreign);
        assert_eq!(find(&begin(FrameKind::Judgement, 1 << 20)), Found::Short(12 + (1 << 20)));
    }

    #[test]
    fn the_begin_of_a_frame_says_how_long_it_is() {
        let bytes = frame(FrameKind::Head, b"{}");
        assert_eq!(find(&bytes[..5]), Found::Short(12));
        assert_eq!(find(&bytes[..13]), Found::Short(14));
        assert_eq!(find(&[0xff; 40]), Found::Foreign);
    }
}
