//! Loads on databases, as a user meets them. One program for all of them: most of the time its
//! tests wait for servers, and the more of them wait at once the sooner they are done.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing, and says so"
)]

#[path = "../support/brokerage.rs"]
mod brokerage;
#[path = "../support/dss.rs"]
mod dss;
#[path = "../support/mariadb.rs"]
mod mariadb;
#[path = "../support/server.rs"]
mod server;
#[path = "../support/transactions.rs"]
mod transactions;

mod commits;
mod demand;
mod mariadb_brokerage;
mod mariadb_dss;
mod mariadb_faults;
mod mariadb_oltp;
mod mariadb_profile;
mod mariadb_slob;
mod mysql;
mod postgres_brokerage;
mod postgres_dss;
mod postgres_faults;
mod postgres_oltp;
mod postgres_servers;
mod postgres_slob;
mod restricted;
mod safety;
mod several_hosts;
mod silent;
mod tls;
