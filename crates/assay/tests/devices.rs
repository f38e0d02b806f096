//! Block devices: read by anybody's leave, written only when they are unused, empty, and given up
//! by name.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use assay_rig::{LoopDevice, SmallFileSystem, or_skip};
use std::fs;
use std::process::Command;
use support::{Place, Ran, all_ios, measurement, random_bytes};

const SIZE: u64 = 16 << 20;

/// A refusal with the device under one name.
#[track_caller]
fn refused(ran: &Ran, device: &LoopDevice, code: i32, complaint: &str) {
    let shown = ran.complaint.replace(device.path().to_str().unwrap(), "DEVICE");
    let found = (ran.code, ran.stdout.as_str(), shown.trim_end());
    assert_eq!(found, (Some(code), "", complaint));
}

#[test]
fn a_device_is_read_without_leave_and_stays_as_it_is() {
    let device = or_skip!(LoopDevice::of_size(SIZE));
    let place = Place::new();
    fs::write(device.path(), random_bytes(assay_model::number::index_of(SIZE))).unwrap();
    let before = fs::read(device.path()).unwrap();
    let path = device.path().display();
    let run = place.json(&format!("run reads.toml {path} --criteria no-errors.toml"), 0);
    assert_eq!(measurement(&run)["targets"][0]["name"], path.to_string());
    assert_eq!(run["environment"]["storage"][0]["target"]["kind"], "block_device");
    // All that `check` does to a device that was not given up is reading.
    let ran = place.run(&format!("check {path} --time 8s --json"));
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{ran:#?}");
    let check = ran.json(ran.code.unwrap());
    let mixes = check["calibration"]["mixes"].as_array().unwrap();
    assert!(mixes.iter().all(|mix| mix["name"] == "read"), "{mixes:#?}");
    assert!(measurement(&check)["streams"][0]["operations"]["write"].is_null());
    assert_eq!(fs::read(device.path()).unwrap(), before);
}

#[test]
fn writing_needs_the_name_of_the_device() {
    let device = or_skip!(LoopDevice::of_size(SIZE));
    let place = Place::new();
    let path = device.path().display();
    let line = format!("run mixed.toml {path}");
    refused(
        &place.run(&line),
        &device,
        4,
        "error: refusing to write to DEVICE: writing destroys everything on it (all of 256 \
         sampled blocks are zeros)\nhint: if all of its data may be destroyed, repeat with \
         --destroy '16MiB'",
    );
    refused(
        &place.run(&format!("{line} --destroy 17MiB")),
        &device,
        4,
        "error: refusing to write to DEVICE: --destroy '17MiB' does not name this device\nhint: \
         this device is '16MiB'; check that DEVICE is the right device",
    );
    assert_eq!(place.run_ids(), [""; 0]);
    assert!(fs::read(device.path()).unwrap().iter().all(|byte| *byte == 0));
    for token in ["16MiB", "16777216"] {
        let run = place.json(&format!("{line} --destroy {token} --criteria no-errors.toml"), 0);
        assert!(all_ios(measurement(&run)) > 0);
        assert!(!measurement(&run)["streams"][0]["operations"]["write"].is_null());
    }
    assert!(fs::read(device.path()).unwrap().iter().any(|byte| *byte != 0));
}

#[test]
fn one_token_gives_up_one_device() {
    let [first, second] =
        [or_skip!(LoopDevice::of_size(SIZE)), or_skip!(LoopDevice::of_size(SIZE))];
    let place = Place::new();
    let line = format!("run mixed.toml {} {}", first.path().display(), second.path().display());
    refused(
        &place.run(&format!("{line} --destroy 16MiB")),
        &second,
        4,
        "error: refusing to write to DEVICE: writing destroys everything on it (all of 256 \
         sampled blocks are zeros)\nhint: if all of its data may be destroyed, repeat with \
         --destroy '16MiB'",
    );
    let zeros =
        |device: &LoopDevice| fs::read(device.path()).unwrap().iter().all(|byte| *byte == 0);
    assert!(zeros(&first) && zeros(&second));
    refused(
        &place.run(&format!("{line} --destroy 16MiB --destroy 16MiB --destroy 16MiB")),
        &second,
        2,
        "error: --destroy is given 3 times for 2 block devices among the targets\nhint: give it \
         once for each device to overwrite",
    );
    let run =
        place.json(&format!("{line} --destroy 16MiB --destroy 16MiB --criteria no-errors.toml"), 0);
    assert_eq!(measurement(&run)["targets"].as_array().unwrap().len(), 2);
    assert!(!zeros(&first) && !zeros(&second));
}

#[test]
fn a_device_with_a_file_system_is_refused_mounted_or_not() {
    let mounted = or_skip!(SmallFileSystem::ext4(SIZE));
    let place = Place::new();
    let device = mounted.device().unwrap();
    let line = format!("run mixed.toml {} --destroy 16MiB", device.path().display());
    let ran = place.run(&line);
    refused(
        &ran,
        device,
        4,
        "error: refusing to write to DEVICE: it is mounted at RIG/mount\nhint: specify a directory \
         under RIG/mount to measure with a file, or unmount it",
    );
    let device = or_skip!(LoopDevice::of_size(SIZE));
    let made = Command::new("mkfs.ext4").arg("-q").arg(device.path()).status();
    assert!(made.unwrap().success());
    let before = fs::read(device.path()).unwrap();
    let line = format!("run mixed.toml {} --destroy 16MiB", device.path().display());
    refused(
        &place.run(&line),
        &device,
        4,
        "error: refusing to write to DEVICE: it contains: ext2, ext3 or ext4 file system, or its \
         journal\nhint: if its data may be destroyed, repeat with --destroy '16MiB' --wipe ext4",
    );
    refused(
        &place.run(&format!("{line} --wipe xfs")),
        &device,
        4,
        "error: refusing to write to DEVICE: it contains: ext2, ext3 or ext4 file system, or its \
         journal; --wipe 'xfs' does not match\nhint: if its data may be destroyed, repeat with \
         --destroy '16MiB' --wipe ext4",
    );
    assert!(fs::read(device.path()).unwrap() == before);
    // Reading does no harm, whatever it carries.
    let line = format!("run reads.toml {} --criteria no-errors.toml", device.path().display());
    place.json(&line, 0);
    assert_eq!(place.run_ids().len(), 1);
    let line = format!("run mixed.toml {} --destroy 16MiB --wipe ext4", device.path().display());
    let run = place.json(&format!("{line} --criteria no-errors.toml"), 0);
    assert!(!measurement(&run)["streams"][0]["operations"]["write"].is_null());
}

#[test]
fn a_write_protected_device_can_only_be_read() {
    let place = Place::new();
    let image = place.random_file("image", 4 << 20);
    let device = or_skip!(LoopDevice::attach_read_only(&image));
    let path = device.path().display();
    refused(
        &place.run(&format!("run mixed.toml {path} --destroy 4MiB")),
        &device,
        4,
        "error: refusing to write to DEVICE: it is read-only\nhint: see blockdev --getro; a \
         write-protected device can only be read",
    );
    place.json(&format!("run reads.toml {path} --criteria no-errors.toml"), 0);
}

#[test]
fn transfers_must_fit_the_blocks_of_the_device() {
    let place = Place::new();
    let image = place.random_file("image", 4 << 20);
    let device = or_skip!(LoopDevice::attach_with(&image, &["--sector-size=4096"]));
    place.write("small.toml", &support::READS.replace("\"4KiB\"", "\"512B\""));
    let path = device.path().display();
    refused(
        &place.run(&format!("run small.toml {path}")),
        &device,
        2,
        "error: a block size of 512B is not aligned to the 4096 B blocks of DEVICE\nhint: use a \
         multiple of the block size, or direct = false",
    );
    assert_eq!(place.run_ids(), [""; 0]);
    let run = place.json(&format!("run small.toml {path} --buffered --criteria no-errors.toml"), 0);
    assert_eq!(measurement(&run)["conduct"]["direct_io"], false);
}

/// A workload on the second quarter of the device only.
#[test]
fn what_lies_outside_the_span_is_untouched() {
    let device = or_skip!(LoopDevice::of_size(SIZE));
    let place = Place::new();
    let content = random_bytes(assay_model::number::index_of(SIZE));
    fs::write(device.path(), &content).unwrap();
    let spanned =
        support::MIXED.replacen("block_size", "span = { from = 0.25, to = 0.5 }\nblock_size", 1);
    place.write("spanned.toml", &spanned);
    let line = format!(
        "run spanned.toml {} --destroy 16MiB --criteria no-errors.toml",
        device.path().display()
    );
    place.json(&line, 0);
    let after = fs::read(device.path()).unwrap();
    let (from, to) = (content.len() / 4, content.len() / 2);
    assert!(after[..from] == content[..from] && after[to..] == content[to..]);
    assert!(after[from..to] != content[from..to]);
}
