//! A page-mapped flash translation layer: where each page lies, what a block still holds, and which
//! block is collected.

use assay_model::array::CollectionPolicy;
use assay_model::number::{count, count_of, index_of, real, real_len};
use assay_stats::random::Random;
use std::collections::VecDeque;

/// No page.
const NONE: u32 = u32::MAX;

/// Blocks that are kept free for collecting.
const RESERVE: usize = 2;

/// Seed of the choice among blocks that are alike to the policy.
const SEED: u64 = 0xb10c;

/// What a write or a collection cost beyond the page itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCost {
    /// Valid pages that were moved.
    pub moved: u32,
    /// Blocks that were erased.
    pub erased: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlashBlock {
    valid: u32,
    /// Writes that had been done when its last page was written.
    closed: u64,
    is_closed: bool,
}

/// The translation layer; pages are numbered by 32 bits, 8 bytes of memory each.
pub struct Ftl {
    pages_per_block: u32,
    policy: CollectionPolicy,
    place_of: Vec<u32>,
    page_at: Vec<u32>,
    blocks: Vec<FlashBlock>,
    free: VecDeque<u32>,
    /// Closed blocks, for policies that do not look into them: the oldest first, or in no order.
    closed: VecDeque<u32>,
    random: Random,
    open: u32,
    next: u32,
    writes: u64,
}

impl Ftl {
    /// `pages` logical pages, and a share of spare flash; the first `fill` of them hold data.
    pub fn new(pages: u32, over: f64, pages_per_block: u32, policy: CollectionPolicy) -> Self {
        let wanted = real_len(pages as usize) * (1.0 + over) / f64::from(pages_per_block);
        let blocks = index_of(count(wanted.ceil())).max(RESERVE + 2);
        let mut free: VecDeque<u32> = (0..u32::try_from(blocks).unwrap_or(NONE)).collect();
        let open = free.pop_front().unwrap_or(0);
        Self {
            pages_per_block,
            policy,
            place_of: vec![NONE; pages as usize],
            page_at: vec![NONE; blocks * pages_per_block as usize],
            blocks: vec![FlashBlock::default(); blocks],
            free,
            closed: VecDeque::new(),
            random: Random::new(SEED),
            open,
            next: 0,
            writes: 0,
        }
    }

    /// Logical pages.
    pub fn pages(&self) -> u32 {
        u32::try_from(self.place_of.len()).unwrap_or(NONE)
    }

    /// Writes a page, and first collects if there is no room.
    pub fn write(&mut self, page: u32) -> FlashCost {
        let mut cost = FlashCost::default();
        let most = self.blocks.len();
        let mut rounds = 0;
        while self.free.len() <= RESERVE && rounds < most {
            let one = self.collect();
            cost.moved += one.moved;
            cost.erased += one.erased;
            rounds += 1;
            if one.erased == 0 {
                break;
            }
        }
        self.writes += 1;
        self.put(page);
        cost
    }

    /// Frees the block that the policy chooses; nothing where no block would free anything.
    pub fn collect(&mut self) -> FlashCost {
        let Some(victim) = self.victim() else {
            return FlashCost::default();
        };
        let first = victim * self.pages_per_block;
        let mut moved = 0;
        for place in first..first + self.pages_per_block {
            let page = self.page_at[place as usize];
            if page != NONE {
                self.put(page);
                moved += 1;
            }
        }
        self.blocks[victim as usize] = FlashBlock::default();
        self.free.push_back(victim);
        FlashCost { moved, erased: 1 }
    }

    /// Collects in the background: until the over-provisioning is free again, where anything can be
    /// won.
    pub fn collect_if_short(&mut self) -> FlashCost {
        let used = self.place_of.len() / self.pages_per_block as usize;
        if self.free.len() + used + RESERVE >= self.blocks.len() {
            return FlashCost::default();
        }
        self.collect()
    }

    /// Puts a page to the next place of the open block.
    fn put(&mut self, page: u32) {
        let old = self.place_of[page as usize];
        if old != NONE {
            self.page_at[old as usize] = NONE;
            self.blocks[(old / self.pages_per_block) as usize].valid -= 1;
        }
        let place = self.open * self.pages_per_block + self.next;
        self.place_of[page as usize] = place;
        self.page_at[place as usize] = page;
        self.blocks[self.open as usize].valid += 1;
        self.next += 1;
        if self.next == self.pages_per_block {
            self.close();
        }
    }

    fn close(&mut self) {
        let block = &mut self.blocks[self.open as usize];
        (block.closed, block.is_closed) = (self.writes, true);
        if matches!(self.policy, CollectionPolicy::Fifo | CollectionPolicy::Random) {
            self.closed.push_back(self.open);
        }
        self.next = 0;
        self.open = self.free.pop_front().unwrap_or(self.open);
    }

    /// The block to collect; one without anything invalid frees nothing, and only policies that do
    /// not look collect it.
    fn victim(&mut self) -> Option<u32> {
        match self.policy {
            CollectionPolicy::Fifo => self.closed.pop_front(),
            CollectionPolicy::Random => self.any(),
            CollectionPolicy::Greedy => self.best(|block, _, _| real(u64::from(block.valid))),
            CollectionPolicy::CostBenefit => self.best(Self::price),
        }
    }

    /// Any closed block, all equally likely.
    fn any(&mut self) -> Option<u32> {
        let closed = count_of(self.closed.len());
        let which = (closed > 0).then(|| self.random.below(closed))?;
        self.closed.swap_remove_back(index_of(which))
    }

