//! The store from outside: names, documents, locks, lists, removal, and what is refused.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop where something is missing, and say what they found or skipped"
)]

mod common;

use assay_model::measurement::{
    BackendKind, Conduct, ErrorCount, Finish, Measurement, Operation, Remark,
};
use assay_model::run::{Event, EventKind, RunKind};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::workload::{Access, Layout, Process, SyncPolicy};
use assay_model::{Arrival, Blame, Error, Stream, Workload};
use assay_store::{
    CellStatus, NewRun, RunStatus, RunWriter, Store, StoredDocument, WriteDurability, joined,
};
use common::{Folder, NOW_UNIX_NS, interval_of, measured, new_run, piece, start, workload};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// A run with one cell of some intervals, finished.
fn finished(store: &Store, new: &NewRun, intervals: u64) -> String {
    let run = store.create(new).unwrap();
    run.put(StoredDocument::Workload, "name = \"oltp\"\n").unwrap();
    write(&run, intervals);
    let id = run.manifest().id.clone();
    run.finish(Finish::Complete, NOW_UNIX_NS + 9).unwrap();
    id
}

fn write(run: &RunWriter, intervals: u64) {
    let mut cell =
        run.create_cell("oltp", &workload(9), &start(WriteDurability::Finished)).unwrap();
    for index in 0..intervals {
        let joint = piece(index);
        cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
    }
    cell.finish(measured(0, intervals, Finish::Complete)).unwrap();
}

fn at(second: u64) -> NewRun {
    NewRun { created_unix_ns: NOW_UNIX_NS + second * 1_000_000_000, ..new_run() }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, blame: Blame, parts: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.blame(), blame, "{error}");
    for part in parts {
        assert!(error.to_string().contains(part), "no '{part}' in: {error}");
    }
    assert!(!error.hint().is_empty());
}

#[test]
fn a_finished_run_tells_what_was_put_in() {
    let folder = Folder::new();
    let store = folder.store();
    let id = finished(&store, &new_run(), 5);
    assert!(id.starts_with("20261121-083955-run-"), "{id}");
    let run = store.open("latest").unwrap();
    assert_eq!(run.status(), RunStatus::Finished(Finish::Complete));
    assert_eq!(run.manifest().command, ["assay", "run", "oltp", "/data"]);
    let text = run.document(StoredDocument::Workload).unwrap();
    assert_eq!(text.as_deref(), Some("name = \"oltp\"\n"));
    assert_eq!(run.document(StoredDocument::Verdict).unwrap(), None);
    let cell = run.cell("OLTP").unwrap();
    assert_eq!(cell.status().unwrap(), CellStatus::Finished(Finish::Complete));
    assert_eq!(cell.measurement().unwrap(), measured(0, 5, Finish::Complete));
    assert_eq!(cell.workload().unwrap(), workload(9));
    assert_eq!(run.measured_ns().unwrap(), 5_000_000_000);
    let intervals: Vec<_> = cell.intervals().unwrap().map(Result::unwrap).collect();
    assert_eq!(intervals.len(), 5);
    assert_eq!(intervals[3].operations.ios(), interval_of(3, &piece(3)).operations.ios());
    refused(run.cell("dss"), Blame::Usage, &["no cell 'dss'", "oltp"]);
}

#[test]
fn a_workload_with_every_choice_comes_back_from_its_cell() {
    let mut full = workload(60);
    full.layout = Layout::Stripe { unit: Bytes(1 << 20) };
    let mut log = Stream::closed("log", Share(0.0), Bytes(512), 1);
    log.access = Access::Sequential { streams: 2 };
    log.sync = SyncPolicy::Fdatasync { every: 4 };
    log.arrival = Arrival::Open {
        rate: Rate(1234.5),
        process: Process::Constant,
        burst: 3,
        queue_depth_max: 17,
        group_commit: Some(Bytes(65536)),
    };
    let mut hot = Stream::closed("hot", Share(0.35), Bytes(16384), 8);
    hot.access =
        Access::MovingHotBand { share: Share(0.9), band: Share(0.05), every: Nanos(250_000_000) };
    hot.targets = vec![1, 3];
    full.streams.extend([log, hot]);
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    run.create_cell("full", &full, &start(WriteDurability::Finished)).unwrap();
    let read: Workload = run.reader().unwrap().cell("full").unwrap().workload().unwrap();
    assert_eq!(read, full);
}

