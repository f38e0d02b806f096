//! An experiment from a file: its cells, what happens in each, and the runs that come of them.

mod cache;
mod executor;
mod experiment;
mod labels;
mod load_cell;
mod load_cells;
mod metrics;
pub mod outline;
mod phases;
mod shared_data;

pub use experiment::StudyPlan;
