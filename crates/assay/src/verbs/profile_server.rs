//! `assay profile postgresql://…`: the profile of a live server over an interval.

use crate::options::OutputOptions;
use crate::progress::Progress;
use crate::statistics::Book;
use assay_host::counters::{process_cpu_s, read_counters};
use assay_host::environment::capture_environment;
use assay_host::root::SysRoot;
use assay_host::watch::task_counters;
use assay_model::counters::{Counters, TaskCounters};
use assay_model::environment::Environment;
use assay_model::units::Nanos;
use assay_model::{Error, Profile, Result};
use assay_postgres::model::{Outside, profile as profile_of};
use assay_postgres::watch::{Plan, TaskTimes, Watcher};
use std::path::Path;
use std::time::Duration;

/// Shorter intervals hold too few looks for any interval of doubt.
const LENGTH_MIN: Duration = Duration::from_secs(2);

/// Whether a name is the address of a server rather than of a file.
pub fn is_address(name: &str) -> bool {
    name.starts_with("postgresql://") || name.starts_with("postgres://")
}

/// Watches a server for `length` and gives the same document as a report does.
///
/// # Errors
/// A usage error for a length that is too short or no address, an environment error when the server refuses or goes away.
pub fn profile(address: &str, length: Nanos, output: &OutputOptions) -> Result<Profile> {
    let length = Duration::from_nanos(length.0);
    if length < LENGTH_MIN {
        return Err(Error::usage(
            format!("--for {} s is too short for a profile", length.as_secs_f64()),
            "write at least 2s; a minute tells more",
        ));
    }
    let stop = crate::signals::stop_flag()?;
    let mut progress = Progress::new(output);
    let mut watcher = Watcher::connect(address)?;
    let root = SysRoot::live();
    let place = Place::of(&mut watcher, &root)?;
    let times = |process_id: u32| -> Option<TaskCounters> { task_counters(&root, process_id) };
    let times: Option<TaskTimes<'_>> = if place.is_here { Some(&times) } else { None };
    let (devices, cpu_s) = (place.counters(&root), process_cpu_s());
    let total_s = length.as_secs_f64();
    let mut show = |elapsed_s: f64, active: u64| {
        let what = format!("{active} sessions active");
        progress.show(&what, elapsed_s / total_s, Some((total_s - elapsed_s).max(0.0)));
    };
    let observed = watcher.observe(Plan::of(length), times, &stop, &mut show)?;
    progress.clear();
    let mut outside = place.outside(&root, &devices);
    outside.own_cpu_s = process_cpu_s() - cpu_s;
    outside.complete = observed.complete;
    watcher.database().clone_into(&mut outside.name);
    let mut profile =
        profile_of(&observed.before, &observed.after, &observed.looks, &outside, &Book)?;
    profile.missing.extend(place.missing);
    Ok(profile)
}

/// Where the server runs, as far as this host can tell.
struct Place {
    /// Whether its processes are this host's.
    is_here: bool,
    environment: Option<Environment>,
    /// The topmost device under its data.
    device: Option<String>,
    /// What is not known therefore.
    missing: Vec<String>,
}

impl Place {
    fn of(watcher: &mut Watcher, root: &SysRoot) -> Result<Self> {
        let mut place = Self {
            is_here: watcher.is_near() && is_server(root, watcher.process_id()),
            environment: None,
            device: None,
            missing: Vec::new(),
        };
        if !place.is_here {
            place
                .missing
                .push("reads of the devices: the server is not seen on this host".to_owned());
            return Ok(place);
        }
        match watcher.data_directory()? {
            Some(directory) => place.find(root, &directory),
            None => place.missing.push("reads of the devices: this account may not know where the data lie (pg_read_all_settings)".to_owned()),
        }
        Ok(place)
    }

    fn find(&mut self, root: &SysRoot, directory: &Path) {
        match capture_environment(root, &[directory], &[]) {
            Ok(environment) => {
                let stack = environment.storage.first().map(|storage| &storage.stack);
                let top = stack.and_then(|stack| stack.layers.first());
                self.device = top.map(|layer| layer.name.clone());
                self.environment = Some(environment);
            }
            Err(error) => self.missing.push(format!("reads of the devices: {}", error.message())),
        }
        if self.device.is_none() && self.missing.is_empty() {
            self.missing
                .push("reads of the devices: no block device lies under the data".to_owned());
        }
    }

    fn counters(&self, root: &SysRoot) -> Counters {
        let devices: Vec<String> = self.device.iter().cloned().collect();
        read_counters(root, &devices)
    }

    /// What the server does not know itself.
    fn outside(&self, root: &SysRoot, before: &Counters) -> Outside {
        let passed = self.counters(root).since(before);
        let host = self.environment.as_ref().map(|environment| &environment.host);
        Outside {
            host: host.map(|host| host.name.clone()),
            processors: host.map(|host| host.cpu.logical),
            device: passed.devices.into_iter().next(),
            ..Outside::default()
        }
    }
}

/// Whether a process of this host is one of PostgreSQL: on another host, or in another container, the id is somebody
/// else's or nobody's.
fn is_server(root: &SysRoot, process_id: u32) -> bool {
    let name = root.text(format!("/proc/{process_id}/comm")).unwrap_or_default();
    ["postgres", "postmaster", "edb-postgres"].contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_from_a_file() {
        assert!(is_address("postgresql:///postgres?host=/tmp"));
        assert!(is_address("postgres://db1/shop"));
        assert!(!is_address("awr-1-2.html"));
        assert!(!is_address("./postgresql.txt"));
    }

    #[test]
    fn this_test_is_no_server() {
        assert!(!is_server(&SysRoot::live(), std::process::id()));
    }
}
