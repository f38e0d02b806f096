//! Flash: dies that read and program one page after the other, a write buffer, and the work that
//! collecting makes.

use crate::event_queue::EventQueue;
use crate::ftl::{FlashCost, Ftl};
use crate::service::ServiceSource;
use assay_model::array::Flash;
use assay_model::device::{Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{count, count_of, index, index_of, narrow, real};
use assay_stats::random::mix;
use std::collections::VecDeque;

/// Flash as a device.
pub struct FlashDevice {
    dies: Vec<u64>,
    turn: usize,
    page_bytes: u64,
    read: ServiceSource,
    program_ns: u64,
    buffer: Buffer,
    collector: Option<GarbageCollector>,
    due: EventQueue<(u64, i32)>,
}

/// A write buffer: writes are taken while programming is behind by less than it holds.
struct Buffer {
    pages: usize,
    taken_ns: u64,
    /// Ends of the programs of what it holds, in the order of arrival.
    programs_ns: VecDeque<u64>,
}

/// The translation layer at a smaller scale, and the die time that collecting costs.
struct GarbageCollector {
    ftl: Ftl,
    capacity_bytes: u64,
    /// Real pages that one mapped page stands for, over how many times faster slow processes run.
    stands_for: f64,
    /// Writes so far that no mapped write was made for.
    written: f64,
    /// Die time of one move and of one erase, ns.
    move_ns: f64,
    erase_ns: f64,
    /// Die time that collecting has cost and no write has paid, ns.
    debt_ns: f64,
    /// Real pages that the debt is spread over.
    horizon: f64,
    /// Mapped pages a ns that are collected anyway.
    background: f64,
    credit: f64,
    at_ns: u64,
}

/// Longer than this without a write is a rest.
const REST_NS: u64 = 10_000_000;

impl FlashDevice {
    /// Flash as described, with `capacity_bytes` in use; slow processes run `hasten` times faster.
    pub fn new(flash: &Flash, capacity_bytes: u64, hasten: f64, seed: u64) -> Self {
        Self {
            dies: vec![0; flash.dies as usize],
            turn: 0,
            page_bytes: flash.page.0,
            read: ServiceSource::new(flash.read, flash.spread, seed),
            program_ns: flash.program.0,
            buffer: Buffer {
                pages: index_of(flash.buffer.0 / flash.page.0),
                taken_ns: flash.buffered_write.0,
                programs_ns: VecDeque::new(),
            },
            collector: (flash.over_provisioning.0 > 0.0)
                .then(|| GarbageCollector::new(flash, capacity_bytes, hasten)),
            due: EventQueue::default(),
        }
    }

    /// Pages of an I/O.
    fn pages(&self, io: &DeviceIo) -> u64 {
        u64::from(io.bytes).div_ceil(self.page_bytes).max(1)
    }

    /// Reads go to the die that holds the page: any die, equally likely.
    #[inline]
    fn read_done_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        let first = io.offset / self.page_bytes;
        let mut done_ns = now_ns;
        for page in first..first + self.pages(io) {
            let die = self.die_of(page);
            let service_ns = self.read.next_ns();
            done_ns = done_ns.max(self.work(die, now_ns, service_ns));
        }
        done_ns
    }

    /// The die of a page, any of them equally likely; the bias of the multiplication is negligible.
    #[inline]
    fn die_of(&self, page: u64) -> usize {
        let wide = u128::from(mix(page)) * u128::from(count_of(self.dies.len()));
        index_of(narrow(wide >> 64))
    }

    /// Writes go to the dies in turn, wherever their address is.
    fn write_done_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        let mut done_ns = now_ns;
        for page in 0..self.pages(io) {
            let offset = io.offset + page * self.page_bytes;
            let extra_ns =
                self.collector.as_mut().map_or(0, |collector| collector.write_ns(now_ns, offset));
            self.turn = if self.turn + 1 == self.dies.len() { 0 } else { self.turn + 1 };
            let programmed_ns = self.work(self.turn, now_ns, self.program_ns + extra_ns);
            done_ns = done_ns.max(self.buffer.done_ns(now_ns, programmed_ns));
        }
        done_ns
    }

    #[inline]
    fn work(&mut self, die: usize, now_ns: u64, work_ns: u64) -> u64 {
        let free_ns = &mut self.dies[die];
        *free_ns = (*free_ns).max(now_ns) + work_ns;
        *free_ns
    }
}

