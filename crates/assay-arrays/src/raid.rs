//! Members that share data and redundancy: which of them an I/O touches, and what a small write
//! costs.

use crate::event_queue::earlier;
use crate::failure::Absence;
use assay_model::array::{Raid, RaidLevel};
use assay_model::device::{DataLoss, Device, DeviceIo};
use assay_model::measurement::Operation;
use assay_model::number::{count_of, index_of};

mod absent;
mod parity;
mod piece;

use absent::{ABSENT, Absent};
use parity::ParityRow;
use piece::{OnMembers, StripePiece};
use std::collections::BTreeSet;

/// Members as a device.
pub struct RaidDevice {
    level: RaidLevel,
    stripe_bytes: u64,
    members: Vec<RaidMember>,
    joins: Vec<RaidJoin>,
    free: Vec<usize>,
    arrived: Vec<(u64, i32)>,
    done: Vec<(u64, i32)>,
    /// The member that leaves and comes back, where one does.
    absent: Option<Absent>,
}

struct RaidMember {
    device: Box<dyn Device>,
    next_ns: Option<u64>,
    inside: u32,
}

/// An I/O of the host, with what of it is still under way and what follows.
#[derive(Default)]
struct RaidJoin {
    tag: u64,
    result: i32,
    left: u32,
    /// Writes that wait for the old data and the old parity.
    then: OnMembers,
}

impl RaidDevice {
    /// Members as described, made one by one.
    pub fn new(raid: &Raid, make: impl FnMut(u32) -> Box<dyn Device>) -> Self {
        let member = |device| RaidMember { device, next_ns: None, inside: 0 };
        Self {
            level: raid.level,
            stripe_bytes: raid.stripe.0,
            members: (0..raid.members).map(make).map(member).collect(),
            joins: Vec::new(),
            free: Vec::new(),
            arrived: Vec::new(),
            done: Vec::new(),
            absent: None,
        }
    }

    /// With a member that is away for a while.
    pub(crate) fn missing(self, absence: Option<Absence>) -> Self {
        Self { absent: absence.map(Absent::new), ..self }
    }

    /// Members' worth of data in a row of units.
    fn data(&self) -> u64 {
        data_members(self.level, count_of(self.members.len()))
    }

    fn pieces(&self, io: &DeviceIo) -> impl Iterator<Item = StripePiece> + use<> {
        let (stripe, mut at, end) = (self.stripe_bytes, io.offset, io.offset + u64::from(io.bytes));
        std::iter::from_fn(move || {
            let (unit, within) = (at / stripe, at % stripe);
            let bytes = (end.saturating_sub(at)).min(stripe - within);
            at += bytes;
            (bytes > 0).then(|| StripePiece {
                unit,
                within,
                bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            })
        })
    }

    /// Which members hold a piece: the one with its data, and those with its redundancy.
    fn holders(&self, unit: u64) -> (usize, Vec<usize>) {
        let (members, row) = (count_of(self.members.len()), unit / self.data());
        let turned = |by: u64| index_of((row + by) % members);
        match self.level {
            RaidLevel::Raid0 => (index_of(unit % members), Vec::new()),
            RaidLevel::Raid1 => (0, (1..self.members.len()).collect()),
            RaidLevel::Raid10 => {
                let pair = index_of(unit % (members / 2));
                (2 * pair, vec![2 * pair + 1])
            }
            RaidLevel::Raid5 => (turned(1 + unit % self.data()), vec![turned(0)]),
            RaidLevel::Raid6 => (turned(2 + unit % self.data()), vec![turned(0), turned(1)]),
        }
    }

    const fn mirrors(&self) -> bool {
        matches!(self.level, RaidLevel::Raid1 | RaidLevel::Raid10)
    }

    /// The I/O on a member that carries a piece.
    fn on_member(&self, operation: Operation, piece: &StripePiece) -> DeviceIo {
        let offset = piece.unit / self.data() * self.stripe_bytes + piece.within;
        DeviceIo { operation, target: 0, offset, bytes: piece.bytes, number: 0 }
    }

    /// Reads and writes that an I/O becomes: what starts now, and what follows when that is done.
    fn plan(&self, io: &DeviceIo) -> (OnMembers, OnMembers) {
        match io.operation {
            Operation::Read => (self.reads(io), Vec::new()),
            _ if self.has_parity() => self.parity_writes(io),
            _ => (self.copies(io), Vec::new()),
        }
    }

    fn reads(&self, io: &DeviceIo) -> OnMembers {
        let mut reads = OnMembers::new();
        for piece in self.pieces(io) {
            let (data, others) = self.holders(piece.unit);
            let member = self.nearest(data, &others);
            if Some(member) != self.away() {
                reads.push((member, self.on_member(Operation::Read, &piece)));
            } else if self.has_parity() {
                let (begin, end) = (piece.within, piece.within + u64::from(piece.bytes));
                let row = self.row(piece.unit / self.data());
                reads.extend(row.restoring_reads(member, begin, end));
            }
        }
        // Units of the same row that are read anyway also restore the one that is away.
        let mut seen = BTreeSet::new();
        reads.retain(|(member, io)| seen.insert((*member, io.offset, io.bytes)));
        reads
    }

