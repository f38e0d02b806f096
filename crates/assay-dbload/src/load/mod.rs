//! Any load on a database server, whatever its product: a managed server, sessions that start together, a ladder of their
//! numbers, and for every rung what the server, the processors and the device counted.
//!
//! [`Tables`] defines the tables of a load, and [`fill`] loads them; a [`Method`] defines what a session does;
//! [`measure`] carries one rung of it out, a [`Climb`] says which comes next.

mod beside;
mod check;
mod chunks;
mod copies;
mod copy;
mod counted;
mod database;
mod device_reads;
mod fill;
mod jobs;
mod kept;
mod ladder;
mod link;
mod manifest;
mod mariadb;
mod method;
mod own;
mod owned_mariadb;
mod owned_postgres;
mod owner;
mod pace;
mod plan;
mod postgres;
mod procedures;
mod program;
mod rung;
mod slot;
mod snapshot;
mod store;
mod store_mariadb;
mod store_postgres;
mod tables;
mod text_rows;
mod transaction;
mod transfer;
mod watch;
mod worker;

pub use beside::Watched;
pub(crate) use check::{Conditions, check_all};
pub use copies::{OwnDatabase, left_databases, remove_left_database};
pub(crate) use counted::Used;
pub use counted::{Passed, Sight};
pub use database::{Database, schema_name};
pub use device_reads::DeviceReads;
pub(crate) use fill::loaded_us_of;
pub use fill::{Fill, fill};
pub use kept::Kept;
pub use ladder::{Climb, Next, Point, knee_of};
pub use link::{Beside, Link, Product, ServerUse};
pub use manifest::{Manifest, State};
pub(crate) use manifest::{note, tables_in};
pub use mariadb::MariaLink;
pub use method::{Done, Kind, Method, Session};
pub use own::{OwnPlan, OwnServer, left_in, remove_left_in};
pub(crate) use owner::created;
pub use owner::{LeftSchema, OwnedKind, Owner, Standing, in_the_way};
pub use pace::Pace;
pub use plan::{Hands, RungPlan};
pub use procedures::ensure_procedures;
pub use program::Program;
pub use rung::{Measured, measure};
pub use slot::Tally;
pub use snapshot::Snapshot;
pub(crate) use store::sizes_of;
pub use store::{Destination, Notes, TableStore, single_number};
pub(crate) use store_mariadb::check_rows_of_json;
pub use tables::{IndexLayout, Origin, Procedure, Statistics, TableLayout, Tables};
pub use transaction::{Calls, Isolation, Steps, none_open, steady};
#[cfg(test)]
pub(crate) use transfer::encoded;
pub(crate) use transfer::transfer;
