//! No bytes in the files of a run make its reader fail, and a run that is taken up again is written behind them.
#![no_main]

use assay_store::{CellStart, RunReader, Store, StoredDocument, WriteDurability, take_damage};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const FILES: [&str; 10] = [
    "run.json",
    "events.jsonl",
    "watch.jsonl",
    "checksums.jsonl",
    "workload.toml",
    "cells/run/workload.toml",
    "cells/run/intervals.jsonl",
    "cells/run/tail.jsonl",
    "cells/run/measurement.json",
    "cells/run/checksums.jsonl",
];
const ID: &str = "20261121-083955-run-k3f9";
const MANIFEST: &str = r#"{"format":1,"id":"20261121-083955-run-k3f9","kind":"run","tool_version":"0","command":[],
"targets":["/data"],"created_unix_ns":1}"#;
const WORKLOAD: &str = "format = 1\nname = \"x\"\nduration = \"4s\"\ninterval = \"1s\"\n[[stream]]\nname = \"s\"\n\
    block_size = \"8KiB\"\narrival = { closed = { queue_depth = 4 } }\n";

/// A store in memory, for this process alone.
static STORE: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = PathBuf::from(format!("/dev/shm/assay-fuzz-runs-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
});

/// Files divided by lines of `=` and a digit, which says which one follows.
fn lay_out(bytes: &[u8]) {
    let run = STORE.join(ID);
    let _ = fs::remove_dir_all(&run);
    let written = fs::create_dir_all(run.join("cells/run"))
        .and_then(|()| fs::write(run.join("run.json"), MANIFEST))
        .and_then(|()| fs::write(run.join("cells/run/workload.toml"), WORKLOAD));
    written.expect("memory takes a run");
    for part in bytes.split(|byte| *byte == b'=') {
        if let Some((digit, content)) = part.split_first() {
            let name = FILES[usize::from(*digit) % FILES.len()];
            fs::write(run.join(name), content).expect("memory takes a file");
        }
    }
}

fn read() {
    let Ok(run) = RunReader::open(&STORE.join(ID)) else { return };
    for document in StoredDocument::ALL {
        drop(run.document(document));
    }
    run.events().into_iter().flatten().for_each(drop);
    run.moments().into_iter().flatten().for_each(drop);
    for cell in run.cells().into_iter().flatten() {
        drop((cell.workload(), cell.status(), cell.measurement()));
        cell.summaries().into_iter().flatten().for_each(drop);
        cell.joints().into_iter().flatten().for_each(drop);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lay_out(bytes);
    read();
    drop(Store::at(&*STORE).runs());
    if let Ok(run) = Store::at(&*STORE).resume(ID, 1) {
        let start = CellStart { durability: WriteDurability::Finished, ..CellStart::default() };
        drop(run.resume_cell("run", &start));
    }
    read();
    drop(take_damage());
});
