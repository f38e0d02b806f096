//! The tables of the load: found, finished or loaded again, on a prepared server.

use super::request::DssRequest;
use crate::context::Context;
use crate::load::partial_data::PartialData;
use crate::load::prepared_server::{Cleanup, PreparedServer, ServerRequest};
use crate::load::server_plan::ServerSizing;
use assay_dbload::dss::{
    DssTables, data_bytes, finish_refresh, scale_of, schema_state, sizes, tune,
};
use assay_dbload::load::{
    LoadSchema, LoadTarget, Manifest, ManifestState, Product, TableFill, fill, in_the_way,
};
use assay_loads::dss::DssScale;
use assay_model::dss::{DssData, DssLoading};
use assay_model::load::{Filled, LoadKind};
use assay_model::number::{index_of, real, share};
use assay_model::units::show_count;
use assay_model::{Error, Result};

/// A prepared server with its tables.
pub struct ServerTables<L: Product> {
    /// The server.
    pub prepared: PreparedServer<L>,
    /// The tables.
    pub data: DssData,
    /// The next refresh set.
    pub next_set: u32,
    /// Whether they were there before this run.
    pub were_there: bool,
}

/// What filling came to, to be reported with the server.
#[derive(Default)]
struct Came {
    data: DssData,
    next_set: u32,
    were_there: bool,
}

impl<L: Product> ServerTables<L> {
    /// Makes or enters the server, and finds or loads the tables.
    ///
    /// # Errors
    /// What the gate or the server say, or that what is there is not what was asked for.
    pub fn prepare(
        request: &DssRequest<'_>,
        named: &LoadTarget,
        context: &Context,
    ) -> Result<Self> {
        let mut came = Came::default();
        let mut bring = |database: &mut LoadSchema<L>| {
            came = find(database, request, context)?;
            Ok(filled(&came.data))
        };
        let most = request.streams.iter().copied().max().unwrap_or(0);
        let wanted = ServerRequest {
            schema: request.schema.clone(),
            kind: LoadKind::Dss,
            is_named_at_random: false,
            partial_data: request.partial_data,
            own_database: None,
            sizing: ServerSizing {
                data_bytes: data_bytes(request.scale),
                cache_bytes: request.buffer_pool.0,
                sessions_max: (most + 2).max(request.loaders + 1),
            },
            server: request.server,
            fill: &mut bring,
        };
        let mut prepared = PreparedServer::prepare(named, wanted, context)?;
        tune(&mut prepared.database)?;
        let Came { data, next_set, were_there } = came;
        Ok(Self { prepared, data, next_set, were_there })
    }

    /// Removes what this run made, unless it is to be kept; what was there before stays.
    pub fn finish(self) -> Result<()> {
        let mut prepared = self.prepared;
        if self.were_there {
            prepared.after = Cleanup::Leave;
        }
        prepared.finish()
    }
}

fn filled(data: &DssData) -> Option<Filled> {
    data.loading.map(|loading| Filled {
        rows: data.rows,
        table_bytes: data.table_bytes,
        index_bytes: data.index_bytes,
        elapsed_s: loading.elapsed_s,
    })
}

/// Finds the tables or loads them.
fn find<L: Product>(
    database: &mut LoadSchema<L>,
    request: &DssRequest<'_>,
    context: &Context,
) -> Result<Came> {
    let schema = database.schema.clone();
    let mut found = schema_state(database)?;
    let is_ours = matches!(found, ManifestState::Whole(_) | ManifestState::Half(_));
    if request.partial_data == Some(PartialData::Drop) && is_ours {
        context.progress.say("note: the tables of an earlier run are dropped");
        database.remove_schema()?;
        found = ManifestState::Absent;
    }
    match found {
        ManifestState::Foreign(why) => Err(in_the_way("the schema", &schema, &why)),
        ManifestState::Whole(manifest) => {
            check_scale(&manifest, request.scale)?;
            let next_set = finish_refresh(database, &manifest, request.scale)?;
            check_answers(next_set, request)?;
            context.progress.say("note: the tables of an earlier run are used");
            let data = DssData { rows: manifest.rows(), ..sizes(database)? };
            Ok(Came { data, next_set, were_there: true })
        }
        ManifestState::Half(manifest) if request.partial_data == Some(PartialData::Resume) => {
            check_scale(&manifest, request.scale)?;
            let data = load(database, request, Some(manifest), context)?;
            Ok(Came { data, next_set: 1, were_there: true })
        }
        ManifestState::Half(_) => Err(Error::environment(
            format!("the tables in the schema {schema} are incomplete"),
            "continue with --partial-data resume, or start over with --partial-data drop",
        )),
        ManifestState::Absent => {
            let data = load(database, request, None, context)?;
            Ok(Came { data, next_set: 1, were_there: false })
        }
    }
}

/// Answers of rows that refresh functions have changed are not those of the rows that were loaded.
fn check_answers(next_set: u32, request: &DssRequest<'_>) -> Result<()> {
    if request.answers.is_none() || next_set <= 1 {
        return Ok(());
    }
    Err(Error::usage(
        format!("--answers: {} refresh sets changed the rows after loading", next_set - 1),
        "load them again with --partial-data drop",
    ))
}

fn check_scale(manifest: &Manifest, asked: DssScale) -> Result<()> {
    let scale = scale_of(manifest);
    if scale == asked.to_string() {
        return Ok(());
    }
    Err(Error::usage(
        format!("the tables have scale {scale}, not {asked}"),
        format!(
            "use them with --scale {scale}, drop them with --partial-data drop, or specify another \
             database"
        ),
    ))
}

fn load<L: Product>(
    database: &mut LoadSchema<L>,
    request: &DssRequest<'_>,
    found: Option<Manifest>,
    context: &Context,
) -> Result<DssData> {
    let mut show = |rows: u64, total: u64| {
        let what = if rows < total - total / 50 {
            format!("loading tables: {} rows", show_count(real(rows)))
        } else {
            "building indexes".to_owned()
        };
        context.progress.show(&what, share(rows, total), None);
    };
    let loaders = request.loaders.max(1);
    let doing = TableFill {
        tables: &DssTables { scale: request.scale, loaders },
        seed: 0,
        found,
        loaders: index_of(u64::from(loaders)),
        stop: &context.stop,
        progress: &mut show,
    };
    let filled = fill(database, doing);
    context.progress.clear();
    let Filled { rows, table_bytes, index_bytes, elapsed_s } = filled?;
    let loading = Some(DssLoading { loaders, elapsed_s });
    Ok(DssData { rows, table_bytes, index_bytes, loading })
}
