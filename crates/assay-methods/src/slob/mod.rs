//! The SLOB method on PostgreSQL: data that is scattered, sessions that start together, a ladder of how many, and
//! beside every rung what the server, the processors and the device counted.

mod counted;
mod database;
mod fill;
mod ladder;
mod own;
mod rung;
mod tables;
mod worker;

pub use counted::Sight;
pub use database::{Database, schema_name};
pub use fill::{Fill, fill};
pub use ladder::{Climb, Next, Point, knee_of};
pub use own::{OwnPlan, OwnServer, clean_up, data_bytes};
pub use rung::{Length, RungPlan, measure};
pub use tables::{Access, workload};
