//! Conditions that data must keep, as statements that count what breaks them.

use super::{Database, Product, single_number};
use assay_model::Result;
use assay_model::failure::Failure;
use assay_model::load::{Check, Checks};
use std::time::Instant;

/// Conditions in words with a statement each, and what is done around them.
pub(crate) struct Conditions<'a> {
    /// Makes what they look at.
    pub before: &'a [String],
    /// Words, and a statement that counts what breaks them; `{s}` is our schema.
    pub each: &'a [(&'static str, String)],
    /// Removes what was made.
    pub after: Option<String>,
}

/// Checks conditions on a session of its own, whose settings go with it; `when` says in the result when that was.
pub(crate) fn check_all<L: Product>(
    database: &mut Database<L>,
    conditions: &Conditions<'_>,
    when: &str,
) -> Result<Checks> {
    let started = Instant::now();
    let schema = database.schema.clone();
    let mut connection = database.connect()?;
    let failed = |failure: Failure| failure.of("checking the data");
    for sql in conditions.before {
        connection.run(&sql.replace("{s}", &schema)).map_err(failed)?;
    }
    let mut checks = Vec::with_capacity(conditions.each.len());
    for (number, (words, sql)) in (1..).zip(conditions.each) {
        let violations =
            single_number(&mut connection, &sql.replace("{s}", &schema)).map_err(failed)?;
        let violations = violations.unwrap_or(u64::MAX);
        checks.push(Check { number, condition: (*words).to_owned(), violations });
    }
    if let Some(after) = &conditions.after {
        connection.run(after).map_err(failed)?;
    }
    connection.close();
    Ok(Checks { when: when.to_owned(), checks, elapsed_s: started.elapsed().as_secs_f64() })
}
