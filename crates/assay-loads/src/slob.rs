//! The SLOB method: one row a block, scattered keys, short ranges of blocks read or changed at
//! random places.

mod content;
mod rows;
mod session;

pub use content::TextSource;
pub use rows::{SlobRow, SlobRows};
pub use session::{SlobSession, SlobStep, SlobWork};

use assay_model::units::{Nanos, Share};
use assay_model::{Error, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Columns of text in a row, named `c2` to `c20`; with the key a row has 20 columns.
pub const TEXT_COLUMNS: usize = 19;
/// Bytes of one of them: 19 of them and the key stay below the 2,032 bytes from which PostgreSQL
/// compresses rows.
pub const TEXT_BYTES: usize = 100;

/// How much of a row an update changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Redo {
    // The first and the last text.
    /// Two columns
    #[default]
    Lite,
    /// All columns of text
    Heavy,
}

/// Every `every`-th step goes to a part of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotSpot {
    /// Blocks of the part.
    pub blocks: u64,
    /// Blocks before it.
    pub offset: u64,
    /// Number of steps of which one goes there; at least 1.
    pub every: u64,
}

/// Every `every`-th step waits before it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// Number of steps of which one waits; at least 1.
    pub every: u64,
    /// Shortest wait.
    pub shortest: Nanos,
    /// Longest wait; all between are equally likely.
    pub longest: Nanos,
}

/// The knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct SlobRules {
    /// Blocks, and so rows, of each table.
    pub scale_blocks: u64,
    /// Tables; sessions are dealt out over them in turn.
    pub tables: u32,
    /// Exact number of blocks that a reading step touches.
    pub work_unit: u64,
    /// Exact number of blocks that a changing step touches.
    pub update_work_unit: u64,
    /// Steps of every 100 that change rows, 0..=100; the count is exact and does not depend on
    /// chance.
    pub update_percent: u64,
    /// Share of the reading steps that scan the table without an index.
    pub scan_share: Share,
    /// Blocks of the table without an index.
    pub scan_blocks: u64,
    /// How much of a row an update changes.
    pub redo: Redo,
    /// A part of the table that is met more often.
    pub hot_spot: Option<HotSpot>,
    /// Number of steps of which one goes to the first table, whatever table the session has; 0 for
    /// none.
    pub hot_table_every: u64,
    /// Waiting between steps.
    pub think: Option<Think>,
    /// Share of the text that compresses away.
    pub compressible: Share,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for SlobRules {
    fn default() -> Self {
        Self {
            scale_blocks: 1 << 17,
            tables: 1,
            work_unit: 64,
            update_work_unit: 8,
            update_percent: 0,
            scan_share: Share(0.0),
            scan_blocks: 128,
            redo: Redo::Lite,
            hot_spot: None,
            hot_table_every: 0,
            think: None,
            compressible: Share(0.0),
            seed: 1,
        }
    }
}

impl SlobRules {
    /// Refuses what contradicts itself.
    ///
    /// # Errors
    /// A usage error that names the knob.
    pub fn check(&self) -> Result<()> {
        let widest = self.work_unit.max(self.update_work_unit);
        let wrong = [
            (self.tables == 0, "--tables 0", "at least 1"),
            (self.work_unit == 0, "--work-unit 0", "at least 1"),
            (self.update_work_unit == 0, "--update-work-unit 0", "at least 1"),
            (self.update_percent > 100, "--update-pct above 100", "0 to 100"),
        ];
        for (is_wrong, what, how) in wrong {
            if is_wrong {
                return Err(Error::usage(format!("{what} means nothing"), format!("write {how}")));
            }
        }
        if self.scale_blocks < widest.saturating_mul(4) {
            return Err(Error::usage(
                format!(
                    "--scale has {} blocks, and one statement touches {widest}",
                    self.scale_blocks
                ),
                "make the table at least four times as large as a work unit",
            ));
        }
        self.check_hot_spot(widest)?;
        self.check_think()
    }

    fn check_hot_spot(&self, widest: u64) -> Result<()> {
        let Some(spot) = self.hot_spot else {
            return Ok(());
        };
        let fits = spot.offset.checked_add(spot.blocks).is_some_and(|end| end <= self.scale_blocks);
        if spot.every > 0 && spot.blocks >= widest && fits {
            return Ok(());
        }
        Err(Error::usage(
            format!("--hot-spot of {} blocks behind {} does not fit", spot.blocks, spot.offset),
            format!(
                "use {widest} to {} blocks inside the table, met every 1st step or rarer",
                self.scale_blocks
            ),
        ))
    }

    fn check_think(&self) -> Result<()> {
        match self.think {
            Some(think) if think.every == 0 || think.longest < think.shortest => Err(Error::usage(
                "--think has no step or a longest wait below the shortest",
                "write EVERY:SHORTEST:LONGEST, for example 10:100ms:500ms",
            )),
            _ => Ok(()),
        }
    }

    /// The table of a session, from 0.
    pub fn table_of(&self, session: u32) -> u32 {
        session % self.tables.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_itself_is_refused() {
        let good = SlobRules::default();
        assert_eq!(good.check(), Ok(()));
        let spot = |blocks, offset, every| SlobRules {
            hot_spot: Some(HotSpot { blocks, offset, every }),
            ..SlobRules::default()
        };
        assert_eq!(spot(64, 0, 3).check(), Ok(()));
        let bad = [
            SlobRules { tables: 0, ..good.clone() },
            SlobRules { work_unit: 0, ..good.clone() },
            SlobRules { update_percent: 101, ..good.clone() },
            SlobRules { scale_blocks: 100, ..good.clone() },
            spot(63, 0, 3),
            spot(64, u64::MAX, 3),
            spot(64, 0, 0),
            SlobRules {
                think: Some(Think { every: 1, shortest: Nanos(2), longest: Nanos(1) }),
                ..good
            },
        ];
        for rules in bad {
            assert!(rules.check().is_err(), "{rules:?}");
        }
    }

    #[test]
    fn sessions_are_dealt_out_over_the_tables() {
        let rules = SlobRules { tables: 3, ..SlobRules::default() };
        let tables: Vec<u32> = (0..7).map(|session| rules.table_of(session)).collect();
        assert_eq!(tables, [0, 1, 2, 0, 1, 2, 0]);
    }
}
