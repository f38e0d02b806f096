//! The read of everything that was written, after the load: past the page cache, in large pieces,
//! by a few threads.

use super::{Issued, Verifier};
use crate::sys::{self, Buffers, monotonic_ns};
use assay_integrity::{FaultyBlock, WriteStamp};
use assay_model::integrity::{FoundBy, Sweep};
use assay_model::number::{count_of, index_of, seconds, share};
use assay_model::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes of one read, where blocks are not larger.
const PIECE_BYTES: u64 = 1 << 20;
const THREADS: usize = 4;

/// A piece of a target.
#[derive(Clone, Copy, Debug)]
struct SweepPiece {
    target: usize,
    first_block: u64,
    blocks: u64,
}

/// What the threads of a sweep share.
struct SweepProgress<'a> {
    stop: &'a AtomicBool,
    next: AtomicU64,
    blocks: AtomicU64,
    bytes: AtomicU64,
}

impl<'a> SweepProgress<'a> {
    const fn new(stop: &'a AtomicBool) -> Self {
        let (next, blocks, bytes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { stop, next, blocks, bytes }
    }

    fn ended(self, elapsed_s: f64) -> Sweep {
        Sweep {
            complete: !self.stop.load(Ordering::Relaxed),
            blocks: self.blocks.into_inner(),
            read_bytes: self.bytes.into_inner(),
            elapsed_s,
        }
    }
}

impl Verifier {
    /// Reads every block that was written and compares it; `show` hears how far it is, 0..=1. Where
    /// writes are missing, the rest of the targets is searched for them, too.
    ///
    /// # Errors
    /// An environment error when memory or threads are short.
    pub fn sweep(&self, stop: &AtomicBool, show: &mut dyn FnMut(f64)) -> Result<Sweep> {
        let started_ns = monotonic_ns();
        self.targets.iter().filter(|target| !target.direct).for_each(|target| {
            sys::forget_cached(&target.file);
        });
        let (written, rest): (Vec<SweepPiece>, Vec<SweepPiece>) =
            self.pieces().into_iter().partition(|piece| self.is_written(piece));
        let mut sweep = self.read_pieces(&written, stop, show)?;
        if self.found_blocks() > 0 && sweep.complete {
            let search = self.read_pieces(&rest, stop, show)?;
            sweep.read_bytes += search.read_bytes;
        }
        sweep.elapsed_s = seconds(monotonic_ns() - started_ns);
        Ok(sweep)
    }

    fn pieces(&self) -> Vec<SweepPiece> {
        let blocks_a_piece = (PIECE_BYTES / self.block_bytes).max(1);
        let of_target = |(target, blocks): (usize, u64)| {
            (0..blocks).step_by(index_of(blocks_a_piece)).map(move |first_block| SweepPiece {
                target,
                first_block,
                blocks: blocks_a_piece.min(blocks - first_block),
            })
        };
        let blocks = self.areas.iter().map(|area| area.generations.blocks());
        blocks.enumerate().flat_map(of_target).collect()
    }

    fn is_written(&self, piece: &SweepPiece) -> bool {
        let generations = &self.areas[piece.target].generations;
        (piece.first_block..piece.first_block + piece.blocks)
            .any(|block| generations.promise(block).newest > 0)
    }

    fn read_pieces(
        &self,
        pieces: &[SweepPiece],
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64),
    ) -> Result<Sweep> {
        let bytes = index_of(PIECE_BYTES.max(self.block_bytes));
        let progress = SweepProgress::new(stop);
        let buffers =
            (0..THREADS).map(|_| Buffers::new(1, bytes)).collect::<std::io::Result<Vec<_>>>();
        let buffers = buffers.map_err(|error| {
            Error::environment(format!("reserving memory for the sweep: {error}"), "free memory")
        })?;
        std::thread::scope(|scope| {
            let threads: Vec<_> = buffers
                .into_iter()
                .map(|mut buffers| {
                    let progress = &progress;
                    scope.spawn(move || self.work_off(pieces, buffers.slot(0), progress))
                })
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                let begun = progress.next.load(Ordering::Relaxed).min(count_of(pieces.len()));
                show(share(begun, count_of(pieces.len())));
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        });
        Ok(progress.ended(0.0))
    }

