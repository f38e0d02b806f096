//! Whether reads of a test file look cached, and how large the file should become: begun small,
//! doubled while they do.

use super::fill::plain;
use super::handle::handle;
use assay_engine::{BackendChoice, EngineJob, OpenFile, run};
use assay_model::Histogram;
use assay_model::Result;
use assay_model::measurement::{Interval, Remark, Window};
use assay_model::number::{real, share};
use assay_model::units::{Bytes, Nanos, Share, show_bytes, show_time_ns};
use assay_model::workload::{Access, Stream, Workload};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes of a read.
const TRANSFER: u64 = 8 << 10;
/// Time for each look; a disk reads thirty times in it.
const LOOK: Nanos = Nanos(250_000_000);
/// The part of the file that was written first, one part in this number.
const OLDEST: u64 = 8;
/// Blocks that are read twice: few, so that any cache has room for them.
const AGAIN_BYTES: u64 = 1 << 20;
/// Reads without which nothing is concluded.
const READS_MIN: u64 = 20;
/// No flash answers as fast past the page cache; memory does, ns.
const MEMORY_NS: u64 = 20_000;
/// No flash is as slow with one read at a time; disks that move their heads are, ns.
const DISK_NS: u64 = 1_000_000;
/// A read in less than half of the time of others comes from somewhere else.
const FASTER: u64 = 2;
/// Share of the reads that a cache may answer.
const CACHED_MAX: f64 = 0.1;

/// Times of reads, one at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct LookedAt {
    /// In the part that was written first.
    pub(super) oldest: Histogram,
    /// In all of the file.
    pub(super) all: Histogram,
    /// Of blocks that nobody read before, where no other read came near.
    pub(super) fresh: Histogram,
    /// Of the same blocks once more.
    pub(super) again: Histogram,
}

/// Why a larger file says more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sign {
    /// Reads are as fast as memory, ns in the median.
    Memory(u64),
    /// This share of all reads is much faster than those of what was written first.
    Recent(f64),
    /// Blocks are read this many times as fast when they are read again.
    Again(f64),
    /// A disk moves its heads, over short ways in a small file, ns in the median.
    Disk(u64),
}

impl LookedAt {
    /// What speaks for a larger file.
    pub(super) fn sign(&self) -> Option<Sign> {
        let all_ns = median(&self.all)?;
        if all_ns < MEMORY_NS {
            return Some(Sign::Memory(all_ns));
        }
        if all_ns >= DISK_NS {
            return Some(Sign::Disk(all_ns));
        }
        self.recent().or_else(|| self.reread())
    }

    fn recent(&self) -> Option<Sign> {
        let limit_ns = median(&self.oldest)? / FASTER;
        let cached = 1.0 - share(self.all.ios_above(limit_ns), self.all.ios());
        (cached > CACHED_MAX).then_some(Sign::Recent(cached))
    }

    fn reread(&self) -> Option<Sign> {
        let (fresh_ns, again_ns) = (median(&self.fresh)?, median(&self.again)?);
        (again_ns <= fresh_ns / FASTER).then(|| Sign::Again(real(fresh_ns) / real(again_ns.max(1))))
    }
}

/// The median of enough reads, ns.
fn median(times: &Histogram) -> Option<u64> {
    (times.ios() >= READS_MIN).then(|| times.quantile_ns(0.5))
}

impl Sign {
    /// It in words.
    pub(super) fn words(self) -> String {
        match self {
            Self::Memory(ns) => {
                format!("reads take {}, as fast as memory", show_time_ns(real(ns)))
            }
            Self::Recent(cached) => format!(
                "{:.0}% of the reads are much faster than reads of the oldest data, so they come \
                 from a cache",
                100.0 * cached
            ),
            Self::Again(times) => {
                format!("reading blocks again is {times:.1} times as fast")
            }
            Self::Disk(ns) => format!(
                "reads take {}: these are hard disks, and a small file keeps seeks short",
                show_time_ns(real(ns))
            ),
        }
    }

    /// What a reader of the result must know when the file could not grow any more.
    pub(super) fn remark(self, size_bytes: u64) -> Remark {
        let what = format!("at {} of test file {}", show_bytes(real(size_bytes)), self.words());
        let why = match self {
            Self::Disk(_) => "a hard disk is faster when only its edge is used",
            _ => "part of the result comes from a cache, which a larger database would exceed",
        };
        Remark {
            what,
            why: why.to_owned(),
            remedy: "increase --size and --fill-time, or measure the device itself".to_owned(),
        }
    }
}

/// The next size of a file, bytes; none where it is large enough or as large as it may become.
pub(super) fn next_bytes(size_bytes: u64, most_bytes: u64, sign: Option<Sign>) -> Option<u64> {
    let next_bytes = size_bytes.saturating_mul(2).min(most_bytes);
    (sign.is_some() && next_bytes > size_bytes).then_some(next_bytes)
}

/// Reads a file here and there, for about a second.
///
/// # Errors
/// Those of the engine.
pub(super) fn look(file: &OpenFile, backend: BackendChoice, stop: &AtomicBool) -> Result<LookedAt> {
    let reader = GrowthReader { file, backend, stop };
    let (start, length) = (file.first_byte, file.length_bytes);
    let again_bytes = AGAIN_BYTES.min(length);
    // In the middle, so that neither the newest nor the oldest data are meant.
    let middle = start + length / 2 / AGAIN_BYTES * AGAIN_BYTES;
    let again = (middle.min(start + length - again_bytes), again_bytes);
    let oldest = (length / OLDEST / TRANSFER * TRANSFER).max(TRANSFER);
    Ok(LookedAt {
        fresh: reader.times(again, &Access::Permutation, Some(1))?,
        again: reader.times(again, &Access::Permutation, Some(1))?,
        oldest: reader.times((start, oldest), &Access::Uniform, None)?,
        all: reader.times((start, length), &Access::Uniform, None)?,
    })
}