#[test]
fn a_run_is_named_by_id_by_its_first_letters_by_path_or_as_the_latest() {
    let folder = Folder::new();
    let store = folder.store();
    let first = finished(&store, &at(0), 1);
    let same_second =
        finished(&store, &NewRun { created_unix_ns: NOW_UNIX_NS + 1, ..new_run() }, 1);
    let last = finished(&store, &NewRun { kind: RunKind::Check, ..at(86_400) }, 1);
    let id = |name: &str| store.open(name).map(|run| run.manifest().id.clone());
    assert_eq!(id(&first).unwrap(), first);
    assert_eq!(id("20261122").unwrap(), last);
    assert_eq!(id("latest").unwrap(), last);
    let path = store.root().join(&first);
    assert_eq!(id(path.to_str().unwrap()).unwrap(), first);
    refused(id("2026112"), Blame::Usage, &["is the beginning of 3 run ids", &last]);
    refused(id("1999"), Blame::Usage, &["no run '1999'", &last]);
    refused(id(""), Blame::Usage, &["the name of the run is empty"]);
    refused(id("/"), Blame::Usage, &["no run", "run.json"]);
    let newest = store.runs().unwrap().runs.remove(0);
    assert_eq!(newest.measured_ns().unwrap(), 1_000_000_000);
    assert!(newest.disk_bytes() > 0);
    let order: Vec<String> = store.runs().unwrap().runs.into_iter().map(|run| run.id).collect();
    assert_eq!(order, [last, same_second, first]);
    let nowhere = Store::at(folder.path().join("nowhere"));
    refused(nowhere.open("latest"), Blame::Usage, &["no store at", "--store"]);
    assert!(nowhere.runs().unwrap().runs.is_empty());
}

#[test]
fn one_writer_at_a_time_and_readers_as_many_as_like() {
    let folder = Folder::new();
    let store = folder.store();
    let run = store.create(&new_run()).unwrap();
    let me = format!("process {}", std::process::id());
    refused(store.reopen("latest"), Blame::Environment, &["is being written by", &me]);
    refused(store.resume("latest", 0), Blame::Environment, &["is being written by"]);
    refused(store.remove("latest"), Blame::Environment, &["is being written by"]);
    let RunStatus::Writing(holder) = store.open("latest").unwrap().status() else {
        panic!("a run that is written says so");
    };
    assert_eq!(holder.pid, std::process::id());
    drop(run);
    assert_eq!(store.open("latest").unwrap().status(), RunStatus::Unfinished);
    let page = store.reopen("latest").unwrap();
    page.put(StoredDocument::Report, "<!doctype html>").unwrap();
    drop(page);
    let run = store.resume("latest", NOW_UNIX_NS).unwrap();
    run.finish(Finish::Interrupted, NOW_UNIX_NS).unwrap();
    let events: Vec<Event> =
        store.open("latest").unwrap().events().unwrap().map(Result::unwrap).collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].what, EventKind::Resumed);
}

