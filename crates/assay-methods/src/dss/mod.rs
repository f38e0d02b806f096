//! A load of decision support on PostgreSQL: tables loaded in parallel, a power run, throughput runs, and beside each
//! what the server, the processors and the device counted.

mod copy;
mod fill;
mod jobs;
mod manifest;
mod refresh;
mod run;
mod stream;

pub use fill::{Fill, Filling, data_bytes, fill, sizes};
pub use manifest::{Found, Manifest, SCHEMA, finish_refresh, look};
pub use run::{Hands, RunPlan, measure};
pub use stream::{Asked, Memory};