impl Buffer {
    /// When a write is done whose program ends at `programmed_ns`.
    fn done_ns(&mut self, now_ns: u64, programmed_ns: u64) -> u64 {
        if self.pages == 0 {
            return programmed_ns;
        }
        while self.programs_ns.front().is_some_and(|end| *end <= now_ns) {
            self.programs_ns.pop_front();
        }
        self.programs_ns.push_back(programmed_ns);
        // It is taken when the write that far ahead of it has left.
        let ahead = self.programs_ns.len().checked_sub(self.pages + 1);
        let room_ns = ahead.map_or(now_ns, |ahead| self.programs_ns[ahead].max(now_ns));
        room_ns + self.taken_ns
    }
}

impl GarbageCollector {
    fn new(flash: &Flash, capacity_bytes: u64, hasten: f64) -> Self {
        let real_pages = (capacity_bytes / flash.page.0).max(1);
        let mapped = u64::from(flash.mapped_pages).min(real_pages);
        let pages = u32::try_from(mapped).unwrap_or(u32::MAX);
        let over = flash.over_provisioning.0;
        let mut ftl = Ftl::new(pages, over, flash.pages_per_block, flash.collection);
        let filled = index(f64::from(pages) * flash.fill.0).min(pages as usize);
        for page in mixed(pages).take(filled) {
            ftl.write(page);
        }
        let stands_for = real(real_pages) / real(mapped) / hasten;
        let spread = real(flash.collection_spread.0) / real(flash.page.0) / hasten;
        Self {
            ftl,
            capacity_bytes,
            stands_for,
            written: 0.0,
            move_ns: real(flash.read.0 + flash.program.0),
            erase_ns: real(flash.erase.0),
            debt_ns: 0.0,
            horizon: (stands_for * f64::from(flash.pages_per_block)).max(spread).max(1.0),
            background: flash.background.0 / 1e9 / stands_for,
            credit: 0.0,
            at_ns: 0,
        }
    }

    /// Die time beyond its own program that a write of the page at `offset` has to wait for, ns.
    fn write_ns(&mut self, now_ns: u64, offset: u64) -> u64 {
        self.collect_behind(now_ns);
        self.written += 1.0;
        while self.written >= self.stands_for {
            self.written -= self.stands_for;
            let within = u128::from(offset % self.capacity_bytes);
            let page = within * u128::from(self.ftl.pages()) / u128::from(self.capacity_bytes);
            let cost = self.ftl.write(u32::try_from(page).unwrap_or(0));
            self.charge(cost);
        }
        let paid_ns = self.debt_ns / self.horizon;
        self.debt_ns -= paid_ns;
        count(paid_ns)
    }

    fn charge(&mut self, cost: FlashCost) {
        let once = f64::from(cost.moved) * self.move_ns + f64::from(cost.erased) * self.erase_ns;
        self.debt_ns += once * self.stands_for;
    }

    /// Collects what the background has collected since the last look; that is done during the load
    /// and costs it nothing. While nothing is written, it works at the same pace on what
    /// collecting still owes.
    fn collect_behind(&mut self, now_ns: u64) {
        let passed_ns = now_ns - self.at_ns;
        if passed_ns > REST_NS {
            let moved = real(passed_ns) * self.background * self.stands_for;
            self.debt_ns = (self.debt_ns - moved * self.move_ns).max(0.0);
        }
        self.credit += real(passed_ns) * self.background;
        self.at_ns = now_ns;
        let most = f64::from(self.ftl.pages());
        self.credit = self.credit.min(most);
        while self.credit >= 1.0 {
            let cost = self.ftl.collect_if_short();
            self.credit -= f64::from(cost.moved).max(1.0);
            if cost.erased == 0 {
                self.credit = 0.0;
            }
        }
    }
}

/// All pages in an order that scatters neighbours over the blocks, as data does that came in over
/// years: steps of the golden section, made coprime to the number of pages.
fn mixed(pages: u32) -> impl Iterator<Item = u32> {
    let first = count(f64::from(pages) * 0.618_033_988_75) | 1;
    let step = (first..=u64::from(u32::MAX)).find(|step| gcd(*step, u64::from(pages)) == 1);
    let (step, pages) = (step.unwrap_or(1), u64::from(pages));
    (0..pages).map(move |place| u32::try_from(place * step % pages).unwrap_or(0))
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

impl Device for FlashDevice {
    #[inline]
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let done_ns = match io.operation {
            Operation::Read => self.read_done_ns(now_ns, &io),
            Operation::Write => self.write_done_ns(now_ns, &io),
            // The buffer survives a power cut: nothing is left to be done.
            Operation::Sync => now_ns,
        };
        self.due.push(done_ns, (tag, io.moved()));
    }

    #[inline]
    fn next_event_ns(&self) -> Option<u64> {
        self.due.next_ns()
    }

    #[inline]
    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while let Some(one) = self.due.pop(now_ns) {
            done.push(one);
        }
    }

    fn takes_ahead(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
