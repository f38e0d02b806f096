//! Several hosts that have opened what is to be measured: a workload goes in, one measurement of
//! all of them comes out.

use super::conduct::Whole;
use super::course::Measured;
use super::driver::{Driver, Round};
use super::hosts::{HostNames, HostsPlan};
use crate::context::Context;
use crate::target_plan::TargetPlan;
use assay_cluster::division::{DivisionMember, Outstanding, Places, part_of};
use assay_cluster::environments::{HostEnvironment, together};
use assay_cluster::findings::{HostRecord, StartFindings, cluster};
use assay_cluster::merge::{Merged, Merger};
use assay_cluster::protocol::{NodeOpening, NodeOrder, Opened};
use assay_engine::monotonic_ns;
use assay_host::clock::unix_ns_at;
use assay_methods::target::{Targets, parse_targets};
use assay_model::cluster::{Cluster, CommonStart, Transport};
use assay_model::environment::Environment;
use assay_model::measurement::{Measurement, Window};
use assay_model::number::count_of;
use assay_model::study::{Cell, StudySetting};
use assay_model::units::Bytes;
use assay_model::{Error, Result, Workload};
use std::ops::ControlFlow;

/// Hosts that are ready to measure; when this goes they remove their test files and end.
pub struct OpenHosts {
    driver: Driver,
    opened: Vec<Opened>,
    /// The hosts as one: what all say of themselves once, everything else with who says it.
    environment: Option<Environment>,
    places: Places,
    paths: Vec<String>,
    queue_depth: Outstanding,
    transport: Transport,
    /// Numbers of those that take part.
    chosen: Vec<usize>,
    /// The document that was kept last.
    kept: Option<Cluster>,
    /// Why what was measured last decides nothing.
    last_doubt: Option<String>,
}

/// What hosts are to open.
#[derive(Clone, Copy)]
pub(crate) struct HostsRequest<'a> {
    /// The targets and how to open them.
    pub(crate) target: &'a TargetPlan,
    /// Whether anything will be written.
    pub(crate) write: bool,
    /// Whether the page cache is to be passed by.
    pub(crate) direct: bool,
    /// Whether a small test file is enough while its reads do not look cached.
    pub(crate) grows: bool,
    /// The workload, where there is one alone.
    pub(crate) workload: Option<&'a Workload>,
}

/// What is to be measured, and how.
#[derive(Clone, Copy)]
pub(crate) struct HostsOrder<'a> {
    pub(crate) workload: &'a Workload,
    /// Numbers of the hosts that take part; all others rest.
    pub(crate) members: &'a [usize],
    /// What the outstanding I/Os of the workload stand for.
    pub(crate) queue_depth: Outstanding,
    /// Whether it is one of many short ones, whose tool is not compared with its ceiling.
    pub(crate) is_slice: bool,
}

/// What was measured by several hosts.
pub(crate) struct HostsOutcome {
    pub(crate) measurement: Measurement,
    pub(super) measured: Measured,
    /// What is known of those that took part.
    pub(super) hosts: Vec<HostRecord>,
}

