//! The store against a plain vector, and the versions it keeps.

use super::*;
use proptest::prelude::*;

const SIZE: u64 = 3 * BLOCK_BYTES + 100;

fn store(base: Content) -> Store {
    Store::new(SIZE, base, 9)
}

fn all(store: &Store, version: Version) -> Vec<u8> {
    store.read(0, u64::MAX, version)
}

#[derive(Clone, Debug)]
enum Step {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..6000);
    prop_oneof![
        4 => (0u64..16_000, bytes).prop_map(|(offset, bytes)| Step::Write(offset, bytes)),
        1 => (0u64..16_000).prop_map(Step::Truncate),
    ]
}

fn apply(oracle: &mut Vec<u8>, step: &Step) {
    match step {
        Step::Truncate(size) => oracle.resize(index_of(*size), 0),
        Step::Write(offset, bytes) => {
            let offset = index_of(*offset);
            oracle.resize(oracle.len().max(offset + bytes.len()), 0);
            oracle[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
    }
}

proptest! {
    #[test]
    fn behaves_as_a_plain_vector(steps in proptest::collection::vec(step(), 0..20), at in 0u64..20_000, length in 0u64..9000) {
        let mut store = store(Content::Random);
        let mut oracle = all(&store, Version::Current);
        for (writer, step) in steps.iter().enumerate() {
            apply(&mut oracle, step);
            match step {
                Step::Truncate(size) => store.truncate(*size),
                Step::Write(offset, bytes) => store.write(count_of(writer), *offset, bytes),
            }
        }
        prop_assert_eq!(all(&store, Version::Current), oracle.clone());
        let from = index_of(at).min(oracle.len());
        let to = index_of(at + length).min(oracle.len());
        prop_assert_eq!(store.read(at, length, Version::Current), oracle[from..to].to_vec());
    }
}

#[test]
fn synthesized_content_is_stable_incompressible_and_differs_by_block() {
    let bytes = all(&store(Content::Random), Version::Current);
    assert_eq!(bytes, all(&store(Content::Random), Version::Current));
    assert_ne!(bytes[..4096], bytes[4096..8192]);
    let mut counts = [0u64; 256];
    for byte in &bytes {
        counts[usize::from(*byte)] += 1;
    }
    // 12,388 bytes over 256 values: 48.4 expected, standard deviation 7.
    assert!(counts.iter().all(|count| (14..84).contains(count)), "{counts:?}");
    assert!(all(&store(Content::Zeros), Version::Current).iter().all(|byte| *byte == 0));
}

#[test]
fn the_previous_version_is_the_one_before_the_last_write() {
    let mut store = store(Content::Zeros);
    store.write(1, 0, &[1; 4096]);
    assert_eq!(store.read(0, 4096, Version::Previous), [0; 4096]);
    store.write(2, 0, &[2; 4096]);
    assert_eq!(store.read(0, 4096, Version::Previous), [1; 4096]);
    assert_eq!(store.read(0, 4096, Version::Current), [2; 4096]);
}

#[test]
fn a_stale_write_is_taken_back_where_nothing_newer_was_written() {
    let mut store = store(Content::Zeros);
    store.write(1, 0, &[1; 8192]);
    store.write_stale(2, 0, &[2; 8192]);
    store.write(3, 4096, &[3; 4096]);
    assert_eq!(store.read(0, 4096, Version::Current), [2; 4096]);
    store.drop_stale();
    assert_eq!(store.read(0, 4096, Version::Current), [1; 4096]);
    assert_eq!(store.read(4096, 4096, Version::Current), [3; 4096]);
    store.drop_stale();
    assert_eq!(store.read(0, 4096, Version::Current), [1; 4096]);
}

#[test]
fn two_stale_writes_on_one_place_go_back_to_the_first_content() {
    let mut store = store(Content::Zeros);
    store.write_stale(1, 0, &[1; 4096]);
    store.write_stale(2, 0, &[2; 4096]);
    store.drop_stale();
    assert_eq!(store.read(0, 4096, Version::Current), [1; 4096]);
}

#[test]
fn allocation_counts_reserved_and_written_blocks() {
    let mut empty = Store::new(0, Content::Zeros, 0);
    empty.write(1, 8192, &[1; 100]);
    assert_eq!((empty.allocated_bytes(), empty.size_bytes()), (4096, 8292));
    assert_eq!(empty.growth_bytes(8192, 4096), 0);
    assert_eq!(empty.growth_bytes(8191, 4098), 8192);
    empty.reserve(16_384);
    assert_eq!(empty.allocated_bytes(), 16_384);
    empty.write(2, 4096, &[1; 100]);
    assert_eq!(empty.allocated_bytes(), 16_384);
    empty.truncate(4096);
    assert_eq!(empty.allocated_bytes(), 4096);
    assert_eq!(store(Content::Random).allocated_bytes(), 4 * 4096);
}
