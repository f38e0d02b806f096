//! Reads a million broken job files, parameter files and results: none may crash the reader, keep
//! it longer than five seconds, or become a workload that is not valid.
//!
//! `cargo run --release -p assay-formats --example mutate_jobs -- COUNT [FOLDER …]`; the files of
//! the folders are broken, too. `SEED` in the environment gives other changes.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people")]

use assay_formats::annotate::annotated;
use assay_formats::{Surroundings, convert, results};
use std::time::{Duration, Instant};

const OWN: [&str; 2] =
    [include_str!("../tests/jobs/database.fio"), include_str!("../tests/jobs/ladder.vdb")];
/// What a mutation may put in.
const WORDS: [&str; 24] = [
    "[",
    "]",
    "=",
    ",",
    ":",
    "/",
    "\n",
    "(",
    ")",
    "$",
    "${x}",
    "%",
    "-",
    "99999999999999999999",
    "0",
    "-1",
    "1k",
    "stonewall",
    "numjobs=10000",
    "include x\n",
    "[global]\n",
    "rw=randrw\n",
    "sd=sd*,",
    "\u{fffd}",
];

/// A generator that repeats (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit.max(1)
    }
}

fn main() {
    let mut words = std::env::args().skip(1);
    let count: u64 = words.next().map_or(1_000_000, |word| word.parse().unwrap());
    let mut seeds: Vec<Vec<u8>> = OWN.iter().map(|text| text.as_bytes().to_vec()).collect();
    for folder in words {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        seeds.extend(files.filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()));
    }
    let seed = std::env::var("SEED").ok().map_or(0, |word| word.parse::<u64>().unwrap());
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ seed);
    let (mut longest, mut converted, mut imported) = (Duration::ZERO, 0_u64, 0_u64);
    let began = Instant::now();
    for number in 0..count {
        let text = mutated(&seeds, &mut random);
        let start = Instant::now();
        let included = |_: &str| Ok(OWN[0].to_owned());
        let around = Surroundings { file: &included, variable: &|_| Some("4k".to_owned()) };
        if let Ok(conversion) = convert(&text, "job", &around) {
            converted += 1;
            let parts = conversion.parts.iter();
            parts.for_each(|part| {
                part.document.workload().unwrap().check().unwrap();
                drop(annotated(&conversion, part).unwrap());
            });
            conversion.notes.iter().for_each(|note| drop(note.origin.to_string()));
        }
        imported += u64::from(results::import(&text, "x_lat.log").is_ok());
        longest = longest.max(start.elapsed());
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "file {number} takes {:?}:\n{text}",
            start.elapsed()
        );
    }
    let elapsed = began.elapsed();
    println!(
        "{count} files in {elapsed:.1?}: {converted} converted, {imported} imported, the longest \
         took {longest:.1?}"
    );
}

/// A seed with one to eight changes.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> String {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(8) {
        let place = random.below(text.len() + 1);
        match random.below(6) {
            0 => text.truncate(place),
            1 => drop(text.drain(place..(place + random.below(20)).min(text.len()))),
            2 => drop(text.splice(place..place, WORDS[random.below(WORDS.len())].bytes())),
            3 if place < text.len() => text[place] = u8::try_from(random.below(256)).unwrap(),
            4 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                let to = (from + random.below(80)).min(other.len());
                drop(text.splice(place..place, other[from..to].iter().copied()));
            }
            _ => {
                let copied = text[..place.min(text.len()).min(200)].to_vec();
                text.extend(copied);
            }
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}
