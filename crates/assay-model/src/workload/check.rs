//! What makes a workload impossible or contradictory, said before anything is issued.

use super::{Access, Arrival, BlockSizeMix, Stream, SyncPolicy, Workload};
use crate::document::parse_toml;
use crate::error::{Error, Result};
use crate::units::{Bytes, Share};
use std::collections::BTreeSet;

/// Streams of one workload: each is looked at whenever anything happens.
const STREAMS_MAX: usize = 256;
/// Workers of all streams: each is a thread.
const WORKERS_MAX: u32 = 4096;
/// Sequential runs of one stream: each has a place of its own in memory.
const SEQUENTIAL_MAX: u32 = 65_536;
/// The largest number of outstanding I/Os of one stream: the size of a completion ring.
const QUEUE_DEPTH_MAX: u32 = 32_768;
/// The largest transfer: what one buffer of a worker holds.
const TRANSFER_BYTES_MAX: u64 = 64 << 20;
/// Seconds of a pattern: an hour.
const PATTERN_MAX: usize = 3600;
/// Below this, direct I/O has no address.
const TRANSFER_BYTES_MIN: u64 = 512;

/// Reads a workload document and checks that it is valid and consistent.
///
/// # Errors
/// A usage error that names the line or the stream, and what would be accepted.
pub fn parse_workload(text: &str) -> Result<Workload> {
    let workload: Workload = parse_toml(text, "workload")?;
    workload.check()?;
    Ok(workload)
}

fn refuse<T>(message: String, hint: &str) -> Result<T> {
    Err(Error::usage(message, hint))
}

impl Workload {
    /// Refuses what is invalid or contradictory: see the module.
    ///
    /// # Errors
    /// A usage error that names the stream and the key.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            return refuse(
                format!("format {} is not known", self.format),
                "this version reads format = 1",
            );
        }
        if self.streams.is_empty() {
            return refuse(
                "the workload has no stream".to_owned(),
                "add a [[stream]] with name, transfer and arrival",
            );
        }
        self.check_counts()?;
        if self.duration.0 == 0 || self.interval.0 < 10_000_000 {
            return refuse(
                format!(
                    "a duration of {} with an interval of {} cannot be measured",
                    self.duration, self.interval
                ),
                "write a duration above 0s and an interval of at least 10ms",
            );
        }
        if self.capacity == Some(Bytes(0)) {
            return refuse(
                "capacity = 0B leaves no data".to_owned(),
                "leave it out, or write for example capacity = \"100GiB\"",
            );
        }
        self.check_names()?;
        self.streams.iter().try_for_each(|stream| {
            stream.check().map_err(|error| error.context(format!("stream '{}'", stream.name)))
        })
    }

    fn check_counts(&self) -> Result<()> {
        if self.streams.len() > STREAMS_MAX {
            return refuse(
                format!("{} streams are too many", self.streams.len()),
                "describe at most 256; use a higher queue depth instead of more streams",
            );
        }
        let workers = self.streams.iter().fold(0_u32, |sum, one| sum.saturating_add(one.workers));
        if workers > WORKERS_MAX {
            return refuse(
                format!("{workers} workers are too many"),
                "use at most 4096 over all streams: each is a thread",
            );
        }
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        let mut names = BTreeSet::new();
        match self.streams.iter().find(|stream| !names.insert(&stream.name)) {
            Some(twice) => refuse(
                format!("two streams are named '{}'", twice.name),
                "give each stream a unique name",
            ),
            None => Ok(()),
        }
    }
}

impl Stream {
    fn check(&self) -> Result<()> {
        self.check_transfer()?;
        self.check_span()?;
        self.check_access()?;
        self.check_arrival()?;
        self.check_pattern()?;
        self.check_sync()
    }

    fn check_pattern(&self) -> Result<()> {
        let sound = |weight: &f64| weight.is_finite() && *weight >= 0.0;
        let any = self.pattern.iter().any(|weight| *weight > 0.0);
        if self.pattern.is_empty() {
            return Ok(());
        }
        if matches!(self.arrival, Arrival::Closed { .. }) {
            return refuse(
                "a pattern needs open arrivals".to_owned(),
                "remove pattern, or use open arrivals",
            );
        }
        if !any || !self.pattern.iter().all(sound) || self.pattern.len() > PATTERN_MAX {
            return refuse(
                "the pattern is not a list of rates".to_owned(),
                "write up to 3600 numbers of at least 0, one of them above 0",
            );
        }
        Ok(())
    }

