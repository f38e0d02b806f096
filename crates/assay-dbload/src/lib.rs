//! Loads on real databases: what a session does is said by `assay-loads`; here are the data, the servers, the ladder of
//! sessions that finds what a server gives, and what is counted meanwhile.
#![forbid(unsafe_code)]

pub mod brokerage;
pub mod dss;
pub mod load;
pub mod oltp;
pub mod slob;
