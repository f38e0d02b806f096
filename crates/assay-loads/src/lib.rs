//! The rules of database loads: what a session does next, independent of the server that it does it to.
#![forbid(unsafe_code)]
