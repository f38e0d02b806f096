//! Where the order-entry load runs: its tables on a server of our own or on a given one, made anew, found whole, or
//! found half loaded.

use crate::progress::Progress;
use crate::verbs::load::ground::{After, Ground, Named, Wanted};
use crate::verbs::load::server::{Burden, ServerOptions};
use assay_loads::oltp::Rules;
use assay_methods::load::Database;
use assay_methods::oltp::{Fill, Manifest, Shape, State, fill};
use assay_model::load::Filled;
use assay_model::number::{real, share};
use assay_model::units::show_count;
use assay_model::{Error, Result};
use clap::ValueEnum;
use std::sync::atomic::AtomicBool;

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Left {
    /// Go on with the tables that are whole
    Finish,
    /// Drop them and begin anew
    Drop,
}

/// Where the load runs.
pub struct Place<'a> {
    /// The scale.
    pub rules: &'a Rules,
    /// Where and how the tables lie.
    pub shape: Shape,
    /// The server.
    pub server: &'a ServerOptions,
    /// Cache of a server of our own, bytes.
    pub shared_buffers_bytes: u64,
    /// Sessions at most.
    pub sessions_max: u32,
    /// So many sessions are sure to come.
    pub are_given: bool,
    /// Tables that are loaded at once; 0 for as many as processors.
    pub loaders: usize,
    /// What to do with tables that are not as they should be.
    pub left: Option<Left>,
    /// Whether the data is copied, to go back to it.
    pub has_copy: bool,
}

impl Place<'_> {
    /// Makes or enters the server and sees to the tables.
    ///
    /// # Errors
    /// What the gate or the server say, that there is no room for the sessions, or that tables are there which are not
    /// as they should be.
    pub fn prepare(
        &self,
        named: &Named,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Ground> {
        let data_bytes = self.rules.data_bytes().saturating_mul(if self.has_copy { 2 } else { 1 });
        let mut fill =
            |database: &mut Database, progress: &mut Progress| self.fill(database, stop, progress);
        let wanted = Wanted {
            schema: self.shape.schema.clone(),
            forgotten: None,
            burden: Burden {
                data_bytes,
                shared_buffers_bytes: self.shared_buffers_bytes,
                sessions_max: self.sessions_max,
            },
            server: self.server,
            stop,
            fill: &mut fill,
        };
        let Named::Server(address) = named else {
            return Ground::prepare(named, wanted, progress);
        };
        if !self.has_copy {
            return Ground::prepare(named, wanted, progress);
        }
        // What is copied as a whole must hold nothing of anybody else.
        let made = Database::make_beside(address, &self.shape.schema)?;
        let ours = Named::Server(Box::new(address.with_database(&self.shape.schema)));
        let mut ground = Ground::prepare(&ours, wanted, progress)?;
        if made && ground.after == After::Remove {
            ground.after = After::RemoveDatabase;
        }
        Ok(ground)
    }

    /// Nothing where whole tables of the right scale were found.
    fn fill(
        &self,
        database: &mut Database,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Option<Filled>> {
        if self.are_given {
            database.check_room(self.sessions_max)?;
        }
        // A server that was kept has the schema of its run.
        let shape = Shape { schema: database.schema.clone(), ..self.shape.clone() };
        let found = match (State::of(database)?, self.left) {
            (State::Absent, _) => None,
            (State::Foreign, _) => return Err(foreign(&shape)),
            (State::Whole(_) | State::Half(_), Some(Left::Drop)) => {
                database.remove_schema()?;
                None
            }
            (State::Whole(found), _) => {
                found.check(self.rules, &shape)?;
                progress.say(&format!("note: the tables in {} are used as they are", shape.schema));
                return Ok(None);
            }
            (State::Half(found), Some(Left::Finish)) => {
                found.check(self.rules, &shape)?;
                Some(found)
            }
            (State::Half(found), None) => return Err(half(&shape, &found)),
        };
        self.load(database, &shape, found, stop, progress).map(Some)
    }

    fn load(
        &self,
        database: &mut Database,
        shape: &Shape,
        found: Option<Manifest>,
        stop: &AtomicBool,
        progress: &mut Progress,
    ) -> Result<Filled> {
        let mut show = |rows: u64, total: u64| {
            let what = format!("loading tables: {} rows", show_count(real(rows)));
            progress.show(&what, share(rows, total), None);
        };
        let filled = fill(
            database,
            Fill {
                rules: self.rules,
                shape,
                found,
                loaders: self.loaders,
                stop,
                progress: &mut show,
            },
        );
        progress.clear();
        filled
    }
}

fn foreign(shape: &Shape) -> Error {
    Error::environment(
        format!("schema {} is there and is not one of this load", shape.schema),
        "name another with --schema, or another directory",
    )
}

fn half(shape: &Shape, found: &Manifest) -> Error {
    let whole = if found.whole.is_empty() { "no table".to_owned() } else { found.whole.join(", ") };
    Error::environment(
        format!(
            "loading of {} warehouses into schema {} was broken off: {whole} whole",
            found.warehouses, shape.schema
        ),
        "go on with --left finish, or begin anew with --left drop",
    )
}
