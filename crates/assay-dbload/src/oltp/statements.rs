//! The statements of the order-entry load, as texts that sessions prepare and that functions of the
//! server are made of, the words of each dialect, and what the conditions look at.

use crate::load::{
    ByDialect, Calls, Dialect, LoadStatement, Phrases, Template, prepared, said, templates,
    with_variables,
};

/// What each dialect says of this load.
pub(super) static PHRASES: ByDialect<Phrases> = ByDialect {
    postgres: Phrases {
        words: &[
            (
                "{history_note}",
                "concat_ws(' ', c_id, c_d_id, c_w_id, :d, :w, :cents / 100.0) || '|' || c_data",
            ),
            ("{shown}", "RETURNING c_first, c_middle, c_last, c_credit, cast(c_balance AS text)"),
            ("{number}", ":number"),
            ("{into}", ""),
            ("{lines}", "assay_lines"),
            ("{customers}", "assay_customers"),
        ],
        statements: include_str!("sql/postgres_statements.sql"),
        routines: Some(Calls::Functions.name()),
        before: &[
            "SET max_parallel_workers_per_gather = 2; SET work_mem = '128MB'; SET enable_seqscan \
             = on",
            "CREATE TEMP TABLE {lines} AS {of lines}",
            "ANALYZE {lines}",
            "CREATE TEMP TABLE {customers} AS {of customers}",
        ],
        // Temporary tables go with the session.
        after: "SELECT 1",
    },
    mariadb: Phrases {
        words: &[
            // Numbers of variables become text in the letters of the session, which are not those
            // of our database.
            (
                "{history_note}",
                "CONCAT(CAST(CONCAT_WS(' ', c_id, c_d_id, c_w_id, :w, :d, :cents / 100) AS CHAR \
                 CHARACTER SET latin1), '|', c_data)",
            ),
            ("{shown}", ""),
            ("{number}", "LAST_INSERT_ID()"),
            // Lines of an order as rows: a row of the text is a line's item, the warehouse that
            // supplies it, and how many.
            (
                "{ordered}",
                "JSON_TABLE(:wanted, '$[*]' COLUMNS (place FOR ORDINALITY, item int PATH '$[0]', \
                 supply int PATH '$[1]', quantity int PATH '$[2]')) AS ordered",
            ),
            // Orders to be delivered as rows: a row of the text is a district and a number.
            (
                "{due}",
                "JSON_TABLE(:due, '$[*]' COLUMNS (of_d int PATH '$[0]', of_o int PATH '$[1]')) AS \
                 old",
            ),
            // Ordinary tables, because in some versions a statement can read a temporary one only
            // once.
            ("{lines}", "{s}.assay_lines"),
            ("{customers}", "{s}.assay_customers"),
        ],
        statements: include_str!("sql/mariadb_statements.sql"),
        routines: Some("procedures of the server (proc)"),
        before: &[
            "DROP TABLE IF EXISTS {lines}, {customers}",
            "CREATE TABLE {lines} (w INT, d INT, o INT, line_count INT, delivered INT, amount \
             DECIMAL(14,2), PRIMARY KEY (w, d, o)) ENGINE = InnoDB AS {of lines}",
            "CREATE TABLE {customers} (w INT, d INT, c INT, balance DECIMAL(14,2), paid \
             DECIMAL(14,2), amount DECIMAL(14,2), received DECIMAL(14,2)) ENGINE = InnoDB AS {of \
             customers}",
        ],
        after: "DROP TABLE IF EXISTS {lines}, {customers}",
    },
};

/// The statements that products share.
const SHARED: &str = include_str!("sql/statements.sql");
/// The part of a stock's text that belongs to a district.
const DISTRICT_TEXT: &str = "CASE :d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN \
                             s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN \
                             s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN \
                             s_dist_09 ELSE s_dist_10 END";
const TEXT: (&str, &str) = ("{text}", DISTRICT_TEXT);

/// The statements of a product in its words.
fn texts(dialect: Dialect) -> Vec<Template> {
    let mut all = templates(SHARED);
    all.extend(templates(PHRASES.of(dialect).statements));
    all
}

/// All statements that sessions prepare.
pub(super) fn all(dialect: Dialect, schema: &str) -> Vec<LoadStatement> {
    let words = [&[TEXT], PHRASES.of(dialect).words].concat();
    prepared(&texts(dialect), &words, dialect, schema)
}

/// One of them, as it stands in its file.
pub(super) fn text(dialect: Dialect, name: &str) -> String {
    let found = texts(dialect).into_iter().find(|one| one.name == name);
    found.map(|one| one.text).unwrap_or_default()
}

/// A text of functions or procedures, in which `{name}` is a statement, and a value is a variable;
/// `words` are those that a function says otherwise than a session.
pub(super) fn within(dialect: Dialect, text: &str, words: &[(&str, &str)], schema: &str) -> String {
    let words = [words, PHRASES.of(dialect).words, &[TEXT]].concat();
    let text = texts(dialect).iter().fold(text.to_owned(), |text, one| {
        let inner = with_variables(&one.with(&words).text);
        text.replace(&format!("{{{}}}", one.name), &inner)
    });
    said(&text.replace(TEXT.0, &with_variables(TEXT.1)), PHRASES.of(dialect).words, schema)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::assert_whole;

    #[test]
    fn every_statement_has_a_name_of_its_own_and_no_word_that_a_product_does_not_know() {
        for dialect in Dialect::ALL {
            assert_whole(&all(dialect, "shop"), dialect);
        }
    }

    #[test]
    fn a_value_is_a_parameter_of_a_statement_and_a_variable_of_a_function() {
        let of = |name: &str, every: Vec<LoadStatement>| {
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
