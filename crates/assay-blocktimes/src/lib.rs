//! How long reads of a device took between their issue and completion, counted by the kernel
//! itself: two small eBPF programs at the events of the block layer. Needs the right to load them;
//! who lacks it hears why.

mod calls;
mod program;

use assay_model::stack::DeviceNumber;
use assay_model::{Histogram, Precision};
use program::{Fields, RANGES, at_completion, at_issue, middle_ns};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Where the kernel describes its events.
const EVENTS: &str = "/sys/kernel/tracing/events/block";
/// A table by key, and a list of numbers.
const MAP_HASH: u32 = 1;
const MAP_ARRAY: u32 = 2;
/// Reads in flight that are kept; what is beyond is not counted.
const IN_FLIGHT_MAX: u32 = 1 << 16;

/// Each time is known within this share of itself.
pub const ERROR_SHARE: f64 = 1.0 / 32.0;

/// Reads of a device that are being timed; ends with its value.
#[derive(Debug)]
pub struct BlockTimes {
    counts: OwnedFd,
    _begun: OwnedFd,
    _programs: [OwnedFd; 2],
    _events: [OwnedFd; 2],
}

impl BlockTimes {
    /// Begins to time reads of a whole disk.
    pub fn begin(device: DeviceNumber) -> Result<Self, String> {
        let issue = Event::read(Path::new(EVENTS), "block_rq_issue")?;
        let completion = Event::read(Path::new(EVENTS), "block_rq_complete")?;
        let refused =
            |error: io::Error| format!("the kernel did not load the required program: {error}");
        Self::attached(kernel_number(device), &issue, &completion).map_err(refused)
    }

    fn attached(device: u32, issue: &Event, completion: &Event) -> io::Result<Self> {
        let begun = calls::map(MAP_HASH, 8, 8, IN_FLIGHT_MAX)?;
        let counts = calls::map(MAP_ARRAY, 4, 8, RANGES)?;
        let (begun_map, counts_map) = (begun.as_raw_fd(), counts.as_raw_fd());
        let first = calls::load(&at_issue(device, issue.fields, begun_map))?;
        let last = calls::load(&at_completion(device, completion.fields, begun_map, counts_map))?;
        let events =
            [calls::attach(&first, issue.number)?, calls::attach(&last, completion.number)?];
        Ok(Self { counts, _begun: begun, _programs: [first, last], _events: events })
    }

    /// What was counted so far.
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new(Precision::Fine);
        for range in 0..RANGES {
            // A map that was made here has every key.
            let ios = calls::look_up(&self.counts, range).unwrap_or(0);
            if ios > 0 {
                histogram.record_many(middle_ns(range), ios);
            }
        }
        histogram
    }
}

/// The number as events have it: twelve bits and twenty.
const fn kernel_number(device: DeviceNumber) -> u32 {
    device.major << 20 | device.minor
}

/// An event of the kernel.
#[derive(Debug, PartialEq, Eq)]
struct Event {
    number: u64,
    fields: Fields,
}

impl Event {
    fn read(events: &Path, name: &str) -> Result<Self, String> {
        let path = events.join(name).join("format");
        let text = fs::read_to_string(&path).map_err(|error| {
            format!("{}: {error}; tracefs must be mounted, and readable", path.display())
        })?;
        Self::parse(&text).ok_or_else(|| format!("{} is not understood", path.display()))
    }

    /// Lines such as `field:sector_t sector; offset:16; size:8; signed:0;`, with tabs in between.
    fn parse(text: &str) -> Option<Self> {
        let offset = |wanted: &str, bytes: u32| {
            let found = text.lines().filter_map(|line| line.trim().strip_prefix("field:"));
            let mut found = found.filter_map(|line| {
                let (declared, rest) = line.split_once(';')?;
                let name = declared.rsplit(' ').next()?.split('[').next()?;
                (name == wanted).then_some(rest)
            });
            let rest = found.next()?;
            let number = |key: &str| {
                rest.split(';').find_map(|part| part.trim().strip_prefix(key)?.parse().ok())
            };
            let is_as_known = bytes == 0 || number("size:") == Some(i16::try_from(bytes).ok()?);
            number("offset:").filter(|_| is_as_known)
        };
        let number = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        let fields = Fields {
            device: offset("dev", 4)?,
            sector: offset("sector", 8)?,
            operation: offset("rwbs", 0)?,
        };
        Some(Self { number, fields })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

    const FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\tfield:int \
                          common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:dev_t \
                          dev;\toffset:8;\tsize:4;\tsigned:0;\n\tfield:sector_t \
                          sector;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:char \
                          rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";

    #[test]
    fn an_event_tells_its_number_and_the_places_of_its_fields() {
        let event = Event::parse(FORMAT).unwrap();
        assert_eq!(
            (event.number, event.fields),
            (2104, Fields { device: 8, sector: 16, operation: 34 })
        );
        assert_eq!(Event::parse(&FORMAT.replace("size:8", "size:4")), None);
        assert_eq!(Event::parse(&FORMAT.replace("sector;", "other;")), None);
        let error = Event::read(Path::new("/nowhere"), "block_rq_issue").unwrap_err();
        assert!(error.contains("tracefs"), "{error}");
    }

    /// Reads past the page cache are counted, each of them.
    #[test]
    fn reads_of_the_device_are_counted() {
        let place = std::env::temp_dir().join(format!("assay-block-times-{}", std::process::id()));
        fs::write(&place, vec![7; 1 << 20]).unwrap();
        fs::File::open(&place).unwrap().sync_all().unwrap();
        let opened = fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&place);
        let Ok(file) = opened else {
            println!("skipped: no direct I/O here");
            return;
        };
        let device = file.metadata().unwrap().dev();
        let device = DeviceNumber { major: libc::major(device), minor: libc::minor(device) };
        match BlockTimes::begin(device) {
            Err(why) => println!("skipped: {why}"),
            Ok(times) => {
                let mut room = vec![0; 8192];
                let start = room.as_ptr().align_offset(4096);
                for block in 0..256 {
                    file.read_exact_at(&mut room[start..start + 4096], block * 4096).unwrap();
                }
                let seen = times.histogram();
                println!("{} reads, the middle one took {} ns", seen.ios(), seen.quantile_ns(0.5));
                // A partition's reads are those of its disk, and a file system may have no device
                // at all.
                assert!(seen.is_empty() || seen.quantile_ns(0.5) > 1000);
            }
        }
        fs::remove_file(place).unwrap();
    }
}
