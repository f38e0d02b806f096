//! What the witness does for friends, strangers and machines that lost their power.

use super::*;
use crate::frame::Acknowledgement;
use crate::ledger::tests::head;
use crate::place::LedgerPlace;
use crate::recorder::LedgerRecorder;
use crate::token::tests::token;
use crate::wire::WitnessAddress;

/// A directory of its own that goes with the test.
pub(super) struct WitnessScratch(pub(super) PathBuf);

impl WitnessScratch {
    pub(super) fn new(name: &str) -> Self {
        let id = std::process::id();
        let path = std::env::temp_dir().join(format!("assay-ledger-{name}-{id}"));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn witness(&self) -> Witness {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        Witness::listen(address, &self.0, token(TOKEN)).unwrap()
    }
}

impl Drop for WitnessScratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

const TOKEN: &str = "0123456789abcdef";

fn place(witness: &Witness) -> LedgerPlace {
    place_at(witness.address())
}

pub(super) fn place_at(address: SocketAddr) -> LedgerPlace {
    LedgerPlace::Witness(WitnessAddress { address: address.to_string(), token: token(TOKEN) })
}

pub(super) fn head_of(id: LedgerId, run: u32) -> LedgerHead {
    head(id, run)
}

fn judged() -> JudgedCut {
    let cut = JudgedCut::of(assay_model::durability::CutKind::Power, 1);
    JudgedCut { judged_unix_ns: 9, acknowledgements: 3, promised_blocks: 2, kept_blocks: 2, ..cut }
}

/// What both kinds of places do alike.
fn keeps(place: &LedgerPlace) {
    let id = LedgerId::random().unwrap();
    let recorder = LedgerRecorder::begin(place.create(id, &head(id, 1)).unwrap(), |_| ()).unwrap();
    for version in 1..=1000 {
        recorder.acknowledge(&[Acknowledgement { place: u64::from(version) % 10, version }]);
    }
    let kept = recorder.finish();
    assert_eq!((kept.kept, kept.unkept, kept.reason), (1000, 0, None));
    let ledger = place.read("file 1", u64::MAX).unwrap();
    assert_eq!((ledger.id, ledger.last().acknowledgements), (id, 1000));
    assert_eq!(ledger.last().promises[&0], 1000);
    place.judge(id, &judged()).unwrap();
    drop(place.go_on(id, &head(id, 2)).unwrap());
    let ledger = place.read("file 1", u64::MAX).unwrap();
    assert_eq!((ledger.epochs.len(), ledger.judgements()), (2, vec![judged()]));
    let error = place.create(id, &head(id, 3)).unwrap_err().to_string();
    assert!(error.contains("name") || error.contains("exists"), "{error}");
}

#[test]
fn a_file_keeps_what_was_acknowledged_and_is_never_overwritten() {
    let scratch = WitnessScratch::new("file");
    keeps(&LedgerPlace::File(scratch.0.join("a.ledger")));
}

#[test]
fn a_witness_keeps_what_was_acknowledged_elsewhere() {
    let scratch = WitnessScratch::new("witness");
    let witness = scratch.witness();
    keeps(&place(&witness));
    let error = place(&witness).read("file 2", u64::MAX).unwrap_err().to_string();
    assert!(error.contains("not have a ledger of this target"), "{error}");
    let activity = &witness.activities()[0];
    assert_eq!((activity.judged.len(), activity.acknowledgements), (1, 0));
}

#[test]
fn the_ledger_of_another_target_is_not_gone_on_with() {
    let scratch = WitnessScratch::new("other");
    let place = LedgerPlace::File(scratch.0.join("a.ledger"));
    let id = LedgerId::random().unwrap();
    drop(place.create(id, &head(id, 1)).unwrap());
    let other = LedgerId::random().unwrap();
    let error = place.go_on(other, &head(other, 2)).unwrap_err().to_string();
    assert!(error.contains("not the ledger"), "{error}");
}

#[test]
fn two_runs_on_one_ledger_are_refused() {
    let scratch = WitnessScratch::new("two");
    let place = LedgerPlace::File(scratch.0.join("a.ledger"));
    let id = LedgerId::random().unwrap();
    let open = place.create(id, &head(id, 1)).unwrap();
    let error = place.go_on(id, &head(id, 2)).unwrap_err().to_string();
    assert!(error.contains("another run is appending"), "{error}");
    drop(open);
    assert!(place.go_on(id, &head(id, 2)).is_ok());
}

#[test]
fn another_token_is_refused_by_either_end() {
    let scratch = WitnessScratch::new("token");
    let witness = scratch.witness();
    let address = witness.address().to_string();
    let stranger = WitnessAddress { address, token: token("another token 16") };
    let id = LedgerId::random().unwrap();
    let error = LedgerPlace::Witness(stranger).create(id, &head(id, 1)).unwrap_err().to_string();
    assert!(error.contains("another token"), "{error}");
    assert!(witness.activities().is_empty());
    assert!(std::fs::read_dir(&scratch.0).unwrap().next().is_none());
}

/// A machine that lost its power says nothing: its connection stays, and the next one takes the
/// ledger over.
#[test]
fn a_connection_of_before_the_cut_gives_way() {
    let scratch = WitnessScratch::new("half-open");
    let witness = scratch.witness();
    let place = place(&witness);
    let id = LedgerId::random().unwrap();
    let open = place.create(id, &head(id, 1)).unwrap();
    place.judge(id, &judged()).unwrap();
    drop(open);
    assert_eq!(place.read("file 1", u64::MAX).unwrap().judgements().len(), 1);
}

#[test]
fn a_witness_that_was_killed_weakens_what_is_known_and_no_more() {
    let scratch = WitnessScratch::new("killed");
    let witness = scratch.witness();
    let (place, address) = (place(&witness), witness.address());
    let id = LedgerId::random().unwrap();
    let (said, heard) = std::sync::mpsc::channel();
    let complain = move |reason: &str| said.send(reason.to_owned()).unwrap();
    let recorder =
        LedgerRecorder::begin(place.create(id, &head(id, 1)).unwrap(), complain).unwrap();
    let one = |version| recorder.acknowledge(&[Acknowledgement { place: 1, version }]);
    one(1);
    wait_until(|| witness.activities().iter().any(|activity| activity.acknowledgements == 1));
    drop(witness);
    // What is sent to a witness that has gone is noticed with one of the next frames.
    wait_until(|| {
        one(2);
        recorder.unkept() > 0
    });
    let reason = heard.recv().unwrap();
    let witness = Witness::listen(address, &scratch.0, token(TOKEN)).unwrap();
    wait_until(|| {
        one(3);
        witness.activities().iter().any(|activity| activity.acknowledgements > 1)
    });
    let kept = recorder.finish();
    assert!(kept.unkept > 0 && kept.reason == Some(reason), "{kept:?}");
    assert_eq!(place.read("file 1", u64::MAX).unwrap().last().promises[&1], 3);
}

#[test]
fn malformed_bytes_harm_nobody() {
    let scratch = WitnessScratch::new("malformed");
    let witness = scratch.witness();
    let id = LedgerId::random().unwrap();
    let writer = place(&witness).create(id, &head(id, 1)).unwrap();
    let recorder = LedgerRecorder::begin(writer, |_| ()).unwrap();
    let mut state = 1u64;
    for length in (0..400).map(|number| number * 7 % 211) {
        let mut stream = TcpStream::connect(witness.address()).unwrap();
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.to_le_bytes()[5]
            })
            .collect();
        // Whoever is refused in the middle of it cannot send the rest.
        drop(stream.write_all(&bytes));
    }
    recorder.acknowledge(&[Acknowledgement { place: 1, version: 7 }]);
    assert_eq!(recorder.finish().kept, 1);
    wait_until(|| place(&witness).read("file 1", u64::MAX).is_ok());
    assert_eq!(place(&witness).read("file 1", u64::MAX).unwrap().last().promises[&1], 7);
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 1);
}

