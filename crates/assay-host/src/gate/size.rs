//! Chooses the size of a file to measure on, and how large it may become: by free space, caches and
//! time.

use super::create::{FILE_BYTES_MIN, reserve_bytes};
use super::marker::DATA_START_BYTES;
use assay_model::number::{count, real};
use assay_model::units::show_bytes;
use assay_model::{Error, Result};

/// What the rule looks at; all sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeInputs {
    /// Size of the file system.
    pub capacity_bytes: u64,
    /// Free space on it for this user.
    pub free_bytes: u64,
    /// Memory of the host.
    pub memory_bytes: u64,
    /// Whether the page cache is passed by.
    pub direct_io: bool,
    /// Rate at which the file can be filled, bytes per second, where it is known.
    pub fill_rate_bytes_per_s: Option<f64>,
    /// Time that filling may take, s.
    pub fill_time_s: f64,
    /// Whether a small file is enough while its reads do not look cached; else all of it is wanted
    /// at once.
    pub grows: bool,
}

/// Sizes, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct SizePlan {
    /// Size of the file at first, bytes.
    pub first_bytes: u64,
    /// Size to which it may grow, bytes; the same where it does not.
    pub size_bytes: u64,
    /// The share of the file system that it has at first, in 0..=1.
    pub capacity_share: f64,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
}

/// Beyond the write caches of controllers and the fast regions of most drives, bytes.
const DIRECT_BYTES_WANTED: u64 = 32 << 30;
/// What a measurement of minutes begins with: fast storage reads all of it many times, and caches
/// of drives are smaller, bytes.
const FIRST_BYTES: u64 = 2 << 30;
/// Below this a small cache answers everything; it is said, bytes.
const CACHE_BYTES: u64 = 4 << 30;
/// What nobody asked for takes the free space divided by this at most: others may be about to need
/// it.
const FREE_SPACE_PARTS: u64 = 10;
/// Sizes are multiples of this, bytes.
const STEP_BYTES: u64 = DATA_START_BYTES;

/// Chooses a size. Wanted are 32 GiB with direct I/O, so that the caches of controllers and drives
/// do not answer for the medium, or twice the host's memory without, so that the page cache does
/// not. That is bounded by half of the free space above the reserve, by a tenth of the free space
/// and by what can be filled in time. With direct I/O a file that may grow begins with 2 GiB.
///
/// # Errors
/// An environment error when not even the least size fits.
pub fn plan_file_size(inputs: &SizeInputs) -> Result<SizePlan> {
    let (wanted, reason) = wanted(inputs);
    let mut reasons = vec![reason];
    let mut size = wanted;
    for (bound, reason) in bounds(inputs) {
        if bound < size {
            size = bound;
            reasons.push(reason);
        }
    }
    let size_bytes = size / STEP_BYTES * STEP_BYTES;
    if size_bytes < FILE_BYTES_MIN {
        return Err(Error::environment(
            format!("no space for a test file: {} are free", show_bytes(real(inputs.free_bytes))),
            "free some space, or specify a directory on another file system",
        ));
    }
    if size_bytes < CACHE_BYTES {
        reasons.push("a file this small may fit into a cache in the storage".into());
    }
    let grows = inputs.grows && inputs.direct_io;
    let first_bytes = if grows { size_bytes.min(FIRST_BYTES) } else { size_bytes };
    let capacity_share = real(first_bytes) / real(inputs.capacity_bytes.max(first_bytes));
    Ok(SizePlan { first_bytes, size_bytes, capacity_share, reasons })
}

fn wanted(inputs: &SizeInputs) -> (u64, String) {
    if inputs.direct_io {
        let size = show_bytes(real(DIRECT_BYTES_WANTED));
        return (DIRECT_BYTES_WANTED, format!("{size} would exceed the caches of the storage"));
    }
    let size = inputs.memory_bytes.saturating_mul(2);
    let reason =
        format!("{}, twice the memory, would exceed the page cache", show_bytes(real(size)));
    (size, reason)
}

