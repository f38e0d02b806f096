//! Which operations a fault picks, counted by hand.

use super::*;
use assay_model::number::real_len;

fn read(offset: u64) -> Arrival<'static> {
    arrival(Operation::Read, offset, 4096)
}

fn arrival(operation: Operation, offset: u64, length: u64) -> Arrival<'static> {
    Arrival { operation, file: "data", offset, length, since_first_ns: 0 }
}

fn hits(fault: Fault, arrivals: &[Arrival<'_>]) -> Vec<usize> {
    let mut faults = Faults::new(&[fault], 7);
    let fired = arrivals.iter().map(|arrival| faults.decide(arrival).applied.is_some());
    fired.enumerate().filter_map(|(index, hit)| hit.then_some(index)).collect()
}

#[test]
fn counts_select_by_position_from_one() {
    let ten = [read(0); 10];
    let eio = || Fault::error(Errno::EIO);
    assert_eq!(hits(eio().nth(3), &ten), [2]);
    assert_eq!(hits(eio().every(4), &ten), [3, 7]);
    assert_eq!(hits(eio().from_nth(9), &ten), [8, 9]);
    assert_eq!(hits(eio().at_most(2), &ten), [0, 1]);
}

#[test]
fn a_range_takes_every_transfer_that_touches_it_and_no_sync() {
    let fault = || Fault::error(Errno::EIO).range(8192..12288);
    let reads = [read(0), read(4096), read(4097), read(8192), read(12287), read(12288)];
    assert_eq!(hits(fault(), &reads), [2, 3, 4]);
    assert!(hits(fault(), &[arrival(Operation::Sync, 0, 0)]).is_empty());
}

#[test]
fn operations_outside_the_filter_are_not_counted() {
    let mixed =
        [arrival(Operation::Write, 0, 1), read(0), arrival(Operation::Write, 0, 1), read(0)];
    let fault = Fault::error(Errno::EIO).on(&[Operation::Read]).nth(2);
    assert_eq!(hits(fault, &mixed), [3]);
    assert!(hits(Fault::error(Errno::EIO).file("other"), &mixed).is_empty());
}

#[test]
fn space_runs_out_at_the_scripted_byte() {
    let writes = [arrival(Operation::Write, 0, 4096); 3];
    let fault = Fault::new(Effect::NoSpaceAfter(Bytes(10_000)));
    assert_eq!(hits(fault.clone(), &writes), [2]);
    let mut small = writes.to_vec();
    small.push(arrival(Operation::Write, 0, 1808));
    small.push(arrival(Operation::Write, 0, 1));
    assert_eq!(hits(fault, &small), [2, 4]);
}

#[test]
fn time_selects_from_its_moment_on() {
    let at = |since_first_ns| Arrival { since_first_ns, ..read(0) };
    let fault = Fault::error(Errno::EIO).after(Duration::from_nanos(50));
    assert_eq!(hits(fault, &[at(0), at(49), at(50), at(51)]), [2, 3]);
}

#[test]
fn probability_repeats_with_its_seed_and_keeps_its_share() {
    let many = vec![read(0); 10_000];
    let fault = Fault::error(Errno::EIO).probability(0.1);
    let once = hits(fault.clone(), &many);
    assert_eq!(once, hits(fault, &many));
    // Five standard errors of a binomial share: 5 sqrt(0.1 * 0.9 / 10000) = 0.015.
    assert!((real_len(once.len()) / 1e4 - 0.1).abs() < 0.015);
}

#[test]
fn delays_add_up_beside_another_effect() {
    let delay = Fault::new(Effect::Delay(Nanos(5)));
    let script = [delay.clone(), Fault::error(Errno::EIO), delay];
    let decision = Faults::new(&script, 0).decide(&read(0));
    assert_eq!(decision.delay_ns, 10);
    assert_eq!(decision.applied, Some(Applied { index: 1, effect: Effect::Error(Errno::EIO) }));
}

#[test]
fn faults_that_cannot_be_meant_are_refused() {
    let torn = Fault::new(Effect::Torn(Bytes(512)));
    assert!(torn.clone().check().is_ok());
    assert!(torn.clone().on(&[Operation::Read]).check().is_err());
    assert!(torn.clone().nth(0).check().is_err());
    assert!(torn.probability(1.5).check().is_err());
}
