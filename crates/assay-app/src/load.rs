//! Loads on real databases, from a server that is made or entered to a run of the store.

pub mod call_mode;
pub mod dss;
pub mod ladder_run;
pub mod partial_data;
pub mod prepared_server;
pub mod search;
pub mod server_plan;
pub mod settings_table;
pub mod slob;
pub mod transactions;
