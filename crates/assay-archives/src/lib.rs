//! Files that others packed or collected: gzip and zip files, and the archives of `OSWatcher`.
#![forbid(unsafe_code)]

pub mod oswatcher;
pub mod packed;