/// Whoever knows the token and sends no frames is cut off, and what was whole before stays.
#[test]
fn foreign_bytes_behind_frames_end_the_connection() {
    let scratch = WitnessScratch::new("foreign");
    let witness = scratch.witness();
    let place = place(&witness);
    let id = LedgerId::random().unwrap();
    drop(place.create(id, &head(id, 1)).unwrap());
    let LedgerPlace::Witness(address) = &place else { unreachable!() };
    let mut link = address.open(Purpose::Append, id).unwrap();
    assert_eq!(link.append(&[0xff; 64], 0).lost, 0);
    wait_until(|| !witness.complaints().is_empty());
    assert_eq!(place.read("file 1", u64::MAX).unwrap().epochs.len(), 1);
}

/// Those who say nothing, however many, keep nobody out who knows the token.
#[test]
fn strangers_give_way_to_those_who_come_after_them() {
    let scratch = WitnessScratch::new("strangers");
    let witness = scratch.witness();
    let id = LedgerId::random().unwrap();
    let writer = place(&witness).create(id, &head(id, 1)).unwrap();
    let silent: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(witness.address()).unwrap()).collect();
    drop(writer);
    drop(place(&witness).go_on(id, &head(id, 2)).unwrap());
    assert_eq!(place(&witness).read("file 1", u64::MAX).unwrap().epochs.len(), 2);
    // The oldest of them were closed, the newest may still greet.
    let mut oldest = &silent[0];
    oldest.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut heard = Vec::new();
    assert!(oldest.read_to_end(&mut heard).is_ok_and(|read| read <= 24));
}

#[test]
fn a_store_in_which_others_left_pipes_and_links_is_read() {
    let scratch = WitnessScratch::new("pipes");
    let witness = scratch.witness();
    let id = LedgerId::random().unwrap();
    drop(place(&witness).create(id, &head(id, 1)).unwrap());
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    let pipe = scratch.0.join("pipe.ledger");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    std::os::unix::fs::symlink("/dev/zero", scratch.0.join("zero.ledger")).unwrap();
    std::fs::create_dir(scratch.0.join("folder.ledger")).unwrap();
    std::fs::write(scratch.0.join("other.ledger"), "something else").unwrap();
    assert_eq!(place(&witness).read("file 1", u64::MAX).unwrap().id, id);
}

#[test]
fn a_store_that_others_may_write_into_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = WitnessScratch::new("open");
    std::fs::set_permissions(&scratch.0, std::fs::Permissions::from_mode(0o777)).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let error = Witness::listen(address, &scratch.0, token(TOKEN)).unwrap_err();
    assert!(error.message().contains("can write to it"), "{error}");
}

/// Nothing here is judged by how long it takes; a defect ends the test instead of hanging it.
#[track_caller]
pub(super) fn wait_until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn heads_and_judgements_beyond_a_bound_are_kept_and_not_remembered() {
    let scratch = WitnessScratch::new("remembered");
    let witness = scratch.witness();
    let content = vec![b' '; REMEMBERED_BYTES_MAX / 2];
    let remembered = [(); 4].map(|()| witness.shared.remembers(&content));
    assert_eq!(remembered, [true, true, false, false]);
    assert_eq!(witness.complaints().len(), 1);
}
