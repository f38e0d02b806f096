//! The SLOB method as a course: its tables on the ground, its rungs in the words of workloads.

use super::BLOCK_BYTES;
use crate::progress::Progress;
use crate::verbs::load::climb::Course;
use crate::verbs::load::ground::{Ground, Named, Served, Wanted};
use crate::verbs::load::left::Left;
use crate::verbs::load::server::{Burden, ServerOptions};
use assay_dbload::load::{Database, LoadKind, schema_name};
use assay_dbload::slob::{BlockStore, Slob, data_bytes, fill, is_filled, workload};
use assay_loads::slob::Rules;
use assay_model::load::{Filled, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{real, share};
use assay_model::units::{Nanos, show_bytes};
use assay_model::{Histogram, Result, Workload};
use assay_postgres::connection::Connection;
use std::sync::atomic::AtomicBool;

/// The method on its way up a ladder.
pub struct Blocks<'a, L = Connection>(pub Slob<'a, L>);

impl<'a, L: Served + BlockStore> Course for Blocks<'a, L> {
    type Method = Slob<'a, L>;

    fn method(&self) -> &Slob<'a, L> {
        &self.0
    }

    fn described(&self, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
        workload(self.0.rules, sessions, duration, block_bytes)
    }

    fn limited(&self, rung: &Rung) -> Histogram {
        rung.times(Operation::Read)
    }
}

/// Where the method runs.
pub struct Place<'a> {
    /// The knobs.
    pub rules: &'a Rules,
    /// The server.
    pub server: &'a ServerOptions,
    /// What becomes of what earlier runs left behind.
    pub left: Option<Left>,
    /// Cache of a server of our own, bytes.
    pub shared_buffers_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether a person asked for that many; a search takes what it gets.
    pub are_given: bool,
}

impl Place<'_> {
    /// Makes or enters the server and loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say; then nothing of ours is left behind.
    pub fn prepare<L: Served + BlockStore>(
        &self,
        named: &Named,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Ground<L>> {
        let rules = self.rules;
        let blocks = rules.scale_blocks.saturating_mul(u64::from(rules.tables));
        let mut fill = |database: &mut Database<L>, progress: &mut Progress| {
            if self.are_given {
                database.check_room(self.sessions_max)?;
            }
            if is_filled(database, rules)? {
                return Ok(None);
            }
            load(database, rules, stop, progress).map(Some)
        };
        let wanted = Wanted {
            schema: schema_name(LoadKind::Slob)?,
            kind: LoadKind::Slob,
            is_named_at_random: true,
            left: self.left,
            own_database: None,
            burden: Burden {
                data_bytes: data_bytes(blocks, BLOCK_BYTES),
                shared_buffers_bytes: self.shared_buffers_bytes,
                sessions_max: self.sessions_max,
            },
            server: self.server,
            stop,
            fill: &mut fill,
        };
        Ground::prepare(named, wanted, progress)
    }
}

fn load<L: BlockStore>(
    database: &mut Database<L>,
    rules: &Rules,
    stop: &AtomicBool,
    progress: &mut Progress,
) -> Result<Filled> {
    let mut show = |rows: u64, total: u64| {
        let what = format!("loading tables: {}", show_bytes(real(rows * BLOCK_BYTES)));
        progress.show(&what, share(rows, total), None);
    };
    let filled = fill(database, rules, stop, &mut show);
    progress.clear();
    filled
}
