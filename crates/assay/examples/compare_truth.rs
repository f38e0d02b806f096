//! How often `compare` calls equal storage different, and finds a difference that there is:
//! `compare_truth FIRST PAIRS SECONDS REPEATS [SLOWER_SHARE [DAY_SHARE [NAME]]]` prints one row a
//! kind of noise.
//!
//! Each side is a device of four servers with four outstanding I/Os and 500 IOPS on average.
//! `SLOWER_SHARE` of 0.03 makes the second side 3% slower; `DAY_SHARE` of 0.03 gives every run a
//! level of its own with that standard deviation.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

mod drawn;

use assay_judge::compare::{CompareRules, RunFacts, SideFacts, compare, facts_of_run, joined};
use assay_model::number::{count, real};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::verdict::Outcome;
use assay_model::workload::{Stream, Workload};
use assay_model::{Error, Result};
use assay_stats::random::Random;
use drawn::{Drawn, run};

/// A kind of noise, as a law of service of the given mean.
type Kind = (&'static str, fn(f64) -> Drawn);

const KINDS: [Kind; 8] = [
    ("exponential", |mean| Drawn::Exponential(mean)),
    ("2%, φ 0.5", |mean| Drawn::Wander(mean, 0.02, 0.5)),
    ("2%, φ 0.8", |mean| Drawn::Wander(mean, 0.02, 0.8)),
    ("2%, φ 0.95", |mean| Drawn::Wander(mean, 0.02, 0.95)),
    ("2%, φ 0.99", |mean| Drawn::Wander(mean, 0.02, 0.99)),
    ("lognormal 1.5", |mean| Drawn::LogNormal(mean, 1.5)),
    ("Pareto 1.5", |mean| Drawn::Pareto(1.5, mean)),
    ("regimes of 8 s, twice as slow", |mean| Drawn::Regimes([mean / 1.5, mean / 0.75], [8.0, 8.0])),
];

/// Mean service time of one I/O, ms.
const SERVICE_MS: f64 = 8.0;

/// What is compared.
struct Asked {
    first_seed: u64,
    pairs: u64,
    duration_s: f64,
    repeats: u64,
    slower: f64,
    day: f64,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
    let (Some(first), Some(pairs), Some(duration_s), Some(repeats)) =
        (number(0), number(1), number(2), number(3))
    else {
        return Err(Error::usage(
            "no first seed, or number of pairs, seconds or repeats",
            "compare_truth FIRST PAIRS SECONDS REPEATS [SLOWER_SHARE [DAY_SHARE [NAME]]]",
        ));
    };
    let asked = Asked {
        first_seed: count(first),
        pairs: count(pairs),
        duration_s,
        repeats: count(repeats),
        slower: number(4).unwrap_or(0.0),
        day: number(5).unwrap_or(0.0),
    };
    let wanted = words.get(6).map_or("", String::as_str);
    println!(
        "| noise | s | repeats | slower % | from run to run % | pairs | different % | PASS / FAIL \
         / INCONCLUSIVE | refused | half-width of the ratio of IOPS %: median, nine of ten below |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for kind in KINDS.iter().filter(|kind| kind.0.contains(wanted)) {
        row(kind, &asked)?;
    }
    Ok(())
}

fn row(kind: &Kind, asked: &Asked) -> Result<()> {
    let (mut different, mut refused, mut outcomes) = (0, 0, [0_u64; 3]);
    let mut halves = Vec::new();
    for pair in 0..asked.pairs {
        let sides = [side(kind, asked, pair, 0)?, side(kind, asked, pair, 1)?];
        let Ok(found) = compare(&sides, &[], &rules()) else {
            refused += 1;
            continue;
        };
        let measures = &found.pairs[0].measures;
        different += u64::from(measures.iter().any(|measure| measure.different));
        outcomes[match found.outcome {
            Some(Outcome::Pass) => 0,
            Some(Outcome::Fail) => 1,
            Some(Outcome::Inconclusive) | None => 2,
        }] += 1;
        let iops = measures.iter().find(|measure| measure.quantity == "iops");
        let ratio = iops.and_then(|measure| measure.ratio);
        halves.extend(ratio.map(|ratio| 50.0 * (ratio.high - ratio.low)));
    }
    halves.sort_by(f64::total_cmp);
    let half = |tenths: usize| halves.get(halves.len() * tenths / 10).copied().unwrap_or(f64::NAN);
    println!(
        "| {} | {} | {} | {:.0} | {:.0} | {} | {:.1} | {} / {} / {} | {refused} | {:.1}, {:.1} |",
        kind.0,
        asked.duration_s,
        asked.repeats,
        100.0 * asked.slower,
        100.0 * asked.day,
        asked.pairs,
        100.0 * real(different) / real((asked.pairs - refused).max(1)),
        outcomes[0],
        outcomes[1],
        outcomes[2],
        half(5),
        half(9)
    );
    Ok(())
}

/// What would be asked of the second side.
fn rules() -> CompareRules {
    CompareRules { tolerance: Some(0.02), ..CompareRules::default() }
}

/// The repeats of one side as `compare` joins them.
fn side(kind: &Kind, asked: &Asked, pair: u64, which: u64) -> Result<SideFacts> {
    let slower = if which == 1 { 1.0 + asked.slower } else { 1.0 };
    let repeats = (0..asked.repeats).map(|repeat| {
        let seed = asked.first_seed + 100 * pair + 50 * which + repeat;
        let day = (asked.day * Random::part(seed, 0xda7).normal()).exp();
        facts(kind.1(SERVICE_MS * slower * day), asked.duration_s, seed)
    });
    let repeats: Vec<SideFacts> = repeats.collect::<Result<_>>()?;
    joined(repeats).ok_or_else(|| Error::usage("no repeats", "one at least"))
}

fn facts(law: Drawn, duration_s: f64, seed: u64) -> Result<SideFacts> {
    let stream = Stream::closed("io", Share(1.0), Bytes(8192), 4);
    let mut workload = Workload::of("pair", Nanos::from_seconds(duration_s), stream);
    workload.warm_up = Nanos::from_seconds(1.0);
    workload.seed = seed;
    let (measurement, series, estimates) = run(4, law, &workload)?;
    Ok(facts_of_run(&RunFacts {
        name: format!("{seed}"),
        target: "drawn".to_owned(),
        measurement: &measurement,
        estimates: &estimates,
        series: &series,
        keys: Vec::new(),
    }))
}