    fn check_transfer(&self) -> Result<()> {
        let BlockSizeMix { parts } = &self.block_size;
        let total: f64 = parts.iter().map(|part| part.share.0).sum();
        if parts.is_empty() || (total - 1.0).abs() > 1e-6 {
            return refuse(
                format!("the shares of the block sizes add up to {total}"),
                "make them add up to 100%",
            );
        }
        let (smallest, largest) = (self.block_size.min_bytes(), self.block_size.max_bytes());
        if smallest < TRANSFER_BYTES_MIN || largest > TRANSFER_BYTES_MAX {
            return refuse(
                format!("block sizes of {smallest} to {largest} bytes are not supported"),
                "use sizes between 512B and 64MiB",
            );
        }
        match parts.iter().find(|part| !part.size.0.is_multiple_of(smallest)) {
            Some(part) => refuse(
                format!("{} is not a multiple of the smallest block size {smallest} B", part.size),
                "choose sizes that are multiples of the smallest one",
            ),
            None => Ok(()),
        }
    }

    fn check_span(&self) -> Result<()> {
        if self.span.from.0 < self.span.to.0 {
            return Ok(());
        }
        refuse(
            format!("the span from {} to {} is empty", self.span.from, self.span.to),
            "write from below to, as shares",
        )
    }

    fn check_access(&self) -> Result<()> {
        let open = |share: Share| share.0 > 0.0 && share.0 <= 1.0;
        match self.access {
            Access::Zipf { theta } if !(theta > 0.0 && theta <= 10.0) => refuse(
                format!("theta {theta} is not a skew"),
                "write a theta above 0 and up to 10, for example 0.99",
            ),
            Access::HotBand { band, .. } | Access::MovingHotBand { band, .. } if !open(band) => {
                refuse(
                    format!("a hot band of {band} of the span is empty"),
                    "write a band above 0%",
                )
            }
            Access::MovingHotBand { every, .. } if every.0 == 0 => refuse(
                "a band cannot move every 0s".to_owned(),
                "write for example every = \"60s\"",
            ),
            Access::Sequential { streams: 0 } => {
                refuse("0 sequential runs".to_owned(), "write at least streams = 1")
            }
            Access::Sequential { streams } if streams > SEQUENTIAL_MAX => refuse(
                format!("{streams} sequential runs are too many"),
                "use at most streams = 65536",
            ),
            Access::Stride { step }
                if step.0 == 0 || !step.0.is_multiple_of(self.block_size.min_bytes()) =>
            {
                refuse(
                    format!("a stride of {step} does not fit the block size"),
                    "use a multiple of the block size",
                )
            }
            _ => Ok(()),
        }
    }

    fn check_arrival(&self) -> Result<()> {
        let queue_depth = self.arrival.queue_depth();
        if queue_depth == 0 || queue_depth > QUEUE_DEPTH_MAX {
            return refuse(
                format!("a queue depth of {queue_depth} is not supported"),
                "use 1 to 32768",
            );
        }
        if self.workers == 0 || self.workers > queue_depth {
            return refuse(
                format!("{} workers cannot share a queue depth of {queue_depth}", self.workers),
                "use at least one worker and at most as many as the queue depth",
            );
        }
        match self.arrival {
            Arrival::Open { rate, .. } if !(rate.0 > 0.0 && rate.0 <= 1e8) => refuse(
                format!("a rate of {rate} is not possible"),
                "write a rate above 0/s, for example 20000/s",
            ),
            Arrival::Open { burst, .. } if burst == 0 || burst > queue_depth => refuse(
                format!("bursts of {burst} do not fit {queue_depth} outstanding I/Os"),
                "use a burst between 1 and queue_depth_max",
            ),
            Arrival::Open { group_commit: Some(limit), .. } => self.check_group_commit(limit.0),
            _ => Ok(()),
        }
    }

    fn check_group_commit(&self, limit_bytes: u64) -> Result<()> {
        let single = self.block_size.parts.len() == 1 && self.read_share.0 <= 0.0;
        if single && limit_bytes >= self.block_size.max_bytes() && limit_bytes <= TRANSFER_BYTES_MAX
        {
            return Ok(());
        }
        refuse(
            "group_commit needs a write-only stream with one block size, and a larger limit"
                .to_owned(),
            "set read_share = 0, one block size, and group_commit between that size and 64MiB",
        )
    }

