//! A book on clocks and barriers: what several hosts need to measure together, and what may be said
//! of it.
//!
//! Nothing here reads a clock, a file or a socket: lines and times go in, lines and documents come
//! out. A driver has the method, nodes have the storage; what they say to each other is in
//! [`protocol`].
#![forbid(unsafe_code)]

pub mod clock;
pub mod division;
pub mod environments;
pub mod findings;
pub mod kept;
pub mod merge;
pub mod moments;
pub mod protocol;
pub mod schedule;
pub mod slices;
