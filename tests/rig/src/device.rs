//! What becomes of each operation: its due time, its fault, its bytes and its line in the log.

use crate::cache::VolatileCache;
use crate::clock::monotonic_ns;
use crate::errno::Errno;
use crate::fault::{Arrival, Decision, Effect, Faults};
use crate::log::{Entry, Recorder, checksum};
use crate::operation::Operation;
use crate::random::word_at;
use crate::schedule::Schedule;
use crate::script::Script;
use crate::store::{BLOCK_BYTES, Store, Version};
use crate::tree::Tree;
use assay_model::number::{count_of, index_of};

/// One data operation as the kernel asks for it.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) inode: u64,
    pub(crate) operation: Operation,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// The bytes of a write.
    pub(crate) data: Vec<u8>,
}

/// An operation on its way: what it will be logged as, and the bytes it brought.
#[derive(Debug)]
pub(crate) struct Ticket {
    inode: u64,
    data: Vec<u8>,
    /// What a flush covers.
    mark: u64,
    /// Cuts before it arrived.
    cuts: u64,
    entry: Entry,
}

impl Ticket {
    pub(crate) fn due_ns(&self) -> u64 {
        self.entry.due_ns
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.entry.sequence
    }
}

/// The whole state of a rig but for its threads and its mount.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) tree: Tree,
    pub(crate) schedule: Schedule,
    pub(crate) faults: Faults,
    pub(crate) recorder: Recorder,
    capacity_bytes: u64,
    vanished: Option<Errno>,
    cache: Option<VolatileCache>,
    is_off: bool,
    /// How often the power failed: what was under way then is never carried out.
    cuts: u64,
}

/// Room of a rig without scripted capacity, as `statfs` reports it: 64 TiB.
const BOUNDLESS_BYTES: u64 = 1 << 46;

impl Device {
    pub(crate) fn new(script: &Script) -> Self {
        Self {
            tree: Tree::new(script),
            schedule: Schedule::new(script.latency, script.servers, &script.stalls, script.seed),
            faults: Faults::new(&script.faults, script.seed),
            recorder: Recorder::new(script.log),
            capacity_bytes: script.capacity.map_or(BOUNDLESS_BYTES, |bytes| bytes.0),
            vanished: None,
            cache: script.cache.map(VolatileCache::new),
            is_off: false,
            cuts: 0,
        }
    }

    /// Fails everything from now on.
    pub(crate) fn vanish(&mut self, errno: Errno) {
        self.vanished.get_or_insert(errno);
    }

    /// The power fails: what is under way fails, and of the cache is left what chance leaves.
    pub(crate) fn cut_power(&mut self, seed: u64) {
        self.is_off = true;
        self.cuts += 1;
        if let Some(cache) = &mut self.cache {
            for (inode, content) in cache.cut(seed) {
                // A file that is gone has no content.
                if let Ok(store) = self.tree.store_mut(inode) {
                    *store = content;
                }
            }
        }
    }

    /// The power is back.
    pub(crate) fn restore_power(&mut self) {
        self.is_off = false;
    }

    /// Cuts or extends a file.
    pub(crate) fn truncate(&mut self, inode: u64, size_bytes: u64) -> Result<(), Errno> {
        self.tree.store_mut(inode)?.truncate(size_bytes);
        if let Some(cache) = &mut self.cache {
            cache.resize(inode, |medium| medium.truncate(size_bytes));
        }
        Ok(())
    }

    /// The error that everything fails with since the device vanished, or while it has no power.
    pub(crate) fn present(&self) -> Result<(), Errno> {
        if self.is_off {
            return Err(Errno::EIO);
        }
        self.vanished.map_or(Ok(()), Err)
    }

    /// Capacity and free room in blocks.
    pub(crate) fn room_blocks(&self) -> (u64, u64) {
        let free_bytes = self.capacity_bytes.saturating_sub(self.tree.allocated_bytes());
        (self.capacity_bytes / BLOCK_BYTES, free_bytes / BLOCK_BYTES)
    }

