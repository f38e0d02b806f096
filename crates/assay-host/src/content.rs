//! What the content of a target does to a measurement of reads: holes, zeros, compressible data,
//! cached pages.
//!
//! All of it by safe system calls. Holes and unwritten extents both show as holes to `lseek`, so
//! the extent map is not needed; where somebody has read such an extent and its pages are still
//! cached, only the zeros give it away.

use crate::draw::Draw;
use crate::gate::{AdmittedNamespace, AdmittedTarget, advise};
use crate::page_cache::CacheProbe;
use assay_model::number::{count_of, share};
use assay_model::stack::Mount;
use assay_model::target::{ContentFacts, DirectIo, TargetFacts, TargetKind};
use miniz_oxide::deflate::compress_to_vec;
use rustix::fs::{
    Advice, AtFlags, SeekFrom, StatxAttributes, StatxFlags, fadvise, fstat, seek, statx,
};
use rustix::io::Errno;
use std::fs::File;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

/// Bytes a sample.
const SAMPLE_BYTES: u64 = 16 << 10;
/// Samples that are taken.
const SAMPLES: u64 = 128;
/// Extents after which a very fragmented file is judged by those seen.
const EXTENTS_MAX: u32 = 100_000;
/// The fastest level of the compressor, as storage uses it.
const COMPRESSION_LEVEL: u8 = 1;

/// Memory that direct I/O can read into.
#[repr(align(4096))]
struct ContentSample([u8; 16 << 10]);

/// Looks at an admitted target: its content by samples, and whether the page cache can be passed
/// by. It reads about 2 MiB, drops from the page cache what it brought there, and leaves direct I/O
/// off.
pub fn read_target_facts(admission: &AdmittedTarget, mount: Option<&Mount>) -> TargetFacts {
    admission.set_direct(false);
    let content = read_content(admission, mount);
    let range = admission.range();
    TargetFacts {
        path: admission.path().display().to_string(),
        kind: admission.kind(),
        size_bytes: admission.size_bytes(),
        usable_start_bytes: range.start,
        usable_end_bytes: range.end,
        logical_block_bytes: admission.logical_block_bytes(),
        physical_block_bytes: admission.physical_block_bytes(),
        transfer_bytes_max: admission.namespace().map(AdmittedNamespace::transfer_bytes_max),
        direct_io: try_direct(admission),
        created_by_assay: admission.marker().is_some(),
        content,
    }
}

/// Some file systems accept the flag and refuse the read, so both are tried.
fn try_direct(admission: &AdmittedTarget) -> DirectIo {
    let answer = admission.set_direct(true);
    let mut buffer = Box::new(ContentSample([0; 16 << 10]));
    let read = admission.file().read_at(&mut buffer.0, admission.range().start);
    admission.set_direct(false);
    match (answer, read) {
        (refused @ DirectIo::Refused { .. }, _) => refused,
        (_, Err(error)) => DirectIo::Refused { reason: error.to_string() },
        (supported, Ok(_)) => supported,
    }
}

fn read_content(admission: &AdmittedTarget, mount: Option<&Mount>) -> ContentFacts {
    let file = admission.file();
    let is_file = admission.kind() == TargetKind::File;
    // Pages that the cache holds count as data even over a hole, so that extents are looked at
    // before samples are read.
    let written_share = is_file.then(|| written_share(file, admission.range()));
    let mut content = sample_content(file, admission.range());
    if is_file {
        content.allocated_share = allocated_share(file, admission.size_bytes());
        content.written_share = written_share.flatten();
        content.file_system_compresses = compresses(file, mount);
    }
    content
}

fn allocated_share(file: &File, size_bytes: u64) -> Option<f64> {
    const UNIT_BYTES: u64 = 512;
    let blocks = u64::try_from(fstat(file).ok()?.st_blocks).ok()?;
    Some(share(blocks.saturating_mul(UNIT_BYTES), size_bytes).min(1.0))
}

