//! One file per command: read the options, call the libraries, print, end.

pub mod bench;
pub mod calibrate;
pub mod check;
pub mod compare;
pub mod completion;
pub mod help;
pub mod hosts;
pub mod inspect;
pub mod list;
pub mod locality;
pub mod node;
pub mod predict;
pub mod profile;
pub mod report;
pub mod run;
pub mod runs;
pub mod size;
pub mod soak;
pub mod study;
pub mod verify;
pub mod watch;
