//! The process that outlives a killed test and tears its mounts away.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, id};

/// Waits until process `$1` is gone or a zombie, then unmounts by force what it had mounted below
/// its scratch directories in `$2`. A thread that waits for a mount of its own process cannot be
/// killed, and keeps the mount's server from being closed: only an unmount from outside ends both.
const WATCH: &str = r#"
while read -r line < "/proc/$1/stat"; do
    case "${line##*) }" in Z*|X*) break ;; esac
    sleep 0.3
done 2> /dev/null
while read -r _ _ _ _ point _; do
    case "$point" in "$2/assay-rig.$1."*) umount -f -l "$point" ;; esac
done < /proc/self/mountinfo
rmdir "$2/assay-rig.$1."*
"#;

/// Starts the watchdog of this process. Without a shell there is none, and what a killed test
/// leaves is swept away by the next one.
pub(crate) fn start() {
    let mut watch = Command::new("sh");
    watch.args(["-c", WATCH, "watchdog", &id().to_string()]).arg(std::env::temp_dir());
    watch.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its own group: what interrupts the test from the terminal must not reach it.
    let _ = watch.current_dir("/").process_group(0).spawn();
}
