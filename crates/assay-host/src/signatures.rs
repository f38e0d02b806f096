//! Recognises data on a device before it is overwritten: file systems, partition tables, volume
//! managers, databases.

mod fields;
mod image;
mod kind;
mod places;
mod structure;
mod table;
mod zfs;

pub use image::{FileImage, Image, MemoryImage, PartImage};
pub use kind::SignatureKind;

use crate::draw::Draw;
use std::io;

/// Data that was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The word that names it on the command line, for example `xfs`.
    pub word: &'static str,
    /// What it is, for example `XFS file system`.
    pub name: &'static str,
    /// What else it concerns.
    pub kind: SignatureKind,
    /// Where its mark stands, bytes.
    pub offset: u64,
}

/// Everything that is recognised, each name once; empty when the image carries no known mark.
///
/// # Errors
/// What the system answered when a place could not be read: then nothing can be said of the image.
pub fn recognise(image: &dyn Image) -> io::Result<Vec<Match>> {
    let mut found: Vec<Match> = Vec::new();
    let mut note = |known: Match| {
        if !found.iter().any(|one| one.name == known.name) {
            found.push(known);
        }
    };
    for format in table::TABLE {
        for mark in format.marks {
            if let Some(offset) = place_of(image, mark)? {
                note(Match { word: format.word, name: format.name, kind: format.kind, offset });
            }
        }
    }
    for shape in structure::SHAPES {
        if (shape.is_there)(image)? {
            note(Match { word: shape.word, name: shape.name, kind: shape.kind, offset: 0 });
        }
    }
    Ok(found)
}

fn place_of(image: &dyn Image, mark: &places::MagicMark) -> io::Result<Option<u64>> {
    let length = assay_model::number::count_of(mark.magic.len());
    let mut bytes = vec![0; mark.magic.len()];
    for place in mark.places {
        let offset = place.offset(image.size());
        let fits = |offset: &u64| offset.checked_add(length).is_some_and(|end| end <= image.size());
        if let Some(offset) = offset.filter(fits) {
            image.read_at(offset, &mut bytes)?;
            if bytes == mark.magic {
                return Ok(Some(offset));
            }
        }
    }
    Ok(None)
}

/// What sampling saw of a device's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentSampling {
    /// Blocks that were read.
    pub blocks: u64,
    /// Blocks of these that hold anything but zeros.
    pub used_blocks: u64,
}

/// Bytes a block that is sampled.
pub const SAMPLE_BYTES: u64 = 4096;

/// Reads `blocks` blocks, the first and last among them and the others spread over equal parts of
/// the image, one in each at random, and counts those that hold data.
pub fn sample(image: &dyn Image, blocks: u64, seed: u64) -> io::Result<ContentSampling> {
    let total = image.size() / SAMPLE_BYTES;
    let mut counted = ContentSampling { blocks: 0, used_blocks: 0 };
    let mut buffer = [0; 4096];
    for block in Draw::new(seed).spread(total, blocks) {
        image.read_at(block * SAMPLE_BYTES, &mut buffer)?;
        counted.blocks += 1;
        counted.used_blocks += u64::from(buffer.iter().any(|byte| *byte != 0));
    }
    Ok(counted)
}

#[cfg(test)]
mod tests;
