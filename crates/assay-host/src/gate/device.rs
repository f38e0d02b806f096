//! The decision on a block device: unused, unmarked, and named by the user.

use super::refusal::{DeviceRefusal, PathRefusal};
use super::usage::examine;
use super::wipe;
use crate::device::BlockDevice;
use crate::root::SysRoot;
use crate::signatures::{Image, Match, PartImage, SignatureKind, recognise, sample};
use crate::stack::{layer_kind, names_of, serial_of};
use assay_model::Error;
use assay_model::stack::LayerKind;
use assay_model::units::Bytes;

/// Blocks that are read to see whether a device holds data.
const SAMPLES: u64 = 256;

/// A device that somebody wants to write to, by what the kernel says of it.
#[derive(Clone, Debug)]
pub(super) struct DeviceCandidate<'a> {
    root: &'a SysRoot,
    device: BlockDevice,
    path: String,
    /// Size, bytes.
    pub(super) size_bytes: u64,
    /// Words that name it.
    names: Vec<String>,
    /// Whether only its size can name it.
    by_size: bool,
}

/// What sets one device apart from another that takes its place.
type Identity = (u64, Vec<String>, Option<String>);

impl<'a> DeviceCandidate<'a> {
    /// Reads what the kernel says of the device.
    pub(super) fn read(root: &'a SysRoot, device: BlockDevice, path: &str) -> Result<Self, Error> {
        let size_bytes = device.size_bytes().map_err(|error| unclear(path, "its size", &error))?;
        let uuid = device.text("dm/uuid").map_err(|error| unclear(path, "its identity", &error))?;
        let kind = layer_kind(&device, uuid.as_deref());
        let names = names_of(&device, kind);
        let disk = device.disk().map_err(|error| unclear(path, "its disk", &error))?;
        let whole = disk.filter(|_| kind == LayerKind::Partition);
        let by_size = serial_of(whole.as_ref().unwrap_or(&device)).is_none();
        Ok(Self { root, device, path: path.to_owned(), size_bytes, names, by_size })
    }

    /// How it was called.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Compared before and after opening: a device that was unplugged and replaced in between has
    /// another.
    pub(super) fn identity(&self) -> Identity {
        let sequence = self.device.text("diskseq").ok().flatten();
        (self.size_bytes, self.names.clone(), sequence)
    }

    /// Refuses a device that cannot be written to, or that anybody uses; returns what could not be
    /// looked at.
    pub(super) fn check_use(&self) -> Result<Vec<String>, Error> {
        let read_only = self.device.is_read_only();
        if read_only.map_err(|error| unclear(&self.path, "its read-only flag", &error))? {
            return Err(DeviceRefusal::ReadOnly.of(&self.path));
        }
        let examined = examine(self.root, &self.device)
            .map_err(|error| unclear(&self.path, "the list of its users", &error))?;
        if let Some(in_use) = examined.in_use {
            return Err(DeviceRefusal::InUse(in_use).of(&self.path));
        }
        Ok(examined.unseen)
    }

    /// Refuses a device with known data on it that `wipe` does not name, on a partition of it, or
    /// next to partitions on its disk; returns what was given up, and what sampling saw of
    /// unknown data.
    pub(super) fn check_content(
        &self,
        image: &dyn Image,
        disk: Option<&dyn Image>,
        wipe: Option<&str>,
    ) -> Result<Vec<String>, Error> {
        let found = self.recognise(image)?;
        let given_up =
            wipe::check(&found, wipe, &self.token()).map_err(|refusal| refusal.of(&self.path))?;
        self.check_partitions(image)?;
        if let Some(disk) = disk {
            let found = self.recognise(disk)?;
            // A disk with partitions has a table of them.
            let others: Vec<Match> =
                found.into_iter().filter(|found| found.kind != SignatureKind::Table).collect();
            self.refuse_marks("the whole disk around it".into(), &others)?;
        }
        let counted = sample(image, SAMPLES, self.size_bytes);
        let counted = counted.map_err(|error| unclear(&self.path, "its content", &error))?;
        let sampled = match counted.used_blocks {
            0 => format!("all of {} sampled blocks are zeros", counted.blocks),
            used if found.is_empty() => {
                format!("{used} of {} sampled blocks hold data of unknown kind", counted.blocks)
            }
            used => format!("{used} of {} sampled blocks hold data", counted.blocks),
        };
        Ok(given_up.into_iter().chain([sampled]).collect())
    }

    /// Partitions that the kernel knows, even if their table is gone.
    fn check_partitions(&self, image: &dyn Image) -> Result<(), Error> {
        let read = |error| unclear(&self.path, "its partitions", &error);
        for part in self.device.partitions().map_err(read)? {
            let (start, size) =
                (part.start_bytes().map_err(read)?, part.size_bytes().map_err(read)?);
            let found = self.recognise(&PartImage::new(image, start, size))?;
            self.refuse_marks(format!("partition {}", part.node()), &found)?;
        }
        Ok(())
    }

    fn recognise(&self, image: &dyn Image) -> Result<Vec<Match>, Error> {
        recognise(image).map_err(|error| unclear(&self.path, "its content", &error))
    }

    fn refuse_marks(&self, relation: String, found: &[Match]) -> Result<(), Error> {
        if found.is_empty() {
            return Ok(());
        }
        let names = found.iter().map(|found| found.name).collect();
        Err(DeviceRefusal::OccupiedAround { relation, names }.of(&self.path))
    }

    /// Whether the user typed what names this device: its serial number or world-wide name or,
    /// where it has no serial number, its exact size.
    pub(super) fn is_named_by(&self, token: &str) -> bool {
        let token = token.trim();
        let size = token.parse().or_else(|_| token.parse::<Bytes>().map(|size| size.0));
        let sized = self.by_size && size == Ok(self.size_bytes);
        sized || self.names.iter().any(|name| name == token)
    }

    /// What the user must type.
    pub(super) fn token(&self) -> String {
        let size = Bytes(self.size_bytes).to_string();
        self.names.first().filter(|_| !self.by_size).cloned().unwrap_or(size)
    }

    /// The refusal for a missing or wrong token.
    pub(super) fn refuse_token(&self, typed: Option<&str>, seen: String) -> Error {
        let token = self.token();
        match typed {
            None => DeviceRefusal::NoToken { token, seen },
            Some(typed) => DeviceRefusal::WrongToken { typed: typed.to_owned(), token },
        }
        .of(&self.path)
    }
}

fn unclear(path: &str, what: &str, error: &std::io::Error) -> Error {
    PathRefusal::Unclear { what: what.to_owned(), reason: error.to_string() }.of(path)
}

#[cfg(test)]
mod tests;
