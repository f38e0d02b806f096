//! Data that lie on cache lines of their own, so that writing to them slows nobody down who reads their neighbours.

use std::ops::Deref;

/// Two lines of 64 bytes: processors fetch neighbours in pairs.
pub const CACHE_LINES_BYTES: usize = 128;

/// A value with nothing else on its lines.
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

    #[test]
    fn neighbours_share_no_line() {
        let two = [OwnLines(AtomicBool::new(false)), OwnLines(AtomicBool::new(true))];
        let place = |at: usize| std::ptr::from_ref(&two[at].0).addr();
        assert_eq!(place(0) % CACHE_LINES_BYTES, 0);
        assert_eq!(place(1) - place(0), CACHE_LINES_BYTES);
    }
}