    /// Cost over benefit (Rosenblum and Ousterhout 1992): 2u / ((1 - u) age), the smaller the
    /// better.
    fn price(block: &FlashBlock, writes: u64, pages: u32) -> f64 {
        let used = f64::from(block.valid) / f64::from(pages);
        2.0 * used / ((1.0 - used).max(1e-9) * real(writes - block.closed + 1))
    }

    fn best(&self, price: impl Fn(&FlashBlock, u64, u32) -> f64) -> Option<u32> {
        let price_now = |block| price(block, self.writes, self.pages_per_block);
        let closed = (0u32..)
            .zip(&self.blocks)
            .filter(|(_, block)| block.is_closed && block.valid < self.pages_per_block);
        closed
            .map(|(index, block)| (price_now(block), index))
            .min_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    /// Pages programmed for one written, after three times the flash was written at random.
    fn amplification(over: f64, policy: CollectionPolicy, pages: u32) -> f64 {
        let mut ftl = Ftl::new(pages, over, 64, policy);
        let mut random = Random::new(1);
        for page in 0..pages {
            ftl.write(page);
        }
        let mut draw = || u32::try_from(random.below(u64::from(pages))).unwrap();
        for _ in 0..pages * 3 {
            ftl.write(draw());
        }
        let moved: u32 = (0..pages * 2).map(|_| ftl.write(draw()).moved).sum();
        1.0 + f64::from(moved) / f64::from(pages * 2)
    }

    /// α / (α + W(-α e^-α)) with α = 1 + over: random writes under a log that goes round
    /// (Desnoyers, SYSTOR 2012).
    fn desnoyers(over: f64) -> f64 {
        let alpha = 1.0 + over;
        let argument = -alpha * (-alpha).exp();
        // Lambert's W on its main branch by Newton's steps.
        let mut w = -0.5f64;
        for _ in 0..100 {
            w -= (w * w.exp() - argument) / (w.exp() * (w + 1.0));
        }
        alpha / (alpha + w)
    }

    #[test]
    fn a_log_amplifies_as_the_theory_says() {
        for over in [0.2, 0.4] {
            let (simulated, theory) =
                (amplification(over, CollectionPolicy::Fifo, 1 << 16), desnoyers(over));
            assert!((simulated / theory - 1.0).abs() < 0.05, "{over}: {simulated} {theory}");
        }
    }

    /// Pages moved for one written of a hot eighth, after `writes` of it; the rest lies cold
    /// between it.
    fn moved_for_hot(writes: u32) -> f64 {
        let (pages, hot) = (1u32 << 16, 1u64 << 13);
        let mut ftl = Ftl::new(pages, 0.1, 64, CollectionPolicy::Random);
        for page in 0..pages {
            ftl.write(page * 40_503 % pages);
        }
        let mut random = Random::new(3);
        let mut draw = || u32::try_from(random.below(hot)).unwrap();
        for _ in 0..writes {
            ftl.write(draw());
        }
        let moved: u32 = (0..1u32 << 13).map(|_| ftl.write(draw()).moved).sum();
        f64::from(moved) / f64::from(1u32 << 13)
    }

    #[test]
    fn any_block_holds_on_average_what_all_hold() {
        // A block that is not looked into is valid as the whole flash is, 1 / (1 + over): 1 / over
        // pages are moved for one written, whatever is hot, from the moment on when the
        // free ones are used up (random collection in Van Houdt, SIGMETRICS 2013).
        for over in [0.1, 0.4] {
            let (simulated, theory) =
                (amplification(over, CollectionPolicy::Random, 1 << 16), 1.0 + 1.0 / over);
            assert!((simulated / theory - 1.0).abs() < 0.05, "{over}: {simulated} {theory}");
        }
        for written in [10_000, 40_000, 160_000] {
            let moved = moved_for_hot(written);
            assert!((moved / 10.0 - 1.0).abs() < 0.1, "after {written}: {moved}");
        }
    }

    #[test]
    fn greedy_moves_less_than_a_log_and_more_than_nothing() {
        let greedy = amplification(0.2, CollectionPolicy::Greedy, 1 << 15);
        let log = amplification(0.2, CollectionPolicy::Fifo, 1 << 15);
        assert!(1.5 < greedy && greedy < log, "{greedy} {log}");
        let benefit = amplification(0.2, CollectionPolicy::CostBenefit, 1 << 15);
        assert!(1.5 < benefit && benefit < log * 1.1, "{benefit}");
    }

    #[test]
    fn ascending_writes_move_nothing() {
        let mut ftl = Ftl::new(1 << 14, 0.1, 64, CollectionPolicy::Greedy);
        let moved: u32 = (0..4u32 << 14).map(|write| ftl.write(write % (1 << 14)).moved).sum();
        assert_eq!(moved, 0);
    }

    #[test]
    fn every_page_is_where_the_map_says() {
        let mut ftl = Ftl::new(4096, 0.2, 64, CollectionPolicy::Greedy);
        let mut random = Random::new(2);
        for _ in 0..50_000 {
            ftl.write(u32::try_from(random.below(4096)).unwrap());
        }
        for page in 0..4096u32 {
            let place = ftl.place_of[page as usize];
            assert!(place == NONE || ftl.page_at[place as usize] == page);
        }
        let valid: u32 = ftl.blocks.iter().map(|block| block.valid).sum();
        assert_eq!(valid as usize, ftl.place_of.iter().filter(|place| **place != NONE).count());
    }
}
