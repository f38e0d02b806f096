//! Where a load of transactions runs: its tables on a managed server or on a given one, made again,
//! found whole, or found half loaded.

use crate::context::Context;
use crate::load::partial_data::PartialData;
use crate::load::prepared_server::{PreparedServer, ServerRequest};
use crate::load::server_plan::{ServerPlan, ServerSizing};
use assay_dbload::load::{
    LoadSchema, LoadTables, LoadTarget, Manifest, ManifestState, Product, TableFill,
    ensure_procedures, fill, in_the_way,
};
use assay_model::load::Filled;
use assay_model::number::{real, share};
use assay_model::units::show_count;
use assay_model::{Error, Result};

/// Where the load runs.
pub struct TableSetup<'a, T> {
    /// The tables.
    pub tables: &'a T,
    /// The schema that holds them.
    pub schema: String,
    /// Seed of their rows.
    pub seed: u64,
    /// Bytes of them on storage, about.
    pub data_bytes: u64,
    /// The server.
    pub server: &'a ServerPlan,
    /// Cache of a managed server, bytes.
    pub cache_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// Whether that many sessions are sure to come.
    pub are_given: bool,
    /// Tables that are loaded at once; 0 for as many as processors.
    pub loaders: usize,
    /// What to do with tables that are not as they should be.
    pub partial_data: Option<PartialData>,
    /// Whether the data is copied, to go back to it.
    pub has_copy: bool,
}

impl<T: LoadTables> TableSetup<'_, T> {
    /// Makes or enters the server and sees to the tables.
    ///
    /// # Errors
    /// What the gate or the server say, that there is no room for the sessions, or that tables are
    /// there which are not as they should be.
    pub fn prepare<L: Product>(
        &self,
        named: &LoadTarget,
        context: &Context,
    ) -> Result<PreparedServer<L>> {
        let data_bytes = self.data_bytes.saturating_mul(if self.has_copy { 2 } else { 1 });
        let mut fill = |database: &mut LoadSchema<L>| self.fill(database, context);
        let wanted = ServerRequest {
            schema: self.schema.clone(),
            kind: self.tables.kind(),
            is_named_at_random: false,
            partial_data: self.partial_data,
            own_database: None,
            sizing: ServerSizing {
                data_bytes,
                cache_bytes: self.cache_bytes,
                sessions_max: self.sessions_max,
            },
            server: self.server,
            fill: &mut fill,
        };
        if self.has_copy && !matches!(named, LoadTarget::Directory(_)) {
            return PreparedServer::with_copy(named, wanted, context);
        }
        PreparedServer::prepare(named, wanted, context)
    }

    /// Nothing where whole tables of the right scale were found.
    fn fill<L: Product>(
        &self,
        database: &mut LoadSchema<L>,
        context: &Context,
    ) -> Result<Option<Filled>> {
        if self.are_given {
            database.check_room(self.sessions_max)?;
        }
        // A server that was kept has the schema of its run.
        let schema = database.schema.clone();
        let wanted = self.tables.knobs();
        let found = match (ManifestState::of(database)?, self.partial_data) {
            (ManifestState::Absent, _) => None,
            (ManifestState::Foreign(why), _) => {
                return Err(in_the_way("the schema", &schema, &why));
            }
            (ManifestState::Whole(_) | ManifestState::Half(_), Some(PartialData::Drop)) => {
                database.remove_schema()?;
                None
            }
            (ManifestState::Whole(found), _) => {
                found.check(&schema, &wanted)?;
                ensure_procedures(database, self.tables, &found)?;
                context.progress.say(&format!("note: the tables in {schema} are used as they are"));
                return Ok(None);
            }
            (ManifestState::Half(found), Some(PartialData::Resume)) => {
                found.check(&schema, &wanted)?;
                Some(found)
            }
            (ManifestState::Half(found), None) => return Err(half(&schema, &found)),
        };
        self.load(database, found, context).map(Some)
    }

    fn load<L: Product>(
        &self,
        database: &mut LoadSchema<L>,
        found: Option<Manifest>,
        context: &Context,
    ) -> Result<Filled> {
        let mut show = |rows: u64, total: u64| {
            let what = format!("loading tables: {} rows", show_count(real(rows)));
            context.progress.show(&what, share(rows, total), None);
        };
        let doing = TableFill {
            tables: self.tables,
            seed: self.seed,
            found,
            loaders: self.loaders,
            stop: &context.stop,
            progress: &mut show,
        };
        let filled = fill(database, doing);
        context.progress.clear();
        filled
    }
}

fn half(schema: &str, found: &Manifest) -> Error {
    let loaded = found.loaded_tables();
    let whole = if loaded.is_empty() { "no table".to_owned() } else { loaded.join(", ") };
    Error::environment(
        format!("loading into schema {schema} was interrupted: {whole} complete"),
        "continue with --partial-data resume, or start over with --partial-data drop",
    )
}
