//! The statements of the order-entry load, as texts that sessions prepare and that functions of the server are made of.

use super::dialect::phrases;
use crate::load::{Dialect, Statement, Template, prepared, said, templates, with_variables};

/// The statements that products share.
const SHARED: &str = include_str!("sql/statements.sql");
/// The part of a stock's text that belongs to a district.
const DISTRICT_TEXT: &str = "CASE :d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 \
    WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 \
    ELSE s_dist_10 END";
const TEXT: (&str, &str) = ("{text}", DISTRICT_TEXT);

/// The statements of a product in its words.
fn texts(dialect: Dialect) -> Vec<Template> {
    let mut all = templates(SHARED);
    all.extend(templates(phrases(dialect).statements));
    all
}

/// All statements that sessions prepare.
pub(super) fn all(dialect: Dialect, schema: &str) -> Vec<Statement> {
    let words = [&[TEXT], phrases(dialect).words].concat();
    prepared(&texts(dialect), &words, dialect, schema)
}

/// One of them, as it stands in its file.
pub(super) fn text(dialect: Dialect, name: &str) -> String {
    let found = texts(dialect).into_iter().find(|one| one.name == name);
    found.map(|one| one.text).unwrap_or_default()
}

/// A text of functions or procedures, in which `{name}` is a statement, and a value is a variable; `words` are those that a
/// function says otherwise than a session.
pub(super) fn within(dialect: Dialect, text: &str, words: &[(&str, &str)], schema: &str) -> String {
    let words = [words, phrases(dialect).words, &[TEXT]].concat();
    let text = texts(dialect).iter().fold(text.to_owned(), |text, one| {
        let inner = with_variables(&one.with(&words).text);
        text.replace(&format!("{{{}}}", one.name), &inner)
    });
    said(&text.replace(TEXT.0, &with_variables(TEXT.1)), phrases(dialect).words, schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::assert_whole;

    #[test]
    fn every_statement_has_a_name_of_its_own_and_no_word_that_a_product_does_not_know() {
        for dialect in [Dialect::Postgres, Dialect::Mariadb] {
            assert_whole(&all(dialect, "shop"), dialect);
        }
    }

    #[test]
    fn a_value_is_a_parameter_of_a_statement_and_a_variable_of_a_function() {
        let of = |name: &str, every: Vec<Statement>| {
            let found = every.into_iter().find(|one| one.name == name);
            found.map(|one| (one.sql, one.order)).unwrap_or_default()
        };
        assert_eq!(
            of("new_order", all(Dialect::Mariadb, "shop")),
            ("INSERT INTO shop.new_order VALUES (LAST_INSERT_ID(), ?, ?)".to_owned(), vec![1, 2])
        );
        assert_eq!(
            of("new_order", all(Dialect::Postgres, "shop")),
            (
                "INSERT INTO shop.new_order VALUES ($1::bigint, $2::bigint, $3::bigint)".to_owned(),
                vec![0, 1, 2]
            )
        );
        let number = [("{number}", ":number")];
        assert_eq!(
            within(Dialect::Mariadb, "BEGIN {new_order}; END", &number, "shop"),
            "BEGIN INSERT INTO shop.new_order VALUES (number, d, w); END"
        );
    }
}
