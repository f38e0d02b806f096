//! Reads that a session of Assay's own adds to the server's counters of I/O, which do not tell
//! sessions apart.

use super::events::CLIENT;
use super::snapshot::{DatabaseRow, IoKey, IoRow, PostgresSnapshot};
use assay_live::watch::Observed;
use assay_model::number::{rate, real, seconds};

/// A block from the server's cache takes as long as the same block a moment later, give or take
/// half.
const MISS_FACTOR: f64 = 1.5;

/// Blocks that were read past the server's cache, and how long the server waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnReads {
    /// Blocks.
    pub blocks: u64,
    /// Time of the reads, seconds.
    pub time_s: f64,
}

impl OwnReads {
    /// Adds a block that was read twice in a row: what the first time took longer was the read.
    pub(crate) fn add(&mut self, first_ns: u64, again_ns: u64) {
        if again_ns > 0 && real(first_ns) > MISS_FACTOR * real(again_ns) {
            self.blocks += 1;
            self.time_s += seconds(first_ns - again_ns);
        }
    }

    /// Leaves them out of everything that was counted in an interval: the database did not ask for
    /// them.
    pub(crate) fn leave_out(
        self,
        observed: &mut Observed<PostgresSnapshot>,
        database: &str,
        table: &str,
    ) {
        let bytes = self.blocks * observed.after.settings.block_bytes;
        let after = &mut observed.after;
        let key = IoKey {
            process: CLIENT.to_owned(),
            object: "relation".to_owned(),
            context: "normal".to_owned(),
        };
        if let Some(row) = after.io.as_mut().and_then(|io| io.get_mut(&key)) {
            self.leave_out_of_row(row, bytes);
        }
        if let Some(database) = after.databases.get_mut(database) {
            self.leave_out_of_database(database);
        }
        for relation in after.relations.values_mut().filter(|one| one.name == table) {
            relation.blocks_read = relation.blocks_read.saturating_sub(self.blocks);
        }
        let elapsed_s = observed.samples.elapsed_s;
        for second in &mut observed.io_by_second {
            second.read_iops = (second.read_iops - rate(self.blocks, elapsed_s)).max(0.0);
            let read_bytes_per_s = second.read_bytes_per_s - rate(bytes, elapsed_s);
            second.read_bytes_per_s = read_bytes_per_s.max(0.0);
        }
    }

    fn leave_out_of_row(self, row: &mut IoRow, bytes: u64) {
        row.reads = row.reads.saturating_sub(self.blocks);
        row.read_bytes = row.read_bytes.saturating_sub(bytes);
        row.read_time_s = (row.read_time_s - self.time_s).max(0.0);
    }

    fn leave_out_of_database(self, database: &mut DatabaseRow) {
        database.blocks_read = database.blocks_read.saturating_sub(self.blocks);
        database.read_time_s = (database.read_time_s - self.time_s).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_live::SessionSamples;
    use assay_model::profile::IoSample;
    use std::collections::BTreeMap;

    #[test]
    fn a_block_that_is_as_fast_again_was_in_the_cache() {
        let mut own = OwnReads::default();
        own.add(10_000, 9_000);
        own.add(0, 9_000);
        own.add(9_000, 0);
        assert_eq!(own, OwnReads::default());
        own.add(1_000_000, 10_000);
        assert_eq!(own.blocks, 1);
        assert!((own.time_s - 0.000_99).abs() < 1e-9);
    }

    #[test]
    fn nothing_of_them_is_left_in_an_interval() {
        let key = IoKey {
            process: CLIENT.to_owned(),
            object: "relation".to_owned(),
            context: "normal".to_owned(),
        };
        let row =
            IoRow { reads: 300, read_bytes: 300 * 8192, read_time_s: 3.0, ..IoRow::default() };
        let database = DatabaseRow { blocks_read: 300, read_time_s: 3.0, ..DatabaseRow::default() };
        let mut after = PostgresSnapshot {
            io: Some(BTreeMap::from([(key.clone(), row)])),
            databases: BTreeMap::from([("d".to_owned(), database)]),
            ..PostgresSnapshot::default()
        };
        after.settings.block_bytes = 8192;
        let second =
            IoSample { read_iops: 30.0, read_bytes_per_s: 30.0 * 8192.0, ..IoSample::default() };
        let mut observed = Observed {
            before: PostgresSnapshot::default(),
            after,
            samples: SessionSamples { elapsed_s: 10.0, ..SessionSamples::default() },
            own_cpu_s: 0.0,
            read_times: Vec::new(),
            process_io: None,
            io_by_second: vec![second],
            complete: true,
        };
        OwnReads { blocks: 200, time_s: 2.0 }.leave_out(&mut observed, "d", "public.t");
        let row = &observed.after.io.unwrap()[&key];
        assert_eq!((row.reads, row.read_bytes), (100, 100 * 8192));
        let database = &observed.after.databases["d"];
        assert_eq!(database.blocks_read, 100);
        for time_s in [row.read_time_s, database.read_time_s] {
            assert!((time_s - 1.0).abs() < 1e-9);
        }
        let second = observed.io_by_second[0];
        assert!((second.read_iops - 10.0).abs() < 1e-9);
        assert!((second.read_bytes_per_s - 10.0 * 8192.0).abs() < 1e-6);
    }
}
