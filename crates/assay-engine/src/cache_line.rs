//! Data that lie on cache lines of their own, so that writing to them slows nobody down who reads
//! their neighbours.

use std::ops::Deref;

/// A value with nothing else on its lines: two of 64 bytes, because processors fetch neighbours in
/// pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLines<T>(pub T);

impl<T> Deref for OwnLines<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    const CACHE_LINES_BYTES: usize = 128;

    #[test]
    fn neighbours_share_no_line() {
        let two = [OwnLines(AtomicBool::new(false)), OwnLines(AtomicBool::new(true))];
        let place = |at: usize| std::ptr::from_ref(&two[at].0).addr();
        assert_eq!(place(0) % CACHE_LINES_BYTES, 0);
        assert_eq!(place(1) - place(0), CACHE_LINES_BYTES);
    }
}
