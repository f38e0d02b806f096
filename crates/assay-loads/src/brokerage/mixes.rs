//! The mixes that come with the program.

use assay_model::mix::Mix;
use assay_model::{Error, Result};

/// Their names and texts.
pub const MIXES: [(&str, &str); 2] = [
    ("default", include_str!("../../mixes/default.mix.toml")),
    ("write-heavy", include_str!("../../mixes/write-heavy.mix.toml")),
];

/// The mix of a name.
///
/// # Errors
/// A usage error with the names that there are.
pub fn mix_of(name: &str) -> Result<Mix> {
    let found = MIXES.iter().find(|(known, _)| *known == name);
    let Some((_, text)) = found else {
        return Err(Error::usage(
            format!("there is no mix '{name}'"),
            "write default, write-heavy, or the name of a file *.mix.toml",
        ));
    };
    Mix::parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_are_of_their_names_and_have_the_shares_that_are_told() {
        for (name, _) in MIXES {
            assert_eq!(mix_of(name).unwrap().name, name);
        }
        let default = mix_of("default").unwrap().shares;
        assert_eq!(default.all().iter().sum::<u32>(), 890);
        // With a result for each order and a feed for ten: what changes data is a quarter.
        let writes = |mix: &Mix| {
            let (orders, updates) =
                (f64::from(mix.shares.trade_order), f64::from(mix.shares.trade_update));
            let asked = f64::from(mix.shares.all().iter().sum::<u32>());
            let feeds = orders / f64::from(mix.orders_per_feed);
            (2.0 * orders + updates + feeds) / (asked + orders + feeds)
        };
        assert!((writes(&mix_of("default").unwrap()) - 0.231).abs() < 0.005);
        assert!((0.60..0.65).contains(&writes(&mix_of("write-heavy").unwrap())));
        assert!(mix_of("other").unwrap_err().hint().contains("write-heavy"));
    }
}
