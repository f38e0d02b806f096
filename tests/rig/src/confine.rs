//! Work without `io_uring`: a seccomp filter that refuses its system calls with `EPERM`.

use crate::errno::Errno;
use crate::skip::Skip;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};
use std::io;
use std::process::{Child, Command};

/// `io_uring_setup`, `io_uring_enter` and `io_uring_register`: the same numbers on every
/// architecture (kernel, `include/uapi/asm-generic/unistd.h`).
const IO_URING: [i64; 3] = [425, 426, 427];

fn filter() -> Result<BpfProgram, Skip> {
    let failed = |error: seccompiler::BackendError| Skip::new(format!("seccomp: {error}"));
    let machine = TargetArch::try_from(std::env::consts::ARCH).map_err(failed)?;
    let denied = SeccompAction::Errno(Errno::EPERM.raw().unsigned_abs());
    let rules = IO_URING.map(|call| (call, Vec::new()));
    let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, denied, machine);
    filter.and_then(BpfProgram::try_from).map_err(failed)
}

/// Denies `io_uring` to the calling thread and to all that it starts from now on, for good.
///
/// # Errors
/// A skip where seccomp is missing.
pub fn deny_io_uring() -> Result<(), Skip> {
    let program = filter()?;
    seccompiler::apply_filter(&program).map_err(|error| Skip::new(format!("seccomp: {error}")))
}

/// Calls `work` on a thread of its own that has no `io_uring`, nor has anything it starts.
///
/// # Errors
/// A skip where seccomp is missing.
///
/// # Panics
/// As `work` does.
pub fn without_io_uring<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Skip> {
    let joined =
        std::thread::scope(|scope| scope.spawn(|| deny_io_uring().map(|()| work())).join());
    joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Starts `command` without `io_uring`.
///
/// # Errors
/// A skip where seccomp is missing; inside, the error of starting the command.
pub fn spawn_without_io_uring(command: &mut Command) -> Result<io::Result<Child>, Skip> {
    without_io_uring(|| command.spawn())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seccomp_mode() -> String {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("Seccomp:"));
        line.unwrap_or("Seccomp: none").to_owned()
    }

    #[test]
    fn only_the_work_is_confined() {
        let before = seccomp_mode();
        let inside = crate::or_skip!(without_io_uring(seccomp_mode));
        assert!(inside.ends_with('2'), "{inside}");
        assert_eq!(seccomp_mode(), before);
    }
}
