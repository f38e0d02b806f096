//! Campaigns of cuts on simulated devices: how often each lying one is refuted in at most five
//! cuts, how often the unit of a conforming one is named right, and how long 10,000 states of a log
//! take.
//!
//! `cargo run --release -p assay-integrity --example crash_campaigns [CAMPAIGNS]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints, and fails where what it needs is missing"
)]

use assay_integrity::{
    BlockPattern, BlockStamp, CacheBehaviour, CrashModel, CutResults, SectorAddress, StampedLog,
    WriteLog, Writer,
};
use assay_model::number::index_of;
use assay_stats::random::Random;
use std::time::Instant;

const BLOCK_BYTES: u64 = 16_384;
const SECTORS: u64 = BLOCK_BYTES / 512;
const CUTS_MAX: u64 = 5;

/// Stamped writes to random blocks, half of them durable by themselves and a tenth flushed behind.
fn recorded(seed: u64, writes: u64, blocks: u64) -> WriteLog {
    let (mut log, mut random) = (WriteLog::new(), Random::new(seed));
    let (pattern, mut versions) = (BlockPattern::new(9, 0.0), vec![0; index_of(blocks)]);
    let mut data = vec![0; index_of(BLOCK_BYTES)];
    for sequence in 0..writes {
        let block = random.below(blocks);
        let generation = &mut versions[index_of(block)];
        *generation += 1;
        let first = SectorAddress { target: 0, sector: block * SECTORS };
        let writer = Writer { worker: 0, sequence, sectors: 32 };
        pattern.fill(&mut data, &BlockStamp { first, generation: *generation, writer });
        log.push_write(block * BLOCK_BYTES, &data, random.chance(0.5));
        if random.chance(0.1) {
            log.push_flush();
        }
    }
    log
}

/// Campaigns in which what came of some cuts is as wanted.
fn of_campaigns(
    campaigns: u64,
    model: CrashModel,
    cuts: u64,
    is_wanted: impl Fn(&CutResults) -> bool,
) -> usize {
    let is_one = |seed: &u64| {
        let log = recorded(*seed, 200, 32);
        is_wanted(&StampedLog::new(&log).unwrap().cut(model, cuts, *seed))
    };
    (0..campaigns).filter(is_one).count()
}

fn main() {
    let campaigns = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    for behaviour in CacheBehaviour::ALL {
        let model = CrashModel { behaviour, ..CrashModel::default() };
        let refuted = of_campaigns(campaigns, model, CUTS_MAX, CutResults::is_refuted);
        println!(
            "{}: refuted in {refuted} of {campaigns} campaigns of {CUTS_MAX} cuts",
            behaviour.name()
        );
    }
    for unit_bytes in [512, 4096, 8192] {
        let model = CrashModel { unit_bytes, ..CrashModel::default() };
        for cuts in [CUTS_MAX, 40] {
            let named = of_campaigns(campaigns, model, cuts, |results| {
                results.atomic_unit_bytes == unit_bytes
            });
            println!(
                "unit of {unit_bytes} B: named right in {named} of {campaigns} campaigns of \
                 {cuts} cuts"
            );
        }
    }
    let model = CrashModel { unit_bytes: BLOCK_BYTES, ..CrashModel::default() };
    let whole = of_campaigns(campaigns, model, 40, |results| results.torn_blocks == 0);
    println!(
        "unit of {BLOCK_BYTES} B, a block: no tear claimed in {whole} of {campaigns} campaigns of \
         40 cuts"
    );
    let log = recorded(5, 3000, 256);
    let stamped = StampedLog::new(&log).unwrap();
    let began = Instant::now();
    let results = stamped.cut(CrashModel::default(), 10_000, 7);
    println!(
        "{} states of a log of {} writes in {:.2} s, {} of them refuted",
        results.states,
        stamped.writes(),
        began.elapsed().as_secs_f64(),
        results.refuted_states
    );
    let began = Instant::now();
    let states: u64 = (0..20)
        .map(|seed| {
            let log = recorded(100 + seed, 1000, 64);
            let results = StampedLog::new(&log).unwrap().cut(CrashModel::default(), 5000, seed);
            assert_eq!(results.refuted_states, 0, "a conforming device is never refuted");
            results.states
        })
        .sum();
    println!(
        "{states} states of 20 logs in {:.1} s, none of a conforming device refuted",
        began.elapsed().as_secs_f64()
    );
}
