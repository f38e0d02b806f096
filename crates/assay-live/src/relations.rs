//! I/O by what it is on, and the lines of the load.

use assay_model::number::real;
use assay_model::profile::{LoadLine, RelationIo, TablespaceIo, TieringCandidate, accumulate};
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

/// One quantity of the load, a second and a transaction.
pub fn load_line(name: &str, amount: f64, elapsed_s: f64, transactions: u64) -> LoadLine {
    LoadLine {
        name: name.to_owned(),
        amount_per_s: amount / elapsed_s,
        transaction_ratio: (transactions > 0).then(|| amount / real(transactions)),
    }
}
