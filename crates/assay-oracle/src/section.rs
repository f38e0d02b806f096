//! The sections of a report that matter to storage, and the titles by which each is known.

use memchr::memmem;

/// A section of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
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

impl Section {
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

fn exact(title: &str) -> Option<Section> {
    Some(match title {
        "time model statistics" | "time model system stats" | "time model" => Section::TimeModel,
        "foreground wait class" | "foreground wait classes" => Section::WaitClasses,
        "top timed events" => Section::TopEventsOfAll,
        "top timed foreground events" => Section::TopEvents,
        "top timed background events" => Section::TopBackgroundEvents,
        "system statistics (absolute values)" => Section::Sessions,
        "segments by physical reads" => Section::SegmentsByReads,
        "segments by physical read requests" => Section::SegmentsByReadRequests,
        "segment statistics (global)" => Section::SegmentStatistics,
        "buffer pool advisory" => Section::BufferPoolAdvisory,
        "wait events" | "wait events (fg and bg)" => Section::AllEvents,
        "instance activity stats"
        | "key instance activity stats"
        | "other instance activity stats"
        | "system statistics (global)" => Section::Activity,
        "system statistics - per second" => Section::InstanceRates,
        "tablespace io stats" => Section::Tablespaces,
        "file io stats" => Section::Files,
        "iostat by function summary"
        | "iostat by function"
        | "iostat by function (per second)"
        | "io stat by function - summary" => Section::IoByFunction,
        "iostat by filetype summary"
        | "iostat by file type"
        | "iostat by file type (per second)" => Section::IoByFileType,
        "operating system statistics" | "os statistics" | "os statistics by instance" => {
            Section::OperatingSystem
        }
        _ => return None,
    })
}

const OPENINGS: &[(&str, Section)] = &[
    ("load profile", Section::LoadProfile),
    ("this table displays load profile", Section::LoadProfile),
    ("io profile", Section::IoProfile),
    ("this table displays io profile", Section::IoProfile),
    ("this table displays cache sizes", Section::CacheSizes),
    ("cache sizes", Section::CacheSizes),
    ("top 10 foreground events by total", Section::TopEvents),
    ("this table displays top 10 wait events by total", Section::TopEvents),
    ("foreground wait events", Section::ForegroundEvents),
    ("background wait events", Section::BackgroundEvents),
    ("wait event histogram", Section::Histogram),
    ("sql ordered by user i/o", Section::SqlByIoTime),
    ("host cpu", Section::HostCpu),
    ("this table displays system load statistics", Section::HostCpu),
    ("database summary", Section::Header),
    ("database instances included in report", Section::Header),
    ("this table displays database instance information", Section::Header),
    ("this table displays pdb instance information", Section::Header),
    ("this table displays host information", Section::Header),
    ("this table displays snapshot information", Section::Header),
];

fn opening(title: &str) -> Option<Section> {
    let known = OPENINGS.iter().find(|(opening, _)| title.starts_with(opening));
    known.map(|(_, section)| *section).or_else(|| {
        // `Top 5 Timed Events`, `Top 5 Timed Foreground Events`, and the same with other numbers.
        let rest =
            title.strip_prefix("top ")?.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let timed =
            rest.starts_with(" timed events") || rest.starts_with(" timed foreground events");
        let by_segment = rest.starts_with(" physical reads per segment");
        timed.then_some(Section::TopEvents).or(by_segment.then_some(Section::SegmentsByReads))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_all_releases_lead_to_their_section() {
        for (title, section) in [
            ("Top 5 Timed Events", Some(Section::TopEvents)),
            ("Top 5 Timed Foreground Events", Some(Section::TopEvents)),
            ("Top 10 Foreground Events by Total Wait Time", Some(Section::TopEvents)),
            ("Top Timed Events", Some(Section::TopEventsOfAll)),
            ("Top Event P1/P2/P3 Values", None),
            ("Top Events", None),
            ("Top Timed Background Events", Some(Section::TopBackgroundEvents)),
            ("Wait Events for DB: SHOP  Instance: shop1  Snaps: 3 -4", Some(Section::AllEvents)),
            ("Segments by Physical Writes", None),
            ("Segment Statistics (Global)", Some(Section::SegmentStatistics)),
            ("Segments by Direct Physical Reads", None),
            ("Host CPU (CPUs:    8 Cores:    8 Sockets:    2)", Some(Section::HostCpu)),
            ("Other  Instance Activity\nStats", Some(Section::Activity)),
            ("Instance Activity Stats - Absolute Values", None),
            ("Wait Event Histogram Detail (64 msec to 2 sec)", Some(Section::Histogram)),
            ("Time Model - % of DB time", None),
            ("IOStat by Function/Filetype summary", None),
        ] {
            assert_eq!(Section::of(title.as_bytes()), section, "{title}");
        }
    }
}