#[test]
fn a_run_is_read_while_it_is_written() {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    // Joints of two intervals: the tail goes away under the reader again and again.
    let mut cell =
        run.create_cell("oltp", &workload(960), &start(WriteDurability::Finished)).unwrap();
    let reader = run.reader().unwrap().cell("oltp").unwrap();
    let writer = std::thread::spawn(move || {
        for index in 0..200 {
            let joint = piece(index);
            cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
        }
    });
    let mut seen = 0;
    while seen < 200 {
        let found = reader.measurement().unwrap();
        let why = &found.conduct.remarks[0].why;
        if why.contains("the totals have") {
            // The reader was overtaken three times, and says so.
            continue;
        }
        let intervals = found.elapsed_ns / common::SECOND_NS;
        assert_eq!(found.streams, common::pieces(intervals).streams);
        assert!(intervals >= seen, "{intervals} after {seen}");
        seen = intervals;
    }
    writer.join().unwrap();
}

#[test]
fn a_complete_run_is_not_taken_up_again() {
    let folder = Folder::new();
    let store = folder.store();
    finished(&store, &new_run(), 2);
    refused(store.resume("latest", 0), Blame::Usage, &["is complete"]);
    let run = store.reopen("latest").unwrap();
    let start = start(WriteDurability::Finished);
    refused(run.resume_cell("oltp", &start), Blame::Usage, &["is complete"]);
    refused(run.create_cell("oltp", &workload(9), &start), Blame::Usage, &["already"]);
}

#[test]
fn an_interrupted_cell_is_taken_up_with_what_the_tool_said_of_itself() {
    let folder = Folder::new();
    let store = folder.store();
    let run = store.create(&new_run()).unwrap();
    let mut cell =
        run.create_cell("oltp", &workload(9), &start(WriteDurability::Finished)).unwrap();
    for index in 0..4 {
        let joint = piece(index);
        cell.append_interval(&interval_of(index, &joint), &joint).unwrap();
    }
    cell.finish(measured(0, 4, Finish::Interrupted)).unwrap();
    run.finish(Finish::Interrupted, 1).unwrap();

    let run = store.resume("latest", 2).unwrap();
    let mut cell = run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap();
    let joint = piece(4);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    drop(cell);
    let found = run.reader().unwrap().cell("oltp").unwrap().measurement().unwrap();
    assert_eq!((found.finish, found.conduct.enters), (Finish::Unfinished, 40));

    let mut cell = run.resume_cell("oltp", &start(WriteDurability::Finished)).unwrap();
    assert_eq!(cell.extent().intervals, 5);
    let joint = piece(5);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    let whole = cell.finish(measured(5, 6, Finish::Complete)).unwrap();
    assert_eq!(whole.streams, measured(0, 6, Finish::Complete).streams);
    assert_eq!((whole.conduct.enters, whole.elapsed_ns), (50, 6_000_000_000));
    let remarks: Vec<&str> =
        whole.conduct.remarks.iter().map(|remark| remark.what.as_str()).collect();
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("then resumed"));
}

#[test]
fn means_of_two_sittings_are_weighted_by_their_time() {
    let conduct = |queue_depth_mean, littles_law_ratio, host: Option<f64>, backend| Conduct {
        backend,
        queue_depth_mean,
        littles_law_ratio,
        host_busy_share: host,
        worker_busy_share_max: queue_depth_mean / 100.0,
        cpu_user_s: 1.0,
        missed_arrivals: 2,
        ..Conduct::default()
    };
    let with = |from, to, conduct| Measurement { conduct, ..measured(from, to, Finish::Complete) };
    let whole = joined(
        with(0, 3, conduct(10.0, 1.0, Some(0.2), BackendKind::Uring)),
        with(3, 4, conduct(30.0, 0.8, Some(0.6), BackendKind::Posix)),
    );
    // 10 and 30 for 3 s and 1 s: 15; of the busy time 10·1 and 30·0.8 so 13.5.
    let found = whole.conduct;
    assert!((found.queue_depth_mean - 15.0).abs() < 1e-12);
    assert!((found.littles_law_ratio - 13.5 / 15.0).abs() < 1e-12);
    assert!((found.host_busy_share.unwrap() - 0.3).abs() < 1e-12);
    assert!((found.worker_busy_share_max - 0.3).abs() < 1e-12);
    assert!((found.cpu_user_s - 2.0).abs() < 1e-12);
    assert_eq!((found.missed_arrivals, found.backend), (4, BackendKind::Posix));
    assert!(
        found.remarks[0].what.contains("started on backend 'uring' and was resumed on 'posix'")
    );
}

