//! A transaction of prepared statements at work; with it the transactions of a load are written
//! once for all products.

use super::commit_log::{CommitMark, LEAVE};
use super::pipeline::{StatementPipeline, missing};
use super::product::Product;
use super::statements::StatementValue;
use super::transaction::none_open;
use assay_model::failure::Answer;

/// A transaction of statements at work, and what its load knows besides.
pub(crate) struct TransactionRunner<'a, L: Product, C> {
    pub(crate) link: &'a mut L,
    pub(crate) pipeline: &'a mut L::Pipeline,
    /// The identity that its commit leaves; taken when it has.
    pub(crate) mark: &'a mut Option<CommitMark>,
    pub(crate) context: C,
}

impl<L: Product, C> TransactionRunner<'_, L, C> {
    /// Whether the product has a statement of this name.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.pipeline.knows(name)
    }

    pub(crate) fn begin(&mut self) -> Answer<()> {
        self.pipeline.begin()
    }

    pub(crate) fn put(
        &mut self,
        name: &'static str,
        values: &[StatementValue<'_>],
    ) -> Answer<usize> {
        self.pipeline.put(name, values)
    }

    /// Puts a statement that only some products need.
    pub(crate) fn put_known(
        &mut self,
        name: &'static str,
        values: &[StatementValue<'_>],
    ) -> Answer<Option<usize>> {
        if self.knows(name) { self.put(name, values).map(Some) } else { Ok(None) }
    }

    pub(crate) fn exchange(&mut self) -> Answer<()> {
        self.pipeline.exchange(self.link)
    }

    pub(crate) fn alone(
        &mut self,
        name: &'static str,
        values: &[StatementValue<'_>],
    ) -> Answer<()> {
        if self.mark.is_none() {
            return self.pipeline.alone(self.link, name, values);
        }
        self.begin()?;
        self.put(name, values)?;
        self.commit()
    }

    pub(crate) fn commit(&mut self) -> Answer<()> {
        self.end(true)
    }

    /// Ends it for good where each of these statements changed a row, as far as that is known
    /// before its end.
    pub(crate) fn commit_changed(&mut self, places: &[usize]) -> Answer<()> {
        if L::Pipeline::ENDS_TOGETHER {
            self.commit()?;
            return self.check_changed(places);
        }
        self.exchange()?;
        self.check_changed(places)?;
        self.commit()
    }

    fn check_changed(&self, places: &[usize]) -> Answer<()> {
        let is_whole = places.iter().all(|place| self.pipeline.touched(*place) > 0);
        if is_whole { Ok(()) } else { Err(missing("row to be changed")) }
    }

    pub(crate) fn end(&mut self, is_for_good: bool) -> Answer<()> {
        let Some(mark) = self.mark.filter(|_| is_for_good) else {
            return self.pipeline.end(self.link, is_for_good);
        };
        self.put(LEAVE, &mark.values())?;
        self.pipeline.end(self.link, is_for_good)?;
        *self.mark = None;
        Ok(())
    }

    /// A number in the first row.
    pub(crate) fn number(&self, place: usize, column: usize) -> Option<i64> {
        self.pipeline.number(place, 0, column)
    }

    /// A number without which nothing goes on.
    pub(crate) fn need(&self, place: usize, column: usize, what: &str) -> Answer<i64> {
        self.number(place, column).ok_or_else(|| missing(what))
    }

    pub(crate) fn text(&self, place: usize, column: usize) -> &str {
        self.pipeline.text(place, column)
    }

    pub(crate) fn touched(&self, place: usize) -> i64 {
        i64::try_from(self.pipeline.touched(place)).unwrap_or(0)
    }

    /// The whole numbers in some columns of all rows.
    pub(crate) fn all<const COLUMNS: usize>(&self, place: usize) -> Vec<[i64; COLUMNS]> {
        let of = |row, column| self.pipeline.number(place, row, column).unwrap_or(0);
        let rows = 0..self.pipeline.rows(place);
        rows.map(|row| std::array::from_fn(|column| of(row, column))).collect()
    }

    /// What a try came to that is over; a failure leaves no transaction open.
    pub(crate) fn over<T>(self, answer: Answer<T>) -> Answer<T> {
        none_open(self.link, answer)
    }
}
