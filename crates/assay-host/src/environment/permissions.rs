//! What the kernel lets this process do.

use super::computer::fact;
use crate::counters::tagged;
use crate::root::Survey;
use assay_model::environment::Permissions;
use rustix::process::{Resource, geteuid, getrlimit};

/// `Seccomp:` of a process under a filter.
const SECCOMP_FILTER: u64 = 2;

pub(super) fn permissions(survey: &Survey) -> Permissions {
    let number = |path: &str| survey.value(&survey.root().path(path));
    let status = fact(survey, "/proc/self/status").unwrap_or_default();
    Permissions {
        user_id: u64::from(geteuid().as_raw()),
        io_uring_disabled: number("/proc/sys/kernel/io_uring_disabled"),
        seccomp_filter: tagged(&status, "Seccomp:").map(|mode| mode == SECCOMP_FILTER),
        locked_memory_bytes: getrlimit(Resource::Memlock).current,
        open_files: getrlimit(Resource::Nofile).current,
        asynchronous_ios_max: number("/proc/sys/fs/aio-max-nr"),
        asynchronous_ios: number("/proc/sys/fs/aio-nr"),
    }
}
