//! Hours or days of load, with or without rests.

mod cycles;

pub use cycles::Cycles;
