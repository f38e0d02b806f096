//! Capacity planning: what a database would do on other storage, how sure that is, and when it
//! cannot be said.
//!
//! The database is a closed network: processors, storage as one station that works as its
//! calibrated curve says, a log that takes many commits at once, and delays for all other waits.
//! [`PredictedDemand`] is what a profile asks for one unit of work, [`PredictedStorage`] what a
//! calibration gives, [`project`] the answer for several targets. It is a room of its own, because
//! its manual is neither that of measuring storage nor that of judging a run: Lazowska et al.,
//! "Quantitative System Performance" (1984).
#![forbid(unsafe_code)]

mod bounds;
mod cache;
mod closure;
mod curve;
mod demand;
mod draws;
mod flush;
mod model;
mod objections;
mod of_load;
mod of_profile;
mod open;
mod project;
mod storage;
pub mod verify;

pub use cache::CacheChange;
pub use curve::ReadCurve;
pub use demand::{Deviations, Overheads, PredictedDemand};
pub use flush::FlushTimes;
pub use model::{Lean, Solution, solve};
pub use of_load::StepFacts;
pub use of_profile::{ReadProfile, demand_of, demand_of_load};
pub use project::{ProjectionPlan, project};
pub use storage::{PredictedStorage, StorageSource};