    /// Plans an operation that has just arrived.
    pub(crate) fn arrive(&mut self, request: Request, arrival_ns: u64) -> Ticket {
        let file =
            self.tree.node(request.inode).map_or_else(|_| "".into(), |node| node.path.clone());
        let since_first_ns = self.schedule.since_first_ns(arrival_ns);
        let Request { inode, operation, offset, length, data } = request;
        let arrival = Arrival { operation, file: &file, offset, length, since_first_ns };
        let (decision, due_ns) = self.plan(&arrival, arrival_ns);
        let written = (operation == Operation::Write).then(|| checksum(&data));
        let entry = Entry {
            sequence: self.recorder.arrive(),
            acknowledged: 0,
            file,
            operation,
            offset,
            length,
            arrival_ns,
            due_ns,
            completion_ns: 0,
            errno: None,
            fault: decision.applied,
            checksum: written,
        };
        let mark = self.cache.as_ref().map_or(0, VolatileCache::mark);
        Ticket { inode, data, mark, cuts: self.cuts, entry }
    }

    fn plan(&mut self, arrival: &Arrival<'_>, arrival_ns: u64) -> (Decision, u64) {
        if self.vanished.is_some() {
            return (Decision::default(), arrival_ns);
        }
        let decision = self.faults.decide(arrival);
        if let Some(Effect::Vanish(errno)) = decision.applied.map(|applied| applied.effect) {
            self.vanish(errno);
            return (decision, arrival_ns);
        }
        let due_ns = self.schedule.due_ns(arrival.operation, arrival_ns, decision.delay_ns);
        (decision, due_ns)
    }

    /// Carries out an operation and logs it; the bytes are those of a read.
    pub(crate) fn complete(&mut self, ticket: Ticket) -> Result<Vec<u8>, Errno> {
        let is_cut = ticket.cuts != self.cuts;
        let present = if is_cut { Err(Errno::EIO) } else { self.present() };
        let answer = present.and_then(|()| self.serve(&ticket));
        let mut entry = ticket.entry;
        entry.errno = answer.as_ref().err().copied();
        if let (Ok(bytes), Operation::Read) = (&answer, entry.operation) {
            entry.checksum = Some(checksum(bytes));
        }
        entry.completion_ns = monotonic_ns();
        self.recorder.answer(entry);
        answer
    }

    fn serve(&mut self, ticket: &Ticket) -> Result<Vec<u8>, Errno> {
        let effect = ticket.entry.fault.map(|applied| applied.effect);
        match (effect, ticket.entry.operation) {
            (Some(Effect::Error(errno) | Effect::Vanish(errno)), _) => Err(errno),
            (Some(Effect::NoSpaceAfter(_)), _) => Err(Errno::ENOSPC),
            (_, Operation::Read) => self.read(ticket, effect),
            (_, Operation::Write) => self.write(ticket, effect).map(|()| Vec::new()),
            (_, Operation::Sync) => {
                self.tree.store_mut(ticket.inode)?.drop_stale();
                if let Some(cache) = &mut self.cache {
                    cache.flush(ticket.mark);
                }
                Ok(Vec::new())
            }
        }
    }

    fn read(&self, ticket: &Ticket, effect: Option<Effect>) -> Result<Vec<u8>, Errno> {
        let version = match effect {
            Some(Effect::StaleRead) => Version::Previous,
            _ => Version::Current,
        };
        let Entry { offset, length, .. } = ticket.entry;
        let mut bytes = self.tree.store(ticket.inode)?.read(offset, length, version);
        if let Some(Effect::BitFlip(bit)) = effect {
            flip(&mut bytes, bit);
        }
        Ok(bytes)
    }

