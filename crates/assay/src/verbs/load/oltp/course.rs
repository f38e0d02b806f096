//! The order-entry load on its way up a ladder: data restored before a rung, acknowledged transactions counted after it,
//! conditions of the data checked.

use crate::verbs::load::climb::Course;
use crate::verbs::load::ground::Ground;
use assay_methods::load::Measured;
use assay_methods::oltp::{Counted, Orders, Snapshot, count, verify, workload};
use assay_model::load::{Commits, Load, Rung};
use assay_model::measurement::{Finish, Interval, Joint, NamedResult, Remark};
use assay_model::number::rate;
use assay_model::units::{Nanos, show_count};
use assay_model::{Histogram, Precision, Result, Workload};
use std::sync::atomic::{AtomicBool, Ordering};

/// The stream that is counted.
const NEW_ORDER: &str = "new order";

/// The load with what is done around its rungs.
pub struct Trade<'a> {
    orders: Orders<'a>,
    verifies: bool,
    restore_every: Option<u32>,
    snapshot: Option<Snapshot>,
    rungs: u32,
    /// What stood in the tables before the rung.
    before: Counted,
    /// Whether the data was looked at as it was loaded.
    has_begun: bool,
}

impl<'a> Trade<'a> {
    /// The load before its first rung.
    pub const fn new(orders: Orders<'a>, verifies: bool, restore_every: Option<u32>) -> Self {
        Self {
            orders,
            verifies,
            restore_every,
            snapshot: None,
            rungs: 0,
            before: Counted { orders: 0, payments: 0 },
            has_begun: false,
        }
    }

    /// The data as it is loaded: checked and copied where that is wanted.
    fn begin(&mut self, ground: &mut Ground, load: &mut Load, stop: &AtomicBool) -> Result<()> {
        self.has_begun = true;
        if self.verifies {
            load.checks.push(verify(&mut ground.database, "before the first rung")?);
        }
        if self.restore_every.is_none() {
            return Ok(());
        }
        let snapshot = match ground.own.as_mut() {
            Some(own) => Snapshot::of_own(own, &mut ground.database, stop)?,
            None => Snapshot::of_database(&mut ground.database)?,
        };
        self.snapshot = Some(snapshot);
        Ok(())
    }

    /// Goes back to the data as it was loaded, where it is time.
    fn restore(&self, ground: &mut Ground, stop: &AtomicBool) -> Result<()> {
        let is_time = self.restore_every.is_some_and(|every| self.rungs.is_multiple_of(every));
        match &self.snapshot {
            Some(snapshot) if is_time && self.rungs > 0 => {
                snapshot.restore(ground.own.as_mut(), &mut ground.database, stop)
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Course for Trade<'a> {
    type Method = Orders<'a>;

    fn method(&self) -> &Orders<'a> {
        &self.orders
    }

    fn described(&self, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
        workload(self.orders.rules, sessions, duration, block_bytes)
    }

    fn limited(&self, rung: &Rung) -> Histogram {
        let found = rung.measurement.streams.iter().find(|stream| stream.name == NEW_ORDER);
        let result = found.and_then(|stream| stream.operations.write.as_ref());
        result.map_or_else(|| Histogram::new(Precision::Fine), |result| result.response().clone())
    }

    fn work(&self, interval: &Interval, joint: &Joint) -> String {
        let orders = joint.streams.iter().filter(|stream| stream.name == NEW_ORDER);
        let ios = orders.map(|stream: &NamedResult| stream.operations.ios()).sum();
        format!("{} new orders/min", show_count(60.0 * rate(ios, interval.elapsed_s())))
    }

    fn is_of_storage(&self) -> bool {
        false
    }

    fn before(&mut self, ground: &mut Ground, load: &mut Load, stop: &AtomicBool) -> Result<()> {
        if !self.has_begun {
            self.begin(ground, load, stop)?;
        }
        self.restore(ground, stop)?;
        self.rungs += 1;
        self.before = count(&mut ground.database)?;
        Ok(())
    }

    fn after(
        &mut self,
        ground: &mut Ground,
        load: &mut Load,
        measured: &Measured,
        stop: &AtomicBool,
    ) -> Result<()> {
        let found = match ground.come_back(stop).and_then(|()| count(&mut ground.database)) {
            Ok(found) => found,
            Err(error) => {
                load.remarks.push(not_counted(&error));
                return Ok(());
            }
        };
        let kinds = [
            (0, NEW_ORDER, found.orders.saturating_sub(self.before.orders)),
            (1, "payment", found.payments.saturating_sub(self.before.payments)),
        ];
        for (kind, stream, found) in kinds {
            let of = |counts: &[u64]| counts.get(kind).copied().unwrap_or(0);
            load.commits.push(Commits {
                sessions: measured.rung.sessions,
                repeat: measured.rung.repeat,
                stream: stream.to_owned(),
                acknowledged: of(&measured.tally.acknowledged),
                unknown: of(&measured.tally.unknown),
                found,
            });
        }
        Ok(())
    }

    fn end(&mut self, ground: &mut Ground, load: &mut Load, stop: &AtomicBool) -> Result<()> {
        let is_lost =
            load.rungs.iter().any(|rung| matches!(rung.measurement.finish, Finish::Failed { .. }));
        // Who asked the program to end does not wait for checks.
        let is_stopped = stop.load(Ordering::Relaxed);
        if (self.verifies || is_lost) && !is_stopped {
            let checked = ground
                .come_back(stop)
                .and_then(|()| verify(&mut ground.database, "after the last rung"));
            match checked {
                Ok(checks) => load.checks.push(checks),
                Err(error) => load.remarks.push(not_counted(&error)),
            }
        }
        match &self.snapshot {
            Some(snapshot) => snapshot.remove(&mut ground.database),
            None => Ok(()),
        }
    }
}

fn not_counted(error: &assay_model::Error) -> Remark {
    Remark {
        what: format!("the data could not be looked at: {}", error.message()),
        why: "it is not known whether all acknowledged transactions are there".to_owned(),
        remedy: "start the server and run again with --verify".to_owned(),
    }
}
