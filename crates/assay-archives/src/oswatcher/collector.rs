//! The tools whose output an archive holds.

use std::path::Path;

/// What wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveCollector {
    Iostat,
    Vmstat,
    Mpstat,
    Netstat,
    Meminfo,
}

impl ArchiveCollector {
    /// All that are read, the one with the most data first.
    pub(super) const ALL: [Self; 5] =
        [Self::Iostat, Self::Vmstat, Self::Mpstat, Self::Netstat, Self::Meminfo];

    /// The word for it in names of directories and files.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Iostat => "iostat",
            Self::Vmstat => "vmstat",
            Self::Mpstat => "mpstat",
            Self::Netstat => "netstat",
            Self::Meminfo => "meminfo",
        }
    }

    /// The collector of a file by its name.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = stem.strip_suffix(".dat")?;
        Self::ALL.into_iter().find(|collector| stem.contains(&format!("_{}_", collector.name())))
    }
}
