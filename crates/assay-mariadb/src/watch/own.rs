//! A session of this program, which is ignored.

/// An Assay session, which is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnWork {
    /// Its number among the sessions.
    pub(super) session: u64,
    /// Its number in the performance schema, where that is read.
    pub(super) number: Option<u64>,
    /// The thread that serves it, where it is on this host.
    pub(super) thread: Option<u32>,
}
