//! Storage definitions: names, sizes, threads and how they are opened.

use super::file::Definitions;
use super::number;
use crate::conversion::{Note, OptionOrigin, Refused};
use crate::reading::{ReadSection, SectionReader};
use crate::reason::{Approximation, OptionReason};
use std::collections::{HashMap, HashSet};

/// Threads of a storage that names none.
pub const THREADS: u64 = 8;

/// One storage definition.
pub struct StorageDefinition {
    /// Its name.
    pub name: String,
    /// The device or file; behind its host where another host has one of the same name.
    pub lun: String,
    /// The host that it belongs to.
    host: Option<String>,
    /// Bytes, where they are said.
    pub size: Option<u64>,
    /// I/Os outstanding.
    pub threads: u64,
    /// How it is opened.
    pub flags: OpenFlags,
    /// The part in use.
    pub range: (f64, f64),
    /// Bytes that are read again and again.
    pub hit_bytes: u64,
    /// What became of its parameters.
    pub notes: Vec<Note>,
    /// Where the lines of a document come from.
    pub sources: Vec<(&'static str, OptionOrigin)>,
}

/// How files are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// Past the page cache.
    pub direct: bool,
    /// Each write is durable when it completes.
    pub durable: bool,
}

impl OpenFlags {
    /// Both together.
    pub const fn with(self, other: Self) -> Self {
        Self { direct: self.direct || other.direct, durable: self.durable || other.durable }
    }
}

/// Reads all storage definitions.
pub fn storages(found: &Definitions) -> Result<Vec<StorageDefinition>, Refused> {
    let mut all = found.storages.iter().map(storage).collect::<Result<Vec<_>, _>>()?;
    let mut hosts: HashMap<String, HashSet<Option<String>>> = HashMap::new();
    for one in &all {
        hosts.entry(one.lun.clone()).or_default().insert(one.host.clone());
    }
    for one in &mut all {
        let is_elsewhere = hosts[&one.lun].len() > 1;
        if let Some(host) = one.host.as_ref().filter(|_| is_elsewhere) {
            one.lun = format!("{host}:{}", one.lun);
        }
    }
    Ok(all)
}

fn storage(section: &ReadSection) -> Result<StorageDefinition, Refused> {
    let mut reading = SectionReader::new(section, super::names::rule);
    let lun = reading.text("lun", "targets")?;
    let lun =
        lun.ok_or_else(|| reading.refusal("lun", OptionReason::Incomplete("lun")))?.to_owned();
    let size = reading.parsed("size", "capacity", number::bytes)?;
    let threads = reading.parsed("threads", "arrival", number::count)?.unwrap_or(THREADS).max(1);
    // Vdbench insists on direct I/O for devices of Linux, and those of Solaris have no page cache.
    let is_device = lun.starts_with("/dev/") || lun.starts_with("\\\\");
    let flags = open_flags(&mut reading)?.with(OpenFlags { direct: is_device, durable: false });
    let range = range(&mut reading, size)?;
    let hit_bytes = reading.parsed("hitarea", "access", number::bytes)?.unwrap_or(1 << 20);
    let mut host = None;
    for name in ["host", "hd"] {
        let named = reading.text(name, "targets")?.filter(|name| *name != "*");
        host = named.map(str::to_owned).or(host);
        reading.near(name, Approximation::OneHost);
    }
    if reading.setting("offset", "span").is_some() {
        reading.leave_out("offset", OptionReason::NoWord);
    }
    let (notes, sources) = reading.finish();
    let name = section.name.clone();
    Ok(StorageDefinition {
        name,
        lun,
        host,
        size,
        threads,
        flags,
        range,
        hit_bytes,
        notes,
        sources,
    })
}

/// `openflags` of any definition.
pub fn open_flags(reading: &mut SectionReader<'_>) -> Result<OpenFlags, Refused> {
    let Some(text) = reading.text("openflags", "direct")? else { return Ok(OpenFlags::default()) };
    let mut flags = OpenFlags::default();
    for word in number::parts(&text.to_ascii_lowercase()) {
        match word {
            "o_direct" | "directio" | "direct" => flags.direct = true,
            "o_dsync" => flags.durable = true,
            "o_sync" | "o_rsync" => {
                flags.durable = true;
                reading.near("openflags", Approximation::DataSync);
            }
            // Durable when the file is closed, which it is at the end.
            "fsync" | "none" => {}
            _ => return Err(reading.refusal("openflags", OptionReason::Value)),
        }
    }
    Ok(flags)
}

/// `range=(min,max)`: per cent up to 200, else bytes.
pub fn range(reading: &mut SectionReader<'_>, size: Option<u64>) -> Result<(f64, f64), Refused> {
    const WHOLE: (f64, f64) = (0.0, 1.0);
    let Some(text) = reading.text("range", "span")? else { return Ok(WHOLE) };
    let ends: Result<Vec<u64>, OptionReason> =
        number::parts(text).into_iter().map(number::bytes).collect();
    let (from, to) = match ends.as_deref() {
        Ok([from, to]) if from < to => (*from, *to),
        _ => return Err(reading.refusal("range", OptionReason::Value)),
    };
    let real = assay_model::number::real;
    match (to, size) {
        (..=100, _) => Ok((real(from) / 100.0, real(to) / 100.0)),
        (..=200, _) => {
            reading.near("range", Approximation::Majority);
            Ok(((real(from) / 100.0).min(0.99), 1.0))
        }
        (_, Some(size)) if to <= size => {
            reading.near("range", Approximation::ShareOfSpace);
            Ok((real(from) / real(size), real(to) / real(size)))
        }
        _ => {
            reading.leave_out("range", OptionReason::NoWord);
            Ok(WHOLE)
        }
    }
}