    fn write(&mut self, ticket: &Ticket, effect: Option<Effect>) -> Result<(), Errno> {
        let Entry { sequence, offset, length, .. } = ticket.entry;
        self.check_room(ticket.inode, offset, length)?;
        let store = self.tree.store_mut(ticket.inode)?;
        if let Some(cache) = &mut self.cache {
            cache.before_write(ticket.inode, store);
            cache.resize(ticket.inode, |medium| medium.grow(offset + length));
        }
        store.grow(offset + length);
        match effect {
            Some(Effect::Lost) => {}
            Some(Effect::Torn(kept)) => {
                let kept = ticket.data.len().min(index_of(kept.0));
                store.write(sequence, offset, &ticket.data[..kept]);
            }
            Some(Effect::StaleWrite) => store.write_stale(sequence, offset, &ticket.data),
            Some(Effect::Misdirected(shift)) => {
                misdirect(store, sequence, offset.wrapping_add(shift.0), &ticket.data);
            }
            Some(Effect::Zeroed(length)) => {
                let mut bytes = ticket.data.clone();
                bytes.iter_mut().take(index_of(length.0)).for_each(|byte| *byte = 0);
                store.write(sequence, offset, &bytes);
            }
            Some(Effect::Garbled(length)) => {
                let mut bytes = ticket.data.clone();
                garble(&mut bytes, index_of(length.0), sequence);
                store.write(sequence, offset, &bytes);
            }
            Some(Effect::BitFlip(bit)) => {
                let mut bytes = ticket.data.clone();
                flip(&mut bytes, bit);
                store.write(sequence, offset, &bytes);
            }
            _ => store.write(sequence, offset, &ticket.data),
        }
        if let Some(cache) = &mut self.cache {
            cache.write(ticket.inode, offset, ticket.data.clone());
        }
        Ok(())
    }

    fn check_room(&self, inode: u64, offset: u64, length: u64) -> Result<(), Errno> {
        if self.capacity_bytes == BOUNDLESS_BYTES {
            return Ok(());
        }
        let needed_bytes = self.tree.store(inode)?.growth_bytes(offset, length);
        let (_, free_blocks) = self.room_blocks();
        if needed_bytes > free_blocks * BLOCK_BYTES { Err(Errno::ENOSPC) } else { Ok(()) }
    }

    /// Makes room for a file up to `size_bytes`, as `fallocate` does.
    pub(crate) fn reserve(&mut self, inode: u64, size_bytes: u64, grow: bool) -> Result<(), Errno> {
        self.check_room(inode, 0, size_bytes)?;
        let store = self.tree.store_mut(inode)?;
        let change = |store: &mut Store| {
            store.reserve(size_bytes);
            if grow {
                store.grow(size_bytes);
            }
        };
        change(store);
        if let Some(cache) = &mut self.cache {
            cache.resize(inode, change);
        }
        Ok(())
    }
}

/// Replaces the first bytes by words that follow from a number.
fn garble(bytes: &mut [u8], length: usize, seed: u64) {
    let words = (0..).flat_map(|index| word_at(seed, index).to_le_bytes());
    bytes.iter_mut().take(length).zip(words).for_each(|(byte, word)| *byte = word);
}

/// Inverts one bit, counted from the lowest of the first byte.
fn flip(bytes: &mut [u8], bit: u64) {
    let bits = count_of(bytes.len()) * 8;
    if bits > 0 {
        let place = bit % bits;
        bytes[index_of(place / 8)] ^= 1 << (place % 8);
    }
}

/// Stores `bytes` at `offset`, both taken around the end of the file.
fn misdirect(store: &mut Store, writer: u64, offset: u64, bytes: &[u8]) {
    let offset = offset % store.size_bytes().max(1);
    let fitting = bytes.len().min(index_of(store.size_bytes() - offset));
    store.write(writer, offset, &bytes[..fitting]);
    store.write(writer, 0, &bytes[fitting..]);
}

#[cfg(test)]
mod tests;
