//! A statistics book: what observations show, how far they can be trusted, and what theory would
//! have said.
//!
//! Pure mathematics without input, output, clock or hidden state: the same numbers always give the
//! same answer, also where an answer rests on simulation. Every formula names its source, and is
//! tested against an independent computation of it.
//!
//! | question | answer |
//! | --- | --- |
//! | what is the mean of this series? | [`mean_interval`], [`mean::mean_error`] |
//! | what is the ratio of two sums over a series? | [`mean::ratio_interval`] |
//! | the same of equal stretches of time, also of few? | [`batches::mean_of_batches`], [`batches::ratio_of_batches`] |
//! | what is the mean of what was visited now and then? | [`visits::SlowNoise`] |
//! | where does a quantile lie? | [`quantile::quantile_levels`] for a series of counted intervals, [`quantile::quantile_interval`] for independent values |
//! | what share is beyond a limit? | [`quantile::share_interval`] |
//! | how sure is any other statistic of a series? | [`bootstrap::bootstrap_interval`] |
//! | are two estimates different, in what ratio? | [`IntervalEstimate::minus`], [`IntervalEstimate::over`] |
//! | does the series keep its level? | [`change::level_shift`], [`change::segments`], [`trend::trend`] |
//! | where does it change, any number of times? | [`pelt::changes`] |
//! | is it steady, and since when? | [`steady::steadiness`]; [`steady::five_rounds`] and [`steady::slope_rule`] as others ask |
//! | do events recur with a fixed period? | [`recurrence::recurrence`] |
//! | did it just change? | [`watch::LevelWatch`], in flat memory |
//! | does more load give more? | [`curve::saturation`], [`curve::knee`] |
//! | what curve of saturation lies under noisy steps? | [`concave::fit`] |
//! | what do more nodes give? | [`scalability::scalability`] |
//! | which of several hosts lags behind, and how evenly do they share? | [`hosts::stragglers`], [`hosts::fairness`] |
//! | what should a system of servers do? | [`queueing`], [`network`], [`network::convolution`] where stations work faster with more to do |
//! | what do commits wait for a log that takes many at once? | [`group_commit`] |
//! | how long does the slowest of several take? | [`slowest`] |
//! | what share of requests does a cache answer? | [`che`] |
//! | what places serve working sets of growing size? | [`tiers::tiers`] |
//! | do these values follow that law? | [`fit::chi_square_fit`], [`fit::kolmogorov_smirnov_fit`] |
//!
//! Observations are `f64` in the caller's unit, in the order in which they were made. A
//! `confidence` lies in (0, 1), a quantile in 0..=1. Where too few observations allow no answer the
//! answer is `None`. The example `coverage` prints the simulated tables of this documentation.
#![forbid(unsafe_code)]

mod autoregression;
pub mod batches;
pub mod bootstrap;
pub mod change;
pub mod che;
pub mod concave;
pub mod curve;
pub mod distribution;
pub mod estimate;
pub mod fit;
pub mod group_commit;
pub mod hosts;
mod long_run;
pub mod mean;
pub mod moment_bound;
pub mod network;
pub mod pelt;
pub mod permutation;
pub mod quantile;
pub mod queueing;
pub mod random;
pub mod recurrence;
mod root;
pub mod scalability;
pub mod sequential;
pub mod series;
mod short_run;
mod slow_part;
pub mod slowest;
pub mod special;
pub mod steady;
pub mod tiers;
pub mod trend;
pub mod visits;
pub mod watch;
pub mod zipf;

pub use estimate::IntervalEstimate;
pub use mean::mean_interval;
