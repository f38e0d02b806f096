//! A member that is away for a while and comes back as if it had missed nothing: which places it
//! answers with old data.

use crate::failure::Absence;
use assay_model::device::{DataLoss, DeviceIo, Extent};
use std::collections::BTreeSet;

/// The member that leaves: the first one.
pub(super) const ABSENT: usize = 0;
/// What places are counted in, bytes.
const SECTOR_BYTES: u64 = 512;

/// Where the member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whereabouts {
    There,
    Away,
    Back,
}

/// The member, and what it missed.
pub(super) struct Absent {
    absence: Absence,
    now: Whereabouts,
    /// Sectors of the array that it missed the last write of.
    missed: BTreeSet<u64>,
    found: Vec<DataLoss>,
}

impl Absent {
    pub(super) const fn new(absence: Absence) -> Self {
        Self { absence, now: Whereabouts::There, missed: BTreeSet::new(), found: Vec::new() }
    }

    pub(super) fn is_away(&self) -> bool {
        self.now == Whereabouts::Away
    }

    /// Lets it leave or come back when it is time.
    pub(super) fn look(&mut self, now_ns: u64) {
        let now = match now_ns {
            now_ns if now_ns < self.absence.from_ns => Whereabouts::There,
            now_ns if now_ns < self.absence.until_ns => Whereabouts::Away,
            _ => Whereabouts::Back,
        };
        if now == Whereabouts::Back && self.now != Whereabouts::Back {
            self.found.extend(extents(self.missed.iter().copied()).map(DataLoss::Outdated));
            self.found.push(DataLoss::Over);
        }
        self.now = now;
    }

    /// A part of a write should go to it.
    pub(super) fn write(&mut self, part: DeviceIo) {
        match self.now {
            Whereabouts::There => {}
            Whereabouts::Away => {
                self.missed.extend(sectors(&part));
                self.found.push(DataLoss::Missed(part));
            }
            Whereabouts::Back => {
                let renewed = sectors(&part).filter(|sector| self.missed.remove(sector)).count();
                if renewed > 0 {
                    self.found.push(DataLoss::Renewed(extent(&part)));
                }
            }
        }
    }

    /// It answers a part of a read.
    pub(super) fn read(&mut self, part: DeviceIo) {
        if self.now == Whereabouts::Back {
            let old = extents(sectors(&part).filter(|sector| self.missed.contains(sector)));
            let number = part.number;
            self.found.extend(old.map(|extent| DataLoss::OutdatedRead { number, extent }));
        }
    }

    pub(super) fn losses(&mut self, found: &mut Vec<DataLoss>) {
        found.append(&mut self.found);
    }
}

fn extent(io: &DeviceIo) -> Extent {
    Extent { offset: io.offset, bytes: u64::from(io.bytes) }
}

fn sectors(io: &DeviceIo) -> std::ops::Range<u64> {
    let Extent { offset, bytes } = extent(io);
    offset / SECTOR_BYTES..(offset + bytes).div_ceil(SECTOR_BYTES)
}

/// Ascending sectors as extents.
fn extents(sectors: impl Iterator<Item = u64>) -> impl Iterator<Item = Extent> {
    let mut sectors = sectors.peekable();
    std::iter::from_fn(move || {
        let first = sectors.next()?;
        let mut end = first + 1;
        while sectors.next_if_eq(&end).is_some() {
            end += 1;
        }
        Some(Extent { offset: first * SECTOR_BYTES, bytes: (end - first) * SECTOR_BYTES })
    })
}
