//! Sessions of a load on one of several hosts: step after step as the driver says, each from the
//! same moment as on all others.

use assay_cluster::protocol::RungPart;
use assay_dbload::load::{
    LoadSchema, LoadTarget, Method, Product, RungHooks, RungPlan, RungResult, ServerLink, StepPace,
    measure,
};
use assay_model::load::StepArrival;
use assay_model::measurement::{Interval, Window};
use assay_model::{Error, Result};
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Where the parts of steps come from, and what they came to goes.
pub(crate) trait RungHost {
    /// The database was entered.
    fn connected(&mut self);
    /// The next step; nothing when there are no more.
    fn next_part(&mut self) -> Option<RungPart>;
    /// Waits for the moment at which all hosts begin.
    ///
    /// # Errors
    /// That it was called off.
    fn meet(&mut self, is_measured: bool) -> Result<()>;
    /// Takes an interval.
    fn observe(&mut self, interval: &Interval, joint: &Window);
    /// Takes what a step came to.
    fn finish(&mut self, measured: Result<RungResult>);
}

/// One host's sessions on a database.
pub struct LoadMember<'a> {
    /// The address of the server.
    pub(crate) address: String,
    /// The password for it, where the driver knows one.
    pub(crate) secret: Option<String>,
    /// The schema that holds the data.
    pub(crate) schema: String,
    /// Ends a step.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) host: &'a mut dyn RungHost,
}

impl LoadMember<'_> {
    /// Takes part in steps until there are no more.
    ///
    /// # Errors
    /// What the server says when it is entered; later failures go to the driver.
    pub(crate) fn serve<M: Method<Link: Product>>(&mut self, method: &M) -> Result<()> {
        let named = LoadTarget::read(&self.address)?.with_secret(self.secret.take());
        let address = M::Link::address_in(&named).ok_or_else(|| {
            Error::usage(
                format!("{}: this load does not support this server", named.shown()),
                "specify a server that the load supports",
            )
        })?;
        let mut database = LoadSchema::<M::Link>::at(address, &self.schema)?;
        self.host.connected();
        while let Some(part) = self.host.next_part() {
            let measured = self.rung(&mut database, method, &part);
            self.host.finish(measured);
        }
        Ok(())
    }

    fn rung<M: Method<Link: Product>>(
        &mut self,
        database: &mut LoadSchema<M::Link>,
        method: &M,
        part: &RungPart,
    ) -> Result<RungResult> {
        let plan = plan_of(part);
        let mut is_measured = !plan.warms_up();
        // An interval and a meeting never come at the same time, but both hooks need the host.
        let host = RefCell::new(&mut *self.host);
        let mut meet = || {
            let met = host.borrow_mut().meet(is_measured);
            is_measured = true;
            met
        };
        let mut observe = |interval: &Interval, joint: &Window| {
            host.borrow_mut().observe(interval, joint);
            ControlFlow::Continue(())
        };
        let mut hooks = RungHooks {
            stop: self.stop,
            observe: &mut observe,
            on_tick: &mut || (),
            meet: Some(&mut meet),
        };
        measure(database, method, &plan, &mut hooks)
    }
}

fn plan_of(part: &RungPart) -> RungPlan {
    let step = &part.step;
    let pace = match step.arrival {
        StepArrival::Closed => None,
        StepArrival::Open { rate, spacing } => {
            Some(StepPace { rate_per_s: rate.0, spacing, seed: part.seed })
        }
    };
    RungPlan {
        ramp: step.ramp,
        warm_up: step.warm_up,
        pace,
        on_loss: step.on_loss,
        first_session: part.first_session,
        ..RungPlan::new(step.sessions, step.repeat, step.length)
    }
}
