//! The rules of database loads: what a session does next, independent of the server that it does it
//! to.
//!
//! [`slob::SlobRules`] are the knobs of the SLOB method (Kevin Closson), made from its description:
//! most I/O for least CPU through the real code path of a database. A [`slob::SlobSession`] gives
//! one step after the other, a [`slob::SlobRows`] the content of a table.
//!
//! [`oltp::OltpRules`] are those of an order-entry load in the manner of TPC-C: an
//! [`oltp::OltpSession`] gives transactions with their inputs, [`oltp::fill_part`] the rows of the
//! nine tables. [`brokerage::BrokerageRules`] are those of a brokerage in the manner of TPC-E.
//! [`dss`] follows the published description of TPC-H.
#![forbid(unsafe_code)]

pub mod brokerage;
mod deck;
pub mod dss;
pub mod oltp;
pub mod sink;
pub mod slob;
mod think;

pub use deck::Deck;