/// Share of a range that holds data and no holes; `None` where the file system cannot tell.
fn written_share(file: &File, range: std::ops::Range<u64>) -> Option<f64> {
    let (mut place, mut written) = (range.start, 0);
    for _ in 0..EXTENTS_MAX {
        if place >= range.end {
            break;
        }
        let begin = match seek(file, SeekFrom::Data(place)) {
            Ok(begin) => begin.min(range.end),
            // No data behind this place.
            Err(Errno::NXIO) => range.end,
            Err(_) => return None,
        };
        let end = match seek(file, SeekFrom::Hole(begin)) {
            Ok(end) => end.min(range.end),
            Err(_) => range.end,
        };
        written += end.saturating_sub(begin);
        place = end.max(begin);
    }
    Some(share(written, place.min(range.end).saturating_sub(range.start)))
}

/// What is counted over the samples.
#[derive(Default)]
struct ContentTally {
    samples: u64,
    zeros: u64,
    cached: u64,
    /// Whether the kernel tells cached pages apart.
    cache_told: bool,
    compressed_bytes: u64,
}

fn sample_content(file: &File, range: std::ops::Range<u64>) -> ContentFacts {
    let blocks = (range.end - range.start) / SAMPLE_BYTES;
    let mut tally = ContentTally { cache_told: true, ..ContentTally::default() };
    let mut buffer = Box::new(ContentSample([0; 16 << 10]));
    let probe = CacheProbe::new();
    advise(file, Advice::Random);
    for block in Draw::new(range.end).spread(blocks, SAMPLES) {
        tally.take(file, &probe, range.start + block * SAMPLE_BYTES, &mut buffer);
    }
    advise(file, Advice::Normal);
    tally.facts()
}

impl ContentTally {
    fn take(&mut self, file: &File, probe: &CacheProbe, offset: u64, buffer: &mut ContentSample) {
        let cached = probe.holds(file, offset, &mut buffer.0);
        if file.read_exact_at(&mut buffer.0, offset).is_err() {
            return;
        }
        if cached != Some(true) {
            // Only what this sample brought into the cache is dropped again; nobody is waiting for
            // it.
            let _ = fadvise(file, offset, NonZeroU64::new(SAMPLE_BYTES), Advice::DontNeed);
        }
        self.samples += 1;
        self.cache_told &= cached.is_some();
        self.cached += u64::from(cached == Some(true));
        self.zeros += u64::from(buffer.0.iter().all(|byte| *byte == 0));
        let packed = count_of(compress_to_vec(&buffer.0, COMPRESSION_LEVEL).len());
        self.compressed_bytes += packed.min(SAMPLE_BYTES);
    }

    fn facts(&self) -> ContentFacts {
        let of_samples = |part| (self.samples > 0).then(|| share(part, self.samples));
        ContentFacts {
            samples: self.samples,
            sample_bytes: SAMPLE_BYTES,
            zero_share: of_samples(self.zeros),
            compressed_ratio: of_samples(self.compressed_bytes)
                .map(|bytes| share(1, SAMPLE_BYTES) * bytes),
            cached_share: of_samples(self.cached).filter(|_| self.cache_told),
            ..ContentFacts::default()
        }
    }
}

/// Whether the file system compresses this file: by its attribute, else by the options and the type
/// of the mount.
fn compresses(file: &File, mount: Option<&Mount>) -> Option<bool> {
    const PLAIN: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "tmpfs"];
    let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS).ok();
    let flagged = status.is_some_and(|status| {
        let both = status.stx_attributes & status.stx_attributes_mask;
        both.contains(StatxAttributes::COMPRESSED)
    });
    let mount = mount?;
    let option = mount.options.iter().any(|option| option.starts_with("compress"));
    match mount.file_system.as_str() {
        _ if flagged || option => Some(true),
        "btrfs" => Some(false),
        plain if PLAIN.contains(&plain) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "a test says what it skipped")]
mod tests {
    use super::*;
    use crate::gate::SafetyGate;
    use crate::root::SysRoot;
    use crate::testing::Scratch;
    use rustix::fs::{FallocateFlags, fallocate};

    const SIZE: u64 = 4 << 20;