#[test]
fn errors_of_a_killed_cell_are_those_of_its_events() {
    let folder = Folder::new();
    let store = folder.store();
    let mut run = store.create(&new_run()).unwrap();
    let cell = run.create_cell("oltp", &workload(9), &start(WriteDurability::Finished)).unwrap();
    let failure = |errno, ios| ErrorCount {
        operation: Operation::Read,
        target: "/data".to_owned(),
        errno,
        meaning: "EIO: input/output error".to_owned(),
        ios,
        first_offset_bytes: 4096,
    };
    let mut tell = |cell: &str, at_unix_ns, what| {
        let cell = Some(cell.to_owned());
        run.event(&Event { at_unix_ns, cell, what }).unwrap();
    };
    tell("oltp", NOW_UNIX_NS + 1, EventKind::Errors(failure(5, 2)));
    tell("oltp", NOW_UNIX_NS + 2, EventKind::Errors(failure(5, 3)));
    tell("oltp", NOW_UNIX_NS + 2, EventKind::Errors(failure(61, 1)));
    tell("dss", NOW_UNIX_NS + 2, EventKind::Errors(failure(5, 9)));
    tell("oltp", NOW_UNIX_NS - 1, EventKind::Errors(failure(5, 9)));
    tell("oltp", NOW_UNIX_NS + 3, EventKind::PhaseEnd { name: "measure".to_owned() });
    drop(cell);
    let found = run.reader().unwrap().cell("oltp").unwrap().measurement().unwrap();
    assert_eq!(found.errors, [failure(5, 5), failure(61, 1)]);
}

#[test]
fn removing_takes_the_run_and_nothing_else() {
    let folder = Folder::new();
    let store = folder.store();
    let id = finished(&store, &at(0), 3);
    let other = finished(&store, &at(1), 1);
    fs::write(store.root().join(&id).join(".tmp-verdict.json"), "{").unwrap();
    let removed = store.remove(&id).unwrap();
    assert_eq!(removed.id, id);
    assert!(removed.bytes > 0);
    assert!(!store.root().join(&id).exists() && store.root().join(&other).exists());
}

/// What lies in a folder and below, with what the files hold.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(everything(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_removed_when_anything_is_not_ours() {
    let folder = Folder::new();
    let store = folder.store();
    let id = finished(&store, &new_run(), 1);
    let run = store.root().join(&id);
    let keep = folder.path().join("keep");
    fs::create_dir(&keep).unwrap();
    fs::write(keep.join("measurement.json"), "mine").unwrap();
    let put = |name: &str, make: &dyn Fn(&Path)| {
        let path = run.join(name);
        make(&path);
        let before = everything(folder.path());
        refused(store.remove(&id), Blame::Environment, &[name, "nothing was removed"]);
        assert_eq!(everything(folder.path()), before);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
    };
    put("notes.txt", &|path| fs::write(path, "mine").unwrap());
    put("cells/oltp/notes.txt", &|path| {
        fs::write(path, "mine").unwrap();
    });
    put("cells/other", &|path| symlink(&keep, path).unwrap());
    put("verdict.json", &|path| {
        symlink(keep.join("measurement.json"), path).unwrap();
    });
    put("criteria.toml", &|path| fs::create_dir(path).unwrap());
    put("cells/oltp/deeper", &|path| fs::create_dir(path).unwrap());
    store.remove(&id).unwrap();
    assert_eq!(fs::read(keep.join("measurement.json")).unwrap(), b"mine");
}

