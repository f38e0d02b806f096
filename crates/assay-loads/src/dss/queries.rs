//! The 22 queries, written from what they ask (clause 2.4); `{name}` is the place of a parameter.

use super::QueryParameters;

/// How many queries there are.
pub const QUERIES: u8 = 22;

/// Texts, in the order of their numbers.
const TEXTS: [&str; 22] = [
    include_str!("queries/q01.sql"),
    include_str!("queries/q02.sql"),
    include_str!("queries/q03.sql"),
    include_str!("queries/q04.sql"),
    include_str!("queries/q05.sql"),
    include_str!("queries/q06.sql"),
    include_str!("queries/q07.sql"),
    include_str!("queries/q08.sql"),
    include_str!("queries/q09.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];

/// The text of a query, 1 to 22, with its parameters; empty for another number.
pub fn text(query: u8, parameters: &QueryParameters) -> String {
    let template = usize::from(query).checked_sub(1).and_then(|place| TEXTS.get(place));
    let mut text = template.copied().unwrap_or_default().to_owned();
    for (name, value) in parameters {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dss::{DssScale, draw, validation};
    use assay_stats::random::Random;

    #[test]
    fn no_place_is_left_open_and_no_parameter_is_left_over() {
        let scale = DssScale::new(1.0).unwrap();
        for query in 1..=QUERIES {
            for parameters in
                [validation(query, scale), draw(query, scale, &mut Random::new(u64::from(query)))]
            {
                let whole = text(query, &parameters);
                assert!(!whole.contains(['{', '}']), "{whole}");
                for (name, _) in &parameters {
                    let template = TEXTS[usize::from(query) - 1];
                    assert!(template.contains(&format!("{{{name}}}")), "{query}: {name}");
                }
            }
        }
        assert_eq!(text(0, &Vec::new()), "");
    }
}
