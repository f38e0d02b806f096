//! A rung in the words of workloads: what the store keeps of it before its first interval.

use assay_loads::oltp::Rules;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Content, Layout, Span, SyncPolicy, TransferMix, TransferPart};
use assay_model::{Arrival, Stream, Workload};

/// The workload of so many sessions.
pub fn workload(rules: &Rules, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
    let stream = |name: &str, read_share: f64| Stream {
        name: name.to_owned(),
        read_share: Share(read_share),
        transfer: TransferMix {
            parts: vec![TransferPart { size: Bytes(block_bytes), share: Share(1.0) }],
        },
        access: assay_model::Access::Uniform,
        arrival: Arrival::Closed { outstanding: sessions, think_time: Nanos(0) },
        workers: 1,
        sync: SyncPolicy::default(),
        span: Span::default(),
        targets: Vec::new(),
        content: Content::default(),
    };
    Workload {
        format: 1,
        name: format!("oltp, {sessions} sessions"),
        description: format!(
            "Transactions of an order-entry load on {} warehouses of a database server; an I/O is a transaction.",
            rules.warehouses
        ),
        seed: rules.seed,
        duration,
        warm_up: Nanos(0),
        interval: Nanos(1_000_000_000),
        layout: Layout::Concat,
        direct: true,
        streams: vec![
            stream("new order", 0.0),
            stream("payment", 0.0),
            stream("order status", 1.0),
            stream("delivery", 0.0),
            stream("stock level", 1.0),
            stream("rolled back order", 0.0),
        ],
        criteria: Vec::new(),
    }
}
