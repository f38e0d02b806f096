//! From a workload to the plans of its workers: who issues what, where, and with how many
//! outstanding.

use crate::access::WorkerPart;
use crate::space::{AddressSpace, largest_transfer_bytes};
use crate::target::{OpenFile, TargetBounds};
use crate::verify::Verifier;
use assay_model::number::index_of;
use assay_model::units::Bytes;
use assay_model::workload::{Arrival, Stream, Workload};
use assay_model::{Error, Result};
use assay_stats::random::mix;
use std::sync::Arc;

/// Memory for buffers of one workload, bytes.
const BUFFER_BYTES_MAX: u64 = 4 << 30;

/// How many I/Os a worker starts in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubmissionBatch {
    /// Everything that is due.
    AllDue,
    /// This many at most.
    UpTo(u32),
    /// As many as wait only a small share of their service time for one another.
    ByServiceTime {
        /// I/Os at most.
        most: u32,
        /// How long the kernel prepares each of them, ns.
        preparation_ns: u64,
    },
}

/// Everything one worker needs to know.
#[derive(Clone, Debug)]
pub struct WorkerPlan {
    /// Number of the worker in the run.
    pub worker: usize,
    /// Number of its stream.
    pub stream_index: usize,
    /// Number in the stream, and how many share it.
    pub index: u64,
    /// Workers of the stream.
    pub workers: u64,
    /// Seed of the stream.
    pub seed: u64,
    /// The stream.
    pub stream: Stream,
    /// I/Os that may be in flight.
    pub slots: u32,
    /// Bytes of one buffer.
    pub slot_bytes: usize,
    /// The stream's address space.
    pub space: AddressSpace,
    /// What may be touched on each target.
    pub bounds: Arc<[TargetBounds]>,
    /// How many I/Os it starts in one turn.
    pub batching: SubmissionBatch,
    /// I/Os after which the worker is done.
    pub ios_max: u64,
    /// Where what is read is compared with what was written.
    pub verifier: Option<Arc<Verifier>>,
}

impl WorkerPlan {
    /// The worker's part of the stream.
    pub const fn part(&self) -> WorkerPart {
        WorkerPart { worker: self.index, workers: self.workers, seed: self.seed }
    }

    /// Bytes of one place: the smallest transfer.
    pub fn place_bytes(&self) -> u64 {
        self.stream.block_size.min_bytes()
    }

    /// Places that the stream may touch.
    pub fn places(&self) -> u64 {
        self.space.length_bytes() / self.place_bytes()
    }
}

/// The plans of all workers of a workload.
///
/// # Errors
/// A usage error when the workload contradicts itself or does not fit the targets.
pub fn plan_workers(
    workload: &Workload,
    bounds: &Arc<[TargetBounds]>,
    passes: Option<u64>,
) -> Result<Vec<WorkerPlan>> {
    workload.check()?;
    check_memory(workload)?;
    let mut plans = Vec::new();
    for (stream_index, stream) in workload.streams.iter().enumerate() {
        let space = AddressSpace::new(stream, workload.layout, bounds)?;
        let places = space.length_bytes() / stream.block_size.max_bytes();
        for index in 0..stream.workers {
            plans.push(WorkerPlan {
                worker: plans.len(),
                stream_index,
                index: u64::from(index),
                workers: u64::from(stream.workers),
                seed: mix(workload.seed ^ mix(assay_model::number::count_of(stream_index))),
                batching: SubmissionBatch::AllDue,
                verifier: None,
                slots: dealt(stream.arrival.queue_depth(), index, stream.workers),
                slot_bytes: index_of(largest_transfer_bytes(stream)),
                stream: shared(stream),
                space: space.clone(),
                bounds: Arc::clone(bounds),
                ios_max: passes.map_or(u64::MAX, |passes| {
                    passes
                        * (places.saturating_sub(u64::from(index)))
                            .div_ceil(u64::from(stream.workers))
                }),
            });
        }
    }
    Ok(plans)
}

/// The worker's share of the outstanding I/Os: as even as whole numbers allow.
const fn dealt(queue_depth: u32, index: u32, workers: u32) -> u32 {
    queue_depth / workers + if index < queue_depth % workers { 1 } else { 0 }
}

/// The stream with bursts that fit the smallest worker.
fn shared(stream: &Stream) -> Stream {
    let mut stream = stream.clone();
    if let Arrival::Open { burst, .. } = &mut stream.arrival {
        *burst = (*burst).div_ceil(stream.workers).max(1);
    }
    stream
}

fn check_memory(workload: &Workload) -> Result<()> {
    let of_stream = |stream: &Stream| {
        u64::from(stream.arrival.queue_depth()) * largest_transfer_bytes(stream).max(4096)
    };
    let bytes: u64 = workload.streams.iter().map(of_stream).sum();
    if bytes <= BUFFER_BYTES_MAX {
        return Ok(());
    }
    Err(Error::usage(
        format!("the outstanding I/Os need {bytes} bytes of buffers; the limit is 4 GiB"),
        "use a lower queue depth or a smaller block size",
    ))
}

/// Refuses transfers that direct I/O on a target cannot carry.
///
/// # Errors
/// A usage error that names the size and the alignment.
pub fn check_alignment(workload: &Workload, target: &OpenFile) -> Result<()> {
    let (name, alignment_bytes) = (&target.name, target.alignment_bytes);
    let sizes = workload.streams.iter().flat_map(|stream| &stream.block_size.parts);
    let hint = match target.passthrough {
        Some(_) => "use a multiple of the block size",
        None => "use a multiple of the block size, or direct = false",
    };
    match sizes.map(|part| part.size).find(|size| !size.0.is_multiple_of(alignment_bytes)) {
        None => Ok(()),
        Some(size) => Err(Error::usage(
            format!(
                "a block size of {size} is not aligned to the {alignment_bytes} B blocks of {name}"
            ),
            hint,
        )),
    }
}

/// Refuses transfers that one command to a namespace cannot carry: nobody splits them past the
/// block layer.
///
/// # Errors
/// A usage error that names the size and the most.
pub fn check_transfer_max(workload: &Workload, target: &OpenFile) -> Result<()> {
    let Some(passthrough) = &target.passthrough else { return Ok(()) };
    let most_bytes = passthrough.transfer_bytes_max();
    let largest_bytes = workload.streams.iter().map(largest_transfer_bytes).max().unwrap_or(0);
    if largest_bytes <= most_bytes {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "a block size of {} exceeds the limit of a command to {}: {}",
            Bytes(largest_bytes),
            target.name,
            Bytes(most_bytes)
        ),
        "use a smaller block size, or specify the block device of the namespace, whose requests \
         the kernel splits",
    ))
}
