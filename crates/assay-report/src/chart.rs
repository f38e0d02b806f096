//! Charts: every kind draws marks on a scene, and a scene becomes SVG for the page or pixels for a
//! picture.

pub(crate) mod annotation;
pub(crate) mod axis;
pub(crate) mod bars;
pub(crate) mod classes;
pub(crate) mod curve;
pub(crate) mod depth;
pub(crate) mod heat;
pub(crate) mod histogram;
pub(crate) mod hosts;
pub(crate) mod ladder;
pub(crate) mod latency;
pub(crate) mod lines;
pub(crate) mod rates;
pub(crate) mod scale;
pub(crate) mod scene;
pub(crate) mod stack;
pub(crate) mod tail;
pub(crate) mod time_axis;
pub(crate) mod waits;
pub(crate) mod watch;
