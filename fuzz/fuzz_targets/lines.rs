//! No bytes make the readers of what the system or other tools write fail: mounts, swaps, devices, counters, OSWatcher archives.
#![no_main]

use assay_host::root::{SysRoot, Survey};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A made-up system in memory, for this process alone.
static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = PathBuf::from(format!("/dev/shm/assay-fuzz-system-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
});

const PROC: [&str; 14] = [
    "proc/self/mountinfo",
    "proc/swaps",
    "proc/stat",
    "proc/diskstats",
    "proc/meminfo",
    "proc/vmstat",
    "proc/cpuinfo",
    "proc/pressure/io",
    "proc/pressure/cpu",
    "proc/net/dev",
    "proc/mdstat",
    "sys/dev/block/8:0/stat",
    "sys/dev/block/8:0/queue/rotational",
    "sys/dev/block/8:0/size",
];
const ARCHIVE: [&str; 5] = [
    "archive/oswiostat/h_iostat_26.11.22.2200.dat",
    "archive/oswvmstat/h_vmstat_26.11.22.2200.dat",
    "archive/oswmpstat/h_mpstat_26.11.22.2200.dat",
    "archive/oswnetstat/h_netstat_26.11.22.2200.dat",
    "archive/oswmeminfo/h_meminfo_26.11.22.2200.dat.gz",
];

fn write(name: &str, bytes: &[u8]) {
    let path = ROOT.join(name);
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).and_then(|()| fs::write(&path, bytes)).expect("memory takes a file");
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, content)) = bytes.split_first() else { return };
    let kind = usize::from(*kind) % (PROC.len() + ARCHIVE.len());
    if let Some(name) = ARCHIVE.get(kind) {
        let _ = fs::remove_dir_all(ROOT.join("archive"));
        write(name, content);
        drop(assay_archives::oswatcher::read(&ROOT.join("archive")));
        return;
    }
    let _ = fs::remove_dir_all(&*ROOT);
    write(PROC[kind - ARCHIVE.len()], content);
    let root = SysRoot::under(&*ROOT);
    drop((assay_host::mounts::read_mounts(&root), assay_host::mounts::read_swaps(&root)));
    drop(assay_host::counters::read_counters(&root, &["sda".to_owned()]));
    let survey = Survey::new(&root);
    drop(assay_host::stack::read_mount_stack(&survey, Path::new("/")));
    drop(assay_host::environment::read_host(&survey));
});
