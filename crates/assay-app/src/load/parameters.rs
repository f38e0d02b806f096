//! Parameters of several parts, as a person writes them: `SIZE:OFFSET:EVERY`,
//! `EVERY:SHORTEST:LONGEST`.

use assay_loads::slob::{HotSpot, Think};
use assay_model::spelling::Spelling;
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Result, read_from_command_line};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// A part of the table that is met more often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotSpotParameter {
    size: Bytes,
    offset: Bytes,
    every: u64,
}

/// Waiting between statements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinkParameter(pub Think);

impl HotSpotParameter {
    /// The same in blocks; what is not a whole block is cut off.
    pub fn in_blocks(&self, block_bytes: u64) -> HotSpot {
        HotSpot {
            blocks: self.size.0 / block_bytes,
            offset: self.offset.0 / block_bytes,
            every: self.every,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        let Self { size, offset, every } = self;
        format!("{size} behind {offset}, every {every} statements")
    }
}

impl ThinkParameter {
    /// In words.
    pub fn words(&self) -> String {
        let Think { every, shortest, longest } = self.0;
        format!("{shortest} to {longest}, every {every} statements")
    }
}

fn parts(text: &str) -> Result<[&str; 3]> {
    let parts: Vec<&str> = text.split(':').collect();
    <[&str; 3]>::try_from(parts)
        .map_err(|_| Error::usage("it does not have three parts", "separate them by colons"))
}

fn whole(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|_| Error::usage(format!("'{text}' is not a whole number"), "write for example 3"))
}

read_from_command_line!(HotSpotParameter, ThinkParameter);

impl Spelling for HotSpotParameter {}

impl Spelling for ThinkParameter {}

impl FromStr for HotSpotParameter {
    type Err = Error;

    /// Reads `8MiB:16MiB:3`.
    fn from_str(text: &str) -> Result<Self> {
        let [size, offset, every] = parts(text)?;
        Ok(Self {
            size: size.parse()?,
            offset: if offset == "0" { Bytes(0) } else { offset.parse()? },
            every: whole(every)?,
        })
    }
}

impl FromStr for ThinkParameter {
    type Err = Error;

    /// Reads `10:100ms:500ms`.
    fn from_str(text: &str) -> Result<Self> {
        let [every, shortest, longest] = parts(text)?;
        Ok(Self(Think {
            every: whole(every)?,
            shortest: shortest.parse::<Nanos>()?,
            longest: longest.parse::<Nanos>()?,
        }))
    }
}

impl fmt::Display for HotSpotParameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.size, self.offset, self.every)
    }
}

impl fmt::Display for ThinkParameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.0.every, self.0.shortest, self.0.longest)
    }
}

/// Documents hold them as a person writes them.
macro_rules! as_text {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let text = String::deserialize(from)?;
                text.parse().map_err(|error: Error| {
                    de::Error::custom(format!("{}; {}", error.message(), error.hint()))
                })
            }
        }
    )*};
}
as_text!(HotSpotParameter, ThinkParameter);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_three_parts_are_read_and_written() {
        let spot = "8MiB:16MiB:3".parse::<HotSpotParameter>().unwrap().in_blocks(8192);
        assert_eq!((spot.blocks, spot.offset, spot.every), (1024, 2048, 3));
        let think = "10:100ms:500ms".parse::<ThinkParameter>().unwrap();
        assert_eq!(think.to_string(), "10:100ms:500ms");
        let think = think.0;
        assert_eq!(
            (think.every, think.shortest, think.longest),
            (10, Nanos(100_000_000), Nanos(500_000_000))
        );
        for wrong in ["8MiB", "8MiB:1:3", "8MiB:0:x", "1:2:3:4"] {
            assert!(wrong.parse::<HotSpotParameter>().is_err(), "{wrong}");
        }
    }
}
