//! MariaDB's and MySQL's manuals: how a session speaks with such a server, what the server counts,
//! and how a managed one is created and removed.
//!
//! An [`address::MariadbAddress`] leads to a server; a [`connection::MariadbConnection`] is one
//! session on it, synchronous and lean. [`counters`] reads what a server counted; [`watch`] looks
//! at one for a while, and [`model`] makes a profile of that. A [`binaries::MariadbBinaries`] is a
//! set of server programs; [`server::MariadbServer`] runs one of them in a directory that the
//! caller owns.
#![forbid(unsafe_code)]

pub mod address;
pub mod binaries;
pub mod connection;
pub mod counters;
pub mod failure;
pub mod model;
pub mod server;
pub mod threads;
mod views;
pub mod watch;
