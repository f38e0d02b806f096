//! Several hosts that are watched together: their devices next to each other under one clock.

use super::driver::{Driver, Round};
use super::hosts::HostNames;
use crate::context::Context;
use assay_cluster::environments::apart;
use assay_cluster::findings::cluster;
use assay_cluster::merge::Merged;
use assay_cluster::moments::beside;
use assay_cluster::protocol::{NodeOrder, WatchOrder};
use assay_host::clock::unix_ns;
use assay_model::Result;
use assay_model::cluster::{Cluster, Transport};
use assay_model::environment::Environment;
use assay_model::measurement::{Finish, Interval};
use assay_model::units::Nanos;
use assay_model::watch::Moment;
use std::ops::ControlFlow;

/// Hosts that are ready to be watched.
pub struct WatchHosts {
    driver: Driver,
    transport: Transport,
    targets: Vec<String>,
    /// The hosts as one: the first one's facts, the devices of each, the findings of all.
    pub environment: Option<Environment>,
}

/// What all hosts did in a stretch of time.
pub struct HostsMoment<'a> {
    /// Their machines next to each other.
    pub moment: &'a Moment,
    /// Their devices together.
    pub interval: &'a Interval,
}

impl WatchHosts {
    /// Opens a session with every host, and finds what is below the targets on each.
    ///
    /// # Errors
    /// What any host says, for example that a target is not there.
    pub fn open(names: &HostNames, targets: &[String], context: &Context) -> Result<Self> {
        names.check_paths(targets)?;
        let mut driver = Driver::open(names, context)?;
        let described = driver.described(targets)?;
        driver.ask_clocks()?;
        let (transport, targets) = (names.transport(), targets.to_vec());
        Ok(Self { driver, transport, targets, environment: apart(&described) })
    }

    /// Watches all of them from one moment on, until the time is over or it is stopped.
    ///
    /// # Errors
    /// What a host says before the start, and what `see` says.
    pub fn watch(
        &mut self,
        interval: Nanos,
        length: Option<Nanos>,
        see: &mut dyn FnMut(HostsMoment<'_>) -> Result<()>,
    ) -> Result<(Finish, Cluster)> {
        let order = NodeOrder::Watch(WatchOrder {
            targets: self.targets.clone(),
            interval_ns: interval.0,
            length_ns: length.map(|length| length.0),
        });
        let names: Vec<String> = self.driver.hosts.iter().map(|host| host.name.clone()).collect();
        let orders = vec![Some(order); names.len()];
        let mut round = Round {
            orders: &orders,
            length_ns: length.map_or(u64::MAX / 4, |length| length.0),
            unmeasured_ns: 0,
            interval_ns: interval.0,
            warms_up: false,
            begins: &mut |_| (),
        };
        let mut failure = None;
        let mut observe = |merged: &Merged| {
            let time_ns = merged.interval.end_ns - merged.interval.start_ns;
            let mut moment = beside(&names, &merged.moments(), time_ns);
            // Hosts set their clocks of the day as they like: the time is the driver's.
            moment.at_unix_ns = unix_ns();
            match see(HostsMoment { moment: &moment, interval: &merged.interval }) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let measured = self.driver.measure(&mut round, &mut observe)?;
        if let Some(error) = failure {
            return Err(error);
        }
        let start = Some(measured.start);
        let found = cluster(self.transport, &self.driver.hosts, start, &measured.merger);
        // Who does less of what others ask of them lags behind nobody.
        let found = Cluster { stragglers: Vec::new(), fairness_coefficient: None, ..found };
        Ok((measured.finish, found))
    }
}
