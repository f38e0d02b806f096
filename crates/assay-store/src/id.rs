//! Names of runs that sort by time, and names of cells that are safe as directories.

use assay_model::run::{RunKind, Utc};
use assay_model::{Error, Result};

/// Digits without those that people mistake for one another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// What fits into a directory's name everywhere, with room for our own prefix.
const CELL_NAME_BYTES_MAX: usize = 64;

/// `20261121-083955-run-k3f9`: time, kind and four random characters.
pub(crate) fn run_id(created_unix_ns: u64, kind: RunKind) -> Result<String> {
    let mut random = [0u8; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).map_err(
        |error| {
            Error::environment(
                format!("asking the system for random bytes: {error}"),
                "this needs a kernel with getrandom, and a sandbox that allows it",
            )
        },
    )?;
    let suffix = random.map(|byte| char::from(LETTERS[usize::from(byte % 32)]));
    let time = Utc::of(created_unix_ns).compact();
    Ok(format!("{time}-{}-{}", kind.name(), suffix.iter().collect::<String>()))
}

/// Whether a name begins as the id of a run does: whoever types it means that run.
pub(crate) fn is_id(name: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    match name.as_bytes() {
        [day @ .., b'-'] if day.len() == 8 => day.iter().all(is_digit),
        bytes => bytes.get(..15).is_some_and(|begin| {
            begin[..8].iter().all(is_digit) && begin[8] == b'-' && begin[9..].iter().all(is_digit)
        }),
    }
}

/// The directory of a cell: lower-case letters, digits, `.`, `_` and `-`; never empty, never
/// hidden.
pub(crate) fn cell_name(text: &str) -> String {
    let plain = text.to_lowercase().replace(|letter| !plain(letter), "-");
    let trimmed = plain.trim_matches(['.', '-']);
    let end = trimmed.len().min(CELL_NAME_BYTES_MAX);
    match &trimmed[..end] {
        "" => "cell".to_owned(),
        name => name.to_owned(),
    }
}

const fn plain(letter: char) -> bool {
    matches!(letter, 'a'..='z' | '0'..='9' | '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_differ_within_a_second() {
        let at = |second: u64| run_id(second * 1_000_000_000, RunKind::Check).unwrap();
        let (early, late) = (at(1_795_250_395), at(1_795_250_396));
        assert!(early.starts_with("20261121-083955-check-") && early < late);
        let same: std::collections::BTreeSet<String> = (0..64).map(|_| at(0)).collect();
        assert!(same.len() > 60);
    }

    #[test]
    fn ids_are_known_from_what_people_call_their_runs() {
        assert!(is_id(&run_id(1_795_250_395 * 1_000_000_000, RunKind::Check).unwrap()));
        assert!(is_id("20261121-083955") && is_id("20261121-"));
        for name in ["baseline", "2026", "20261121-before", "old array", ""] {
            assert!(!is_id(name), "{name}");
        }
    }

    #[test]
    fn names_of_cells_stay_inside_their_directory() {
        for (text, name) in [
            ("OLTP 70/30", "oltp-70-30"),
            ("../../etc/passwd", "etc-passwd"),
            ("..", "cell"),
            ("", "cell"),
            ("größe", "gr--e"),
        ] {
            assert_eq!(cell_name(text), name);
        }
        assert_eq!(cell_name(&"x".repeat(300)).len(), CELL_NAME_BYTES_MAX);
    }
}
