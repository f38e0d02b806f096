//! The page's policy names the script that stands on it: a browser would refuse any other.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use assay_report::{GivenReport, ReportOptions, html, live_html};

/// The first 32 bits of the fraction of a root, by which SHA-256 chooses its constants (FIPS 180-4,
/// §4.2.2, §5.3.3).
fn fraction(root: f64) -> u32 {
    u32::try_from(assay_model::number::index((root - root.floor()) * 4_294_967_296.0)).unwrap()
}

fn primes(count: usize) -> Vec<f64> {
    let is_prime = |number: &u32| (2..*number).all(|divisor| !number.is_multiple_of(divisor));
    (2..).filter(is_prime).take(count).map(f64::from).collect()
}

/// SHA-256 (FIPS 180-4, §6.2).
fn sha256(message: &[u8]) -> Vec<u8> {
    let mut state: Vec<u32> = primes(8).into_iter().map(|prime| fraction(prime.sqrt())).collect();
    let constants: Vec<u32> = primes(64).into_iter().map(|prime| fraction(prime.cbrt())).collect();
    let mut padded = [message, &[0x80]].concat();
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((u64::try_from(message.len()).unwrap() * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let after = compressed(&state, &constants, block);
        state = state.iter().zip(after).map(|(old, new)| old.wrapping_add(new)).collect();
    }
    state.into_iter().flat_map(u32::to_be_bytes).collect()
}

fn compressed(state: &[u32], constants: &[u32], block: &[u8]) -> Vec<u32> {
    let mut words: Vec<u32> =
        block.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect();
    for place in 16..64 {
        let (far, near) = (words[place - 15], words[place - 2]);
        let far = far.rotate_right(7) ^ far.rotate_right(18) ^ (far >> 3);
        let near = near.rotate_right(17) ^ near.rotate_right(19) ^ (near >> 10);
        words.push(
            words[place - 16].wrapping_add(far).wrapping_add(words[place - 7]).wrapping_add(near),
        );
    }
    let mut s = state.to_vec();
    for (word, constant) in words.into_iter().zip(constants) {
        let e = s[4].rotate_right(6) ^ s[4].rotate_right(11) ^ s[4].rotate_right(25);
        let choice = (s[4] & s[5]) ^ (!s[4] & s[6]);
        let one = [s[7], e, choice, *constant, word].into_iter().fold(0, u32::wrapping_add);
        let a = s[0].rotate_right(2) ^ s[0].rotate_right(13) ^ s[0].rotate_right(22);
        let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        s[3] = s[3].wrapping_add(one);
        s[7] = one.wrapping_add(a).wrapping_add(majority);
        s.rotate_right(1);
    }
    s
}

fn base64(bytes: &[u8]) -> String {
    let alphabet: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let mut written = String::new();
    for three in bytes.chunks(3) {
        let bits = three
            .iter()
            .enumerate()
            .fold(0usize, |bits, (place, byte)| bits | usize::from(*byte) << (16 - 8 * place));
        for place in 0..4 {
            written.push(if place <= three.len() {
                alphabet[bits >> (18 - 6 * place) & 63]
            } else {
                '='
            });
        }
    }
    written
}

#[test]
fn the_hash_is_that_of_the_standard() {
    let known = "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=";
    assert_eq!(base64(&sha256(b"abc")), known);
    assert_eq!(base64(b"ab"), "YWI=");
}

/// Whether a page's policy names the script at its end; else what it should name.
fn named_script(page: &str) -> Result<(), String> {
    let script =
        page.rsplit_once("<script>").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    let expected = format!("sha256-{}", base64(&sha256(script.as_bytes())));
    if page.contains(&expected) { Ok(()) } else { Err(expected) }
}

#[test]
fn the_policy_names_the_script() {
    let page = html(&GivenReport::default(), ReportOptions::default());
    assert_eq!(named_script(&page), Ok(()), "write it into render/html/frame.rs");
    assert_eq!(named_script(&live_html()), Ok(()), "write it into render/html/live.rs");
}