/// What reads one at a time.
struct GrowthReader<'a> {
    file: &'a OpenFile,
    backend: BackendChoice,
    stop: &'a AtomicBool,
}

impl GrowthReader<'_> {
    /// Times of reads of a part of the file: its first byte and its length.
    fn times(&self, part: (u64, u64), access: &Access, passes: Option<u64>) -> Result<Histogram> {
        let stream =
            Stream { access: *access, ..Stream::closed("look", Share(1.0), Bytes(TRANSFER), 1) };
        let mut workload = Workload::of("look", LOOK, stream);
        workload.direct = self.file.direct;
        workload.interval = Nanos(LOOK.0 / 2);
        let target = OpenFile {
            name: self.file.name.clone(),
            file: handle(&self.file.file, &self.file.name)?,
            first_byte: part.0,
            length_bytes: part.1,
            writable: false,
            passthrough: None,
            ..*self.file
        };
        let job = EngineJob {
            workload: &workload,
            targets: Arc::from([target]),
            backend: plain(self.backend),
            passes,
        };
        let mut go_on = |_: &Interval, _: &Window| ControlFlow::Continue(());
        let measurement = run(&job, self.stop, &mut go_on)?;
        Ok(measurement.operations().read.map(|reads| reads.service).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const MOST: u64 = 32 * GIB;

    /// Storage with a cache of the blocks that were used last.
    #[derive(Clone, Copy)]
    struct Cached {
        cache_bytes: u64,
        cache_ns: u64,
        medium_ns: u64,
        keeps_reads: bool,
    }

    /// Times around one time, as a medium has them.
    fn times(center_ns: u64, reads: u64, times: &mut Histogram) {
        for read in 0..reads {
            times.record(center_ns * (90 + read % 21) / 100);
        }
    }

    impl Cached {
        fn looked(self, size_bytes: u64) -> LookedAt {
            let mut looked = LookedAt::default();
            let cached = self.cache_bytes.min(size_bytes) * 1000 / size_bytes;
            let oldest_ns = if cached == 1000 { self.cache_ns } else { self.medium_ns };
            times(oldest_ns, 1000, &mut looked.oldest);
            times(self.cache_ns, cached, &mut looked.all);
            times(self.medium_ns, 1000 - cached, &mut looked.all);
            times(oldest_ns, 128, &mut looked.fresh);
            let again_ns = if self.keeps_reads { self.cache_ns } else { oldest_ns };
            times(again_ns, 128, &mut looked.again);
            looked
        }

        /// What the file becomes on it, GiB, and why it would still grow.
        fn grown(self) -> (u64, Option<Sign>) {
            let mut size_bytes = 2 * GIB;
            loop {
                let sign = self.looked(size_bytes).sign();
                match next_bytes(size_bytes, MOST, sign) {
                    Some(next_bytes) => size_bytes = next_bytes,
                    None => return (size_bytes / GIB, sign),
                }
            }
        }
    }

    const FLASH: Cached =
        Cached { cache_bytes: 0, cache_ns: 30_000, medium_ns: 100_000, keeps_reads: false };

    #[test]
    fn without_a_cache_a_small_file_is_enough() {
        assert_eq!(FLASH.grown(), (2, None));
        assert_eq!(Cached { medium_ns: 300_000, ..FLASH }.grown(), (2, None));
    }

    #[test]
    fn a_file_grows_until_a_cache_holds_a_tenth_of_it_at_most() {
        for (cache_mib, grown) in [(64, 2), (512, 8), (1024, 16), (1900, 32)] {
            let storage = Cached { cache_bytes: cache_mib << 20, ..FLASH };
            let (size, sign) = storage.grown();
            assert_eq!((size, sign), (grown, None), "{cache_mib} MiB");
        }
        let (size, sign) = Cached { cache_bytes: 8 * GIB, ..FLASH }.grown();
        // A cache that holds all of the file differs from the medium visibly only where it is as
        // fast as memory.
        assert_eq!((size, sign), (2, None));
        let memory = Cached { cache_bytes: 8 * GIB, cache_ns: 8_000, ..FLASH };
        assert_eq!(memory.grown().0, 32);
        assert!(
            matches!(memory.grown().1, Some(Sign::Recent(share)) if (share - 0.25).abs() < 0.01)
        );
    }

    #[test]
    fn disks_memory_and_caches_of_reads_get_the_largest_file() {
        let disk = Cached { medium_ns: 5_000_000, ..FLASH };
        assert!(matches!(disk.grown(), (32, Some(Sign::Disk(_)))));
        let memory = Cached { medium_ns: 5_000, ..FLASH };
        assert!(matches!(memory.grown(), (32, Some(Sign::Memory(_)))));
        let reads = Cached { keeps_reads: true, ..FLASH };
        assert!(matches!(reads.grown(), (32, Some(Sign::Again(times))) if times > 3.0));
        for sign in [disk, memory, reads].map(|storage| storage.grown().1.unwrap()) {
            let remark = sign.remark(MOST);
            assert!(remark.what.starts_with("at 32.0 GiB of test file ") && !remark.why.is_empty());
        }
    }

    #[test]
    fn few_reads_show_nothing() {
        let mut looked = LookedAt::default();
        times(5_000, READS_MIN - 1, &mut looked.all);
        assert_eq!(looked.sign(), None);
        assert_eq!(next_bytes(2 * GIB, MOST, None), None);
        assert_eq!(next_bytes(MOST, MOST, Some(Sign::Memory(1))), None);
    }
}
