//! PostgreSQL's manual: what its counters mean in each version, and where the time of its sessions went.
#![forbid(unsafe_code)]
