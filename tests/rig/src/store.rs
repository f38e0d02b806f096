//! The bytes of one scripted file: a sparse map of blocks over synthesized content, one version
//! back.

use crate::random::word_at;
use assay_model::number::{count_of, index_of};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The unit in which content is kept and in which stale reads go back.
pub const BLOCK_BYTES: u64 = 4096;

/// What a file holds where nothing was written yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Incompressible bytes that follow from the script's seed, the file and the offset.
    #[default]
    Random,
    /// Zeros.
    Zeros,
}

/// Which version of each block is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Current,
    Previous,
}

#[derive(Clone, Debug)]
struct Block {
    bytes: Vec<u8>,
    /// Before the last write; absent: as synthesized.
    previous: Option<Vec<u8>>,
    /// Sequence number of the last write.
    writer: u64,
}

/// What a write replaced, so that it can be taken back.
#[derive(Clone, Debug)]
pub(crate) struct Undo {
    writer: u64,
    offset: u64,
    bytes: Vec<u8>,
}

/// Part of a transfer that lies in one block.
struct Piece {
    block: u64,
    /// Where it begins in the block and in the transfer, and how long it is.
    within: usize,
    at: usize,
    length: usize,
}

fn pieces(offset: u64, length: usize) -> impl Iterator<Item = Piece> {
    let mut at = 0;
    std::iter::from_fn(move || {
        (at < length).then(|| {
            let position = offset + count_of(at);
            let within = index_of(position % BLOCK_BYTES);
            let piece_bytes = (index_of(BLOCK_BYTES) - within).min(length - at);
            let piece = Piece { block: position / BLOCK_BYTES, within, at, length: piece_bytes };
            at += piece_bytes;
            piece
        })
    })
}

/// The content of one file.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    size_bytes: u64,
    /// Up to where unwritten blocks hold synthesized content; zeros beyond.
    base_bytes: u64,
    base: Content,
    seed: u64,
    blocks: HashMap<u64, Block>,
    reserved_bytes: u64,
    /// Written blocks that lie beyond the reserved part.
    blocks_beyond: u64,
    undos: Vec<Undo>,
}

impl Store {
    /// A file of `size_bytes` that counts as fully allocated.
    pub(crate) fn new(size_bytes: u64, base: Content, seed: u64) -> Self {
        Self {
            size_bytes,
            base_bytes: size_bytes,
            base,
            seed,
            blocks: HashMap::new(),
            reserved_bytes: size_bytes,
            blocks_beyond: 0,
            undos: Vec::new(),
        }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Bytes that count against a capacity: what is written, or reserved if that is more.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.reserved_bytes.next_multiple_of(BLOCK_BYTES) + self.blocks_beyond * BLOCK_BYTES
    }

    /// What a write of `length` bytes at `offset` would add to [`Store::allocated_bytes`].
    pub(crate) fn growth_bytes(&self, offset: u64, length: u64) -> u64 {
        let touched = offset / BLOCK_BYTES..(offset + length).div_ceil(BLOCK_BYTES);
        let allocated = |block: &u64| {
            *block * BLOCK_BYTES < self.reserved_bytes || self.blocks.contains_key(block)
        };
        count_of(touched.filter(|block| !allocated(block)).count()) * BLOCK_BYTES
    }

    fn set_reserved(&mut self, size_bytes: u64) {
        self.reserved_bytes = size_bytes;
        let beyond = self.blocks.keys().filter(|block| **block * BLOCK_BYTES >= size_bytes);
        self.blocks_beyond = count_of(beyond.count());
    }

    fn synthesize(&self, block: u64, bytes: &mut [u8]) {
        let begin = block * BLOCK_BYTES;
        if self.base == Content::Random && begin < self.base_bytes {
            let first_word = begin / 8;
            for (index, word) in bytes.chunks_exact_mut(8).enumerate() {
                word.copy_from_slice(
                    &word_at(self.seed, first_word + count_of(index)).to_le_bytes(),
                );
            }
            let kept = index_of((self.base_bytes - begin).min(BLOCK_BYTES));
            bytes[kept..].fill(0);
        }
    }

    fn synthesized(&self, block: u64) -> Vec<u8> {
        let mut bytes = vec![0; index_of(BLOCK_BYTES)];
        self.synthesize(block, &mut bytes);
        bytes
    }

