//! Loads on real databases, from a plan to a run of the store.

pub mod bounds;
pub mod brokerage;
pub mod call_mode;
mod databases_check;
pub mod dss;
mod hosts_check;
pub mod kind;
mod ladder_database;
pub mod ladder_run;
pub mod load_driver;
pub mod load_member;
mod load_plan;
pub mod oltp;
pub mod parameters;
pub mod partial_data;
pub mod prepared_server;
pub mod search;
pub mod server_plan;
pub mod settings_table;
pub mod slob;
pub mod transactions;

pub use load_plan::LoadPlan;
