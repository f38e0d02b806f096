//! Knobs of several parts, as a person writes them: `SIZE:OFFSET:EVERY`, `EVERY:SHORTEST:LONGEST`.

use crate::options::quantity;
use assay_loads::slob::{HotSpot, Think};
use assay_model::units::{Bytes, Nanos};
use std::fmt;

/// A part of the table that is met more often, in bytes.
#[derive(Clone, Debug)]
pub struct HotSpotOption {
    size: Bytes,
    offset: Bytes,
    every: u64,
}

/// Waiting between statements.
#[derive(Clone, Debug)]
pub struct ThinkOption(pub Think);

impl HotSpotOption {
    /// The same in blocks; what is no whole block is cut off.
    pub fn in_blocks(&self, block_bytes: u64) -> HotSpot {
        HotSpot {
            blocks: self.size.0 / block_bytes,
            offset: self.offset.0 / block_bytes,
            every: self.every,
        }
    }
}

fn parts(text: &str) -> Result<[&str; 3], String> {
    let parts: Vec<&str> = text.split(':').collect();
    <[&str; 3]>::try_from(parts)
        .map_err(|_| "it has not three parts; separate them by colons".to_owned())
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("'{text}' is no whole number; write for example 3"))
}

/// Reads `8MiB:16MiB:3`.
pub fn hot_spot(text: &str) -> Result<HotSpotOption, String> {
    let [size, offset, every] = parts(text)?;
    Ok(HotSpotOption {
        size: quantity(size)?,
        offset: if offset == "0" { Bytes(0) } else { quantity(offset)? },
        every: whole(every)?,
    })
}

/// Reads `10:100ms:500ms`.
pub fn think(text: &str) -> Result<ThinkOption, String> {
    let [every, shortest, longest] = parts(text)?;
    Ok(ThinkOption(Think {
        every: whole(every)?,
        shortest: quantity::<Nanos>(shortest)?,
        longest: quantity::<Nanos>(longest)?,
    }))
}

impl fmt::Display for HotSpotOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size, offset, every } = self;
        write!(formatter, "{size} behind {offset}, every {every} statements")
    }
}

impl fmt::Display for ThinkOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Think { every, shortest, longest } = self.0;
        write!(formatter, "{shortest} to {longest}, every {every} statements")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_of_three_parts_are_read() {
        let spot = hot_spot("8MiB:16MiB:3").unwrap().in_blocks(8192);
        assert_eq!((spot.blocks, spot.offset, spot.every), (1024, 2048, 3));
        let think = think("10:100ms:500ms").unwrap().0;
        assert_eq!(
            (think.every, think.shortest, think.longest),
            (10, Nanos(100_000_000), Nanos(500_000_000))
        );
        for wrong in ["8MiB", "8MiB:1:3", "8MiB:0:x", "1:2:3:4"] {
            assert!(hot_spot(wrong).is_err(), "{wrong}");
        }
    }
}
