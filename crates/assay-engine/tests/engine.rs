//! The engine on real files: every backend moves what it says, stops when asked, and counts what
//! fails.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use assay_engine::{
    BackendChoice, EngineJob, Ignore, OpenFile, UringOptions, monotonic_ns, run, run_from,
    uring_denied,
};
use assay_model::Error;
use assay_model::measurement::{Finish, Interval, Measurement, Window};
use assay_model::number::index_of;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Content, Stream, Workload};
use std::fs::{File, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LENGTH: u64 = 8 << 20;

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-engine-{}-{name}", std::process::id()));
        std::fs::write(&path, vec![0xa5; index_of(LENGTH)]).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn target(path: &Path, writable: bool) -> OpenFile {
    let file = OpenOptions::new().read(true).write(writable).open(path).unwrap();
    OpenFile {
        name: path.display().to_string(),
        file,
        first_byte: 4096,
        length_bytes: LENGTH - 8192,
        alignment_bytes: 512,
        writable,
        direct: false,
        passthrough: None,
    }
}

fn backends() -> Vec<BackendChoice> {
    let mut backends = vec![BackendChoice::Posix, BackendChoice::Null];
    match uring_denied() {
        None => backends.push(BackendChoice::Uring(UringOptions::default())),
        Some(reason) => println!("skipped: uring: {reason}"),
    }
    backends
}

fn workload(stream: Stream) -> Workload {
    let mut workload = Workload::of("test", Nanos(300_000_000), stream);
    workload.interval = Nanos(100_000_000);
    workload.direct = false;
    workload
}

fn measure(
    path: &Path,
    backend: BackendChoice,
    stream: Stream,
    passes: Option<u64>,
) -> Measurement {
    let targets = Arc::from([target(path, stream.writes())]);
    let mut workload = workload(stream);
    if passes.is_some() {
        workload.duration = Nanos(60_000_000_000);
    }
    let job = EngineJob { workload: &workload, targets, backend, passes };
    run(&job, &AtomicBool::new(false), &mut Ignore).unwrap()
}

#[test]
fn every_backend_reads_for_the_whole_time() {
    let scratch = Scratch::new("reads");
    for backend in backends() {
        let stream = Stream { workers: 2, ..Stream::closed("reads", Share(1.0), Bytes(8192), 8) };
        let measurement = measure(&scratch.0, backend, stream, None);
        assert_eq!(
            (measurement.finish.clone(), measurement.elapsed_ns),
            (Finish::Complete, 300_000_000)
        );
        let reads = measurement.streams[0].operations.read.as_ref().unwrap();
        assert!(
            reads.ios > 0 && reads.bytes == reads.ios * 8192 && reads.service.ios() == reads.ios,
            "{backend:?}"
        );
        assert!(measurement.errors.is_empty(), "{:?}", measurement.errors);
    }
}

#[test]
fn a_pass_writes_every_block_once_and_nothing_outside() {
    for backend in backends().into_iter().filter(|backend| *backend != BackendChoice::Null) {
        for access in [Access::Sequential { streams: 1 }, Access::Permutation] {
            let scratch = Scratch::new("pass");
            let stream = Stream {
                access,
                workers: 2,
                content: Content::default(),
                ..Stream::closed("fill", Share(0.0), Bytes(16_384), 8)
            };
            let measurement = measure(&scratch.0, backend, stream, Some(1));
            let written = measurement.operations().write.unwrap().ios;
            assert_eq!(written, (LENGTH - 8192) / 16_384, "{backend:?} {access:?}");
            let mut data = vec![0; index_of(LENGTH)];
            File::open(&scratch.0).unwrap().read_exact_at(&mut data, 0).unwrap();
            let untouched =
                |range: std::ops::Range<usize>| data[range].iter().all(|byte| *byte == 0xa5);
            let end = 4096 + index_of(written * 16_384);
            assert!(untouched(0..4096) && untouched(end..data.len()), "{backend:?} {access:?}");
            assert!(
                (4096..end).step_by(4096).all(|at| !untouched(at..at + 64)),
                "{backend:?} {access:?}"
            );
        }
    }
}

#[test]
fn reading_past_the_end_is_counted_as_errors_with_the_first_offset() {
    let scratch = Scratch::new("short");
    for backend in backends().into_iter().filter(|backend| *backend != BackendChoice::Null) {
        let mut target = target(&scratch.0, false);
        target.length_bytes = 2 * LENGTH;
        let workload = workload(Stream::closed("reads", Share(1.0), Bytes(8192), 4));
        let job =
            EngineJob { workload: &workload, targets: Arc::from([target]), backend, passes: None };
        let measurement = run(&job, &AtomicBool::new(false), &mut Ignore).unwrap();
        let error = measurement.errors.iter().find(|error| error.errno == 0).unwrap();
        assert!(error.ios > 0 && error.first_offset_bytes + 8192 > LENGTH, "{error:?}");
        assert!(measurement.operations().read.unwrap().ios > 0);
    }
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let scratch = Scratch::new("stop");
    for backend in backends() {
        let stop = AtomicBool::new(false);
        let mut workload = workload(Stream::closed("reads", Share(1.0), Bytes(8192), 4));
        workload.duration = Nanos(60_000_000_000);
        let job = EngineJob {
            workload: &workload,
            targets: Arc::from([target(&scratch.0, false)]),
            backend,
            passes: None,
        };
        let mut indices = Vec::new();
        let mut observe = |interval: &Interval, _: &Window| {
            indices.push(interval.index);
            stop.store(indices.len() >= 3, Ordering::Relaxed);
            ControlFlow::Continue(())
        };
        let measurement = run(&job, &stop, &mut observe).unwrap();
        assert_eq!(measurement.finish, Finish::Interrupted);
        assert!(measurement.elapsed_ns >= 300_000_000 && measurement.iops() > 0.0);
        assert_eq!(indices[..3], [0, 1, 2]);
    }
}

#[test]
fn a_load_begins_at_the_moment_that_it_is_given() {
    let scratch = Scratch::new("moment");
    for backend in backends() {
        let workload = workload(Stream::closed("reads", Share(1.0), Bytes(8192), 4));
        let targets = Arc::from([target(&scratch.0, false)]);
        let job = EngineJob { workload: &workload, targets, backend, passes: None };
        let mut asked = 0;
        let mut starter = || {
            asked += 1;
            Ok(monotonic_ns() + 30_000_000)
        };
        let started =
            run_from(&job, None, &mut starter, &AtomicBool::new(false), &mut Ignore).unwrap();
        assert_eq!(asked, 1, "{backend:?}");
        let began_ns = started.began_ns.clone().unwrap();
        assert!(*began_ns.start() >= started.start_ns, "{backend:?} {started:?}");
        assert!(began_ns.start() <= began_ns.end());
        assert!(started.measurement.iops() > 0.0);
    }
}

#[test]
fn a_load_that_is_called_off_issues_nothing() {
    let scratch = Scratch::new("called-off");
    for backend in backends() {
        let workload = workload(Stream::closed("reads", Share(1.0), Bytes(8192), 4));
        let targets = Arc::from([target(&scratch.0, false)]);
        let job = EngineJob { workload: &workload, targets, backend, passes: None };
        let mut starter = || Err(Error::environment("the others are not ready", "start again"));
        let mut intervals = 0;
        let mut count = |_: &Interval, _: &Window| {
            intervals += 1;
            ControlFlow::Continue(())
        };
        let error =
            run_from(&job, None, &mut starter, &AtomicBool::new(false), &mut count).unwrap_err();
        assert_eq!((error.message(), intervals), ("the others are not ready", 0));
    }
}

#[test]
fn writing_without_leave_is_refused_before_the_first_io() {
    let scratch = Scratch::new("leave");
    let workload = workload(Stream::closed("writes", Share(0.5), Bytes(8192), 4));
    let targets = Arc::from([target(&scratch.0, false)]);
    let job =
        EngineJob { workload: &workload, targets, backend: BackendChoice::Posix, passes: None };
    let error = run(&job, &AtomicBool::new(false), &mut Ignore).unwrap_err();
    assert!(error.message().contains("open only for reading"), "{error}");
}
