//! One file a verb: read the options, call the rooms, print, end.

pub mod arrays;
pub mod calibrate;
pub mod catalog;
pub mod check;
pub mod compare;
pub mod completion;
pub mod convert;
pub mod explain;
pub mod import;
pub mod inspect;
pub mod judge;
pub mod load;
pub mod locality;
pub mod node;
pub mod plan;
pub mod predict;
pub mod profile;
pub mod replay;
pub mod report;
pub mod run;
pub mod runs;
pub mod show;
pub mod size;
pub mod soak;
pub mod study;
pub mod watch;
