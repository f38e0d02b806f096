//! Transfer sizes of a stream: one size, or sizes with shares.

use crate::units::{Bytes, Share};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Sizes with the share of I/Os that each has; shares add up to 1. Written `"8KiB"` or as a list of
/// parts.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSizeMix {
    /// At least one part.
    pub parts: Vec<BlockSizePart>,
}

/// One size of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockSizePart {
    /// Bytes moved by one I/O.
    pub size: Bytes,
    /// Share of the I/Os.
    pub share: Share,
}

impl BlockSizeMix {
    /// Every I/O of one size.
    pub fn single(size: Bytes) -> Self {
        Self { parts: vec![BlockSizePart { size, share: Share(1.0) }] }
    }

    /// The smallest size, bytes; addresses are multiples of it.
    pub fn min_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.size.0).min().unwrap_or(0)
    }

    /// The largest size, bytes.
    pub fn max_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.size.0).max().unwrap_or(0)
    }
}

impl Serialize for BlockSizeMix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.parts.as_slice() {
            [only] => only.size.serialize(serializer),
            parts => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for BlockSizeMix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany)
    }
}

struct OneOrMany;

impl<'de> Visitor<'de> for OneOrMany {
    type Value = BlockSizeMix;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a size such as \"8KiB\" or a list of { size, share }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<BlockSizeMix, E> {
        let size = text.parse::<Bytes>();
        size.map(BlockSizeMix::single)
            .map_err(|error| E::custom(format!("{}; {}", error.message(), error.hint())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<BlockSizeMix, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<BlockSizeMix, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = sequence.next_element()? {
            parts.push(part);
        }
        Ok(BlockSizeMix { parts })
    }
}
