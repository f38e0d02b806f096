//! Any load on a database server, whatever its product: a server of our own, sessions that start together, a ladder of how
//! many, and beside every rung what the server, the processors and the device counted.
//!
//! The tables of a load are told by [`Tables`] and loaded by [`fill`]; what a session does is told by a [`Method`];
//! [`measure`] carries one rung of it out, a [`Climb`] says which comes next.

mod beside;
mod check;
mod copy;
mod counted;
mod database;
mod described;
mod device_reads;
mod fill;
mod kept;
mod ladder;
mod link;
mod manifest;
mod mariadb;
mod method;
mod own;
mod pace;
mod plan;
mod postgres;
mod program;
mod rung;
mod slot;
mod snapshot;
mod store;
mod store_mariadb;
mod store_postgres;
mod text_rows;
mod transaction;
mod watch;
mod worker;

pub use beside::Watched;
pub(crate) use check::{Conditions, check_all};
pub use copy::{Chunk, Chunked, Rows};
pub(crate) use counted::Used;
pub use counted::{Passed, Sight};
pub use database::{Database, schema_name};
pub use described::Described;
pub use device_reads::DeviceReads;
pub(crate) use fill::loaded_us_of;
pub use fill::{Fill, Procedure, Tables, fill, see_to_procedures};
pub use kept::Kept;
pub use ladder::{Climb, Next, Point, knee_of};
pub use link::{Beside, Link, Product, ServerUse};
pub use manifest::{Manifest, State};
pub use mariadb::MariaLink;
pub use method::{Done, Kind, Method, Session};
pub use own::{OwnPlan, OwnServer, clean_up};
pub use pace::{Pace, Spacing};
pub use plan::{Hands, Length, OnLoss, RungPlan};
pub use program::Program;
pub use rung::{Measured, measure};
pub use slot::Tally;
pub use snapshot::Snapshot;
pub use store::{Coming, Look, Notes, Store};
pub(crate) use store_mariadb::check_rows_of_json;
pub use text_rows::TextRows;
pub use transaction::{Calls, Isolation, Steps, none_open, steady};
