//! A rung in the words of workloads: what the store keeps of it before its first interval.

use super::Kind;
use assay_model::measurement::Operation;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Content, Layout, Span, SyncPolicy, TransferMix, TransferPart};
use assay_model::{Arrival, Stream, Workload};

/// A load on a server.
#[derive(Clone, Debug)]
pub struct Described<'a> {
    /// The kind of load, for example `oltp`.
    pub method: &'static str,
    /// What an I/O of it is, in a sentence.
    pub description: &'a str,
    /// Kinds of its steps, with the blocks that each of them touches, or 1 where that is not known.
    pub kinds: Vec<(&'a Kind, u64)>,
    /// Seed of its choices.
    pub seed: u64,
}

impl Described<'_> {
    /// The workload of so many sessions.
    pub fn workload(&self, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
        Workload {
            format: 1,
            name: format!("{}, {sessions} sessions", self.method),
            description: self.description.to_owned(),
            seed: self.seed,
            duration,
            warm_up: Nanos(0),
            interval: Nanos(1_000_000_000),
            layout: Layout::Concat,
            direct: true,
            streams: self
                .kinds
                .iter()
                .map(|(kind, blocks)| stream(kind, sessions, blocks * block_bytes))
                .collect(),
            criteria: Vec::new(),
        }
    }
}

fn stream(kind: &Kind, sessions: u32, bytes: u64) -> Stream {
    Stream {
        name: kind.name.to_owned(),
        read_share: Share(if kind.operation == Operation::Read { 1.0 } else { 0.0 }),
        transfer: TransferMix {
            parts: vec![TransferPart { size: Bytes(bytes), share: Share(1.0) }],
        },
        access: assay_model::Access::Uniform,
        arrival: Arrival::Closed { outstanding: sessions, think_time: Nanos(0) },
        workers: 1,
        sync: SyncPolicy::default(),
        span: Span::default(),
        targets: Vec::new(),
        content: Content::default(),
    }
}