    /// Writes without parity: one to every copy that is present.
    fn copies(&self, io: &DeviceIo) -> OnMembers {
        let mut writes = OnMembers::new();
        for piece in self.pieces(io) {
            let (data, others) = self.holders(piece.unit);
            let write = self.on_member(Operation::Write, &piece);
            let members = std::iter::once(data).chain(others);
            writes.extend(members.filter(|at| Some(*at) != self.away()).map(|at| (at, write)));
        }
        writes
    }

    fn parity_writes(&self, io: &DeviceIo) -> (OnMembers, OnMembers) {
        let (mut reads, mut writes) = (OnMembers::new(), OnMembers::new());
        for write in parity::row_writes(self.pieces(io), self.data()) {
            let (now, then) = write.plan(&self.row(write.row()), self.away());
            reads.extend(now);
            writes.extend(then);
        }
        if reads.is_empty() { (writes, Vec::new()) } else { (reads, writes) }
    }

    /// The members of a row of parity RAID.
    fn row(&self, row: u64) -> ParityRow {
        let first = row * self.data();
        ParityRow {
            offset: row * self.stripe_bytes,
            data: (first..first + self.data()).map(|unit| self.holders(unit).0).collect(),
            parity: self.holders(first).1,
        }
    }

    const fn has_parity(&self) -> bool {
        matches!(self.level, RaidLevel::Raid5 | RaidLevel::Raid6)
    }

    /// The member that cannot be asked now.
    fn away(&self) -> Option<usize> {
        self.absent.as_ref().filter(|absent| absent.is_away()).map(|_| ABSENT)
    }

    /// Whether a member has a copy of a piece, or its data.
    fn answers(&self, member: usize, unit: u64) -> bool {
        let (data, others) = self.holders(unit);
        data == member || (self.mirrors() && others.contains(&member))
    }

    /// Notes what the member that is away misses, and what it answers when it is back.
    fn note(&mut self, now_ns: u64, io: &DeviceIo) {
        let Some(mut absent) = self.absent.take() else { return };
        absent.look(now_ns);
        for piece in self.pieces(io).filter(|piece| self.answers(ABSENT, piece.unit)) {
            let part = DeviceIo {
                offset: piece.unit * self.stripe_bytes + piece.within,
                bytes: piece.bytes,
                ..*io
            };
            let (data, others) = self.holders(piece.unit);
            match io.operation {
                Operation::Write => absent.write(part),
                Operation::Read if self.nearest(data, &others) == ABSENT => absent.read(part),
                _ => {}
            }
        }
        self.absent = Some(absent);
    }

    /// The copy with the shorter queue.
    fn nearest(&self, data: usize, others: &[usize]) -> usize {
        if !self.mirrors() {
            return data;
        }
        let is_there = |member: &usize| Some(*member) != self.away();
        let all = std::iter::once(data).chain(others.iter().copied()).filter(is_there);
        all.min_by_key(|member| self.members[*member].inside).unwrap_or(data)
    }

    fn start(&mut self, now_ns: u64, join: usize, ios: &[(usize, DeviceIo)]) {
        self.joins[join].left = u32::try_from(ios.len()).unwrap_or(u32::MAX);
        for (member, io) in ios {
            let member = &mut self.members[*member];
            member.device.submit(now_ns, count_of(join), *io);
            member.inside += 1;
            member.next_ns = member.device.next_event_ns();
        }
    }

    fn finish_one(&mut self, now_ns: u64, join: usize) {
        self.joins[join].left -= 1;
        if self.joins[join].left > 0 {
            return;
        }
        let then = std::mem::take(&mut self.joins[join].then);
        if then.is_empty() {
            self.free.push(join);
            self.done.push((self.joins[join].tag, self.joins[join].result));
        } else {
            self.start(now_ns, join, &then);
        }
    }
}

/// Members' worth of data among `members`.
pub fn data_members(level: RaidLevel, members: u64) -> u64 {
    match level {
        RaidLevel::Raid0 => members,
        RaidLevel::Raid1 => 1,
        RaidLevel::Raid10 => members / 2,
        RaidLevel::Raid5 => members - 1,
        RaidLevel::Raid6 => members - 2,
    }
}

