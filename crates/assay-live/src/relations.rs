//! I/O by what it is on, and what reached the devices.

use crate::host_context::HostContext;
use assay_model::number::{rate, real};
use assay_model::profile::{
    Figure, IoClass, IoPurpose, LoadLine, RateKind, RelationIo, RequestRate, TablespaceIo,
    TieringCandidate, accumulate,
};
use std::collections::BTreeMap;

/// Relations that are listed.
const RELATIONS_MAX: usize = 30;

/// The first ones of a list.
pub fn first(mut relations: Vec<RelationIo>) -> Vec<RelationIo> {
    relations.truncate(RELATIONS_MAX);
    relations
}

/// Relations added up by tablespace, most blocks read first.
pub fn tablespaces(relations: &[RelationIo]) -> Vec<TablespaceIo> {
    let mut spaces: BTreeMap<&str, TablespaceIo> = BTreeMap::new();
    for relation in relations {
        let space = spaces.entry(&relation.tablespace).or_default();
        relation.tablespace.clone_into(&mut space.tablespace);
        space.read_blocks_per_s += relation.read_blocks_per_s;
        space.hits_per_s = added(space.hits_per_s, relation.hits_per_s);
        space.read_time_s = added(space.read_time_s, relation.read_time_s);
        space.size_bytes = match (space.size_bytes, relation.size_bytes) {
            (Some(sum), Some(more)) => Some(sum + more),
            (sum, more) => sum.or(more),
        };
    }
    let mut spaces: Vec<TablespaceIo> = spaces.into_values().collect();
    spaces.sort_by(|left, right| right.read_blocks_per_s.total_cmp(&left.read_blocks_per_s));
    spaces
}

fn added(sum: Option<f64>, more: Option<f64>) -> Option<f64> {
    sum.map_or(more, |sum| Some(sum + more.unwrap_or(0.0)))
}

/// Tablespaces by the time waited for their reads.
pub fn tiering(relations: &[RelationIo], elapsed_s: f64) -> Vec<TieringCandidate> {
    let candidate = |space: TablespaceIo| {
        let read_wait_ratio = space.read_time_s? / elapsed_s;
        (read_wait_ratio > 0.0).then_some(TieringCandidate {
            tablespace: space.tablespace,
            read_wait_ratio,
            cumulative_share: 0.0,
            capacity_bytes: None,
        })
    };
    let mut candidates: Vec<TieringCandidate> =
        tablespaces(relations).into_iter().filter_map(candidate).collect();
    candidates.sort_by(|left, right| right.read_wait_ratio.total_cmp(&left.read_wait_ratio));
    accumulate(&mut candidates);
    candidates
}

/// What reached the devices, as a rate of requests.
pub fn devices(host: &HostContext, elapsed_s: f64) -> Option<RequestRate> {
    let device = host.device.as_ref()?;
    let what = format!("diskstats of {}, all programs", device.name);
    let per_s = |ios: u64| Some(Figure::new(rate(ios, elapsed_s), what.clone()));
    Some(RequestRate {
        kind: RateKind::Total,
        read_per_s: per_s(device.counters.read_ios),
        write_per_s: per_s(device.counters.write_ios),
    })
}

/// All I/O that reached the storage: the devices' own count where it is known, else the server's reads, writes and bytes
/// with their source.
pub fn whole(host: &HostContext, server: (u64, u64, u64, &str), elapsed_s: f64) -> IoClass {
    let mut class = IoClass::new(IoPurpose::All);
    let (reads, writes, bytes, source) = match &host.device {
        Some(device) => (
            device.counters.read_ios,
            device.counters.write_ios,
            device.counters.read_bytes + device.counters.write_bytes,
            format!("diskstats of {}, all programs", device.name),
        ),
        None => (server.0, server.1, server.2, server.3.to_owned()),
    };
    let ios = reads + writes;
    class.rate_iops = Some(Figure::new(rate(ios, elapsed_s), source.clone()));
    class.throughput_bytes_per_s = Some(Figure::new(rate(bytes, elapsed_s), source.clone()));
    class.read_share = (ios > 0).then(|| Figure::new(real(reads) / real(ios), source.clone()));
    class.latency_s = host.device.as_ref().and_then(|device| {
        let counters = &device.counters;
        let time_ns = counters.read_time_ns + counters.write_time_ns;
        Some(Figure::new(crate::mean_s(real(time_ns) / 1e9, ios)?, source))
    });
    class
}

/// One quantity of the load, a second and a transaction.
pub fn load_line(name: &str, amount: f64, elapsed_s: f64, transactions: u64) -> LoadLine {
    LoadLine {
        name: name.to_owned(),
        amount_per_s: amount / elapsed_s,
        transaction_ratio: (transactions > 0).then(|| amount / real(transactions)),
    }
}
