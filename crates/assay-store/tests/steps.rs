//! Steps of database loads in the store: what one was asked for, and documents of earlier forms.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

mod common;

use assay_model::load::{Length, Load, LoadKind, LoadStep, OnLoss, StepArrival};
use assay_model::measurement::Finish;
use assay_model::units::Nanos;
use assay_store::{CellStatus, LoadedPlan, RunWriter, StoredDocument, WriteDurability};
use common::{Folder, interval_of, measured, new_run, piece, start, workload};

const SECOND: Nanos = Nanos(1_000_000_000);

fn step() -> LoadStep {
    LoadStep {
        format: 1,
        kind: LoadKind::Oltp,
        sessions: 8,
        repeat: 1,
        ramp: Nanos(0),
        warm_up: SECOND,
        interval: SECOND,
        on_loss: OnLoss::End,
        length: Length::Time(Nanos(9 * SECOND.0)),
        arrival: StepArrival::Closed,
        settings: Vec::new(),
    }
}

#[test]
fn a_rung_keeps_its_step_and_is_called_by_it_when_it_was_broken_off() {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    let mut cell =
        run.create_cell("sessions 8", &step(), &start(WriteDurability::Finished)).unwrap();
    let joint = piece(0);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    drop(cell);
    let cells = run.reader().unwrap().cells().unwrap();
    let [cell] = cells.as_slice() else { panic!("{cells:?}") };
    assert_eq!(cell.plan().unwrap(), LoadedPlan::Step(Box::new(step())));
    assert_eq!(cell.status().unwrap(), CellStatus::Unfinished);
    assert_eq!(cell.measurement().unwrap().workload, "oltp, 8 sessions");
    let error = cell.workload().unwrap_err();
    assert!(error.message().contains("is a step of load oltp"), "{error}");
    let again = run.create_cell("sessions 8", &step(), &start(WriteDurability::Finished));
    assert!(again.unwrap_err().message().contains("already"));
}

#[test]
fn a_rung_of_an_earlier_version_still_has_its_workload() {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    let mut cell =
        run.create_cell("sessions 8", &workload(9), &start(WriteDurability::Finished)).unwrap();
    let joint = piece(0);
    cell.append_interval(&interval_of(0, &joint), &joint).unwrap();
    cell.finish(measured(0, 1, Finish::Complete)).unwrap();
    let cells = run.reader().unwrap().cells().unwrap();
    assert_eq!(cells[0].plan().unwrap(), LoadedPlan::Workload(Box::new(workload(9))));
}

/// The result of a load as a run keeps it.
fn put_load(run: &RunWriter, name: &str, from: &str, to: &str) {
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract/");
    let text = std::fs::read_to_string(format!("{contract}{name}")).unwrap();
    run.put(StoredDocument::Load, &text.replacen(from, to, 1)).unwrap();
}

#[test]
fn results_of_both_forms_are_read_and_those_to_come_are_refused() {
    let folder = Folder::new();
    let run = folder.store().create(&new_run()).unwrap();
    let read = || run.reader().unwrap().json::<Load>(StoredDocument::Load);
    put_load(&run, "examples/small.load.json", "", "");
    let now = read().unwrap().unwrap();
    put_load(&run, "earlier/first-form.load.json", "", "");
    let before = read().unwrap().unwrap();
    assert_eq!((before.format, now.format), (1, Load::FORMAT));
    assert_eq!(before, Load { format: 1, ..now });
    put_load(&run, "examples/small.load.json", "\"format\": 2", "\"format\": 3");
    assert!(read().unwrap_err().message().contains("has format = 3"));
}
