//! Limits that control groups, of version 1 and 2, put on this process's I/O and CPU.

use super::computer::fact;
use crate::device::BlockDevice;
use crate::mounts::{MountEntry, read_mounts};
use crate::root::Survey;
use assay_model::environment::IoLimit;
use assay_model::number::real;
use assay_model::stack::DeviceNumber;
use std::path::{Path, PathBuf};

/// Version 1 has a file a quantity.
const THROTTLES: [(&str, &str); 4] = [
    ("blkio.throttle.read_bps_device", "read bytes/s"),
    ("blkio.throttle.write_bps_device", "write bytes/s"),
    ("blkio.throttle.read_iops_device", "read IOPS"),
    ("blkio.throttle.write_iops_device", "write IOPS"),
];

/// Version 2 has a word a quantity.
const WORDS: [(&str, &str); 4] = [
    ("rbps=", "read bytes/s"),
    ("wbps=", "write bytes/s"),
    ("riops=", "read IOPS"),
    ("wiops=", "write IOPS"),
];

/// A control group that this process is in, or one that contains it.
struct ControlGroup {
    /// Its directory.
    place: PathBuf,
    /// Its name, from the root of the hierarchy.
    name: String,
}

pub(super) fn io_limits(survey: &Survey) -> Vec<IoLimit> {
    let mut limits = Vec::new();
    for group in groups(survey, Some("blkio")) {
        for (file, quantity) in THROTTLES {
            let text = survey.text(&group.place.join(file)).unwrap_or_default();
            limits.extend(text.lines().filter_map(|line| throttle(survey, &group, line, quantity)));
        }
    }
    for group in groups(survey, None) {
        let text = survey.text(&group.place.join("io.max")).unwrap_or_default();
        limits.extend(text.lines().flat_map(|line| maxima(survey, &group, line)));
    }
    limits
}

/// One line of version 1: `8:0 1048576`.
fn throttle(survey: &Survey, group: &ControlGroup, line: &str, quantity: &str) -> Option<IoLimit> {
    let (device, limit) = line.split_once(' ')?;
    Some(limit_of(survey, group, device.parse().ok()?, quantity, limit.trim().parse().ok()?))
}

/// One line of version 2: `8:0 rbps=max wbps=1048576 riops=max wiops=max`.
fn maxima(survey: &Survey, group: &ControlGroup, line: &str) -> Vec<IoLimit> {
    let mut words = line.split_whitespace();
    let Some(device) = words.next().and_then(|word| word.parse().ok()) else {
        return Vec::new();
    };
    let limit = |word: &str| {
        let (key, quantity) = WORDS.iter().find(|(key, _)| word.starts_with(key))?;
        let per_s = word.strip_prefix(key)?.parse().ok()?;
        Some(limit_of(survey, group, device, quantity, per_s))
    };
    words.filter_map(limit).collect()
}

fn limit_of(
    survey: &Survey,
    group: &ControlGroup,
    device: DeviceNumber,
    quantity: &str,
    per_s: u64,
) -> IoLimit {
    let named = BlockDevice::by_number(survey.root(), device).ok();
    IoLimit {
        control_group: group.name.clone(),
        device,
        device_name: named.map(|device| device.name().to_owned()),
        quantity: quantity.to_owned(),
        per_s,
    }
}

/// The tightest CPU limit, in processors.
pub(super) fn cpu_limit(survey: &Survey) -> Option<f64> {
    let ratio = |quota: Option<u64>, period: Option<u64>| {
        Some(real(quota?) / real(period.filter(|period| *period > 0)?))
    };
    let first = groups(survey, Some("cpu")).into_iter().filter_map(|group| {
        let number = |name: &str| survey.text(&group.place.join(name))?.parse().ok();
        ratio(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
    });
    let second = groups(survey, None).into_iter().filter_map(|group| {
        let text = survey.text(&group.place.join("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        ratio(quota.parse().ok(), period.parse().ok())
    });
    first.chain(second).reduce(f64::min)
}

/// The groups of one hierarchy that hold this process, from its own up to the root: of a controller
/// of version 1, or, without one, of version 2.
fn groups(survey: &Survey, controller: Option<&str>) -> Vec<ControlGroup> {
    let own = fact(survey, "/proc/self/cgroup").unwrap_or_default();
    let mounts = read_mounts(survey.root()).unwrap_or_default();
    let line = own.lines().find_map(|line| own_group(line, controller));
    let mount = mounts.iter().find(|mount| is_hierarchy(mount, controller));
    let (Some(path), Some(mount)) = (line, mount) else {
        return Vec::new();
    };
    // Within a container the mounted directory is the root of what can be seen.
    let below = Path::new(path).strip_prefix(&mount.directory).unwrap_or(Path::new(path));
    let top = survey.root().path(&mount.mount.mount_point);
    let each = below.ancestors().map(|part| part.strip_prefix("/").unwrap_or(part));
    each.map(|part| ControlGroup { place: top.join(part), name: format!("/{}", part.display()) })
        .filter(|group| group.place.is_dir())
        .collect()
}

/// The path of a line such as `7:blkio:/user` or, of version 2, `0::/user`.
fn own_group<'a>(line: &'a str, controller: Option<&str>) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let wanted = match controller {
        Some(name) => controllers.split(',').any(|known| known == name),
        None => controllers.is_empty(),
    };
    wanted.then_some(path)
}

fn is_hierarchy(mount: &MountEntry, controller: Option<&str>) -> bool {
    match controller {
        Some(name) => {
            let has = mount.mount.options.iter().any(|option| option == name);
            mount.mount.file_system == "cgroup" && has
        }
        None => mount.mount.file_system == "cgroup2",
    }
}
