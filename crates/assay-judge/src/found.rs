//! What a search for a number brings: the number with what it rests on, or why there is none.

use assay_model::Estimate;
use assay_model::verdict::{Doubt, Evidence, LevelChange};

/// What was found for one subject of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundNumber {
    /// The stream, target or mix, where there are several.
    pub(crate) subject: Option<String>,
    /// The number with what it rests on, or why there is none.
    pub(crate) known: Result<KnownNumber, Missing>,
}

/// A number and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownNumber {
    /// The number in base units with its interval.
    pub(crate) estimate: Estimate,
    /// The same as a verdict carries it, with time and doubts.
    pub(crate) evidence: Evidence,
    /// The load at which it was measured, in words; empty where the name says it.
    pub(crate) at: String,
    /// Of a quantile without an upper end.
    pub(crate) tail: Option<UnboundedTail>,
}

/// Why a quantile has no upper end, and what bounds it all the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnboundedTail {
    /// The doubt that undoes a PASS below the bound.
    pub(crate) doubt: Doubt,
    /// The quantile does not exceed this by the mean of all times.
    pub(crate) highest_ns: f64,
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Missing {
    /// Nothing of the kind happened: there is nothing to judge.
    Absent(String),
    /// It happened, and the documents do not say how it went.
    Untold(String),
    /// It was measured, but for too short a time to say how sure it is.
    TooShort {
        /// What was seen, and for how long to measure.
        words: String,
        /// What decides where the limit is far away; nothing of a number that was measured once.
        seen: Option<Box<ShortRun>>,
    },
}

/// What a run shows that is too short for an interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShortRun {
    /// The number, without an interval, and what it rests on.
    pub(crate) known: KnownNumber,
    /// Seconds ranged from here …
    pub(crate) lowest_value: f64,
    /// … to here.
    pub(crate) highest_value: f64,
    /// Ends that the level in the long run almost never leaves.
    pub(crate) bounds: (f64, f64),
}

impl Missing {
    /// What is missing, for the verdict.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Absent(words) | Self::Untold(words) | Self::TooShort { words, .. } => words,
        }
    }

    /// It was measured once.
    pub(crate) fn once(words: &str) -> Self {
        Self::TooShort { words: words.to_owned(), seen: None }
    }

    /// With what bears on a short run as on any other.
    pub(crate) fn with_doubts(mut self, doubts: &[Doubt]) -> Self {
        if let Self::TooShort { seen: Some(seen), .. } = &mut self {
            seen.known.evidence.doubts.extend_from_slice(doubts);
        }
        self
    }
}

impl KnownNumber {
    pub(crate) fn new(estimate: Estimate, elapsed_s: f64, doubts: Vec<Doubt>) -> Self {
        let evidence =
            Evidence { estimate: Some(estimate), elapsed_s, doubts, ..Evidence::default() };
        Self { estimate, evidence, at: String::new(), tail: None }
    }

    /// With the reason why a quantile has no upper end: a doubt, unless something bounds it.
    pub(crate) fn with_tail(mut self, doubt: Option<Doubt>, highest_ns: Option<f64>) -> Self {
        match (doubt, highest_ns) {
            (Some(doubt), Some(highest_ns)) => {
                self.tail = Some(UnboundedTail { doubt, highest_ns });
            }
            (doubt, _) => self.evidence.doubts.extend(doubt),
        }
        self
    }

    /// With what a quantile rests on, and the level that the run left.
    pub(crate) fn with(mut self, clusters: Option<u64>, level_change: Option<LevelChange>) -> Self {
        self.evidence.clusters = clusters;
        self.evidence.level_change = level_change;
        self
    }
}

impl FoundNumber {
    /// Nothing of the kind was measured, whatever the subject.
    pub(crate) fn absent(what: impl Into<String>) -> Self {
        Self { subject: None, known: Err(Missing::Absent(what.into())) }
    }
}
