//! What stands in the columns: random letters, as compressible as asked.

use super::TEXT_BYTES;
use assay_model::number::{index, real_len};
use assay_stats::random::Random;

/// 64 letters: six random bits each, so that text of them compresses by a quarter at most (eight
/// bits hold six).
const LETTERS: &[u8; 64] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// A source of text.
#[derive(Clone, Debug)]
pub struct TextSource {
    random: Random,
    /// Letters of a text that are random; the rest is one letter.
    random_letters: usize,
}

impl TextSource {
    /// Text of which this share compresses away, from its own stream of random numbers.
    pub fn new(compressible: f64, seed: u64, stream: u64) -> Self {
        Self {
            random: Random::part(seed ^ 0xf111, stream),
            random_letters: index((1.0 - compressible.clamp(0.0, 1.0)) * real_len(TEXT_BYTES)),
        }
    }

    /// Fills a text.
    pub fn fill(&mut self, text: &mut [u8]) {
        let random = self.random_letters * text.len() / TEXT_BYTES;
        let (first, rest) = text.split_at_mut(random);
        for letters in first.chunks_mut(10) {
            let mut bits = self.random.next_u64();
            for letter in letters {
                *letter = LETTERS[usize::try_from(bits & 63).unwrap_or(0)];
                bits >>= 6;
            }
        }
        rest.fill(b'=');
    }

    /// Puts a number in front of a text, in letters, so that no two updates write the same: a
    /// database may leave out what does not change.
    pub fn stamp(text: &mut [u8], session: u32, number: u64) {
        let mut bits = (u128::from(session) << 64) | u128::from(number);
        for letter in text.iter_mut().take(16) {
            *letter = LETTERS[usize::try_from(bits & 63).unwrap_or(0)];
            bits >>= 6;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(compressible: f64) -> Vec<u8> {
        let mut filler = TextSource::new(compressible, 1, 7);
        let mut all = Vec::new();
        for _ in 0..1000 {
            let mut text = [0; TEXT_BYTES];
            filler.fill(&mut text);
            all.extend(text);
        }
        all
    }

    #[test]
    fn as_many_letters_are_random_as_asked() {
        for (share, filler) in [(0.0, 0), (0.5, 50_000), (1.0, 100_000)] {
            let same = text(share).split(|letter| *letter == b'=').count() - 1;
            assert_eq!(same, filler, "{share}");
        }
        let mut counts = [0_u32; 256];
        for letter in &text(0.0) {
            counts[usize::from(*letter)] += 1;
        }
        let used: Vec<u32> = counts.into_iter().filter(|count| *count > 0).collect();
        assert_eq!(used.len(), 64);
        assert!(used.iter().all(|count| (1300..1830).contains(count)), "{used:?}");
    }

    #[test]
    fn stamps_of_different_steps_differ() {
        let stamp = |session, number| {
            let mut text = [b' '; TEXT_BYTES];
            TextSource::stamp(&mut text, session, number);
            text
        };
        assert_ne!(stamp(1, 5), stamp(2, 5));
        assert_ne!(stamp(1, 5), stamp(1, 6));
        assert_eq!(stamp(1, 5), stamp(1, 5));
    }
}
