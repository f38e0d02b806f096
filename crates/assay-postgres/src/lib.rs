//! PostgreSQL's manual: what its counters mean in each version, where the time of its sessions
//! went, and how a managed server is created and removed.
//!
//! [`watch`] asks a server: [`watch::PostgresWatcher`] takes a [`model::PostgresSnapshot`] at both
//! ends of an interval and looks at the sessions in between. [`model`] knows no server: it makes a
//! profile of two snapshots and the samples, so that every formula is tested on made-up ones.
//!
//! A [`binaries::PostgresBinaries`] is a set of server programs; [`server::PostgresServer`] runs
//! one of them in a directory that the caller owns. An [`address::PostgresAddress`] leads to a
//! server, ours or anybody's; a [`connection::PostgresConnection`] is one session on it,
//! synchronous and lean, so that thousands of statements per second cost the client little.
#![forbid(unsafe_code)]

pub mod address;
pub mod binaries;
pub mod connection;
pub mod counters;
pub mod failure;
pub mod model;
pub mod processes;
pub mod server;
mod views;
pub mod watch;
