//! The sections of a report that matter to storage, and the titles by which each is known.

use memchr::memmem;

/// A section of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OracleSection {
    /// Database, instance, host and snapshots.
    Header,
    /// Cache sizes, with the block size.
    CacheSizes,
    /// Load per second and per transaction.
    LoadProfile,
    /// Requests and megabytes per second by purpose (11.2.0.4 and later).
    IoProfile,
    /// Where DB time went, by kind of call.
    TimeModel,
    /// Foreground waits by class.
    WaitClasses,
    /// The top events on the first page.
    TopEvents,
    /// The top events of a global report, foreground and background together.
    TopEventsOfAll,
    /// Waits of sessions.
    ForegroundEvents,
    /// Waits of background processes.
    BackgroundEvents,
    /// Waits of sessions and background processes together (Statspack; AWR 10g).
    AllEvents,
    /// Waits by how long they took.
    Histogram,
    /// Counters of the instance.
    Activity,
    /// Blocks per second by instance (global report).
    InstanceRates,
    /// I/O by tablespace.
    Tablespaces,
    /// I/O by file.
    Files,
    /// I/O by database function.
    IoByFunction,
    /// I/O by type of file.
    IoByFileType,
    /// The operating system's counters.
    OperatingSystem,
    /// Statements by time waited for I/O.
    SqlByIoTime,
    /// The top events of background processes (global report).
    TopBackgroundEvents,
    /// Busy time and load of the machine.
    HostCpu,
    /// Sessions at both ends (global report).
    Sessions,
    /// Segments by blocks read.
    SegmentsByReads,
    /// Segments by read requests (11.2 and later).
    SegmentsByReadRequests,
    /// Segments by any statistic, one below the other (global report).
    SegmentStatistics,
    /// The buffer cache at other sizes.
    BufferPoolAdvisory,
}

impl OracleSection {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Header,
        Self::CacheSizes,
        Self::LoadProfile,
        Self::IoProfile,
        Self::TimeModel,
        Self::WaitClasses,
        Self::TopEvents,
        Self::TopEventsOfAll,
        Self::ForegroundEvents,
        Self::BackgroundEvents,
        Self::AllEvents,
        Self::Histogram,
        Self::Activity,
        Self::InstanceRates,
        Self::Tablespaces,
        Self::Files,
        Self::IoByFunction,
        Self::IoByFileType,
        Self::OperatingSystem,
        Self::SqlByIoTime,
        Self::TopBackgroundEvents,
        Self::HostCpu,
        Self::Sessions,
        Self::SegmentsByReads,
        Self::SegmentsByReadRequests,
        Self::SegmentStatistics,
        Self::BufferPoolAdvisory,
    ];

    /// The title as a person would look for it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::CacheSizes => "Cache Sizes",
            Self::LoadProfile => "Load Profile",
            Self::IoProfile => "IO Profile",
            Self::TimeModel => "Time Model Statistics",
            Self::WaitClasses => "Foreground Wait Class",
            Self::TopEvents => "Top Foreground Events",
            Self::TopEventsOfAll => "Top Timed Events",
            Self::ForegroundEvents => "Foreground Wait Events",
            Self::BackgroundEvents => "Background Wait Events",
            Self::AllEvents => "Wait Events",
            Self::Histogram => "Wait Event Histogram",
            Self::Activity => "Instance Activity Stats",
            Self::InstanceRates => "System Statistics - Per Second",
            Self::Tablespaces => "Tablespace IO Stats",
            Self::Files => "File IO Stats",
            Self::IoByFunction => "IOStat by Function",
            Self::IoByFileType => "IOStat by Filetype",
            Self::OperatingSystem => "Operating System Statistics",
            Self::SqlByIoTime => "SQL ordered by User I/O Wait Time",
            Self::TopBackgroundEvents => "Top Timed Background Events",
            Self::HostCpu => "Host CPU",
            Self::Sessions => "System Statistics (Absolute Values)",
            Self::SegmentsByReads => "Segments by Physical Reads",
            Self::SegmentsByReadRequests => "Segments by Physical Read Requests",
            Self::SegmentStatistics => "Segment Statistics (Global)",
            Self::BufferPoolAdvisory => "Buffer Pool Advisory",
        }
    }

    /// The section that a title opens; `None` for titles of sections that are not read.
    pub(crate) fn of(title: &[u8]) -> Option<Self> {
        let title = folded(title);
        // 9.2 goes on with database, instance and snapshots.
        let words = title.split(" for db:").next().unwrap_or_default();
        exact(words).or_else(|| opening(words))
    }
}

/// What can be a title: the words before the first gap, or before the names of database and
/// instance.
pub(crate) fn words_of_title(line: &[u8]) -> &[u8] {
    let end = memmem::find(line, b"DB/Inst:").unwrap_or(line.len());
    until_gap(&line[..end]).trim_ascii()
}

/// The words before the first gap of two blanks.
pub(crate) fn until_gap(line: &[u8]) -> &[u8] {
    let indent = line.len() - line.trim_ascii_start().len();
    let end = memmem::find(&line[indent..], b"  ").map_or(line.len(), |gap| indent + gap);
    &line[..end]
}

