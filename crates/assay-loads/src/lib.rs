//! The rules of database loads: what a session does next, independent of the server that it does it to.
//!
//! [`dss`] follows the published description of TPC-H. [`slob::Rules`] are the knobs of the SLOB method (Kevin Closson), made anew from its description: most I/O for
//! least CPU through the real code path of a database. A [`slob::Session`] gives one step after the other, a
//! [`slob::Rows`] the content of a table.
#![forbid(unsafe_code)]

pub mod dss;
pub mod slob;
