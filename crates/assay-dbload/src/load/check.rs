//! Conditions that data must keep, as statements that count what breaks them.

use super::statements::said;
use super::templates::Phrases;
use super::{LoadSchema, Product, single_number};
use assay_model::Result;
use assay_model::failure::Failure;
use assay_model::load::{Check, Checks};
use std::time::Instant;

/// Conditions in words with a statement each, and what is done around them.
pub(crate) struct Conditions<'a> {
    /// What the dialect says of the load.
    pub phrases: &'static Phrases,
    /// Queries of what they look at, and the words that stand for them.
    pub looked_at: &'a [(&'static str, &'static str)],
    /// Words, and a statement that counts what breaks them.
    pub each: &'a [(&'static str, String)],
}

/// Checks conditions on a session of its own, whose settings go with it; `when` says in the result
/// when that was.
pub(crate) fn check_all<L: Product>(
    database: &mut LoadSchema<L>,
    conditions: &Conditions<'_>,
    when: &str,
) -> Result<Checks> {
    let started = Instant::now();
    let schema = database.schema.clone();
    let Conditions { phrases, looked_at, each } = conditions;
    let in_words = |sql: &str| said(sql, phrases.words, &schema);
    let mut connection = database.connect()?;
    let failed = |failure: Failure| failure.of("checking the data");
    for sql in phrases.before {
        let made =
            looked_at.iter().fold((*sql).to_owned(), |sql, (word, is)| sql.replace(word, is));
        connection.run(&in_words(&made)).map_err(failed)?;
    }
    let mut checks = Vec::with_capacity(each.len());
    for (number, (words, sql)) in (1..).zip(*each) {
        let violations = single_number(&mut connection, &in_words(sql)).map_err(failed)?;
        let violations = violations.unwrap_or(u64::MAX);
        checks.push(Check { number, condition: (*words).to_owned(), violations });
    }
    connection.run(&in_words(phrases.after)).map_err(failed)?;
    connection.close();
    Ok(Checks { when: when.to_owned(), checks, elapsed_s: started.elapsed().as_secs_f64() })
}
