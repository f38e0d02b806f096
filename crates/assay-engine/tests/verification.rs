//! Verification on real files: clean storage raises no alarm however its I/Os race, and what was
//! changed behind it is named.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking")]

use assay_engine::{
    BackendChoice, EngineJob, Ignore, OpenFile, UringOptions, Verifier, run_verified, uring_denied,
};
use assay_model::integrity::{FaultKind, FoundBy, Integrity};
use assay_model::number::index_of;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{
    Access, BlockSizeMix, BlockSizePart, Content, Stream, SyncPolicy, Workload,
};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const FIRST: u64 = 4096;
const BLOCKS: u64 = 64;
const BLOCK: u64 = 4096;

/// Runs are told apart by their numbers, also on the data of the one before.
static RUN: AtomicU32 = AtomicU32::new(1);

/// A file that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-verify-{}-{name}", std::process::id()));
        std::fs::write(&path, vec![0xa5; index_of(FIRST + BLOCKS * BLOCK)]).unwrap();
        Self(path)
    }

    fn file(&self) -> File {
        OpenOptions::new().read(true).write(true).open(&self.0).unwrap()
    }

    fn targets(&self) -> Arc<[OpenFile]> {
        Arc::from([OpenFile {
            name: "file".to_owned(),
            file: self.file(),
            first_byte: FIRST,
            length_bytes: BLOCKS * BLOCK,
            alignment_bytes: 512,
            writable: true,
            direct: false,
            passthrough: None,
        }])
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn backends() -> Vec<BackendChoice> {
    let mut backends = vec![BackendChoice::Posix];
    match uring_denied() {
        None => backends.push(BackendChoice::Uring(UringOptions::default())),
        Some(reason) => println!("skipped: uring: {reason}"),
    }
    backends
}

fn workload(stream: Stream) -> Workload {
    let mut workload = Workload::of("test", Nanos(100_000_000), stream);
    workload.interval = Nanos(50_000_000);
    workload.direct = false;
    workload
}

/// Half reads and half writes at a depth that is larger than the file has places.
fn mixed() -> Stream {
    let part = |size, share| BlockSizePart { size: Bytes(size), share: Share(share) };
    Stream {
        block_size: BlockSizeMix { parts: vec![part(BLOCK, 0.7), part(4 * BLOCK, 0.3)] },
        workers: 2,
        ..Stream::closed("mixed", Share(0.5), Bytes(BLOCK), 96)
    }
}

/// Runs under verification; `between` may change the file before the sweep.
fn verify(
    scratch: &Scratch,
    workload: &Workload,
    backend: BackendChoice,
    between: impl FnOnce(&File),
) -> (Integrity, Arc<Verifier>) {
    let targets = scratch.targets();
    let run = RUN.fetch_add(1, Ordering::Relaxed);
    let verifier = Arc::new(Verifier::new(workload, &targets, run, 1.0).unwrap());
    let job = EngineJob { workload, targets, backend, passes: None };
    let stop = AtomicBool::new(false);
    run_verified(&job, Some(&verifier), &stop, &mut Ignore).unwrap();
    between(&scratch.file());
    let sweep = verifier.sweep(&stop, &mut |_| {}).unwrap();
    (verifier.finish(sweep, 200_000_000), verifier)
}

#[test]
fn racing_reads_and_writes_raise_no_alarm() {
    let scratch = Scratch::new("racing");
    let syncs = [SyncPolicy::None, SyncPolicy::Fdatasync { every: 7 }, SyncPolicy::ODsync];
    for backend in backends() {
        for sync in syncs {
            let workload = workload(Stream { sync, ..mixed() });
            let (found, _) = verify(&scratch, &workload, backend, |_| {});
            assert_eq!(found.faults, [], "{backend:?} {sync:?}");
            let coverage = &found.coverage;
            assert!(coverage.stamped_writes > 0 && coverage.checked_reads > 0, "{coverage:?}");
            assert!(found.sweep.complete && found.sweep.blocks == coverage.written_blocks);
            assert_eq!(coverage.unknown_blocks, 0);
            assert_eq!(coverage.verified_blocks, coverage.written_blocks);
        }
    }
}

#[test]
fn what_was_changed_behind_the_run_is_named() {
    let scratch = Scratch::new("changed");
    let stream =
        Stream { access: Access::Permutation, ..Stream::closed("w", Share(0.0), Bytes(BLOCK), 8) };
    for backend in backends() {
        let (found, verifier) = verify(&scratch, &workload(stream.clone()), backend, |file| {
            let at = |block: u64| FIRST + block * BLOCK;
            let mut data = vec![0; 4096];
            file.read_exact_at(&mut data, at(5)).unwrap();
            file.write_all_at(&data, at(9)).unwrap();
            file.write_all_at(&[0; 512], at(20) + 1024).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, at(30) + 700).unwrap();
            file.write_all_at(&[byte[0] ^ 4], at(30) + 700).unwrap();
        });
        let named: Vec<_> =
            found.faults.iter().map(|fault| (fault.place.offset_bytes, fault.kind)).collect();
        let at = |block: u64| FIRST + block * BLOCK;
        let mut expected = vec![
            (at(9), FaultKind::MisdirectedWrite),
            (at(20), FaultKind::Zeroed),
            (at(30), FaultKind::BitFlip),
        ];
        let mut sorted = named.clone();
        sorted.sort_unstable_by_key(|(offset, _)| *offset);
        expected.sort_unstable_by_key(|(offset, _)| *offset);
        assert_eq!(sorted, expected);
        assert!(
            found.faults.iter().all(|fault| fault.found_by == FoundBy::Sweep && !fault.transient)
        );
        let flipped = found.faults.iter().find(|fault| fault.kind == FaultKind::BitFlip).unwrap();
        assert_eq!(flipped.bits, [700 * 8 + 2]);
        assert_eq!(verifier.versions().len(), 3);
    }
}

#[test]
fn what_cannot_carry_stamps_is_refused() {
    let scratch = Scratch::new("refused");
    let refused = |stream: Stream| {
        let targets = scratch.targets();
        Verifier::new(&workload(stream), &targets, 1, 1.0).unwrap_err().to_string()
    };
    let reads = Stream::closed("reads", Share(1.0), Bytes(BLOCK), 1);
    assert!(refused(reads).contains("does not write"));
    let content = Content { duplicate: Share(0.5), ..Content::default() };
    let repeated = Stream { content, ..Stream::closed("w", Share(0.0), Bytes(BLOCK), 1) };
    assert!(refused(repeated).contains("repeated content"));
    let odd = Stream::closed("w", Share(0.0), Bytes(1000), 1);
    assert!(refused(odd).contains("whole sectors"));
}

#[test]
fn a_part_of_the_reads_is_checked_where_that_is_asked_for() {
    let scratch = Scratch::new("share");
    let targets = scratch.targets();
    let workload = workload(mixed());
    let verifier = Arc::new(Verifier::new(&workload, &targets, 1, 0.25).unwrap());
    let job =
        EngineJob { workload: &workload, targets, backend: BackendChoice::Posix, passes: None };
    run_verified(&job, Some(&verifier), &AtomicBool::new(false), &mut Ignore).unwrap();
    let coverage = verifier.finish(assay_model::integrity::Sweep::default(), 1).coverage;
    let looked = coverage.checked_reads + coverage.unwritten_reads;
    assert!(coverage.skipped_reads > looked, "{coverage:?}");
    assert!(looked > 0 && !coverage.stamped_writes.eq(&0), "{coverage:?}");
}
