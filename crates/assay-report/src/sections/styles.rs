//! How lines of no meaning of their own are drawn.

use crate::chart::scene::{Ink, Stroke};

/// Inks and strokes for lines of no meaning of their own, in their order.
pub(super) const STYLES: [(Ink, Stroke); 6] = [
    (Ink::Read, Stroke::Solid),
    (Ink::Write, Stroke::Dashed),
    (Ink::Mix, Stroke::Solid),
    (Ink::Sync, Stroke::Dotted),
    (Ink::Found, Stroke::Dashed),
    (Ink::Axis, Stroke::Dotted),
];
