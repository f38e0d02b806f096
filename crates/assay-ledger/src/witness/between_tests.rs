//! An attacker between client and witness who does not know the token is always detected.

use super::tests::{WitnessScratch, head_of, place_at, wait_until};
use super::*;
use crate::frame::Acknowledgement;
use crate::recorder::LedgerRecorder;
use std::net::Shutdown;

/// What is done to the bytes of one direction, which come with the number of bytes before them.
type Meddle = fn(u64, &mut Vec<u8>);

/// Passes everything on, and meddles.
struct Between(SocketAddr);

const fn pass(_: u64, _: &mut Vec<u8>) {}

impl Between {
    fn new(witness: SocketAddr, to_witness: Meddle, to_client: Meddle) -> Self {
        let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = socket.local_addr().unwrap();
        // It ends with the test.
        drop(thread::spawn(move || {
            for client in socket.incoming().map_while(std::result::Result::ok) {
                let Ok(server) = TcpStream::connect(witness) else { return };
                carry(client.try_clone().unwrap(), server.try_clone().unwrap(), to_witness);
                carry(server, client, to_client);
            }
        }));
        Self(address)
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, meddle: Meddle) {
    drop(thread::spawn(move || {
        let (mut before, mut bytes) = (0, vec![0; 4096]);
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            let mut passed = bytes[..length].to_vec();
            meddle(before, &mut passed);
            before += count_of(length);
            if to.write_all(&passed).is_err() {
                break;
            }
        }
        drop(to.shutdown(Shutdown::Write));
    }));
}

/// Bytes of the client up to its first frame.
const GREETED: u64 = 16 + 32 + 17;

#[test]
fn who_only_passes_on_is_not_noticed() {
    let scratch = WitnessScratch::new("between-none");
    let witness = scratch.witness();
    let place = place_at(Between::new(witness.address(), pass, pass).0);
    let id = LedgerId::random().unwrap();
    let recorder =
        LedgerRecorder::begin(place.create(id, &head_of(id, 1)).unwrap(), |_| ()).unwrap();
    recorder.acknowledge(&[Acknowledgement { place: 1, version: 9 }]);
    assert_eq!(
        (recorder.finish().kept, place.read("file 1", u64::MAX).unwrap().last().promises[&1]),
        (1, 9)
    );
}

/// The run says that acknowledgements are not kept; it cannot believe that they are.
#[test]
fn swallowed_acknowledgements_are_not_counted_as_kept() {
    fn swallow(before: u64, bytes: &mut Vec<u8>) {
        // Everything behind the head, which is confirmed before the first acknowledgement is sent.
        if before > GREETED {
            bytes.clear();
        }
    }
    let scratch = WitnessScratch::new("between-swallow");
    let witness = scratch.witness();
    let place = place_at(Between::new(witness.address(), swallow, pass).0);
    let id = LedgerId::random().unwrap();
    let recorder =
        LedgerRecorder::begin(place.create(id, &head_of(id, 1)).unwrap(), |_| ()).unwrap();
    recorder.acknowledge(&[Acknowledgement { place: 1, version: 9 }]);
    let kept = recorder.finish();
    assert_eq!((kept.kept, kept.unkept), (0, 1), "{kept:?}");
    assert!(kept.reason.is_some_and(|reason| reason.contains("did not answer in time")));
}

#[test]
fn an_exchanged_acknowledgement_ends_the_line_and_is_in_no_ledger() {
    #[expect(clippy::ptr_arg, reason = "others lengthen what they pass on")]
    fn exchange(before: u64, bytes: &mut Vec<u8>) {
        if before > GREETED && bytes.len() > 50 {
            // Another version, with the checksum that belongs to it.
            let forged =
                crate::frame::acknowledged(1, &[Acknowledgement { place: 1, version: 99 }]);
            bytes[..forged.len()].copy_from_slice(&forged);
        }
    }
    let scratch = WitnessScratch::new("between-exchange");
    let witness = scratch.witness();
    let place = place_at(Between::new(witness.address(), exchange, pass).0);
    let id = LedgerId::random().unwrap();
    let recorder =
        LedgerRecorder::begin(place.create(id, &head_of(id, 1)).unwrap(), |_| ()).unwrap();
    recorder.acknowledge(&[Acknowledgement { place: 1, version: 9 }]);
    wait_until(|| recorder.unkept() > 0);
    drop(recorder);
    assert!(witness.complaints().iter().any(|complaint| complaint.contains("altered in transit")));
    let direct = place_at(witness.address()).read("file 1", u64::MAX).unwrap();
    assert!(!direct.last().promises.contains_key(&1));
}

#[test]
fn an_invented_confirmation_is_not_believed() {
    fn invent(before: u64, bytes: &mut Vec<u8>) {
        // Behind the greeting, the answer and the confirmation of the head.
        if before > 24 + 33 {
            bytes.clear();
            bytes.resize(crate::link::CONFIRMATION_BYTES, 0);
        }
    }
    let scratch = WitnessScratch::new("between-invent");
    let witness = scratch.witness();
    let place = place_at(Between::new(witness.address(), pass, invent).0);
    let id = LedgerId::random().unwrap();
    let recorder =
        LedgerRecorder::begin(place.create(id, &head_of(id, 1)).unwrap(), |_| ()).unwrap();
    recorder.acknowledge(&[Acknowledgement { place: 1, version: 9 }]);
    let kept = recorder.finish();
    assert_eq!((kept.kept, kept.unkept), (0, 1), "{kept:?}");
}

/// A ledger of somebody else's making is refused, whatever it promises.
#[test]
fn a_ledger_that_was_handed_back_and_exchanged_is_refused() {
    fn forge(before: u64, bytes: &mut Vec<u8>) {
        if before >= 24 + 33 {
            for byte in bytes {
                *byte ^= 1;
            }
        }
    }
    fn shorten(before: u64, bytes: &mut Vec<u8>) {
        if before >= 24 + 33 {
            // The end of a ledger, as if it held nothing more.
            bytes.clear();
            bytes.resize(4 + 32, 0);
        }
    }
    let scratch = WitnessScratch::new("between-forge");
    let witness = scratch.witness();
    let id = LedgerId::random().unwrap();
    drop(place_at(witness.address()).create(id, &head_of(id, 1)).unwrap());
    for meddle in [forge as Meddle, shorten] {
        let place = place_at(Between::new(witness.address(), pass, meddle).0);
        let error = place.read("file 1", u64::MAX).unwrap_err();
        let is_noticed = ["altered in transit", "is not a ledger"];
        assert!(is_noticed.iter().any(|words| error.message().contains(words)), "{error}");
    }
}

#[test]
fn another_name_or_purpose_is_not_proven() {
    #[expect(clippy::ptr_arg, reason = "others lengthen what they pass on")]
    fn other_ledger(before: u64, bytes: &mut Vec<u8>) {
        if before == 0 && bytes.len() >= 65 {
            bytes[64] ^= 1;
        }
    }
    let scratch = WitnessScratch::new("between-name");
    let witness = scratch.witness();
    let place = place_at(Between::new(witness.address(), other_ledger, pass).0);
    let id = LedgerId::random().unwrap();
    assert!(place.create(id, &head_of(id, 1)).is_err());
    assert!(std::fs::read_dir(&scratch.0).unwrap().next().is_none());
}
