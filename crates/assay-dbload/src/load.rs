//! Any load on a database server, whatever its product: a managed server, sessions that start
//! together, a ladder of their numbers, and for every step what the server, the processors and the
//! device counted.
//!
//! [`LoadTables`] defines the tables of a load, and [`fill`] loads them; a [`Method`] defines what
//! a session does; [`measure`] carries one step of it out, a [`LadderSearch`] says which comes
//! next.

mod check;
mod chunks;
mod commit_log;
mod copies;
mod copies_postgres;
mod copy;
mod counters;
mod database;
mod edges;
mod elsewhere;
mod fill;
mod jobs;
mod ladder;
mod link;
mod manifest;
mod mariadb;
mod mariadb_link;
mod method;
mod objects;
mod observer;
mod own;
mod own_plan;
mod owned_mariadb;
mod owned_postgres;
mod owner;
mod pace;
mod pipeline;
mod plan;
mod postgres;
mod postgres_link;
mod preserved;
mod procedures;
mod product;
mod products;
mod remark;
mod rung;
mod runner;
mod served;
mod session_files;
mod slot;
mod snapshot;
mod statements;
mod tables;
mod target;
mod templates;
mod text_rows;
mod think;
mod together;
mod transaction;
mod transfer;
mod watch;
mod worker;

pub(crate) use check::{Conditions, check_all};
pub use commit_log::{CommitLog, CommitMark, CommitMarks, SharedCommitLog};
pub use copies::{OwnDatabase, no_copies};
pub(crate) use counters::ProcessUsage;
pub use counters::{CounterDelta, CounterSnapshot};
pub use database::{LoadSchema, schema_name};
pub use elsewhere::{Elsewhere, ObservedDatabase, measure_elsewhere};
pub(crate) use fill::loaded_us_of;
pub use fill::{TableFill, fill};
pub use ladder::{LadderPoint, LadderSearch, NextStepSize, knee_of};
pub use link::{Isolation, PreparedStatement, ServerLink, ServerUse, single_number};
pub use manifest::{Manifest, ManifestState, Notes};
pub(crate) use manifest::{note, sizes_of, tables_in};
pub use mariadb_link::{MariadbLink, MariadbPipeline};
pub use method::{LoadSession, Method, StepKind, StepResult};
pub(crate) use objects::{creates, is_common, is_numbered, without_part};
pub use own::{OwnServer, left_in, remove_left_in};
pub use own_plan::OwnPlan;
pub use owner::{LeftoverSchema, OwnedKind, OwnerCandidate, Ownership, SchemaOwner, in_the_way};
pub use pace::StepPace;
pub use pipeline::StatementPipeline;
pub(crate) use pipeline::missing;
pub use plan::{RungHooks, RungPlan};
pub use postgres_link::ConnectionPipeline;
pub use preserved::PreservedServer;
pub use procedures::ensure_procedures;
pub use product::{Destination, OwnedPlace, Product};
pub(crate) use products::ByDialect;
pub use products::ServerAddress;
pub use rung::{RungResult, measure};
pub(crate) use runner::TransactionRunner;
pub use served::ServedSessions;
pub use slot::SlotTally;
pub use snapshot::DataSnapshot;
#[cfg(test)]
pub(crate) use statements::assert_whole;
pub(crate) use statements::said;
pub use statements::{LoadStatement, StatementValue, StatementWords};
pub(crate) use tables::LETTERS;
pub use tables::{IndexLayout, LoadTables, Procedure, RowOrigin, Statistics, TableLayout};
pub use target::LoadTarget;
pub(crate) use templates::{Phrases, Template, prepared, templates, with_variables};
pub use together::{DatabaseResult, together};
pub use transaction::{Calls, Steps, none_open};
#[cfg(test)]
pub(crate) use transfer::encoded;
pub(crate) use transfer::transfer;

pub use assay_model::load::Dialect;
pub use assay_postgres::connection::PostgresConnection as PostgresLink;

/// Carries an expression out with the link of a dialect.
#[macro_export]
macro_rules! with_link {
    ($dialect:expr, $link:ident => $then:expr) => {
        match $dialect {
            $crate::load::Dialect::Postgres => {
                type $link = $crate::load::PostgresLink;
                $then
            }
            $crate::load::Dialect::Mariadb => {
                type $link = $crate::load::MariadbLink;
                $then
            }
        }
    };
}
