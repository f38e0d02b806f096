//! Two storages under one address space: pages lie in one of them, and hot ones move to the fast
//! one.

use crate::event_queue::{earlier, own_tag};
use assay_model::array::Tier;
use assay_model::device::{Device, DeviceIo};
use assay_model::number::{count, count_of, index_of, real};
use std::collections::VecDeque;

mod heat;

use heat::TieredPages;

/// Moves that are under way at once at most; a power of two.
const MOVES_AT_ONCE: usize = 32;

/// The bits of a tag that say which move it is of.
const MOVES_MASK: u64 = MOVES_AT_ONCE as u64 - 1;

/// Two storages as a device.
pub struct TierDevice {
    page_bytes: u64,
    /// Bytes that a move carries: where moving is hastened, each costs as much less.
    move_bytes: u32,
    /// Accesses that one stands for: in a hastened time there are as many fewer.
    stands_for: u32,
    /// The tag of its own moves.
    own_tag: u64,
    pages: TieredPages,
    fast: Box<dyn Device>,
    slow: Box<dyn Device>,
    every_ns: u64,
    next_look_ns: u64,
    moves_a_look: usize,
    moves: VecDeque<(u32, u32)>,
    moving: [Option<Moving>; MOVES_AT_ONCE],
    arrived: Vec<(u64, i32)>,
}

/// A hot page and a cold one that change places: both are read, then both are written.
#[derive(Clone, Copy)]
struct Moving {
    hot: u32,
    cold: u32,
    left: u32,
    writing: bool,
}

impl TierDevice {
    /// Two storages as described, with `capacity_bytes` in use; moving runs `hasten` times faster.
    pub fn new(
        tier: &Tier,
        capacity_bytes: u64,
        seed: u64,
        hasten: f64,
        fast: Box<dyn Device>,
        slow: Box<dyn Device>,
    ) -> Self {
        let pages = u32::try_from(capacity_bytes.div_ceil(tier.page.0)).unwrap_or(u32::MAX);
        let fast_pages = u32::try_from(tier.fast_capacity.0 / tier.page.0).unwrap_or(u32::MAX);
        let every_ns = count(real(tier.every.0) / hasten).max(1);
        let moves = tier.moves.0 * tier.every.seconds();
        Self {
            page_bytes: tier.page.0,
            move_bytes: u32::try_from(count(real(tier.page.0) / hasten).max(4096))
                .unwrap_or(u32::MAX),
            stands_for: u32::try_from(count(hasten)).unwrap_or(u32::MAX),
            own_tag: own_tag(seed) & !MOVES_MASK,
            pages: TieredPages::new(pages, fast_pages),
            fast,
            slow,
            every_ns,
            next_look_ns: every_ns,
            moves_a_look: index_of(count(moves)),
            moves: VecDeque::new(),
            moving: [None; MOVES_AT_ONCE],
            arrived: Vec::new(),
        }
    }

    fn forward(&mut self, now_ns: u64, tag: u64, page: u32, within: u64, io: DeviceIo) {
        let (is_fast, slot) = self.pages.place(page);
        let io = DeviceIo { offset: u64::from(slot) * self.page_bytes + within, ..io };
        let device = if is_fast { &mut self.fast } else { &mut self.slow };
        device.submit(now_ns, tag, io);
    }

    /// Looks for hot pages when it is time, and keeps moves under way.
    fn look(&mut self, now_ns: u64) {
        if now_ns >= self.next_look_ns {
            self.next_look_ns = now_ns - now_ns % self.every_ns + self.every_ns;
            self.moves = self.pages.choose(self.moves_a_look).into();
        }
        while !self.moves.is_empty()
            && let Some(slot) = self.moving.iter().position(Option::is_none)
            && let Some((hot, cold)) = self.moves.pop_front()
        {
            self.transfer(now_ns, slot, hot, cold, false);
        }
    }

