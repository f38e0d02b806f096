//! PostgreSQL's manual: what its counters mean in each version, and where the time of its sessions went.
//!
//! [`watch`] asks a server: [`watch::Watcher`] takes a [`model::Snapshot`] at both ends of an interval and looks at the
//! sessions in between. [`model`] knows no server: it makes a profile of two snapshots and the looks, so that every
//! formula is tested on made-up ones.
#![forbid(unsafe_code)]

pub mod model;
pub mod watch;