impl Device for RaidDevice {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        if io.operation == Operation::Sync {
            return self.done.push((tag, 0));
        }
        self.note(now_ns, &io);
        let (now, then) = self.plan(&io);
        let join = self.free.pop().unwrap_or_else(|| {
            self.joins.push(RaidJoin::default());
            self.joins.len() - 1
        });
        self.joins[join] = RaidJoin { tag, result: io.moved(), left: 0, then };
        self.start(now_ns, join, &now);
    }

    fn next_event_ns(&self) -> Option<u64> {
        // A sync is done at once.
        let at_once = (!self.done.is_empty()).then_some(0);
        let members = self.members.iter().map(|member| member.next_ns);
        members.fold(at_once, earlier)
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        let mut arrived = std::mem::take(&mut self.arrived);
        for index in 0..self.members.len() {
            let member = &mut self.members[index];
            if member.next_ns.is_none_or(|next_ns| next_ns > now_ns) {
                continue;
            }
            member.device.advance(now_ns, &mut arrived);
            member.next_ns = member.device.next_event_ns();
            member.inside -= u32::try_from(arrived.len()).unwrap_or(0);
            for (join, _) in arrived.drain(..) {
                self.finish_one(now_ns, index_of(join));
            }
        }
        self.arrived = arrived;
        done.append(&mut self.done);
    }

    fn losses(&mut self, found: &mut Vec<DataLoss>) {
        if let Some(absent) = &mut self.absent {
            absent.losses(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Closed;
    use crate::ram::RamDevice;
    use assay_model::array::{Ram, Spread};
    use assay_model::units::{Bytes, Nanos};

    /// Members of one channel with 1 ms an I/O: a thousand I/Os per second each.
    fn raid(level: RaidLevel, members: u32) -> RaidDevice {
        let ram = Ram { channels: 1, latency: Nanos(1_000_000), spread: Spread::Constant };
        let described = Raid { level, members, stripe: Bytes(65_536) };
        RaidDevice::new(&described, |_| Box::new(RamDevice::new(&ram, 1)))
    }

    /// Writes a second when the members do `members` thousand I/Os.
    fn iops(level: RaidLevel, members: u32, read_share: f64) -> f64 {
        let load = Closed::reads(400).with_read_share(read_share);
        load.run(&mut raid(level, members), 20_000_000_000).iops()
    }

    #[test]
    fn reads_use_all_members() {
        for level in [RaidLevel::Raid0, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
            let iops = iops(level, 8, 1.0);
            assert!((iops / 8000.0 - 1.0).abs() < 0.02, "{level:?} {iops}");
        }
    }

    #[test]
    fn small_writes_cost_their_penalty() {
        for (level, penalty) in [
            (RaidLevel::Raid0, 1.0),
            (RaidLevel::Raid10, 2.0),
            (RaidLevel::Raid5, 4.0),
            (RaidLevel::Raid6, 6.0),
        ] {
            let iops = iops(level, 8, 0.0);
            assert!((iops / (8000.0 / penalty) - 1.0).abs() < 0.03, "{level:?} {iops}");
        }
    }

    /// Member I/Os per write of `units` stripe units at offsets that are multiples of its size.
    fn ios_per_write(level: RaidLevel, members: u32, units: u32) -> f64 {
        let load =
            Closed { block_size_bytes: 65_536 * units, ..Closed::reads(400).with_read_share(0.0) };
        let writes = load.run(&mut raid(level, members), 20_000_000_000).iops();
        1000.0 * f64::from(members) / writes
    }

    /// By hand: two of four units take 2 reads and 3 writes. Three of four begin at unit 0, 3, 2
    /// or 1 of a row: 5, 4 + 5, 5 + 4 and 5 I/Os, 7 on average.
    #[test]
    fn writes_of_several_units_pay_for_parity_once_a_row() {
        for (level, members, units, expected) in [
            (RaidLevel::Raid5, 5, 2, 5.0),
            (RaidLevel::Raid5, 5, 3, 7.0),
            (RaidLevel::Raid6, 6, 2, 6.0),
        ] {
            let ios = ios_per_write(level, members, units);
            assert!((ios / expected - 1.0).abs() < 0.03, "{level:?} {units} units: {ios} I/Os");
        }
    }

    /// A fifth of small writes has its parity away (1 I/O), a fifth its data (3 reads, 1 write),
    /// the others cost 4: 3.4 I/Os, on four members.
    #[test]
    fn small_writes_with_a_member_away_cost_less() {
        let absence = Absence { from_ns: 0, until_ns: u64::MAX };
        let mut raid = raid(RaidLevel::Raid5, 5).missing(Some(absence));
        let load = Closed { block_size_bytes: 65_536, ..Closed::reads(400).with_read_share(0.0) };
        let writes = load.run(&mut raid, 20_000_000_000).iops();
        assert!((4000.0 / writes / 3.4 - 1.0).abs() < 0.03, "{writes}");
    }

    #[test]
    fn a_whole_row_is_written_without_reading() {
        let row = 65_536 * 3;
        let load = Closed {
            block_size_bytes: row,
            sequential: true,
            ..Closed::reads(64).with_read_share(0.0)
        };
        // Four members, one I/O each: a thousand rows a second.
        let rows = load.run(&mut raid(RaidLevel::Raid5, 4), 10_000_000_000).iops();
        assert!((rows / 1000.0 - 1.0).abs() < 0.02, "{rows}");
    }

    #[test]
    fn every_unit_has_its_own_place() {
        for level in [RaidLevel::Raid0, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
            let raid = raid(level, 6);
            let mut places = BTreeSet::new();
            for unit in 0..600 {
                let (data, others) = raid.holders(unit);
                assert!(!others.contains(&data));
                assert!(places.insert((data, unit / raid.data())), "{level:?} {unit}");
            }
        }
    }
}