fn bounds(inputs: &SizeInputs) -> Vec<(u64, String)> {
    let spare = inputs.free_bytes.saturating_sub(reserve_bytes(inputs.capacity_bytes)) / 2;
    let free = format!("{} is half of the free space above the reserve", show_bytes(real(spare)));
    let tenth = (inputs.free_bytes / FREE_SPACE_PARTS).max(FILE_BYTES_MIN);
    let unasked =
        format!("{} is 10% of the free space, the maximum without --size", show_bytes(real(tenth)));
    let mut bounds = vec![(tenth, unasked), (spare, free)];
    if let Some(rate) = inputs.fill_rate_bytes_per_s {
        let filled = count(rate * inputs.fill_time_s).max(FILE_BYTES_MIN);
        let time =
            format!("{} can be filled in {} s", show_bytes(real(filled)), inputs.fill_time_s);
        bounds.push((filled, time));
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inputs() -> SizeInputs {
        SizeInputs {
            capacity_bytes: 1000 << 30,
            free_bytes: 500 << 30,
            memory_bytes: 64 << 30,
            direct_io: true,
            fill_rate_bytes_per_s: None,
            fill_time_s: 20.0,
            grows: false,
        }
    }

    #[test]
    fn ample_space_gives_what_is_wanted() {
        let plan = plan_file_size(&inputs()).unwrap();
        assert_eq!(plan.size_bytes, 32 << 30);
        assert_eq!(plan.reasons, ["32.0 GiB would exceed the caches of the storage"]);
        let buffered = SizeInputs { direct_io: false, ..inputs() };
        assert_eq!(plan_file_size(&buffered).unwrap().size_bytes, 50 << 30);
    }

    #[test]
    fn a_file_that_may_grow_begins_small() {
        let grows = |free: u64, direct_io| {
            let inputs = SizeInputs { free_bytes: free << 30, direct_io, grows: true, ..inputs() };
            let plan = plan_file_size(&inputs).unwrap();
            (plan.first_bytes >> 20, plan.size_bytes >> 20)
        };
        assert_eq!(grows(500, true), (2048, 32 << 10));
        assert_eq!(grows(10, true), (1024, 1024), "never more than a tenth");
        assert_eq!(grows(500, false), (50 << 10, 50 << 10), "the page cache is known");
    }

    #[test]
    fn the_tightest_bound_wins_and_is_said() {
        let slow =
            SizeInputs { free_bytes: 21 << 30, fill_rate_bytes_per_s: Some(100e6), ..inputs() };
        let plan = plan_file_size(&slow).unwrap();
        assert_eq!(plan.size_bytes, 2_000_000_000 >> 20 << 20);
        assert_eq!(
            plan.reasons[1],
            "2.10 GiB is 10% of the free space, the maximum without --size"
        );
        assert_eq!(plan.reasons[2], "1.86 GiB can be filled in 20 s");
        assert_eq!(plan.reasons[3], "a file this small may fit into a cache in the storage");
    }

    #[test]
    fn a_full_file_system_is_refused() {
        let full = SizeInputs { free_bytes: 1 << 30, ..inputs() };
        let error = plan_file_size(&full).unwrap_err();
        assert_eq!(error.message(), "no space for a test file: 1.00 GiB are free");
    }

    proptest! {
        #[test]
        fn the_file_always_fits_above_the_reserve(capacity in 1u64..1 << 50, free_share in 0.0f64..=1.0, rate in proptest::option::of(1e3f64..1e11)) {
            let free_bytes = count(real(capacity) * free_share).min(capacity);
            let inputs = SizeInputs { capacity_bytes: capacity, free_bytes, fill_rate_bytes_per_s: rate, ..inputs() };
            if let Ok(plan) = plan_file_size(&inputs) {
                prop_assert!(plan.size_bytes + reserve_bytes(capacity) <= free_bytes);
                prop_assert!(plan.size_bytes >= FILE_BYTES_MIN && plan.first_bytes == plan.size_bytes);
                prop_assert!(plan.size_bytes <= (free_bytes / 10).max(FILE_BYTES_MIN));
                prop_assert!((0.0..=1.0).contains(&plan.capacity_share));
            }
        }
    }
}
