//! What else recognised data concerns, besides the device that it lies on.

/// What else data concerns, besides the device that it lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// Nothing: a file system, an image, a volume of its own.
    Content,
    /// A table that divides a disk into partitions, so that it must be expected on a disk that has
    /// some.
    Table,
    /// A part of something that other disks or other hosts have parts of: a volume group, an array,
    /// a pool, a cluster. Nobody can see from here whether it is in use there.
    Member,
}