    fn block_bytes(&self, block: u64, version: Version) -> Option<&[u8]> {
        let block = self.blocks.get(&block)?;
        match version {
            Version::Current => Some(&block.bytes),
            Version::Previous => block.previous.as_deref(),
        }
    }

    /// Up to `length` bytes at `offset`, fewer at the end of the file.
    pub(crate) fn read(&self, offset: u64, length: u64, version: Version) -> Vec<u8> {
        let length = index_of(length.min(self.size_bytes.saturating_sub(offset)));
        let mut bytes = vec![0; length];
        for piece in pieces(offset, length) {
            let target = &mut bytes[piece.at..piece.at + piece.length];
            let source = piece.within..piece.within + piece.length;
            match self.block_bytes(piece.block, version) {
                Some(block) => target.copy_from_slice(&block[source]),
                None if piece.length == index_of(BLOCK_BYTES) => {
                    self.synthesize(piece.block, target);
                }
                None => target.copy_from_slice(&self.synthesized(piece.block)[source]),
            }
        }
        bytes
    }

    /// Stores `bytes` at `offset` as write number `writer`, and grows the file if need be.
    pub(crate) fn write(&mut self, writer: u64, offset: u64, bytes: &[u8]) {
        for piece in pieces(offset, bytes.len()) {
            let source = &bytes[piece.at..piece.at + piece.length];
            self.write_piece(writer, &piece, source);
        }
        self.grow(offset + count_of(bytes.len()));
    }

    fn write_piece(&mut self, writer: u64, piece: &Piece, source: &[u8]) {
        let previous = self.blocks.remove(&piece.block).map(|block| block.bytes);
        if previous.is_none() && piece.block * BLOCK_BYTES >= self.reserved_bytes {
            self.blocks_beyond += 1;
        }
        let mut bytes = match &previous {
            _ if piece.length == index_of(BLOCK_BYTES) => vec![0; piece.length],
            Some(bytes) => bytes.clone(),
            None => self.synthesized(piece.block),
        };
        bytes[piece.within..piece.within + piece.length].copy_from_slice(source);
        self.blocks.insert(piece.block, Block { bytes, previous, writer });
    }

    /// As [`Store::write`], until [`Store::drop_stale`] takes it back.
    pub(crate) fn write_stale(&mut self, writer: u64, offset: u64, bytes: &[u8]) {
        self.grow(offset + count_of(bytes.len()));
        let before = self.read(offset, count_of(bytes.len()), Version::Current);
        self.write(writer, offset, bytes);
        self.undos.push(Undo { writer, offset, bytes: before });
    }

    /// Puts back what stale writes replaced, wherever nothing newer was written since.
    pub(crate) fn drop_stale(&mut self) {
        for undo in std::mem::take(&mut self.undos).into_iter().rev() {
            for piece in pieces(undo.offset, undo.bytes.len()) {
                let last_writer = self.blocks.get(&piece.block).map(|block| block.writer);
                if last_writer == Some(undo.writer) {
                    let source = &undo.bytes[piece.at..piece.at + piece.length];
                    self.write_piece(undo.writer, &piece, source);
                }
            }
        }
    }

    /// Makes the file at least `size_bytes` long.
    pub(crate) fn grow(&mut self, size_bytes: u64) {
        self.size_bytes = self.size_bytes.max(size_bytes);
    }

    /// Counts the first `size_bytes` as allocated.
    pub(crate) fn reserve(&mut self, size_bytes: u64) {
        self.set_reserved(self.reserved_bytes.max(size_bytes));
    }

    /// Cuts or extends the file to `size_bytes`; what lay beyond reads as zeros from then on.
    pub(crate) fn truncate(&mut self, size_bytes: u64) {
        let last = size_bytes / BLOCK_BYTES;
        self.blocks.retain(|block, _| *block * BLOCK_BYTES < size_bytes);
        if let Some(block) = self.blocks.get_mut(&last) {
            block.bytes[index_of(size_bytes % BLOCK_BYTES)..].fill(0);
        }
        self.base_bytes = self.base_bytes.min(size_bytes);
        self.set_reserved(self.reserved_bytes.min(size_bytes));
        self.size_bytes = size_bytes;
    }
}

#[cfg(test)]
mod tests;
