//! The eight tables as a server has to keep them, and what their schema records besides its
//! loading.

use crate::load::{
    IndexLayout, LoadSchema, LoadTables, Manifest, ManifestState, Product, RowOrigin, Statistics,
    TableLayout, sizes_of, tables_in,
};
use assay_loads::dss::{DssScale, DssTable, TABLES, column_list, prepare_texts, put_rows};
use assay_loads::sink::{RowSink, TablePart};
use assay_model::Result;
use assay_model::dss::DssData;
use assay_model::failure::Failure;
use assay_model::load::LoadKind;
use assay_model::number::{count, real};

/// The name of our schema: always the same, so that the next run finds it.
pub const SCHEMA: &str = "assay_dss";
/// The form of the tables; another version's data is not this one's.
const FORMAT: (&str, &str) = ("format", "1");
/// The note that says how large the tables are.
const SCALE: &str = "scale";
/// The note of the last refresh set of which rows were inserted.
pub(super) const INSERTED: &str = "inserted";
/// The note of the last refresh set of which rows were removed.
pub(super) const REMOVED: &str = "removed";

/// The tables at a scale, cut so that several sessions load them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DssTables {
    /// How large they are.
    pub scale: DssScale,
    /// Sessions that load at once.
    pub loaders: u32,
}

impl LoadTables for DssTables {
    type Table = DssTable;

    fn kind(&self) -> LoadKind {
        LoadKind::Dss
    }

    fn all(&self) -> Vec<DssTable> {
        TABLES.to_vec()
    }

    fn layout(&self, table: DssTable) -> TableLayout {
        TableLayout { parts: parts(table, self.scale, self.loaders), ..layout(table, self.scale) }
    }

    fn knobs(&self) -> Vec<(&'static str, String)> {
        vec![(FORMAT.0, FORMAT.1.to_owned()), (SCALE, self.scale.to_string())]
    }

    fn prepare(&self) {
        prepare_texts();
    }

    fn make(&self, table: DssTable, part: TablePart, _origin: RowOrigin, to: &mut dyn RowSink) {
        put_rows(table, self.scale, part, |key| key, to);
    }
}

/// A table in one piece. The server does not vacuum it by itself: that would disturb what is
/// measured.
pub(super) fn layout(table: DssTable, scale: DssScale) -> TableLayout {
    let index = |index: &assay_loads::dss::Index| IndexLayout {
        name: index.name.to_owned(),
        columns: index.columns,
        is_unique: false,
    };
    TableLayout {
        key: Some(table.key()),
        indexes: table.indexes().map(index).collect(),
        is_vacuumed: false,
        statistics: Statistics::Columns,
        ..TableLayout::new(table.name(), column_list(table), table.rows(scale))
    }
}

/// Into how many parts a table is cut for a number of sessions: as many as its share of all bytes,
/// so that all sessions come to their end together. Small tables stay whole; a table in one piece
/// needs no log.
fn parts(table: DssTable, scale: DssScale, loaders: u32) -> i32 {
    let all: u64 = TABLES.iter().map(|table| table.text_bytes(scale)).sum();
    let share = real(table.text_bytes(scale)) / real(all.max(1));
    let parts = count((share * f64::from(loaders)).round());
    // No part without rows.
    let most = table.rows(scale) / 1000;
    i32::try_from(parts.min(most).max(1)).unwrap_or(1)
}

/// Bytes on storage of tables and indexes, as they are at scale 1, with a tenth to spare.
pub fn data_bytes(scale: DssScale) -> u64 {
    count(scale.factor() * 1.9e9)
}

/// What the tables take on storage now.
pub fn sizes<L: Product>(database: &mut LoadSchema<L>) -> Result<DssData> {
    let (table_bytes, index_bytes) = sizes_of(database)?;
    Ok(DssData { table_bytes, index_bytes, ..DssData::default() })
}

/// Looks for the tables of an earlier run: those of another form, or of which one is gone, are
/// half.
pub fn schema_state<L: Product>(database: &mut LoadSchema<L>) -> Result<ManifestState> {
    let manifest = match ManifestState::of(database)? {
        ManifestState::Whole(manifest) if manifest.note(FORMAT.0) == FORMAT.1 => manifest,
        ManifestState::Whole(manifest) => return Ok(ManifestState::Half(manifest)),
        other => return Ok(other),
    };
    let schema = database.schema.clone();
    let there = tables_in(&mut database.admin, &schema);
    let there = there.map_err(|failure: Failure| failure.of("looking for loaded tables"))?;
    let is_there = |table: DssTable| there.iter().any(|name| name == table.name());
    let all = TABLES.into_iter().all(is_there);
    Ok(if all { ManifestState::Whole(manifest) } else { ManifestState::Half(manifest) })
}

/// The scale of the tables as it was asked for; empty where that is not noted.
pub fn scale_of(manifest: &Manifest) -> &str {
    manifest.note(SCALE)
}

/// The last refresh set of which rows were inserted, and of which rows were removed; 0 for none.
pub(super) fn refresh_sets(manifest: &Manifest) -> (u32, u32) {
    let number = |name| manifest.note(name).parse().unwrap_or(0);
    (number(INSERTED), number(REMOVED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_sessions_cut_large_tables_into_more_parts() {
        let of = |loaders, table| parts(table, DssScale::new(1.0).unwrap(), loaders);
        assert_eq!((of(1, DssTable::LineItem), of(2, DssTable::LineItem)), (1, 1));
        assert_eq!((of(4, DssTable::LineItem), of(8, DssTable::LineItem)), (3, 6));
        assert_eq!((of(8, DssTable::Orders), of(64, DssTable::Region)), (1, 1));
    }

    #[test]
    fn tables_are_noted_with_their_scale_and_their_refresh_sets() {
        let tables = DssTables { scale: DssScale::new(0.1).unwrap(), loaders: 1 };
        let mut notes = tables.knobs();
        notes.push((INSERTED, "4".to_owned()));
        let manifest = Manifest::of(&notes);
        assert_eq!((scale_of(&manifest), refresh_sets(&manifest)), ("0.1", (4, 0)));
    }

    #[test]
    fn a_table_has_its_key_and_its_indexes() {
        let layout = layout(DssTable::Orders, DssScale::new(1.0).unwrap());
        assert!(layout.columns.starts_with("o_orderkey bigint NOT NULL, o_custkey"));
        assert_eq!((layout.key, layout.indexes.len()), (Some("o_orderkey"), 1));
    }
}
