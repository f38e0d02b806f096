//! A rung of the method in the words of workloads: what the store keeps of it before its first interval.

use super::session::{KINDS, place};
use crate::load::Described;
use assay_loads::slob::{Rules, Work};
use assay_model::Workload;
use assay_model::units::Nanos;

/// The workload of so many sessions, of the statements that the knobs ask for.
pub fn workload(rules: &Rules, sessions: u32, duration: Nanos, block_bytes: u64) -> Workload {
    let all = [
        (Work::Read, rules.work_unit, rules.update_percent < 100),
        (Work::Update, rules.update_work_unit, rules.update_percent > 0),
        (Work::Scan, rules.scan_blocks, rules.scan_share.0 > 0.0),
    ];
    let wanted = all.into_iter().filter(|(_, _, is_wanted)| *is_wanted);
    let described = Described {
        method: "slob",
        description: "Statements of the SLOB method on a database server; an I/O is a statement.",
        kinds: wanted.map(|(work, blocks, _)| (&KINDS[place(work)], blocks)).collect(),
        seed: rules.seed,
    };
    described.workload(sessions, duration, block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::Share;

    #[test]
    fn a_rung_is_a_workload_of_the_statements_that_it_has() {
        let names = |rules: &Rules| {
            let workload = workload(rules, 4, Nanos(1), 8192);
            workload.streams.iter().map(|stream| stream.name.clone()).collect::<Vec<_>>()
        };
        let mut rules = Rules::default();
        assert_eq!(names(&rules), ["read"]);
        (rules.update_percent, rules.scan_share) = (25, Share(0.5));
        assert_eq!(names(&rules), ["read", "update", "scan"]);
        rules.update_percent = 100;
        assert_eq!(names(&rules), ["update", "scan"]);
    }
}