    fn check_sync(&self) -> Result<()> {
        match self.sync {
            SyncPolicy::Fdatasync { every: 0 } => refuse(
                "fdatasync every 0 writes is not possible".to_owned(),
                "write at least every = 1",
            ),
            SyncPolicy::None => Ok(()),
            _ if self.writes() => Ok(()),
            _ => refuse(
                "a stream that only reads cannot sync".to_owned(),
                "remove sync, or lower read_share",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    const SMALL: &str = r#"
format = 1
name = "small"
duration = "10s"
[[stream]]
name = "reads"
block_size = "8KiB"
arrival = { closed = { queue_depth = 4 } }
"#;

    fn refusal(from: &str, to: &str) -> String {
        let text = SMALL.replace(from, to);
        assert_ne!(text, SMALL, "the replacement must hit");
        parse_workload(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_written_workload_reads_back_the_same() {
        let workload = parse_workload(SMALL).unwrap();
        assert_eq!(parse_workload(&toml::to_string(&workload).unwrap()).unwrap(), workload);
        assert_eq!(workload.streams[0].span.to, Share(1.0));
        assert!(!workload.writes());
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest_name() {
        let text = refusal("duration", "durration");
        assert!(
            text.starts_with(
                "error: workload, line 4: unknown name 'durration'\nhint: did you mean 'duration'?"
            ),
            "{text}"
        );
        let text = refusal("closed", "close");
        assert!(text.contains("did you mean 'closed'?"), "{text}");
    }

    #[test]
    fn a_missing_unit_is_named_with_the_units() {
        let text = refusal("\"10s\"", "10");
        assert!(
            text.starts_with(
                "error: workload, line 4: '10' has no unit\nhint: write for example 1ms"
            ),
            "{text}"
        );
        let text = refusal("\"8KiB\"", "8192");
        assert!(text.contains("'8192' has no unit"), "{text}");
    }

    #[test]
    fn counts_have_limits() {
        let one = Stream::closed("s", Share(1.0), Bytes(8192), 4);
        let mut workload = Workload::of("x", Nanos(1_000_000_000), one.clone());
        let named = |index: u32| Stream { name: index.to_string(), ..one.clone() };
        workload.streams = (0..257).map(named).collect();
        let said = |workload: &Workload| workload.check().unwrap_err().to_string();
        assert!(said(&workload).contains("257 streams are too many"));
        workload.streams = (0..2).map(named).collect();
        workload.check().unwrap();
        for stream in &mut workload.streams {
            stream.arrival = Arrival::Closed { queue_depth: 4096, think_time: Nanos(0) };
            stream.workers = 4096;
        }
        assert!(said(&workload).contains("8192 workers are too many"));
        workload.streams = vec![Stream { access: Access::Sequential { streams: 1 << 28 }, ..one }];
        assert!(said(&workload).contains("268435456 sequential runs are too many"));
    }

    #[test]
    fn contradictions_name_the_stream() {
        for (from, to, expected) in [
            ("queue_depth = 4", "queue_depth = 0", "a queue depth of 0"),
            (
                "queue_depth = 4 } }",
                "queue_depth = 4 } }\nworkers = 5",
                "5 workers cannot share a queue depth of 4",
            ),
            ("queue_depth = 4 } }", "queue_depth = 4 } }\nsync = \"o_dsync\"", "cannot sync"),
            (
                "queue_depth = 4 } }",
                "queue_depth = 4 } }\nspan = { from = 0.5, to = 0.5 }",
                "is empty",
            ),
            (
                "queue_depth = 4 } }",
                "queue_depth = 4 } }\naccess = { zipf = { theta = -1.0 } }",
                "is not a skew",
            ),
            ("\"8KiB\"", "[{ size = \"8KiB\", share = 0.5 }]", "add up to 0.5"),
            ("\"8KiB\"", "\"100B\"", "are not supported"),
            ("queue_depth = 4 } }", "queue_depth = 4 } }\npattern = [1, 2]", "needs open arrivals"),
            (
                "{ closed = { queue_depth = 4 } }",
                "{ open = { rate = \"5/s\" } }\npattern = [0.0, 0.0]",
                "not a list of rates",
            ),
        ] {
            let text = refusal(from, to);
            assert!(
                text.starts_with("error: stream 'reads': ") && text.contains(expected),
                "{text}"
            );
            assert!(text.contains("\nhint: "), "{text}");
        }
    }
}
