//! A load of decision support: tables loaded in parallel, a power run, throughput runs, and beside each what the server,
//! the processors and the device counted.
//!
//! What it needs of a product is told by [`DssStore`].

mod asked;
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

pub use asked::{Asked, Memory};
pub use fill::{Fill, Filling, data_bytes, fill, fit, parallel_max, sizes};
pub use manifest::{Found, Manifest, SCHEMA, look};
pub use refresh::finish_refresh;
pub use run::{Hands, RunPlan, measure};
pub use store::{DssStore, Wanted};
