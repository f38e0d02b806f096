//! An experiment from a file: its cells, what happens in each, and the runs that come of them.

pub mod cache;
pub mod executor;
pub mod labels;
pub mod load_cells;
pub mod metrics;
pub mod outline;
pub mod phases;
pub mod shared_data;
