//! Where each page lies, how hot it is, and which pages should change places.

use assay_stats::random::mix;
use std::cmp::Reverse;

/// Pages of a tiered space.
pub struct TieredPages {
    /// Slots below `fast_slots` are fast; the others are slow, counted from there.
    slot_of: Vec<u32>,
    heat: Vec<u32>,
    fast_slots: u32,
}

impl TieredPages {
    /// Pages of which as many as fit are fast at first, evenly spread.
    pub fn new(pages: u32, fast_slots: u32) -> Self {
        let (pages, fast_slots) = (pages.max(1), fast_slots.min(pages));
        let (mut fast, mut slow) = (0, fast_slots);
        let upto = |page: u32| u64::from(page) * u64::from(fast_slots) / u64::from(pages);
        let place = |page: u32| {
            let next = if upto(page + 1) > upto(page) { &mut fast } else { &mut slow };
            *next += 1;
            *next - 1
        };
        Self { slot_of: (0..pages).map(place).collect(), heat: vec![0; pages as usize], fast_slots }
    }

    /// Number of the last page.
    pub fn last(&self) -> u32 {
        u32::try_from(self.slot_of.len() - 1).unwrap_or(u32::MAX)
    }

    /// Whether a page is fast, and its slot there.
    pub fn place(&self, page: u32) -> (bool, u32) {
        let slot = self.slot_of[page as usize];
        match slot.checked_sub(self.fast_slots) {
            Some(slow) => (false, slow),
            None => (true, slot),
        }
    }

    /// Counts accesses of a page.
    pub fn touch(&mut self, page: u32, accesses: u32) {
        self.heat[page as usize] = self.heat[page as usize].saturating_add(accesses);
    }

    /// Lets two pages change places.
    pub fn exchange(&mut self, one: u32, other: u32) {
        self.slot_of.swap(one as usize, other as usize);
    }

    /// Pairs of a slow page and a fast one that is colder by more than chance, hottest first; heat
    /// fades by a sixteenth, so that chance alone makes few hot pages look cold.
    pub fn choose(&mut self, most: usize) -> Vec<(u32, u32)> {
        let mut slow: Vec<(u32, u32)> = Vec::new();
        let mut fast: Vec<(u32, u32)> = Vec::new();
        for (page, heat) in (0u32..).zip(&mut self.heat) {
            let side =
                if self.slot_of[page as usize] < self.fast_slots { &mut fast } else { &mut slow };
            side.push((*heat, page));
            *heat -= *heat / 16;
        }
        // Among equals any page may be the one: the first ones could be of one hot region.
        let key = |(heat, page): &(u32, u32)| (*heat, mix(u64::from(*page)));
        slow.sort_unstable_by_key(|one| Reverse(key(one)));
        fast.sort_unstable_by_key(key);
        let pairs = slow.iter().zip(&fast).take(most);
        // Counts of equal heat differ by chance: twice as hot, and three more, is not chance for
        // small counts.
        pairs
            .take_while(|(hot, cold)| hot.0 > 2 * cold.0 + 3)
            .map(|(hot, cold)| (hot.1, cold.1))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_pages_are_spread_evenly_and_every_slot_is_used_once() {
        let pages = TieredPages::new(10, 3);
        let fast: Vec<u32> = (0..10).filter(|page| pages.place(*page).0).collect();
        assert_eq!(fast, [3, 6, 9]);
        let mut slots = pages.slot_of.clone();
        slots.sort_unstable();
        assert_eq!(slots, (0..10).collect::<Vec<u32>>());
    }

    #[test]
    fn hot_slow_pages_change_places_with_cold_fast_ones() {
        let mut pages = TieredPages::new(10, 3);
        (0..20).for_each(|_| pages.touch(0, 1));
        (0..20).for_each(|_| pages.touch(3, 1));
        let chosen = pages.choose(5);
        assert!(chosen == [(0, 6)] || chosen == [(0, 9)], "{chosen:?}");
        let cold = chosen[0].1;
        pages.exchange(0, cold);
        assert!(pages.place(0).0 && !pages.place(cold).0);
        assert!(pages.choose(5).is_empty());
    }
}
