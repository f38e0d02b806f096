//! The machine over a run, in at most as many columns as a picture can show, whatever the run's
//! length.

use assay_model::watch::{Moment, Summary};
use serde::Serialize;

/// Columns held at most; there are at least half as many once it was watched long enough.
const COLUMNS_MAX: usize = 480;

/// What was watched: the sum of it, and how it went over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WatchReport {
    /// All samples together.
    pub summary: Summary,
    /// Neighbouring stretches of time.
    #[serde(skip)]
    pub(crate) columns: Vec<Moment>,
}

/// Takes samples one by one, in their order.
#[derive(Debug, Default)]
pub struct WatchBuilder {
    summary: Option<Summary>,
    columns: Vec<Moment>,
    /// Samples a column, a power of two; 0 stands for 1.
    doublings: u32,
    filling: Option<(Moment, u64)>,
}

impl WatchBuilder {
    /// Adds the next sample.
    pub fn add(&mut self, moment: &Moment) {
        self.summary = Some(match self.summary.take() {
            Some(summary) => summary.and(moment),
            None => Summary::begin(moment),
        });
        let (column, moments) = match self.filling.take() {
            Some((column, moments)) => (column.plus(moment), moments + 1),
            None => (moment.clone(), 1),
        };
        if moments < 1 << self.doublings {
            self.filling = Some((column, moments));
            return;
        }
        self.columns.push(column);
        if self.columns.len() == COLUMNS_MAX {
            self.columns = paired(&self.columns);
            self.doublings += 1;
        }
    }

    /// What was watched; `None` where nothing was.
    pub fn finish(mut self) -> Option<WatchReport> {
        self.columns.extend(self.filling.map(|(column, _)| column));
        let columns = self.columns;
        self.summary.map(|summary| WatchReport { summary, columns })
    }
}

/// Neighbours joined two by two.
fn paired(columns: &[Moment]) -> Vec<Moment> {
    let join = |pair: &[Moment]| match pair {
        [first, second] => first.plus(second),
        rest => rest.first().cloned().unwrap_or_default(),
    };
    columns.chunks(2).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::counters::Counters;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_time_is_lost_and_there_are_never_too_many_columns(moments in 0u64..3000) {
            let mut builder = WatchBuilder::default();
            for at_unix_ns in 0..moments {
                let counters = Counters { time_ns: 7, ..Counters::default() };
                builder.add(&Moment { at_unix_ns, counters, ..Moment::default() });
            }
            let watch = builder.finish();
            prop_assert_eq!(watch.is_some(), moments > 0);
            if let Some(watch) = watch {
                prop_assert!(watch.columns.len() <= COLUMNS_MAX);
                let time_ns: u64 = watch.columns.iter().map(|column| column.counters.time_ns).sum();
                prop_assert_eq!(time_ns, 7 * moments);
                prop_assert_eq!(watch.summary.total.counters.time_ns, 7 * moments);
                prop_assert_eq!(watch.summary.moments, moments);
            }
        }
    }
}
