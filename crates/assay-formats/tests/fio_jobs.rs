//! What `fio --parse-only` takes is taken, left out by name, or refused with its true reason:
//! options one by one, a job file of each section, and the job files of others where they are
//! there. Without fio the tests say so and pass.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing"
)]

use assay_formats::{OptionReason, Refused, Surroundings, convert};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether fio takes a job file; nothing where there is no fio.
fn is_taken_by_fio(file: &Path) -> Option<bool> {
    let mut fio = Command::new("fio");
    fio.arg("--parse-only").arg(file).stdin(Stdio::null());
    fio.stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(status) = fio.status() {
        return Some(status.success());
    }
    println!("skipped: fio is not installed");
    None
}

fn read(text: &str, folder: &Path) -> Result<(), Refused> {
    let file = |included: &str| {
        std::fs::read_to_string(folder.join(included))
            .map_err(|error| assay_model::Error::usage(error.to_string(), "specify it"))
    };
    // Every variable and every word for the host has a value.
    let variable = |name: &str| {
        let value = if name.starts_with('$') { "4096" } else { "8" };
        Some(value.to_owned())
    };
    let around = Surroundings { file: &file, variable: &variable };
    convert(text, "job.fio", &around).map(drop)
}

/// Reasons that say that the file is wrong, which a file that fio takes is not.
const fn says_wrong(reason: &OptionReason) -> bool {
    matches!(
        reason,
        OptionReason::Value | OptionReason::NoValue | OptionReason::UnknownOption { .. }
    )
}

/// Options in forms that fio takes; each is tried behind a whole job.
const OPTIONS: [&str; 49] = [
    "threads=1",
    "verify_async_cpus=0",
    "group_reporting=0",
    "thread=0",
    "rate_iops=0",
    "rate=0",
    "rate=,2m",
    "rate=1m,2m",
    "rate_iops=100,",
    "bs=$pagesize",
    "bs=4k,",
    "bs=,8k",
    "bs=4k,8k,16k",
    "bsrange=4k:64k",
    "bsrange=4k-64k,8k-16k",
    "bssplit=4k/10:64k/50:32k/",
    "bssplit=4k:8k",
    "size=2*$mb_memory",
    "size=50%",
    "size=100%%",
    "rw=randread:8",
    "rw=read:4k",
    "sync=0",
    "sync=dsync",
    "fsync=0",
    "fdatasync=0",
    "fsync=4k",
    "runtime=30s",
    "runtime=1.5",
    "size=1.5g",
    "numjobs=0",
    "loops=0",
    "nrfiles=0",
    "filesize=1k-8k",
    "startdelay=2-4",
    "rwmixwrite=0",
    "rwmixread=33",
    "thinktime=1ms",
    "random_distribution=zipf",
    "random_distribution=zipf:1.2:0.5",
    "random_distribution=zoned:50/5:30/15:20/",
    "random_distribution=normal:20",
    "filename=a\\:b:c",
    "iodepth=0x10",
    "ioengine=none_of_these",
    "cpus_allowed=0-3",
    "offset=10%",
    "log_max_value=1",
    "dedupe_mode=working_set",
];

#[test]
fn every_form_of_an_option_that_fio_takes_is_taken_or_refused_with_its_reason() {
    let folder = std::env::temp_dir().join(format!("assay-fio-jobs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("job.fio");
    for option in OPTIONS {
        let text = format!("[job]\nfilename=x\nsize=1m\nbs=8k\nruntime=5\n{option}\n");
        std::fs::write(&file, &text).unwrap();
        let Some(is_taken) = is_taken_by_fio(&file) else { break };
        assert!(is_taken, "fio itself refuses {option}");
        if let Err(refused) = read(&text, &folder) {
            assert!(!says_wrong(&refused.reason), "{option}: {}", refused.into_error());
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Job files of others: those next to the repository, and those of a folder that is named.
fn files() -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folders = [
        Some(shared.join("compat/fio")),
        std::env::var_os("ASSAY_FIO_EXAMPLES").map(PathBuf::from),
    ];
    let mut files = vec![shared.join("cases/19-fio-valid-syntax.fio")];
    for folder in folders.into_iter().flatten() {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|path| path.is_file());
    files.sort();
    if files.is_empty() {
        println!("skipped: the real files of other programs are not next to the repository");
    }
    files
}

#[test]
fn job_files_of_others_are_taken_where_fio_takes_them() {
    let (mut taken, mut carried, mut wrong) = (0, 0, String::new());
    for path in files() {
        let Some(is_taken) = is_taken_by_fio(&path) else { return };
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let found = read(&text, path.parent().unwrap());
        carried += u32::from(is_taken && found.is_ok());
        taken += u32::from(is_taken);
        if let Err(refused) = found {
            let is_wrong = is_taken && says_wrong(&refused.reason);
            println!("{}: {}", path.display(), refused.clone().into_error().message());
            if is_wrong {
                let line = format!("{}: {}\n", path.display(), refused.into_error());
                wrong.push_str(&line);
            }
        }
    }
    println!("fio takes {taken}, of which {carried} are carried over");
    assert!(wrong.is_empty(), "{wrong}");
}
