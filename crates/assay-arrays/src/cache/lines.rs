//! Which lines a cache holds, by the least recently used or by a clock.

use std::collections::HashMap;

/// No line.
const NONE: u32 = u32::MAX;

/// Lines in slots: a list from the newest to the oldest for LRU, a ring with marks for the clock.
pub struct CacheLines {
    slots: usize,
    clock: bool,
    slot_of: HashMap<u64, u32>,
    held: Vec<CacheSlot>,
    newest: u32,
    oldest: u32,
    hand: u32,
}

#[derive(Clone, Copy)]
struct CacheSlot {
    line: u64,
    newer: u32,
    older: u32,
    used: bool,
}

impl CacheLines {
    /// Room for `slots` lines, at least one.
    pub fn new(slots: usize, clock: bool) -> Self {
        Self {
            slots: slots.clamp(1, NONE as usize - 1),
            clock,
            slot_of: HashMap::new(),
            held: Vec::new(),
            newest: NONE,
            oldest: NONE,
            hand: 0,
        }
    }

    /// Whether a line was held; it is from now on.
    pub fn touch(&mut self, line: u64) -> bool {
        if let Some(slot) = self.slot_of.get(&line).copied() {
            self.held[slot as usize].used = true;
            if !self.clock {
                self.unlink(slot);
                self.link(slot);
            }
            return true;
        }
        let slot = self.room();
        self.held[slot as usize].line = line;
        self.slot_of.insert(line, slot);
        self.link(slot);
        false
    }

    /// A slot for a new line, if need be that of the line that leaves.
    fn room(&mut self) -> u32 {
        if self.held.len() < self.slots {
            self.held.push(CacheSlot { line: 0, newer: NONE, older: NONE, used: false });
            return u32::try_from(self.held.len() - 1).unwrap_or(0);
        }
        let slot = if self.clock { self.sweep() } else { self.oldest };
        self.unlink(slot);
        self.slot_of.remove(&self.held[slot as usize].line);
        slot
    }

    /// Moves the hand to the next line that was not used since it passed.
    fn sweep(&mut self) -> u32 {
        loop {
            let slot = self.hand;
            self.hand = (self.hand + 1) % u32::try_from(self.held.len()).unwrap_or(1);
            if !std::mem::take(&mut self.held[slot as usize].used) {
                return slot;
            }
        }
    }

    fn unlink(&mut self, slot: u32) {
        let CacheSlot { newer, older, .. } = self.held[slot as usize];
        match self.held.get_mut(newer as usize) {
            Some(other) => other.older = older,
            None => self.newest = older,
        }
        match self.held.get_mut(older as usize) {
            Some(other) => other.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link(&mut self, slot: u32) {
        let older = self.newest;
        let place = &mut self.held[slot as usize];
        (place.newer, place.older) = (NONE, older);
        match self.held.get_mut(older as usize) {
            Some(other) => other.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_leaves() {
        let mut lines = CacheLines::new(2, false);
        let hits: Vec<bool> = [1, 2, 1, 3, 1, 2].map(|line| lines.touch(line)).into();
        assert_eq!(hits, [false, false, true, false, true, false]);
    }

    #[test]
    fn the_clock_spares_what_was_used() {
        let mut lines = CacheLines::new(2, true);
        let hits: Vec<bool> = [1, 2, 1, 3, 1, 2].map(|line| lines.touch(line)).into();
        assert_eq!(hits, [false, false, true, false, true, false]);
    }
}