/// Lower case, runs of blanks as one: titles differ in both between builds.
pub(crate) fn folded(text: &[u8]) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split(|byte| byte.is_ascii_whitespace() || *byte == 0x0c) {
        if word.is_empty() {
            continue;
        }
        if !folded.is_empty() {
            folded.push(' ');
        }
        let letters = word.iter().map(|byte| char::from(byte.to_ascii_lowercase()));
        folded.extend(letters);
    }
    folded
}

fn exact(title: &str) -> Option<OracleSection> {
    Some(match title {
        "time model statistics" | "time model system stats" | "time model" => {
            OracleSection::TimeModel
        }
        "foreground wait class" | "foreground wait classes" => OracleSection::WaitClasses,
        "top timed events" => OracleSection::TopEventsOfAll,
        "top timed foreground events" => OracleSection::TopEvents,
        "top timed background events" => OracleSection::TopBackgroundEvents,
        "system statistics (absolute values)" => OracleSection::Sessions,
        "segments by physical reads" => OracleSection::SegmentsByReads,
        "segments by physical read requests" => OracleSection::SegmentsByReadRequests,
        "segment statistics (global)" => OracleSection::SegmentStatistics,
        "buffer pool advisory" => OracleSection::BufferPoolAdvisory,
        "wait events" | "wait events (fg and bg)" => OracleSection::AllEvents,
        "instance activity stats"
        | "key instance activity stats"
        | "other instance activity stats"
        | "system statistics (global)" => OracleSection::Activity,
        "system statistics - per second" => OracleSection::InstanceRates,
        "tablespace io stats" => OracleSection::Tablespaces,
        "file io stats" => OracleSection::Files,
        "iostat by function summary"
        | "iostat by function"
        | "iostat by function (per second)"
        | "io stat by function - summary" => OracleSection::IoByFunction,
        "iostat by filetype summary"
        | "iostat by file type"
        | "iostat by file type (per second)" => OracleSection::IoByFileType,
        "operating system statistics" | "os statistics" | "os statistics by instance" => {
            OracleSection::OperatingSystem
        }
        _ => return None,
    })
}

const OPENINGS: &[(&str, OracleSection)] = &[
    ("load profile", OracleSection::LoadProfile),
    ("this table displays load profile", OracleSection::LoadProfile),
    ("io profile", OracleSection::IoProfile),
    ("this table displays io profile", OracleSection::IoProfile),
    ("this table displays cache sizes", OracleSection::CacheSizes),
    ("cache sizes", OracleSection::CacheSizes),
    ("top 10 foreground events by total", OracleSection::TopEvents),
    ("this table displays top 10 wait events by total", OracleSection::TopEvents),
    ("foreground wait events", OracleSection::ForegroundEvents),
    ("background wait events", OracleSection::BackgroundEvents),
    ("wait event histogram", OracleSection::Histogram),
    ("sql ordered by user i/o", OracleSection::SqlByIoTime),
    ("host cpu", OracleSection::HostCpu),
    ("this table displays system load statistics", OracleSection::HostCpu),
    ("database summary", OracleSection::Header),
    ("database instances included in report", OracleSection::Header),
    ("this table displays database instance information", OracleSection::Header),
    ("this table displays pdb instance information", OracleSection::Header),
    ("this table displays host information", OracleSection::Header),
    ("this table displays snapshot information", OracleSection::Header),
];

fn opening(title: &str) -> Option<OracleSection> {
    let known = OPENINGS.iter().find(|(opening, _)| title.starts_with(opening));
    known.map(|(_, section)| *section).or_else(|| {
        // `Top 5 Timed Events`, `Top 5 Timed Foreground Events`, and the same with other numbers.
        let rest =
            title.strip_prefix("top ")?.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let timed =
            rest.starts_with(" timed events") || rest.starts_with(" timed foreground events");
        let by_segment = rest.starts_with(" physical reads per segment");
        timed
            .then_some(OracleSection::TopEvents)
            .or(by_segment.then_some(OracleSection::SegmentsByReads))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_all_releases_lead_to_their_section() {
        for (title, section) in [
            ("Top 5 Timed Events", Some(OracleSection::TopEvents)),
            ("Top 5 Timed Foreground Events", Some(OracleSection::TopEvents)),
            ("Top 10 Foreground Events by Total Wait Time", Some(OracleSection::TopEvents)),
            ("Top Timed Events", Some(OracleSection::TopEventsOfAll)),
            ("Top Event P1/P2/P3 Values", None),
            ("Top Events", None),
            ("Top Timed Background Events", Some(OracleSection::TopBackgroundEvents)),
            (
                "Wait Events for DB: SHOP  Instance: shop1  Snaps: 3 -4",
                Some(OracleSection::AllEvents),
            ),
            ("Segments by Physical Writes", None),
            ("Segment Statistics (Global)", Some(OracleSection::SegmentStatistics)),
            ("Segments by Direct Physical Reads", None),
            ("Host CPU (CPUs:    8 Cores:    8 Sockets:    2)", Some(OracleSection::HostCpu)),
            ("Other  Instance Activity\nStats", Some(OracleSection::Activity)),
            ("Instance Activity Stats - Absolute Values", None),
            ("Wait Event Histogram Detail (64 msec to 2 sec)", Some(OracleSection::Histogram)),
            ("Time Model - % of DB time", None),
            ("IOStat by Function/Filetype summary", None),
        ] {
            assert_eq!(OracleSection::of(title.as_bytes()), section, "{title}");
        }
    }
}
