//! Texts of the specification: last names of three syllables, random letters, random digits, and
//! where "original" stands.

use assay_model::number::{count_of, index_of};
use assay_stats::random::Random;

/// Syllables of last names (TPC-C, clause 4.3.2.3).
const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
/// 64 letters: ten of them from 60 random bits.
const LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-";
/// Stands in a tenth of the texts of items and stocks (clause 4.3.3.1).
const ORIGINAL: &[u8] = b"ORIGINAL";

/// The last name of a number, 0..=999: a syllable a digit.
pub fn last_name(number: u32) -> String {
    [number / 100 % 10, number / 10 % 10, number % 10]
        .iter()
        .map(|digit| SYLLABLES[usize::try_from(*digit).unwrap_or(0)])
        .collect()
}

/// Fills a buffer with random letters.
#[inline]
pub(crate) fn letters(random: &mut Random, to: &mut [u8]) {
    for letters in to.chunks_mut(10) {
        let mut bits = random.next_u64();
        for letter in letters {
            *letter = LETTERS[usize::try_from(bits & 63).unwrap_or(0)];
            bits >>= 6;
        }
    }
}

/// Random letters of a random length.
pub(crate) fn some_letters<'a>(
    random: &mut Random,
    room: &'a mut [u8; 512],
    low: u64,
    high: u64,
) -> &'a mut [u8] {
    let length = index_of(low + random.below(high - low + 1)).min(room.len());
    let text = &mut room[..length];
    letters(random, text);
    text
}

/// The same, with "original" at a random place in a tenth of them.
pub(super) fn maybe_original<'a>(random: &mut Random, room: &'a mut [u8; 512]) -> &'a mut [u8] {
    let text = some_letters(random, room, 26, 50);
    if random.below(10) == 0 {
        let at = index_of(random.below(count_of(text.len() - ORIGINAL.len()) + 1));
        text[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
    text
}

/// Random digits.
pub(crate) fn digits<const LENGTH: usize>(random: &mut Random) -> [u8; LENGTH] {
    let mut all = [b'0'; LENGTH];
    for digit in &mut all {
        *digit += u8::try_from(random.below(10)).unwrap_or(0);
    }
    all
}

/// A code of a place: four random digits and five ones (clause 4.3.2.7).
pub(super) fn zip(random: &mut Random) -> [u8; 9] {
    let mut zip = *b"000011111";
    zip[..4].copy_from_slice(&digits::<4>(random));
    zip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_those_of_the_specification() {
        // The examples of clause 4.3.2.3, and the ends of the range.
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert_eq!((last_name(0).as_str(), last_name(999).as_str()), ("BARBARBAR", "EINGEINGEING"));
    }

    #[test]
    fn a_tenth_of_the_texts_is_original() {
        let (mut random, mut room) = (Random::new(1), [0; 512]);
        let mut original = 0;
        for _ in 0..20_000 {
            let text = maybe_original(&mut random, &mut room);
            assert!((26..=50).contains(&text.len()));
            original += usize::from(text.windows(8).any(|part| part == ORIGINAL));
        }
        assert!((1850..2150).contains(&original), "{original}");
        assert!(zip(&mut random).ends_with(b"11111"));
    }
}
