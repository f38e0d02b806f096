//! PostgreSQL's manual: where its programs lie, how a server of our own is made and unmade, how a session speaks, and
//! what the server counts.
//!
//! A [`binaries::Binaries`] is a set of server programs; [`server::Server`] runs one of them in a directory that the
//! caller owns. An [`address::Address`] leads to a server, ours or anybody's; a [`connection::Connection`] is one
//! session on it, synchronous and lean, so that thousands of statements a second cost the client little.

#![forbid(unsafe_code)]

pub mod address;
pub mod binaries;
pub mod connection;
pub mod counters;
pub mod failure;
pub mod processes;
pub mod server;
