//! What the tests share: a folder that goes away, and measurements made of numbers.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "every test file uses its own part"
)]

use assay_model::histogram::Precision;
use assay_model::measurement::{
    BackendKind, ClockKind, Conduct, Finish, Interval, Measurement, NamedResult, Operation,
    OperationResult, PerOperation, Window,
};
use assay_model::number::{count, real};
use assay_model::run::RunKind;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Stream, Workload};
use assay_store::{CellStart, NewRun, Store, WriteDurability};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// 2026-11-21 08:39:55 UTC.
pub const NOW_UNIX_NS: u64 = 1_795_250_395_000_000_000;
pub const SECOND_NS: u64 = 1_000_000_000;

/// A folder that is removed with everything in it.
pub struct Folder(PathBuf);

impl Folder {
    /// In memory where the system has a place for it, so that syncing costs nothing.
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        match tempdir_in(memory) {
            Ok(path) => Self(path),
            Err(_) => Self::on_disk(),
        }
    }

    pub fn on_disk() -> Self {
        Self(tempdir_in(&std::env::temp_dir()).unwrap())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn store(&self) -> Store {
        Store::at(self.0.join("runs"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn tempdir_in(parent: &Path) -> std::io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = parent.join(format!("assay-store-{}-{number}", std::process::id()));
    std::fs::create_dir(&path)?;
    Ok(path)
}

/// `SplitMix64`: small, seeded, good enough for load.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }

    /// In (0, 1).
    pub fn unit(&mut self) -> f64 {
        (real(self.bits() >> 11) + 0.5) / 9_007_199_254_740_992.0
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

pub fn new_run() -> NewRun {
    NewRun {
        kind: RunKind::Run,
        tool_version: "0.1.0".to_owned(),
        command: ["assay", "run", "oltp", "/data"].map(str::to_owned).to_vec(),
        targets: vec!["/data".to_owned()],
        created_unix_ns: NOW_UNIX_NS,
    }
}

/// A workload of one-second intervals.
pub fn workload(duration_s: u64) -> Workload {
    let stream = Stream::closed("pages", Share(0.7), Bytes(8192), 32);
    Workload::of("oltp", Nanos(duration_s * SECOND_NS), stream)
}

pub fn start(durability: WriteDurability) -> CellStart {
    CellStart {
        started_unix_ns: NOW_UNIX_NS,
        conduct: Conduct {
            backend: BackendKind::Uring,
            clock: ClockKind::Tsc,
            ..Conduct::default()
        },
        durability,
    }
}

/// A result of these times; response times are twice the service times.
pub fn result(times_ns: &[u64], open: bool) -> OperationResult {
    let mut result = OperationResult::empty(Precision::Fine, open);
    for time_ns in times_ns {
        result.ios += 1;
        result.bytes += 8192;
        result.service.record(*time_ns);
        if let Some(response) = &mut result.response {
            response.record(2 * time_ns);
        }
    }
    result
}

pub fn operations(operation: Operation, result: OperationResult) -> PerOperation {
    let mut operations = PerOperation::default();
    *operations.slot(operation) = Some(result);
    operations
}

/// The interval that a joint of one interval belongs to.
pub fn interval_of(index: u64, joint: &Window) -> Interval {
    let mut all = PerOperation::default();
    for stream in &joint.streams {
        all.merge(&stream.operations);
    }
    Interval {
        index,
        start_ns: index * SECOND_NS,
        end_ns: (index + 1) * SECOND_NS,
        operations: all.coarsened(),
        queue_depth_mean: real(1 + index % 4),
    }
}

/// Interval `index` of a made-up measurement with two streams on one target: any part of it can be
/// made again.
pub fn piece(index: u64) -> Window {
    let mut random = Random(index);
    let mut times = |most: u64| -> Vec<u64> {
        let ios = 1 + random.below(most);
        (0..ios).map(|_| 1 + random.below(3000)).collect()
    };
    let (pages, redo, sync) = (times(9), times(5), times(2));
    let mut log = operations(Operation::Write, result(&redo, true));
    log.sync = Some(OperationResult { bytes: 0, ..result(&sync, false) });
    Window {
        first_interval: index,
        intervals: 1,
        streams: vec![
            NamedResult {
                name: "pages".to_owned(),
                operations: operations(Operation::Read, result(&pages, false)),
            },
            NamedResult { name: "redo".to_owned(), operations: log },
        ],
        targets: Vec::new(),
    }
}

/// The first pieces as one joint.
pub fn pieces(intervals: u64) -> Window {
    let mut all = Window::default();
    for index in 0..intervals {
        all.merge(&piece(index));
    }
    all
}

/// What an engine would say of some pieces that follow one another.
pub fn measured(from: u64, to: u64, finish: Finish) -> Measurement {
    let mut all = Window::default();
    for index in from..to {
        all.merge(&piece(index));
    }
    Measurement {
        format: 1,
        workload: "oltp".to_owned(),
        started_unix_ns: NOW_UNIX_NS,
        elapsed_ns: (to - from) * SECOND_NS,
        finish,
        targets: vec![NamedResult {
            name: "/data".to_owned(),
            operations: {
                let mut operations = PerOperation::default();
                for stream in &all.streams {
                    operations.merge(&stream.operations);
                }
                operations
            },
        }],
        streams: all.streams,
        errors: Vec::new(),
        conduct: Conduct {
            backend: BackendKind::Uring,
            clock: ClockKind::Tsc,
            enters: 10 * (to - from),
            queue_depth_mean: 2.0,
            littles_law_ratio: 1.0,
            ..Conduct::default()
        },
    }
}

/// Lognormal service times with now and then a slow one.
pub fn service_times(random: &mut Random, ios: u64, median_ns: f64, sigma: f64) -> Vec<u64> {
    (0..ios)
        .map(|_| {
            let slow = if random.below(50) == 0 { 8.0 } else { 1.0 };
            count(slow * median_ns * (sigma * random.normal()).exp())
        })
        .collect()
}
