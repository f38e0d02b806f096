//! Writes to parity RAID: which reads and writes on members a write of part of a row costs.
//!
//! Parity is updated once per row. A write of part of a row either reads the old data and the old
//! parity (read-modify-write) or reads the rest of the row and computes parity again (reconstruct);
//! controllers take the one with fewer reads. Source: Patterson, Gibson and Katz, "A Case for
//! Redundant Arrays of Inexpensive Disks" (1988), section 9, and Linux md, `raid5.c`,
//! `handle_stripe_dirtying`.

use super::piece::{OnMembers, StripePiece};
use assay_model::device::DeviceIo;
use assay_model::measurement::Operation;

/// The members of one row.
pub(super) struct ParityRow {
    /// Offset of the row's units on every member, bytes.
    pub(super) offset: u64,
    /// The member that holds each data unit.
    pub(super) data: Vec<usize>,
    /// The members that hold parity.
    pub(super) parity: Vec<usize>,
}

/// What a write does to one row: the units it touches and the range of bytes within a unit.
pub(super) struct RowWrite {
    row: u64,
    begin: u64,
    end: u64,
    touched: Vec<Touched>,
}

struct Touched {
    index: usize,
    begin: u64,
    end: u64,
}

/// Reads that come first, and writes that follow.
pub(super) type ParityPlan = (OnMembers, OnMembers);

/// Groups the pieces of one write by row. Pieces of one row whose ranges meet share their parity;
/// the tail of one unit and the head of the next may lie apart, and each then has its own.
pub(super) fn row_writes(
    pieces: impl Iterator<Item = StripePiece>,
    data_units: u64,
) -> Vec<RowWrite> {
    let mut writes: Vec<RowWrite> = Vec::new();
    for piece in pieces {
        let (row, begin) = (piece.unit / data_units, piece.within);
        let end = begin + u64::from(piece.bytes);
        let index = assay_model::number::index_of(piece.unit % data_units);
        let touched = Touched { index, begin, end };
        match writes.last_mut() {
            Some(last) if last.row == row && begin <= last.end && last.begin <= end => {
                last.begin = last.begin.min(begin);
                last.end = last.end.max(end);
                last.touched.push(touched);
            }
            _ => writes.push(RowWrite { row, begin, end, touched: vec![touched] }),
        }
    }
    writes
}

impl RowWrite {
    /// The row's number.
    pub(super) const fn row(&self) -> u64 {
        self.row
    }

    /// The cheapest plan on the members that are present.
    pub(super) fn plan(&self, row: &ParityRow, away: Option<usize>) -> ParityPlan {
        let is_present = |member: &usize| Some(*member) != away;
        let mut writes: OnMembers = (self.touched.iter())
            .map(|touched| (row.data[touched.index], touched.begin, touched.end))
            .chain(row.parity.iter().map(|member| (*member, self.begin, self.end)))
            .map(|(member, begin, end)| (member, io(Operation::Write, row, begin, end)))
            .collect();
        writes.retain(|(member, _)| is_present(member));
        if !row.parity.iter().any(is_present) {
            return (Vec::new(), writes);
        }
        let cheapest = [self.modify_reads(row, away), self.reconstruct_reads(row, away)]
            .into_iter()
            .flatten()
            .min_by_key(Vec::len);
        (cheapest.unwrap_or_else(|| self.all_reads(row, away)), writes)
    }

    /// Old data and old parity; impossible if old data are on the member that is away.
    fn modify_reads(&self, row: &ParityRow, away: Option<usize>) -> Option<OnMembers> {
        let is_present = |member: usize| Some(member) != away;
        if !self.touched.iter().all(|touched| is_present(row.data[touched.index])) {
            return None;
        }
        let data = self.touched.iter().map(|touched| {
            (row.data[touched.index], io(Operation::Read, row, touched.begin, touched.end))
        });
        let parity = row.parity.iter().filter(|member| is_present(**member));
        let parity = parity.map(|member| (*member, io(Operation::Read, row, self.begin, self.end)));
        Some(data.chain(parity).collect())
    }

    /// The rest of the row's data; impossible if some of them are on the member that is away.
    fn reconstruct_reads(&self, row: &ParityRow, away: Option<usize>) -> Option<OnMembers> {
        let mut reads = OnMembers::new();
        for (index, member) in row.data.iter().enumerate() {
            let touched = self.touched.iter().find(|touched| touched.index == index);
            let rest = match touched {
                None => [(self.begin, self.end), (0, 0)],
                Some(touched) => [(self.begin, touched.begin), (touched.end, self.end)],
            };
            for (begin, end) in rest.into_iter().filter(|(begin, end)| begin < end) {
                if Some(*member) == away {
                    return None;
                }
                reads.push((*member, io(Operation::Read, row, begin, end)));
            }
        }
        Some(reads)
    }

