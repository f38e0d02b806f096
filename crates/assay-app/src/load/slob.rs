//! The SLOB method as a course: its tables on the ground, its rungs in the words of workloads.

use super::ladder_run::LoadDriver;
use super::partial_data::PartialData;
use super::prepared_server::{LoadProduct, LoadTarget, PreparedServer, Wanted};
use super::server_plan::{ServerPlan, ServerSizing};
use crate::context::Context;
use assay_dbload::load::{Database, schema_name};
use assay_dbload::slob::{BlockStore, Slob, data_bytes, fill, is_filled};
use assay_loads::slob::Rules;
use assay_model::load::{Filled, LoadKind, Rung};
use assay_model::measurement::Operation;
use assay_model::number::{real, share};
use assay_model::units::{Nanos, show_bytes};
use assay_model::{Histogram, Result};

/// Bytes of a block, as every usual server has it.
pub const BLOCK_BYTES: u64 = 8192;
/// The load before the first rung, which fills the caches of processes and of the server.
pub const WARM_UP: Nanos = Nanos(2_000_000_000);

/// The method on its way up a ladder.
pub struct SlobDriver<'a, L>(pub Slob<'a, L>);

impl<'a, L: LoadProduct + BlockStore> LoadDriver for SlobDriver<'a, L> {
    type Method = Slob<'a, L>;

    fn method(&self) -> &Slob<'a, L> {
        &self.0
    }

    fn limited(&self, rung: &Rung) -> Histogram {
        rung.times(Operation::Read)
    }
}

/// Where the method runs.
pub struct BlockSetup<'a> {
    /// The knobs.
    pub rules: &'a Rules,
    /// The server.
    pub server: &'a ServerPlan,
    /// What becomes of what earlier runs left behind.
    pub left: Option<PartialData>,
    /// Cache of a server of our own, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether a person asked for that many; a search takes what it gets.
    pub are_given: bool,
}

impl BlockSetup<'_> {
    /// Makes or enters the server and loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say; then nothing of ours is left behind.
    pub fn prepare<L: LoadProduct + BlockStore>(
        &self,
        named: &LoadTarget,
        context: &Context,
    ) -> Result<PreparedServer<L>> {
        let rules = self.rules;
        let blocks = rules.scale_blocks.saturating_mul(u64::from(rules.tables));
        let mut fill = |database: &mut Database<L>| {
            if self.are_given {
                database.check_room(self.sessions_max)?;
            }
            if is_filled(database, rules)? {
                return Ok(None);
            }
            load(database, rules, context).map(Some)
        };
        let wanted = Wanted {
            schema: schema_name(LoadKind::Slob)?,
            kind: LoadKind::Slob,
            is_named_at_random: true,
            left: self.left,
            own_database: None,
            sizing: ServerSizing {
                data_bytes: data_bytes(blocks, BLOCK_BYTES),
                cache_bytes: self.cache_bytes,
                sessions_max: self.sessions_max,
            },
            server: self.server,
            fill: &mut fill,
        };
        PreparedServer::prepare(named, wanted, context)
    }
}

fn load<L: BlockStore>(
    database: &mut Database<L>,
    rules: &Rules,
    context: &Context,
) -> Result<Filled> {
    let mut show = |rows: u64, total: u64| {
        let what = format!("loading tables: {}", show_bytes(real(rows * BLOCK_BYTES)));
        context.progress.show(&what, share(rows, total), None);
    };
    let filled = fill(database, rules, &context.stop, &mut show);
    context.progress.clear();
    filled
}
