//! Effects on a device without a mount, where order and time are exact.

use super::*;
use crate::fault::Fault;
use crate::latency::Latency;
use assay_model::units::{Bytes, Nanos};

fn request(operation: Operation, offset: u64, data: &[u8]) -> Request {
    Request { inode: 2, operation, offset, length: count_of(data.len()), data: data.to_vec() }
}

fn device(effect: Effect) -> Device {
    Device::new(&Script::new().file("data", 65_536).fault(Fault::new(effect).nth(1)))
}

fn write(device: &mut Device, offset: u64, data: &[u8]) -> Result<(), Errno> {
    let ticket = device.arrive(request(Operation::Write, offset, data), 0);
    device.complete(ticket).map(|_| ())
}

fn read(device: &mut Device, offset: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let ticket = device.arrive(request(Operation::Read, offset, &vec![0; length]), 0);
    device.complete(ticket)
}

fn held(device: &Device, offset: u64, length: u64) -> Vec<u8> {
    device.tree.store(2).unwrap().read(offset, length, Version::Current)
}

#[test]
fn a_torn_write_keeps_its_first_bytes() {
    let mut device = device(Effect::Torn(Bytes(512)));
    let before = held(&device, 0, 4096);
    write(&mut device, 0, &[9; 4096]).unwrap();
    assert_eq!(held(&device, 0, 512), [9; 512]);
    assert_eq!(held(&device, 512, 3584), before[512..]);
}

#[test]
fn a_misdirected_write_goes_around_the_end_of_the_file() {
    let mut device = device(Effect::Misdirected(Bytes(8192)));
    let before = held(&device, 57_344 - 2048, 4096);
    write(&mut device, 57_344 - 2048, &[9; 4096]).unwrap();
    assert_eq!(held(&device, 57_344 - 2048, 4096), before);
    assert_eq!(held(&device, 65_536 - 2048, 2048), [9; 2048]);
    assert_eq!(held(&device, 0, 2048), [9; 2048]);
}

#[test]
fn a_flipped_bit_is_one_bit() {
    let mut device = device(Effect::BitFlip(8 * 100 + 3));
    write(&mut device, 0, &[0; 4096]).unwrap();
    let bytes = held(&device, 0, 4096);
    assert_eq!(bytes[100], 0b1000);
    assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
}

#[test]
fn a_vanished_device_fails_what_is_under_way_and_all_that_follows() {
    let slow = Script::new()
        .file("data", 65_536)
        .latency(Operation::Read, Latency::Fixed(Nanos(1_000)))
        .fault(Fault::new(Effect::Vanish(Errno::ENODEV)).nth(2));
    let mut device = Device::new(&slow);
    let first = device.arrive(request(Operation::Read, 0, &[0; 512]), 10);
    assert_eq!(first.due_ns(), 1_010);
    let second = device.arrive(request(Operation::Read, 0, &[0; 512]), 20);
    assert_eq!(second.due_ns(), 20);
    assert_eq!(device.complete(second), Err(Errno::ENODEV));
    assert_eq!(device.complete(first), Err(Errno::ENODEV));
    assert_eq!(read(&mut device, 0, 512), Err(Errno::ENODEV));
    assert_eq!(device.present(), Err(Errno::ENODEV));
    let faults: Vec<bool> =
        device.recorder.log().entries.iter().map(|e| e.fault.is_some()).collect();
    assert_eq!(faults, [true, false, false]);
}

#[test]
fn a_capacity_lets_existing_blocks_be_rewritten_when_full() {
    let script = Script::new().file("data", 8192).capacity(12_288);
    let mut device = Device::new(&script);
    assert_eq!(device.room_blocks(), (3, 1));
    assert_eq!(write(&mut device, 8192, &[1; 8192]), Err(Errno::ENOSPC));
    write(&mut device, 8192, &[1; 4096]).unwrap();
    assert_eq!(write(&mut device, 12_288, &[1]), Err(Errno::ENOSPC));
    write(&mut device, 0, &[1; 12_288]).unwrap();
    assert_eq!(device.reserve(2, 16_384, true), Err(Errno::ENOSPC));
}

#[test]
fn the_log_tells_a_fault_from_a_healthy_write() {
    let mut device = device(Effect::Lost);
    write(&mut device, 0, &[1; 4096]).unwrap();
    write(&mut device, 4096, &[2; 4096]).unwrap();
    let log = device.recorder.log();
    assert_eq!(log.faulty().count(), 1);
    assert_eq!(log.entries[0].checksum, Some(checksum(&[1; 4096])));
    assert_eq!(log.entries[0].errno, None);
    assert_eq!(log.entries[1].fault, None);
}
