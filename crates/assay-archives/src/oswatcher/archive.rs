//! The files of an archive: found, unpacked where they were packed, and cut into samples.

use super::collector::ArchiveCollector;
use super::parse::{self, DeviceRow, FoundSample};
use super::stamp::{SampleStamp, stamp};
use crate::packed::gunzip;
use assay_model::number::index_of;
use assay_model::{Error, Result};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An hour of samples comes nowhere near; a damaged file shall not fill the memory.
const FILE_BYTES_MAX: u64 = 32 << 20;
/// What all samples of an archive may take; the moments that are made of them take as much again.
const HELD_BYTES_MAX: usize = 48 << 20;
/// Text of all files of an archive: more takes minutes to read.
const TEXT_BYTES_MAX: usize = 1 << 30;
/// A device of a sample, with its name.
const DEVICE_BYTES: usize = size_of::<DeviceRow>() + 16;

/// The output of a tool at one time, understood.
#[derive(Debug)]
pub(super) struct ArchiveSample {
    pub(super) collector: ArchiveCollector,
    pub(super) at_unix_s: u64,
    pub(super) found: FoundSample,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(super) struct Archive {
    pub(super) samples: Vec<ArchiveSample>,
    /// Processors, where a file says so; else 0.
    pub(super) processors: u64,
    pub(super) has_local_times: bool,
    pub(super) notes: Vec<String>,
    /// What the samples take in memory.
    held_bytes: usize,
}

/// Reads all files of known collectors in a directory and the directories in it.
pub(super) fn read_archive(directory: &Path) -> Result<Archive> {
    read_within(directory, HELD_BYTES_MAX)
}

fn read_within(directory: &Path, held_bytes_max: usize) -> Result<Archive> {
    let mut paths = Vec::new();
    collect(directory, 0, &mut paths)?;
    paths.sort_by(|one, other| one.0.cmp(&other.0));
    let mut archive = Archive::default();
    let (count, mut read_bytes) = (paths.len(), 0);
    for (number, (path, collector)) in paths.into_iter().enumerate() {
        if archive.held_bytes > held_bytes_max || read_bytes > TEXT_BYTES_MAX {
            let rest = count - number;
            archive.notes.push(format!(
                "{rest} of {count} files were left out, because the archive is too large: read \
                 fewer days at once"
            ));
            break;
        }
        match text_of(&path) {
            Ok(text) => {
                read_bytes += text.len();
                archive.cut(collector, &text);
            }
            Err(reason) => archive.notes.push(format!("{}: not read: {reason}", path.display())),
        }
    }
    archive.samples.sort_by_key(|sample| sample.at_unix_s);
    Ok(archive)
}

/// Files of known collectors; an archive is two levels deep.
fn collect(
    directory: &Path,
    depth: u32,
    into: &mut Vec<(PathBuf, ArchiveCollector)>,
) -> Result<()> {
    let refused = |error: io::Error| {
        Error::environment(
            format!("reading {}: {error}", directory.display()),
            "specify a directory that you can read",
        )
    };
    for entry in fs::read_dir(directory).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.is_dir() && depth < 2 {
            collect(&path, depth + 1, into)?;
        } else if let Some(collector) = ArchiveCollector::of(&path) {
            into.push((path, collector));
        }
    }
    Ok(())
}

fn text_of(path: &Path) -> std::result::Result<String, String> {
    let bytes = bytes_of(path).map_err(|error| error.to_string())?;
    let bytes = if path.extension().is_some_and(|form| form == "gz") {
        gunzip(&bytes, index_of(FILE_BYTES_MAX))?
    } else {
        bytes
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A plain file, which is not opened where it is anything else: a pipe would wait for somebody who
/// writes.
fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let facts = fs::metadata(path)?;
    if !facts.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if facts.len() > FILE_BYTES_MAX {
        return Err(io::Error::other("it is longer than 32 MiB, more than an hour of samples"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Archive {
    /// Cuts a file into its samples; what stands above the first one describes the host.
    fn cut(&mut self, collector: ArchiveCollector, text: &str) {
        let mut current: Option<(&str, Vec<&str>)> = None;
        for line in text.lines() {
            if line.starts_with("zzz ") {
                self.take(collector, current.replace((line, Vec::new())));
            } else if let Some((_, lines)) = &mut current {
                lines.push(line);
            } else if let Some(count) = line.strip_prefix("CPU_COUNT") {
                let count = count.trim_matches([' ', ':', '=', '\t']);
                self.processors = count.parse().unwrap_or(self.processors);
            }
        }
        self.take(collector, current);
    }

    /// Keeps what a sample says and not its text. Times of empty samples are not read: a damaged
    /// file may have millions.
    fn take(&mut self, collector: ArchiveCollector, sample: Option<(&str, Vec<&str>)>) {
        let Some((time, lines)) = sample.filter(|(_, lines)| !lines.is_empty()) else { return };
        let Some(found) = parse::sample(collector, &lines) else { return };
        let Some(SampleStamp { at_unix_s, is_utc }) = stamp(time) else {
            return self.note_unread(time);
        };
        self.has_local_times |= !is_utc;
        self.held_bytes += size_of::<ArchiveSample>() + found.devices.len() * DEVICE_BYTES;
        self.samples.push(ArchiveSample { collector, at_unix_s, found });
    }

    /// Said once: a foreign language is in every line.
    fn note_unread(&mut self, line: &str) {
        const NOTE: &str = "samples with an unknown time format were left out, the first: ";
        if !self.notes.iter().any(|note| note.starts_with(NOTE)) {
            self.notes.push(format!("{NOTE}{line}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_would_fill_the_memory_is_read_in_part() {
        let place = std::env::temp_dir().join(format!("assay-osw-large-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let sample = "zzz ***Sat Jan 10 12:00:00 UTC 2026\nDevice r/s w/s rkB/s wkB/s await \
                      aqu-sz %util\nsda 1 1 1 1 1 1 1\n";
        for hour in 10..13 {
            fs::write(place.join(format!("db_iostat_26.01.10.{hour}00.dat")), sample).unwrap();
        }
        let archive = read_within(&place, 1).unwrap();
        assert_eq!((archive.samples.len(), archive.notes.len()), (1, 1));
        assert!(archive.notes[0].starts_with("2 of 3 files were left out"), "{:?}", archive.notes);
        assert_eq!(read_archive(&place).unwrap().samples.len(), 3);
        // Empty samples say nothing, not even of times that cannot be read.
        let empty = "zzz ***Unjour\n".repeat(1_000_000);
        fs::write(place.join("db_iostat_26.01.10.1300.dat"), empty).unwrap();
        let archive = read_archive(&place).unwrap();
        assert_eq!((archive.samples.len(), archive.notes.len()), (3, 0));
        fs::remove_dir_all(place).unwrap();
    }
}
