//! What another size of the buffer cache does to reads: by the server's own advice, else by Che's
//! approximation.

use assay_model::Profile;
use assay_model::number::real;
use assay_model::profile::{BufferPoolAdvice, RelationIo};
use assay_stats::che::{Popularity, hit_share};

/// How reads change with the size of the cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheChange {
    /// Reads over those of the present size.
    pub read_ratio: f64,
    /// Where that is known from.
    pub source: String,
}

impl CacheChange {
    /// What the profile says of a cache of `bytes`; `present_bytes` is its size now, where it is
    /// known. `None` where nothing says anything.
    pub fn of(profile: &Profile, bytes: f64, present_bytes: Option<f64>) -> Option<Self> {
        let advice = profile.report.as_ref().map(|report| report.buffer_pool.as_slice());
        Self::by_advice(advice.unwrap_or_default(), bytes)
            .or_else(|| Self::by_relations(profile, bytes, present_bytes?))
    }

    /// Between the two sizes of the advice next to it; none outside of them.
    fn by_advice(advice: &[BufferPoolAdvice], bytes: f64) -> Option<Self> {
        let default = advice.iter().filter(|row| row.pool.is_empty() || row.pool == "D");
        let mut rows: Vec<(f64, f64)> =
            default.filter_map(|row| Some((row.size_bytes?, row.read_ratio?))).collect();
        rows.sort_by(|left, right| left.0.total_cmp(&right.0));
        let after = rows.iter().position(|(size, _)| *size >= bytes)?;
        let next = rows[after];
        let before = after.checked_sub(1).map_or(next, |place| rows[place]);
        if before.0 > bytes {
            return None;
        }
        let share = if next.0 > before.0 { (bytes - before.0) / (next.0 - before.0) } else { 0.0 };
        let source = "Buffer Pool Advisory".to_owned();
        Some(Self { read_ratio: before.1 + share * (next.1 - before.1), source })
    }

    /// Blocks of a table or an index are taken for equally popular.
    fn by_relations(profile: &Profile, bytes: f64, present_bytes: f64) -> Option<Self> {
        let block = profile.block_bytes.as_ref()?.value;
        let relations = &profile.server.as_ref()?.relations;
        let groups: Vec<Popularity> =
            relations.iter().filter_map(|relation| popularity(relation, block)).collect();
        let misses = |size: f64| Some(1.0 - hit_share(&groups, size / block)?);
        let (now, then) = (misses(present_bytes)?, misses(bytes)?);
        let source = "Che's approximation by relation".to_owned();
        (now > 0.0).then(|| Self { read_ratio: then / now, source })
    }
}

fn popularity(relation: &RelationIo, block: f64) -> Option<Popularity> {
    let requests_per_s = relation.read_blocks_per_s + relation.hits_per_s?;
    Some(Popularity { n: real(relation.size_bytes?) / block, requests_per_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_read_between_its_rows_and_never_beyond_them() {
        let row = |size: f64, read_ratio: f64| BufferPoolAdvice {
            pool: "D".to_owned(),
            size_bytes: Some(size),
            read_ratio: Some(read_ratio),
            ..BufferPoolAdvice::default()
        };
        let advice = [row(4e9, 1.5), row(8e9, 1.0), row(16e9, 0.6)];
        let of = |bytes| CacheChange::by_advice(&advice, bytes).map(|found| found.read_ratio);
        assert!((of(12e9).unwrap() - 0.8).abs() < 1e-12 && (of(4e9).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!((of(3e9), of(17e9)), (None, None));
    }
}