    fn noise() -> Vec<u8> {
        let mut draw = Draw::new(3);
        (0..SIZE / 8).flat_map(|_| draw.next().to_le_bytes()).collect()
    }

    fn facts_of(make: impl Fn(&File)) -> TargetFacts {
        let scratch = Scratch::new("content");
        let path = scratch.path().join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        make(&file);
        file.sync_all().unwrap();
        let admission = SafetyGate::new(SysRoot::live()).admit_read(&path).unwrap();
        read_target_facts(&admission, None)
    }

    fn close(value: Option<f64>, expected: f64, margin: f64) {
        let value = value.unwrap();
        assert!((value - expected).abs() <= margin, "{value} is not {expected}");
    }

    #[test]
    fn random_data_is_written_and_incompressible() {
        let facts = facts_of(|file| file.write_all_at(&noise(), 0).unwrap());
        close(facts.content.written_share, 1.0, 0.0);
        close(facts.content.allocated_share, 1.0, 0.0);
        close(facts.content.zero_share, 0.0, 0.0);
        close(facts.content.compressed_ratio, 1.0, 0.01);
        assert_eq!((facts.size_bytes, facts.content.samples), (SIZE, 128));
        assert!(!facts.created_by_assay);
    }

    #[test]
    fn a_sparse_file_is_seen_through() {
        let facts = facts_of(|file| {
            file.set_len(SIZE).unwrap();
            file.write_all_at(&noise()[..1 << 20], 1 << 20).unwrap();
        });
        close(facts.content.written_share, 0.25, 0.02);
        close(facts.content.allocated_share, 0.25, 0.02);
        close(facts.content.zero_share, 0.75, 0.03);
        close(facts.content.compressed_ratio, 0.25, 0.05);
    }

    #[test]
    fn allocated_and_unwritten_space_is_told_from_data() {
        let scratch = Scratch::new("unwritten");
        let path = scratch.path().join("file");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        if fallocate(&file, FallocateFlags::empty(), 0, SIZE).is_err() {
            println!("skipped: this file system cannot allocate space ahead");
            return;
        }
        file.write_all_at(&noise()[..1 << 20], 0).unwrap();
        file.sync_all().unwrap();
        let admission = SafetyGate::new(SysRoot::live()).admit_read(&path).unwrap();
        let content = read_target_facts(&admission, None).content;
        close(content.allocated_share, 1.0, 0.0);
        close(content.written_share, 0.25, 0.02);
    }

    #[test]
    fn cached_pages_are_told_from_others() {
        let scratch = Scratch::new("cached");
        let path = scratch.path().join("file");
        std::fs::write(&path, noise()).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        let facts = || {
            let admission = SafetyGate::new(SysRoot::live()).admit_read(&path).unwrap();
            read_target_facts(&admission, None).content.cached_share
        };
        let Some(warm) = facts() else {
            println!("skipped: this file system does not identify cached pages");
            return;
        };
        assert!(warm > 0.9, "{warm}");
        // The kernel passes over pages that it is busy with, so one request may leave some behind.
        let gone = (0..50).any(|_| {
            fadvise(&file, 0, None, Advice::DontNeed).unwrap();
            facts().is_some_and(|cached| cached < 0.1)
        });
        assert!(gone, "{:?} is still cached", facts());
        // Had the samples stayed in the cache, this would be near 1.
        close(facts(), 0.0, 0.5);
    }

    #[test]
    fn compression_is_told_by_the_mount() {
        let scratch = Scratch::new("compress");
        let path = scratch.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let file = File::open(&path).unwrap();
        let on = |file_system: &str, option: &str| {
            let mount = Mount {
                file_system: file_system.into(),
                options: vec!["rw".into(), option.into()],
                ..Mount::default()
            };
            compresses(&file, Some(&mount))
        };
        assert_eq!(on("btrfs", "compress=zstd:1"), Some(true));
        assert_eq!(on("btrfs", "compress-force=lzo"), Some(true));
        assert_eq!(on("btrfs", "noatime"), Some(false));
        assert_eq!(on("xfs", "noatime"), Some(false));
        assert_eq!(on("zfs", "noatime"), None);
    }
}
