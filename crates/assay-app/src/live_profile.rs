//! The profile of a live server over an interval.

use crate::progress::ProgressSender;
use assay_dbload::load::{Dialect, Product};
use assay_dbload::with_link;
use assay_host::counters::{process_cpu_s, read_counters};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_host::watch::task_counters;
use assay_live::HostContext;
use assay_live::watch::{ObservedServer, ObservedServerSpan, TaskTimes, WatchPlan};
use assay_model::counters::{Counters, TaskCounters};
use assay_model::environment::Environment;
use assay_model::profile::ProfileDeviceIo;
use assay_model::units::Nanos;
use assay_model::{Error, Profile, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Shorter intervals hold too few looks for any interval of doubt.
const LENGTH_MIN: Duration = Duration::from_secs(2);

/// What is wanted of a server.
pub struct ServerWatch<'a> {
    /// The address of a server.
    pub address: &'a str,
    /// How long to watch.
    pub length: Nanos,
    /// Whether to read single blocks during its load.
    pub canary: bool,
    /// Hears the name of the profile before the server is watched, and may refuse it.
    pub named: &'a dyn Fn(&str) -> Result<()>,
}

/// Watches a server and gives the same document as a report does.
///
/// # Errors
/// A usage error for a length that is too short or no address, an environment error when the server
/// refuses or goes away.
pub fn profile(
    wanted: &ServerWatch<'_>,
    stop: &Arc<AtomicBool>,
    progress: &ProgressSender,
) -> Result<Profile> {
    let length = Duration::from_nanos(wanted.length.0);
    if length < LENGTH_MIN {
        return Err(Error::usage(
            format!("{} s is too short for a profile of a server", length.as_secs_f64()),
            "write at least 2s; a minute shows more",
        ));
    }
    let dialect = Dialect::of_address(wanted.address).unwrap_or(Dialect::Postgres);
    with_link!(dialect, L => watched::<<L as Product>::Watcher>(wanted, length, stop, progress))
}

/// The profile of a server of a product.
fn watched<W: ObservedServer>(
    wanted: &ServerWatch<'_>,
    length: Duration,
    stop: &Arc<AtomicBool>,
    progress: &ProgressSender,
) -> Result<Profile> {
    let address = W::parse(wanted.address)?;
    let mut watcher = W::connect_warm(&address)?;
    (wanted.named)(&watcher.subject())?;
    let root = SysRoot::live();
    let mut place = ServerPlace::of(&mut watcher, &root)?;
    let times = |process_id: u32| -> Option<TaskCounters> { task_counters(&root, process_id) };
    let times: Option<TaskTimes<'_>> = if place.is_here { Some(&times) } else { None };
    let (devices, cpu_s) = (place.counters(&root), process_cpu_s());
    let total_s = length.as_secs_f64();
    let mut show = |elapsed_s: f64, active: u64| {
        let what = format!("{active} sessions active");
        progress.show(&what, elapsed_s / total_s, Some((total_s - elapsed_s).max(0.0)));
    };
    let canary = if wanted.canary { W::canary(&address)? } else { None };
    if wanted.canary && canary.is_none() {
        place.missing.push(format!("times of single blocks: {}", W::NO_CANARY));
    }
    let seen = watcher.watch(canary, WatchPlan::of(length), times, stop, &mut show)?;
    progress.clear();
    let outside = HostContext {
        own_cpu_s: process_cpu_s() - cpu_s,
        name: watcher.subject(),
        ..place.outside(&root, &devices)
    };
    profile_of::<W>(&seen, outside, place.missing)
}

/// The profile of what was seen.
fn profile_of<W: ObservedServer>(
    seen: &ObservedServerSpan<W>,
    outside: HostContext,
    missing: Vec<String>,
) -> Result<Profile> {
    let read_times = seen.read_times.clone();
    let outside = HostContext {
        complete: seen.complete,
        read_times,
        process_io: seen.process_io.clone(),
        io_by_second: seen.io_by_second.clone(),
        ..outside
    };
    let mut profile = W::profile(seen, &outside)?;
    profile.missing.extend(missing);
    profile.missing.extend(unknown_traffic(&outside));
    let stands = outside.device.as_ref().filter(|_| device_of(&profile).is_none());
    profile.missing.extend(stands.map(|device| {
        format!(
            "the device {}: its counters did not move while the server read or wrote",
            device.name
        )
    }));
    Ok(profile)
}

fn device_of(profile: &Profile) -> Option<&ProfileDeviceIo> {
    profile.server.as_ref()?.device.as_ref()
}

/// Where the server is on this host and its processes keep their traffic to themselves.
fn unknown_traffic(outside: &HostContext) -> Option<String> {
    let is_hidden = outside.device.is_some() && outside.process_io.is_none();
    is_hidden.then(|| {
        "bytes moved by the server's processes: run assay as root or as the server's own account"
            .to_owned()
    })
}

/// Where the server runs, as far as this host can see.
struct ServerPlace {
    /// Whether its processes are this host's.
    is_here: bool,
    environment: Option<Environment>,
    /// All devices under its data, from the top down.
    devices: Vec<String>,
    /// The topmost device under its data.
    device: Option<String>,
    /// What is not known therefore.
    missing: Vec<String>,
}

impl ServerPlace {
    fn of<W: ObservedServer>(watcher: &mut W, root: &SysRoot) -> Result<Self> {
        let mut place = Self {
            is_here: watcher.is_here(),
            environment: None,
            devices: Vec::new(),
            device: None,
            missing: Vec::new(),
        };
        if !place.is_here {
            place.missing.push("reads of the devices: the server is not on this host".to_owned());
            return Ok(place);
        }
        match watcher.data_directory()? {
            Some(directory) => place.find(root, &directory),
            None => place.missing.push(
                "reads of the devices: this account cannot see the data directory \
                 (pg_read_all_settings)"
                    .to_owned(),
            ),
        }
        Ok(place)
    }

    fn find(&mut self, root: &SysRoot, directory: &Path) {
        match capture_environment(root, &[directory], &[]) {
            Ok(environment) => {
                let stack = environment.storage.first().map(|storage| &storage.stack);
                let layers = stack.map_or(&[][..], |stack| &stack.layers);
                self.devices = layers.iter().map(|layer| layer.name.clone()).collect();
                self.device = self.devices.first().cloned();
                self.environment = Some(environment);
            }
            Err(error) => self.missing.push(format!("reads of the devices: {}", error.message())),
        }
        if self.device.is_none() && self.missing.is_empty() {
            self.missing
                .push("reads of the devices: the data are not on a block device".to_owned());
        }
    }

    fn counters(&self, root: &SysRoot) -> Counters {
        let devices: Vec<String> = self.device.iter().cloned().collect();
        read_counters(root, &devices)
    }

    /// What the server does not know itself.
    fn outside(&self, root: &SysRoot, before: &Counters) -> HostContext {
        let passed = self.counters(root).since(before);
        let host = self.environment.as_ref().map(|environment| &environment.host);
        HostContext {
            host: host.map(|host| host.name.clone()),
            processors: host.map(|host| host.cpu.logical),
            busy_share: passed
                .cpu
                .as_ref()
                .filter(|_| host.is_some())
                .map(assay_model::counters::CpuCounters::busy_share),
            device: passed.devices.into_iter().next(),
            ..HostContext::default()
        }
    }
}
