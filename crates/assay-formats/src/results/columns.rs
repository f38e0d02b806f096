//! A table by the names of its columns, with the columns that were read and those that were not.

use super::imported::{ImportedRow, Lack};
use assay_model::study::{FactorValue, StudySetting};

/// The header of a table, and which of its columns a reader knows.
#[derive(Clone, Debug, Default)]
pub struct HeaderColumns {
    names: Vec<String>,
    is_known: Vec<bool>,
}

impl HeaderColumns {
    /// No column is known yet. Names are compared in lower case and without blanks around them.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<String> =
            names.into_iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        let is_known = vec![false; names.len()];
        Self { names, is_known }
    }

    /// The first column of this name, which is known from now on.
    pub fn named(&mut self, name: &str) -> Option<usize> {
        self.find(|known| known == name)
    }

    /// The first column whose name this holds for, which is known from now on.
    pub fn find(&mut self, is: impl Fn(&str) -> bool) -> Option<usize> {
        let place = self.names.iter().position(|name| is(name))?;
        self.is_known[place] = true;
        Some(place)
    }

    /// Columns that the reader knows and does not need: they say nothing of the load.
    pub fn skip(&mut self, is: impl Fn(&str) -> bool) {
        for (name, is_known) in self.names.iter().zip(&mut self.is_known) {
            *is_known |= is(name);
        }
    }

    fn unknown(&self) -> impl Iterator<Item = (usize, &String)> {
        self.names.iter().enumerate().filter(|(place, name)| {
            let is_known = self.is_known.get(*place).copied().unwrap_or(false);
            !is_known && !name.is_empty()
        })
    }

    /// Keeps apart what only a column that nobody knows tells apart: it becomes a setting by its
    /// own name. `cells` are those of each row, in the order of the rows. What is returned
    /// names every such column.
    pub fn keep_apart(&self, rows: &mut [ImportedRow], cells: &[Vec<&str>]) -> Option<Lack> {
        let named: Vec<String> = self.unknown().map(|(_, name)| name.clone()).collect();
        for (place, name) in self.unknown() {
            let value = |row: usize| cells.get(row).and_then(|cells| cells.get(place)).copied();
            let tells_apart = (0..rows.len()).any(|row| {
                (0..row).any(|other| {
                    rows[row].settings == rows[other].settings && value(row) != value(other)
                })
            });
            for (row, imported) in rows.iter_mut().enumerate().filter(|_| tells_apart) {
                let value = FactorValue::Text(value(row).unwrap_or_default().trim().to_owned());
                imported.settings.push(StudySetting { factor: name.clone(), value });
            }
        }
        (!named.is_empty()).then_some(Lack::NotUnderstood(named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_nobody_knows_keep_rows_apart_and_are_named() {
        let mut columns = HeaderColumns::new(["Run", " stride ", "cpu", "label", ""]);
        assert_eq!((columns.named("run"), columns.names.len()), (Some(0), 5));
        columns.skip(|name| name == "cpu");
        let cells = [["a", "4", "1", "x", ""], ["a", "8", "2", "x", ""], ["a", "8", "3", "x", ""]];
        let cells: Vec<Vec<&str>> = cells.iter().map(|row| row.to_vec()).collect();
        let mut rows = vec![ImportedRow::default(); 3];
        let lack = columns.keep_apart(&mut rows, &cells).unwrap();
        assert_eq!(lack, Lack::NotUnderstood(vec!["stride".to_owned(), "label".to_owned()]));
        // One of the two differs, and only it becomes a setting; equal rows stay repeats.
        assert!(rows.iter().all(|row| row.settings.len() == 1));
        assert_eq!((rows[0] == rows[1], rows[1] == rows[2]), (false, true));
        columns.skip(|_| true);
        assert_eq!(columns.keep_apart(&mut rows, &cells), None);
    }
}