    /// Everything that is left of the range, from which what is missing can be computed.
    fn all_reads(&self, row: &ParityRow, away: Option<usize>) -> OnMembers {
        let members = row.data.iter().chain(&row.parity).filter(|member| Some(**member) != away);
        members.map(|member| (*member, io(Operation::Read, row, self.begin, self.end))).collect()
    }
}

impl ParityRow {
    /// Reads that restore a range of the data unit that is away: one fewer than the members left
    /// suffices with two parities.
    pub(super) fn restoring_reads(&self, away: usize, begin: u64, end: u64) -> OnMembers {
        let others = self.data.iter().chain(&self.parity).filter(|member| **member != away);
        let enough = others.take(self.data.len());
        enough.map(|member| (*member, io(Operation::Read, self, begin, end))).collect()
    }
}

fn io(operation: Operation, row: &ParityRow, begin: u64, end: u64) -> DeviceIo {
    let bytes = u32::try_from(end - begin).unwrap_or(u32::MAX);
    DeviceIo { operation, target: 0, offset: row.offset + begin, bytes, number: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 64;

    /// Row 0 of an array of four data units, parity on member 4 (and 5).
    fn row(parities: usize) -> ParityRow {
        ParityRow { offset: 0, data: vec![0, 1, 2, 3], parity: (4..4 + parities).collect() }
    }

    fn pieces(begin: u64, end: u64) -> Vec<StripePiece> {
        (begin / UNIT..end.div_ceil(UNIT))
            .map(|unit| {
                let within = begin.saturating_sub(unit * UNIT);
                let bytes = u32::try_from((end - unit * UNIT).min(UNIT) - within).unwrap();
                StripePiece { unit, within, bytes }
            })
            .collect()
    }

    /// Member I/Os of a write of `begin..end` bytes of the row.
    fn ios(begin: u64, end: u64, parities: usize, away: Option<usize>) -> (usize, usize) {
        let writes = row_writes(pieces(begin, end).into_iter(), 4);
        let plans = writes.iter().map(|write| write.plan(&row(parities), away));
        plans.fold((0, 0), |(reads, writes), (now, then)| {
            assert!(now.iter().chain(&then).all(|(member, _)| Some(*member) != away));
            (reads + now.len(), writes + then.len())
        })
    }

    #[test]
    fn parity_is_paid_once_a_row_by_the_cheaper_way() {
        assert_eq!(ios(0, UNIT, 1, None), (2, 2));
        assert_eq!(ios(0, 2 * UNIT, 1, None), (2, 3));
        assert_eq!(ios(0, 3 * UNIT, 1, None), (1, 4));
        assert_eq!(ios(0, 4 * UNIT, 1, None), (0, 5));
        assert_eq!(ios(0, UNIT, 2, None), (3, 3));
        assert_eq!(ios(0, 2 * UNIT, 2, None), (2, 4));
        assert_eq!(ios(0, 3 * UNIT, 2, None), (1, 5));
    }

    #[test]
    fn ranges_that_lie_apart_have_parities_of_their_own() {
        // The last 8 bytes of unit 0 and the first 8 of unit 1.
        assert_eq!(ios(UNIT - 8, UNIT + 8, 1, None), (4, 4));
        // Three quarters of both: one range, and the old data and parity once.
        assert_eq!(ios(UNIT / 4, UNIT + 3 * UNIT / 4, 1, None), (3, 3));
    }

    #[test]
    fn a_member_that_is_away_is_worked_around() {
        // Its parity: the data alone are written.
        assert_eq!(ios(0, UNIT, 1, Some(4)), (0, 1));
        // Its data: the other three units are read, and parity is written.
        assert_eq!(ios(0, UNIT, 1, Some(0)), (3, 1));
        // Data that are not touched: read-modify-write as ever.
        assert_eq!(ios(0, UNIT, 1, Some(3)), (2, 2));
        // Half of two units, one of them away: nothing less than all that is left is enough.
        assert_eq!(ios(UNIT / 4, UNIT + 3 * UNIT / 4, 1, Some(0)), (4, 2));
        assert_eq!(ios(0, UNIT, 2, Some(5)), (2, 2));
    }

    #[test]
    fn a_unit_that_is_away_is_restored_from_as_many_others_as_it_takes() {
        assert_eq!(row(1).restoring_reads(0, 0, UNIT).len(), 4);
        assert_eq!(row(2).restoring_reads(0, 0, UNIT).len(), 4);
    }
}
