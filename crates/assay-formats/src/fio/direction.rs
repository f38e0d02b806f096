//! What a job reads and writes.

/// What reads and writes are, by the option `rw`.
#[derive(Clone, Copy)]
pub struct FioDirection {
    /// Share of reads.
    pub read_share: f64,
    /// Whether addresses are random.
    pub is_random: bool,
}
