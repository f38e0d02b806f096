//! `assay verify replay` as a user meets it: every lie of a device is shown by stamped writes, and
//! a state becomes an image.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_integrity::{BlockPattern, BlockStamp, SectorAddress, WriteLog, Writer};
use support::Place;

/// Stamped writes of 4 KiB, every second with FUA, a flush after every tenth.
fn stamped() -> WriteLog {
    let (mut log, pattern) = (WriteLog::new(), BlockPattern::new(5, 0.0));
    let mut data = vec![0; 4096];
    for sequence in 0..400u64 {
        let block = sequence * 37 % 64;
        let generation = u32::try_from(sequence / 64 + 1).unwrap();
        let first = SectorAddress { target: 0, sector: block * 8 };
        let writer = Writer { worker: 0, sequence, sectors: 8 };
        pattern.fill(&mut data, &BlockStamp { first, generation, writer });
        log.push_write(block * 4096, &data, sequence % 2 == 0);
        if sequence % 10 == 9 {
            log.push_flush();
        }
    }
    log
}

fn place() -> Place {
    let place = Place::new();
    std::fs::write(place.path("stamped.log"), stamped().bytes()).unwrap();
    place
}

#[test]
fn every_lie_is_shown_and_no_promise_of_a_conforming_device_is_broken() {
    let found = place().json("verify replay stamped.log --states 500", 0);
    let devices = found["devices"].as_array().unwrap();
    assert_eq!(
        (devices[0]["device"].as_str(), devices[0]["broken_states"].as_u64()),
        (Some("conforming"), Some(0))
    );
    assert_eq!(devices[0]["atomic_unit_bytes"], 512);
    for device in &devices[1..] {
        assert!(device["broken_states"].as_u64() > Some(0), "{device}");
        assert!(device["cuts_needed"].as_u64() > Some(0), "{device}");
    }
    let ran = place().run("verify replay stamped.log --states 100 --unit 4KiB --order fifo");
    assert!(ran.stdout.contains("conforming"), "{}", ran.stdout);
}

#[test]
fn a_state_becomes_a_new_image_and_nothing_is_overwritten() {
    let place = place();
    let line = "verify replay stamped.log --image state.img --entries 220";
    assert_eq!(place.run(line).code, Some(0));
    let image = std::fs::read(place.path("state.img")).unwrap();
    assert!(!image.is_empty() && image.len() <= 64 * 4096);
    let again = place.run(line);
    assert_eq!(again.code, Some(4), "{again:?}");
    std::fs::write(place.path("before.img"), vec![7; 1 << 20]).unwrap();
    let based = "verify replay stamped.log --image based.img --entries 3 --base before.img";
    assert_eq!(place.run(based).code, Some(0));
    let based = std::fs::read(place.path("based.img")).unwrap();
    assert_eq!((based.len(), based[based.len() - 1]), (1 << 20, 7));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let place = place();
    place.write("text.log", "no log");
    let mut plain = WriteLog::new();
    plain.push_write(0, &[1; 512], false);
    std::fs::write(place.path("plain.log"), plain.bytes()).unwrap();
    for (line, code, complaint) in [
        ("verify replay text.log", 2, "does not start like a log"),
        ("verify replay plain.log", 2, "the writes in the log have no stamps"),
        ("verify replay nothing.log", 4, "reading nothing.log"),
        ("verify replay stamped.log --unit 1000B", 2, "is not possible for a device"),
        ("verify replay stamped.log --image x.img --entries 10000", 2, "the log has"),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        assert!(ran.complaint.contains(complaint), "{line}: {}", ran.complaint);
    }
    assert!(!place.path("x.img").exists());
    // A log without stamps has images all the same.
    assert_eq!(place.run("verify replay plain.log --image plain.img --entries 1").code, Some(0));
}
