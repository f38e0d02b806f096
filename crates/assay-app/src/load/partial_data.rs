//! What becomes of tables that an earlier run left half loaded, or otherwise than they are wanted: the same for all loads
//! that leave a manifest.

/// What to do with tables of which loading was broken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialData {
    /// Go on with what is whole.
    Resume,
    /// Drop them and start over.
    Drop,
}
