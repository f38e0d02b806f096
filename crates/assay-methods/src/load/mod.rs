//! Any load on a PostgreSQL server: a server of our own, sessions that start together, a ladder of how many, and
//! beside every rung what the server, the processors and the device counted.
//!
//! What a session does is told by a [`Method`]; [`measure`] carries one rung of it out, a [`Climb`] says which comes
//! next.

mod beside;
mod counted;
mod database;
mod device_reads;
mod kept;
mod ladder;
mod method;
mod own;
mod pace;
mod rung;
mod slot;
mod watch;
mod worker;

pub use beside::Intervals;
pub use counted::Sight;
pub(crate) use counted::Used;
pub use database::{Database, schema_name};
pub use device_reads::DeviceReads;
pub use kept::Kept;
pub use ladder::{Climb, Next, Point, knee_of};
pub use method::{Done, Kind, Method, Session};
pub use own::{OwnPlan, OwnServer, clean_up};
pub use pace::{Pace, Spacing};
pub use rung::{Hands, Length, Measured, OnLoss, RungPlan, measure};
pub use slot::Tally;