    /// Takes pieces until there is none left.
    fn work_off(&self, pieces: &[SweepPiece], buffer: &mut [u8], progress: &SweepProgress<'_>) {
        loop {
            let taken = progress.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index_of(taken)) else { return };
            if progress.stop.load(Ordering::Relaxed) {
                return;
            }
            self.read_piece(*piece, buffer, progress);
        }
    }

    /// Reads a piece at once, or block by block where that fails.
    fn read_piece(&self, piece: SweepPiece, buffer: &mut [u8], progress: &SweepProgress<'_>) {
        if self.read_blocks(piece, buffer, progress).is_ok() {
            return;
        }
        for block in piece.first_block..piece.first_block + piece.blocks {
            let single = SweepPiece { first_block: block, blocks: 1, ..piece };
            let failed = self.read_blocks(single, buffer, progress);
            if failed.is_err_and(sys::is_of_medium) {
                self.unreadable(FaultyBlock { target: piece.target, block }, FoundBy::Sweep);
            }
        }
    }

    fn read_blocks(
        &self,
        piece: SweepPiece,
        buffer: &mut [u8],
        progress: &SweepProgress<'_>,
    ) -> std::result::Result<(), i32> {
        let area = &self.areas[piece.target];
        let length = index_of(piece.blocks * self.block_bytes);
        let data = &mut buffer[..length];
        let issued = self.issued(piece);
        WriteStamp::erase(data);
        let offset = area.first_byte + piece.first_block * self.block_bytes;
        if sys::read_at(&self.targets[piece.target].file, data, offset)? != length {
            return Err(libc::EIO);
        }
        self.compare_blocks(piece, &issued, data, progress);
        Ok(())
    }

    /// What is known of the blocks of a piece now.
    fn issued(&self, piece: SweepPiece) -> Vec<Issued> {
        let blocks = piece.first_block..piece.first_block + piece.blocks;
        blocks.map(|block| self.issue(piece.target, block)).collect()
    }

    /// Compares a piece that was read.
    fn compare_blocks(
        &self,
        piece: SweepPiece,
        issued: &[Issued],
        data: &[u8],
        progress: &SweepProgress<'_>,
    ) {
        progress.bytes.fetch_add(count_of(data.len()), Ordering::Relaxed);
        let blocks = piece.first_block..piece.first_block + piece.blocks;
        for ((block, issued), data) in
            blocks.zip(issued).zip(data.chunks_exact(index_of(self.block_bytes)))
        {
            self.compare(
                FaultyBlock { target: piece.target, block },
                *issued,
                data,
                FoundBy::Sweep,
            );
            progress.blocks.fetch_add(u64::from(issued.is_written()), Ordering::Relaxed);
        }
    }

    /// The same on a simulated device that answers one read after the other: of everything that was
    /// written, and nowhere else.
    pub(crate) fn sweep_simulated(
        &self,
        read: &mut dyn FnMut(u64, &mut [u8]),
        stop: &AtomicBool,
        show: &mut dyn FnMut(f64),
    ) -> Sweep {
        let started_ns = monotonic_ns();
        let mut pieces = self.pieces();
        pieces.retain(|piece| self.is_written(piece));
        let progress = SweepProgress::new(stop);
        let mut buffer = vec![0; index_of(PIECE_BYTES.max(self.block_bytes))];
        for (number, piece) in pieces.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            show(share(count_of(number), count_of(pieces.len())));
            let data = &mut buffer[..index_of(piece.blocks * self.block_bytes)];
            let issued = self.issued(*piece);
            read(piece.first_block * self.block_bytes, data);
            self.compare_blocks(*piece, &issued, data, &progress);
        }
        progress.ended(seconds(monotonic_ns() - started_ns))
    }
}
