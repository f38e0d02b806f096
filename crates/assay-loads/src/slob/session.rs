//! What one session does: an endless, repeatable series of steps.

use super::{HotSpot, SlobRules};
use assay_model::number::{count, real};
use assay_model::units::Nanos;
use assay_stats::random::{Random, mix};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlobWork {
    /// Reads a range of keys, one block a key.
    Read,
    /// Changes a range of keys and commits.
    Update,
    /// Reads the whole table that has no index.
    Scan,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlobStep {
    /// What it does.
    pub work: SlobWork,
    /// The table, from 0.
    pub table: u32,
    /// First key, from 1; 0 for a scan.
    pub first_key: u64,
    /// Keys, and so blocks.
    pub blocks: u64,
    /// Wait before it begins.
    pub think: Nanos,
    /// Number of the step in its session, from 0.
    pub number: u64,
}

/// One session's series of steps.
#[derive(Clone, Debug)]
pub struct SlobSession<'a> {
    rules: &'a SlobRules,
    table: u32,
    random: Random,
    number: u64,
    /// Where in a hundred this session begins, so that not all of them change rows in the same
    /// moment.
    phase: u64,
}

impl<'a> SlobSession<'a> {
    /// The session of a number, from 0; rules must have passed their check.
    pub fn new(rules: &'a SlobRules, session: u32) -> Self {
        Self {
            rules,
            table: rules.table_of(session),
            random: Random::part(rules.seed, u64::from(session)),
            number: 0,
            phase: mix(u64::from(session) ^ rules.seed) % 100,
        }
    }

    /// The next step.
    #[inline]
    pub fn step(&mut self) -> SlobStep {
        let number = self.number;
        self.number += 1;
        let work = self.work(number);
        let table = self.table(number);
        let (first_key, blocks) = match work {
            SlobWork::Scan => (0, self.rules.scan_blocks),
            SlobWork::Read => self.range(number, self.rules.work_unit),
            SlobWork::Update => self.range(number, self.rules.update_work_unit),
        };
        SlobStep { work, table, first_key, blocks, think: self.think(number), number }
    }

    /// Updates are spread evenly: of any hundred steps in a row exactly the wanted number are
    /// updates.
    fn work(&mut self, number: u64) -> SlobWork {
        let percent = self.rules.update_percent;
        let place = number + self.phase;
        if (place + 1) * percent / 100 > place * percent / 100 {
            return SlobWork::Update;
        }
        let scan_share = self.rules.scan_share.0;
        if scan_share > 0.0 && self.random.chance(scan_share) {
            return SlobWork::Scan;
        }
        SlobWork::Read
    }

    fn table(&self, number: u64) -> u32 {
        let every = self.rules.hot_table_every;
        if every > 0 && number.is_multiple_of(every) { 0 } else { self.table }
    }

    /// A range of exactly `blocks` keys that lies whole inside the table, or inside its hot part.
    fn range(&mut self, number: u64, blocks: u64) -> (u64, u64) {
        let everywhere = HotSpot { blocks: self.rules.scale_blocks, offset: 0, every: 1 };
        let hot = self.rules.hot_spot.filter(|spot| number.is_multiple_of(spot.every));
        let spot = hot.unwrap_or(everywhere);
        let starts = spot.blocks - blocks + 1;
        (1 + spot.offset + self.random.below(starts), blocks)
    }

    fn think(&mut self, number: u64) -> Nanos {
        let Some(think) = self.rules.think.filter(|think| number.is_multiple_of(think.every))
        else {
            return Nanos(0);
        };
        let room = real(think.longest.0 - think.shortest.0);
        Nanos(think.shortest.0 + count(room * self.random.unit()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Think;
    use super::*;
    use assay_model::units::Share;
    use proptest::prelude::*;

    fn steps(rules: &SlobRules, session: u32, wanted: usize) -> Vec<SlobStep> {
        let mut session = SlobSession::new(rules, session);
        (0..wanted).map(|_| session.step()).collect()
    }

    proptest! {
        #[test]
        fn of_any_hundred_steps_exactly_the_wanted_number_are_updates(percent in 0u64..=100, session in 0u32..99, from in 0usize..300) {
            let rules = SlobRules { update_percent: percent, ..SlobRules::default() };
            let hundred = &steps(&rules, session, 400)[from..from + 100];
            let updates = hundred.iter().filter(|step| step.work == SlobWork::Update).count();
            prop_assert_eq!(updates as u64, percent);
        }

        #[test]
        fn ranges_lie_inside_the_table(scale in 64u64..10_000, unit in 1u64..16, session in 0u32..9) {
            let rules = SlobRules { scale_blocks: scale, work_unit: unit, update_percent: 30, ..SlobRules::default() };
            for step in steps(&rules, session, 200) {
                prop_assert!(step.first_key >= 1 && step.first_key + step.blocks - 1 <= scale);
            }
        }
    }

    #[test]
    fn every_key_is_met_with_equal_chance_also_the_first_and_the_last() {
        let rules = SlobRules {
            scale_blocks: 64,
            work_unit: 1,
            update_work_unit: 1,
            ..SlobRules::default()
        };
        let mut met = [0_u32; 64];
        for step in steps(&rules, 0, 64_000) {
            met[usize::try_from(step.first_key - 1).unwrap()] += 1;
        }
        // 1,000 each is expected with a deviation of 32: six deviations are room enough.
        assert!(met.iter().all(|times| (800..1200).contains(times)), "{met:?}");
    }

    #[test]
    fn hot_parts_hot_tables_scans_and_waits_come_as_often_as_asked() {
        let rules = SlobRules {
            tables: 4,
            hot_spot: Some(HotSpot { blocks: 100, offset: 5000, every: 3 }),
            hot_table_every: 5,
            scan_share: Share(0.25),
            think: Some(Think { every: 10, shortest: Nanos(100), longest: Nanos(200) }),
            ..SlobRules::default()
        };
        let all = steps(&rules, 2, 30_000);
        let part = |chosen: &dyn Fn(&&SlobStep) -> bool| all.iter().filter(chosen).count();
        assert_eq!(part(&|step| step.table == 0), 6000);
        assert_eq!(part(&|step| step.think.0 > 0), 3000);
        assert!(all.iter().all(|step| step.think.0 == 0 || (100..=200).contains(&step.think.0)));
        let scans = part(&|step| step.work == SlobWork::Scan);
        assert!((7000..8000).contains(&scans), "{scans}");
        let hot = |step: &&SlobStep| step.work == SlobWork::Read && step.number.is_multiple_of(3);
        let hot: Vec<&SlobStep> = all.iter().filter(hot).collect();
        assert!(hot.iter().all(|step| (5001..=5100).contains(&step.first_key)));
        assert!(hot.iter().all(|step| step.first_key + step.blocks <= 5101));
    }

    #[test]
    fn equal_seeds_give_equal_steps_and_sessions_differ() {
        let rules = SlobRules { update_percent: 25, ..SlobRules::default() };
        assert_eq!(steps(&rules, 3, 500), steps(&rules, 3, 500));
        assert_ne!(steps(&rules, 3, 500), steps(&rules, 4, 500));
    }
}
