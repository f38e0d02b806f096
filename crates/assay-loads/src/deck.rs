//! Which transaction comes next: cards of a shuffled deck, so that a mix is exact and no matter of
//! chance.

use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;

/// A deck of cards; dealt to the end, then shuffled again.
#[derive(Clone, Debug)]
pub struct Deck<T> {
    cards: Vec<T>,
    next: usize,
}

impl<T: Copy> Deck<T> {
    /// A deck with the given number of cards of each kind; there must be at least one card.
    pub fn new(kinds: &[(T, u32)]) -> Self {
        let of_kind = |(kind, cards): &(T, u32)| {
            std::iter::repeat_n(*kind, usize::try_from(*cards).unwrap_or(0))
        };
        let cards: Vec<T> = kinds.iter().flat_map(of_kind).collect();
        Self { next: cards.len(), cards }
    }

    /// The next card.
    #[inline]
    pub fn deal(&mut self, random: &mut Random) -> T {
        if self.next >= self.cards.len() {
            self.shuffle(random);
        }
        let card = self.cards[self.next];
        self.next += 1;
        card
    }

    /// Fisher and Yates.
    fn shuffle(&mut self, random: &mut Random) {
        for last in (1..self.cards.len()).rev() {
            self.cards.swap(last, index_of(random.below(count_of(last) + 1)));
        }
        self.next = 0;
    }
}