impl OpenHosts {
    /// Starts the nodes, asks every safety gate, and only then opens the targets of all; each then
    /// keeps what it measures of this run also on its own disk.
    ///
    /// # Errors
    /// What any host refuses, before anything is touched on any of them.
    pub(crate) fn open(
        plan: &HostsPlan,
        wanted: &HostsRequest<'_>,
        run: &str,
        context: &Context,
    ) -> Result<Self> {
        let paths = real_paths(wanted.target)?;
        plan.hosts.check_paths(&paths)?;
        if let Some(workload) = wanted.workload {
            // What cannot be divided is said before any node is started.
            check_divisible(workload, plan)?;
        }
        let mut driver = Driver::open(&plan.hosts, context)?;
        let shared =
            driver.admit(&opening(plan, wanted, context)?)?.iter().flatten().any(Option::is_some);
        if shared && wanted.write {
            return Err(both_would_write());
        }
        let opened = driver.open_targets()?;
        for (host, opened) in driver.hosts.iter().zip(&opened) {
            let say = |note| context.progress.say(&format!("note: {}: {note}", host.name));
            opened.notes.iter().for_each(say);
        }
        driver.keep(run);
        driver.ask_clocks()?;
        let places = if shared { Places::Slices } else { Places::Own };
        let (queue_depth, transport) = (plan.queue_depth, plan.hosts.transport());
        let chosen = (0..driver.hosts.len()).collect();
        let names = driver.hosts.iter().map(|host| host.name.clone());
        let described: Vec<HostEnvironment> =
            names.zip(opened.iter().map(|opened| opened.environment.clone())).collect();
        let environment = together(&described);
        Ok(Self {
            driver,
            opened,
            environment,
            places,
            paths,
            queue_depth,
            transport,
            chosen,
            kept: None,
            last_doubt: None,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.driver.hosts.len()
    }

    /// Lets as many hosts take part as a cell of a study says, others with every repeat so that
    /// none is measured more often than the rest; all of them where it says nothing. Gives the
    /// cell without that.
    ///
    /// # Errors
    /// A usage error when there are fewer of them.
    pub(crate) fn chosen_for(&mut self, cell: &Cell) -> Result<Cell> {
        let (asked, rest): (Vec<StudySetting>, Vec<StudySetting>) =
            cell.settings.iter().cloned().partition(|setting| setting.factor == "hosts");
        let all = self.count();
        let wanted = asked.first().and_then(|setting| setting.value.number());
        let count = wanted.map_or(all, assay_model::number::index);
        if count == 0 || count > all {
            return Err(Error::usage(
                format!("{count} hosts are required, but only {all} exist"),
                "list enough of them with --hosts",
            ));
        }
        let repeat = assay_model::number::index_of(u64::from(cell.repeat.max(1) - 1));
        let mut chosen: Vec<usize> = (0..count).map(|place| (repeat + place) % all).collect();
        chosen.sort_unstable();
        self.chosen = chosen;
        Ok(Cell { settings: rest, ..cell.clone() })
    }

    /// What is said of the hosts that measured, where no more of them were seen together before;
    /// what leaves a sum in doubt stays, and the start is the worst one of all.
    pub(crate) fn document_to_keep(&mut self, outcome: &HostsOutcome) -> Option<Cluster> {
        let document = self.document(outcome);
        self.last_doubt = document.doubt();
        let better = match self.kept.take() {
            // Nothing came any more, because a host was lost.
            Some(kept) if document.window.intervals == 0 => kept.with_losses_of(&document),
            Some(kept) => {
                let (hosts, kept_hosts) = (document.hosts.len(), kept.hosts.len());
                if hosts < kept_hosts || (hosts == kept_hosts && kept.doubt().is_some()) {
                    let start = CommonStart::worse(kept.start.clone(), document.start);
                    let is_worse = start != kept.start;
                    let kept = Cluster { start, ..kept };
                    self.kept = Some(kept.clone());
                    return is_worse.then_some(kept);
                }
                let start = CommonStart::worse(kept.start, document.start.clone());
                Cluster { start, ..document }
            }
            None => document,
        };
        self.kept = Some(better.clone());
        Some(better)
    }

    /// Why what was measured last decides nothing, in a sentence; nothing where it may be relied
    /// on.
    pub(crate) fn last_doubt(&self) -> Option<&str> {
        self.last_doubt.as_deref()
    }

    /// Hears hosts that rest; why one of them is lost, where one is.
    pub(crate) fn hear_resting(&mut self) -> Option<String> {
        self.driver.hear_resting()
    }

    /// What is known of hosts with the losses that were noticed since.
    pub(crate) fn with_losses(&self, document: Cluster) -> Cluster {
        let merger = Merger::new(self.count());
        document.with_losses_of(&cluster(self.transport, &self.driver.hosts, None, &merger))
    }

    /// Numbers of those that take part.
    pub(crate) fn chosen(&self) -> Vec<usize> {
        self.chosen.clone()
    }

    /// What the outstanding I/Os of a workload stand for.
    pub(crate) const fn queue_depth(&self) -> Outstanding {
        self.queue_depth
    }

    /// Their targets.
    pub(crate) fn target(&self) -> String {
        self.paths.join(", ")
    }

    /// Bytes that each of them has at least.
    pub(crate) fn length_bytes(&self) -> u64 {
        self.opened.iter().map(|opened| opened.length_bytes).min().unwrap_or(0)
    }

    /// The hosts and what is below their targets, as of one.
    pub(crate) const fn environment(&self) -> Option<&Environment> {
        self.environment.as_ref()
    }

    /// This machine where all hosts are processes of it, whose counters are then theirs.
    pub(crate) fn local_environment(&self) -> Option<&Environment> {
        let first = self.opened.first().map(|opened| &opened.environment);
        first.filter(|_| self.transport == Transport::Local)
    }

    /// Measures a workload on some of them together.
    ///
    /// # Errors
    /// What a host says before the start, or that they cannot begin together. What happens later is
    /// in the measurement.
    pub(crate) fn measure(
        &mut self,
        order: &HostsOrder<'_>,
        observer: &mut dyn FnMut(&Merged) -> ControlFlow<()>,
    ) -> Result<HostsOutcome> {
        let mut orders: Vec<Option<NodeOrder>> = vec![None; self.count()];
        let ask = if order.is_slice { NodeOrder::MeasureSlice } else { NodeOrder::Measure };
        let count = u32::try_from(order.members.len()).unwrap_or(u32::MAX);
        for (host, member) in (0..count).zip(order.members) {
            let member_of = DivisionMember { host, hosts: count };
            let part = part_of(order.workload, member_of, order.queue_depth, self.places)?;
            orders[*member] = Some(ask(Box::new(part)));
        }
        let mut total = Window::default();
        let mut observe = |merged: &Merged| {
            total.merge(&merged.joint);
            observer(merged)
        };
        let workload = order.workload;
        let mut round = Round {
            orders: &orders,
            length_ns: workload.warm_up.0 + workload.duration.0,
            unmeasured_ns: workload.warm_up.0,
            interval_ns: workload.interval.0,
            warms_up: false,
            begins: &mut |_| (),
        };
        let measured = self.driver.measure(&mut round, &mut observe)?;
        let hosts: Vec<HostRecord> =
            order.members.iter().map(|member| self.driver.hosts[*member].clone()).collect();
        let whole = Whole {
            workload: &workload.name,
            total,
            targets: &self.paths,
            hosts: &hosts,
            transport: self.transport,
            started_unix_ns: started_unix_ns(measured.start.at_ns + workload.warm_up.0),
        };
        let measurement = whole.measurement(&measured);
        Ok(HostsOutcome { measurement, measured, hosts })
    }

    /// Measures on all of them what nobody keeps.
    pub(crate) fn measure_unkept(&mut self, workload: &Workload) -> Result<Measurement> {
        let members: Vec<usize> = (0..self.count()).collect();
        let queue_depth = self.queue_depth;
        let order = HostsOrder { workload, members: &members, queue_depth, is_slice: true };
        Ok(self.measure(&order, &mut |_| ControlFlow::Continue(()))?.measurement)
    }

    /// What is known of the hosts before anything is measured, for the case that nothing more will
    /// be said; nothing where more was kept already.
    pub(crate) fn document_before(&self) -> Option<Cluster> {
        let start =
            StartFindings { at_ns: monotonic_ns(), attempts: 0, interval_ns: 0, warm_up_ns: 0 };
        let merger = Merger::new(self.count());
        let is_first = self.kept.is_none();
        is_first.then(|| cluster(self.transport, &self.driver.hosts, Some(start), &merger))
    }

    /// What is said of hosts that measured together.
    pub(crate) fn document(&self, outcome: &HostsOutcome) -> Cluster {
        self.document_of(&outcome.hosts, outcome.measured.start, &outcome.measured.merger)
    }

    /// The same with the sums over several slices, of the last of which this is known.
    pub(super) fn document_of(
        &self,
        hosts: &[HostRecord],
        start: StartFindings,
        merger: &Merger,
    ) -> Cluster {
        cluster(self.transport, hosts, Some(start), merger)
    }
}

/// The plan of one host's part of the data.
pub(crate) fn of_each(workload: &Workload, hosts: &HostNames) -> Workload {
    let count = count_of(hosts.names().len());
    let each = |capacity: Bytes| Bytes(capacity.0.div_ceil(count));
    Workload { capacity: workload.capacity.map(each), ..workload.clone() }
}

fn real_paths(target: &TargetPlan) -> Result<Vec<String>> {
    let Targets::Paths(paths) = parse_targets(&target.targets)? else {
        return Err(Error::usage(
            "a simulated device exists in one process, but --hosts lists several",
            "specify a directory, a file or a block device, or leave --hosts out",
        ));
    };
    Ok(paths.iter().map(|path| path.display().to_string()).collect())
}

fn check_divisible(workload: &Workload, plan: &HostsPlan) -> Result<()> {
    let hosts = u32::try_from(plan.hosts.names().len()).unwrap_or(u32::MAX);
    let first = DivisionMember { host: 0, hosts };
    part_of(workload, first, plan.queue_depth, Places::Own).map(drop)
}

/// Processes of one machine cannot both be the only one to write to a device or to a file.
fn both_would_write() -> Error {
    Error::usage(
        "the workload writes, so hosts that share a device or a file would overwrite each other's \
         data",
        "specify a directory, in which each host creates its own test file",
    )
}

fn opening(plan: &HostsPlan, wanted: &HostsRequest<'_>, context: &Context) -> Result<NodeOpening> {
    let HostsRequest { target, write, direct, grows, .. } = *wanted;
    let (destroy, wipe) = (target.destroy.clone(), target.wipe.clone());
    let target = serde_json::to_value(target).map_err(|error| {
        Error::environment(format!("writing the plan: {error}"), "report this as a bug")
    })?;
    // Of this machine it was asked already.
    let in_use = context.loads_in_use || matches!(plan.hosts, HostNames::Local(_));
    Ok(NodeOpening { target, destroy, wipe, in_use, write, direct, grows })
}

/// The time of day at which the measured time began.
pub(super) fn started_unix_ns(at_ns: u64) -> u64 {
    unix_ns_at(at_ns)
}
