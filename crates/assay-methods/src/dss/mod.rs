//! A load of decision support: tables loaded in parallel, a power run, throughput runs, and beside each what the server,
//! the processors and the device counted.
//!
//! What it needs of a product is told by [`DssStore`].

mod copy;
mod fill;
mod jobs;
mod manifest;
mod mariadb;
mod postgres;
mod refresh;
mod run;
mod store;
mod stream;

pub use fill::{Fill, Filling, data_bytes, fill, fit, parallel_max, sizes};
pub use manifest::{Found, Manifest, SCHEMA, finish_refresh, look};
pub use run::{Hands, RunPlan, measure};
pub use store::{DssStore, Wanted};
pub use stream::{Asked, Memory};
