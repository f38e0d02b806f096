//! Caches and tiers: what was used last lies in faster places, each of a known size and latency.

use super::DeviceIo;
use super::laws::DeviceLaw;
use assay_model::number::index_of;
use std::collections::{HashMap, VecDeque};

/// Bytes that move between places as one.
const PAGE_BYTES: u64 = 8192;

/// Places of ascending size that keep what was used last; the last latency is that of everything.
///
/// Each place replaces what was used longest ago. What is new in a place is served by it only after
/// it was moved there, `follow_ns` after its use; what a faster place holds the slower ones hold,
/// too.
pub struct SimulatedTiers {
    places: Vec<TierPlace>,
    latencies_ns: Vec<u64>,
    follow_ns: u64,
}

/// One place: pages with the number of their last use and when they are there.
struct TierPlace {
    pages_max: usize,
    pages: HashMap<u64, (u64, u64)>,
    uses: VecDeque<(u64, u64)>,
    number: u64,
}

impl SimulatedTiers {
    /// Places of `sizes_bytes` in ascending order, and one latency more than places, ns.
    pub fn new(sizes_bytes: &[u64], latencies_ns: Vec<u64>, follow_ns: u64) -> Self {
        let place = |bytes: &u64| TierPlace {
            pages_max: index_of((bytes / PAGE_BYTES).max(1)),
            pages: HashMap::new(),
            uses: VecDeque::new(),
            number: 0,
        };
        Self { places: sizes_bytes.iter().map(place).collect(), latencies_ns, follow_ns }
    }

    /// The first place that serves a page, before its use is noted in all of them.
    fn place_of(&mut self, page: u64, now_ns: u64) -> usize {
        let found = self.places.iter().position(|place| place.serves(page, now_ns));
        for place in &mut self.places {
            place.note(page, now_ns, self.follow_ns);
        }
        found.unwrap_or(self.places.len())
    }
}

impl DeviceLaw for SimulatedTiers {
    /// As slow as the slowest page of the I/O.
    fn completion_ns(&mut self, now_ns: u64, io: &DeviceIo) -> u64 {
        let first = io.offset / PAGE_BYTES;
        let last = (io.offset + u64::from(io.bytes).max(1) - 1) / PAGE_BYTES;
        let slowest = (first..=last).map(|page| self.place_of(page, now_ns)).max();
        let latency_ns = slowest.and_then(|place| self.latencies_ns.get(place));
        now_ns + latency_ns.copied().unwrap_or(0)
    }
}

impl TierPlace {
    fn serves(&self, page: u64, now_ns: u64) -> bool {
        self.pages.get(&page).is_some_and(|(_, from_ns)| *from_ns <= now_ns)
    }

    /// Makes a page the one used last; what was used longest ago goes where there is no room.
    fn note(&mut self, page: u64, now_ns: u64, follow_ns: u64) {
        self.number += 1;
        let number = self.number;
        let entry = self.pages.entry(page);
        let kept = entry.or_insert((number, now_ns + follow_ns));
        kept.0 = number;
        self.uses.push_back((page, number));
        while self.pages.len() > self.pages_max || self.uses.len() > 4 * self.pages_max + 16 {
            let Some((oldest, used)) = self.uses.pop_front() else {
                break;
            };
            let is_last_use = self.pages.get(&oldest).is_some_and(|(last, _)| *last == used);
            if !is_last_use {
                continue;
            }
            if self.pages.len() > self.pages_max {
                self.pages.remove(&oldest);
            } else {
                // Still its last use: it only had to make room in the list of uses.
                self.uses.push_front((oldest, used));
                self.forget_old_uses();
            }
        }
    }

    /// Keeps only the last use of every page.
    fn forget_old_uses(&mut self) {
        let pages = &self.pages;
        self.uses.retain(|(page, used)| pages.get(page).is_some_and(|(last, _)| last == used));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    fn read(page: u64) -> DeviceIo {
        DeviceIo::read(page * PAGE_BYTES, 8192)
    }

    #[test]
    fn what_was_used_last_is_fast_and_what_is_beyond_all_is_not() {
        let mut tiers = SimulatedTiers::new(&[2 * PAGE_BYTES, 4 * PAGE_BYTES], vec![1, 10, 100], 0);
        let mut times: Vec<u64> = Vec::new();
        for page in [0, 1, 0, 2, 1, 3, 4, 0, 3] {
            times.push(tiers.completion_ns(0, &read(page)));
        }
        assert_eq!(times, [100, 100, 1, 100, 10, 100, 100, 100, 10]);
    }

    #[test]
    fn uniform_use_hits_by_the_share_that_fits() {
        let mut tiers = SimulatedTiers::new(&[100 * PAGE_BYTES], vec![0, 1], 0);
        let mut random = Random::new(1);
        let misses: u64 =
            (0..40_000).map(|_| tiers.completion_ns(0, &read(random.below(400)))).skip(2000).sum();
        let share = assay_model::number::real(misses) / 38_000.0;
        assert!((share - 0.75).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_place_takes_what_is_new_after_a_while() {
        let mut tiers = SimulatedTiers::new(&[100 * PAGE_BYTES], vec![0, 1], 1000);
        let at = |tiers: &mut SimulatedTiers, now_ns: u64| {
            tiers.completion_ns(now_ns, &read(7)) - now_ns
        };
        let times = [0, 500, 999, 1000, 2000].map(|now_ns| at(&mut tiers, now_ns));
        assert_eq!(times, [1, 1, 1, 0, 0]);
    }
}