    fn transfer(&mut self, now_ns: u64, slot: usize, hot: u32, cold: u32, writing: bool) {
        let bytes = self.move_bytes;
        let io = if writing { DeviceIo::write(0, bytes) } else { DeviceIo::read(0, bytes) };
        self.moving[slot] = Some(Moving { hot, cold, left: 2, writing });
        let tag = self.own_tag | count_of(slot);
        self.forward(now_ns, tag, hot, 0, io);
        self.forward(now_ns, tag, cold, 0, io);
    }

    fn moved(&mut self, now_ns: u64, slot: usize) {
        let Some(moving) = &mut self.moving[slot] else {
            return;
        };
        moving.left -= 1;
        if moving.left > 0 {
            return;
        }
        let Moving { hot, cold, writing, .. } = *moving;
        if writing {
            self.moving[slot] = None;
        } else {
            self.pages.exchange(hot, cold);
            self.transfer(now_ns, slot, hot, cold, true);
        }
    }
}

impl Device for TierDevice {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let page = u32::try_from(io.offset / self.page_bytes).unwrap_or(u32::MAX);
        let page = page.min(self.pages.last());
        self.pages.touch(page, self.stands_for);
        self.forward(now_ns, tag, page, io.offset % self.page_bytes, io);
        self.look(now_ns);
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.fast.next_event_ns(), self.slow.next_event_ns())
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        let mut arrived = std::mem::take(&mut self.arrived);
        self.fast.advance(now_ns, &mut arrived);
        self.slow.advance(now_ns, &mut arrived);
        for (tag, result) in arrived.drain(..) {
            if tag & !MOVES_MASK == self.own_tag {
                self.moved(now_ns, index_of(tag & MOVES_MASK));
            } else {
                done.push((tag, result));
            }
        }
        self.arrived = arrived;
    }
}

/// Bytes that each of the two storages has to hold of `capacity_bytes`.
pub fn shares(tier: &Tier, capacity_bytes: u64) -> (u64, u64) {
    let pages = capacity_bytes.div_ceil(tier.page.0);
    let fast = (tier.fast_capacity.0 / tier.page.0).min(pages);
    let slow = (pages - fast).max(1);
    (fast.max(1) * tier.page.0, slow * tier.page.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Closed;
    use crate::ram::RamDevice;
    use assay_model::array::{Part, Ram, Spread};
    use assay_model::units::{Bytes, Nanos, Rate};

    const PAGE: u64 = 1 << 20;

    fn ram(latency_ns: u64) -> Ram {
        Ram { channels: 8, latency: Nanos(latency_ns), spread: Spread::Constant }
    }

    /// A quarter of 64 pages is fast: 100 µs against 1 ms.
    fn tiered(moves: f64) -> TierDevice {
        let tier = Tier {
            page: Bytes(PAGE),
            fast_capacity: Bytes(16 * PAGE),
            every: Nanos(1_000_000_000),
            moves: Rate(moves),
            fast: vec![Part::Ram(ram(100_000))],
            slow: vec![Part::Ram(ram(1_000_000))],
        };
        let device = |service_ns, seed| Box::new(RamDevice::new(&ram(service_ns), seed));
        TierDevice::new(&tier, 64 * PAGE, 1, 1.0, device(100_000, 1), device(1_000_000, 2))
    }

    #[test]
    fn without_moves_the_mean_is_that_of_the_shares() {
        let run = Closed::reads(1).over(64 * PAGE).run(&mut tiered(0.0), 20_000_000_000);
        let expected = 0.25 * 100_000.0 + 0.75 * 1_000_000.0;
        assert!((run.read.mean_ns() / expected - 1.0).abs() < 0.02, "{}", run.read.mean_ns());
    }

    #[test]
    fn hot_pages_move_until_all_of_them_are_fast() {
        // Reads go to a quarter of the pages, a quarter of which is fast at first.
        let load = Closed::reads(1).over(16 * PAGE);
        let first = load.run(&mut tiered(8.0), 900_000_000).read.mean_ns();
        assert!((first / 775_000.0 - 1.0).abs() < 0.05, "{first}");
        let later = Closed { warm_up_ns: 5_000_000_000, ..load };
        let last = later.run(&mut tiered(8.0), 5_000_000_000).read.mean_ns();
        assert!((last / 100_000.0 - 1.0).abs() < 0.02, "{last}");
    }
}