#[test]
fn only_the_directory_of_a_run_is_removed() {
    let folder = Folder::new();
    let store = folder.store();
    let id = finished(&store, &new_run(), 1);
    let link = folder.path().join("link");
    symlink(store.root().join(&id), &link).unwrap();
    let before = everything(folder.path());
    refused(store.remove(link.to_str().unwrap()), Blame::Usage, &["is a link"]);
    refused(store.remove(folder.path().to_str().unwrap()), Blame::Usage, &["is not a run"]);
    refused(store.remove("./no/such/run"), Blame::Usage, &["no run at"]);
    assert_eq!(everything(folder.path()), before);
}

#[test]
fn a_newer_form_an_unknown_key_and_damage_are_told_apart() {
    let folder = Folder::new();
    let store = folder.store();
    let id = finished(&store, &new_run(), 2);
    let path = store.root().join(&id).join("run.json");
    let good = fs::read_to_string(&path).unwrap();
    // Without checksums, as in a run of an earlier version: else any change is damage before it is
    // anything else.
    fs::remove_file(store.root().join(&id).join("checksums.jsonl")).unwrap();
    let with = |from: &str, to: &str| {
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        store.open(&id)
    };
    refused(
        with("\"format\": 1", "\"format\": 2, \"mood\": 3"),
        Blame::Usage,
        &["format = 2", "newer"],
    );
    let listing = store.runs().unwrap();
    assert_eq!((listing.runs.len(), listing.unreadable.len()), (0, 1));
    refused(store.remove(&id), Blame::Usage, &["format = 2"]);
    refused(
        with("\"kind\"", "\"kindd\""),
        Blame::Usage,
        &["unknown name 'kindd'", "did you mean 'kind'"],
    );
    refused(with("\"kind\": \"run\"", "\"kind\": \"rum\""), Blame::Usage, &["did you mean 'run'"]);
    refused(with("{", ""), Blame::Usage, &["run.json"]);
    fs::write(&path, &good).unwrap();
    let lines = store.root().join(&id).join("cells/oltp/intervals.jsonl");
    let text = fs::read_to_string(&lines).unwrap();
    let unchecked = |line: &str| match line.rsplit_once(",\"crc32\"") {
        Some((line, _)) => format!("{line}}}\n"),
        None => format!("{line}\n"),
    };
    let text: String = text.lines().map(unchecked).collect();
    fs::write(&lines, text.replacen("\"end_ns\"", "\"stop_ns\"", 1)).unwrap();
    let cell = store.open(&id).unwrap().cell("oltp").unwrap();
    let first = cell.summaries().unwrap().next().unwrap();
    refused(first, Blame::Usage, &["intervals.jsonl, line 2", "stop_ns", "version"]);
}

#[test]
fn a_store_that_cannot_be_written_says_so() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let result = Store::at(file.join("runs")).create(&new_run());
    refused(result, Blame::Environment, &["creating the store", "not a directory", "--store"]);
    let result = Store::at("/proc/runs").create(&new_run());
    refused(result, Blame::Environment, &["creating the store /proc/runs"]);
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let result = folder.store().create(&new_run());
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    refused(result, Blame::Environment, &["permission denied", "--store"]);
}

#[test]
fn remarks_and_json_documents_come_back() {
    let folder = Folder::new();
    let mut run = folder.store().create(&new_run()).unwrap();
    let event = Event {
        at_unix_ns: 5,
        cell: None,
        what: EventKind::Remark(Remark {
            what: "a".to_owned(),
            why: "b".to_owned(),
            remedy: "c".to_owned(),
        }),
    };
    run.event(&event).unwrap();
    run.put_json(StoredDocument::Environment, &event).unwrap();
    let reader = run.finish(Finish::Complete, 6).unwrap();
    assert_eq!(reader.json::<Event>(StoredDocument::Environment).unwrap().as_ref(), Some(&event));
    assert_eq!(reader.events().unwrap().next().unwrap().unwrap(), event);
    assert!(reader.disk_bytes() > 0);
}
