//! Where the number for a quantity comes from: given by the caller, or found in the measurement or
//! the calibration.

use crate::facts::Facts;
use crate::found::{FoundNumber, KnownNumber};
use crate::quantity::{Amount, CriterionQuantity, CriterionTimeKind, Scope, TimeStatistic};
use crate::{calibration, doubts, loaded, measurement, queries};
use assay_model::Estimate;
use assay_model::durability::Durability;
use assay_model::measurement::Operation;
use assay_model::number::real;
use assay_model::verdict::{Doubt, NamedEstimate};

/// Everything that is known of a quantity: one entry a subject, and at least one.
pub(crate) fn find(quantity: &CriterionQuantity, facts: &Facts<'_>) -> Vec<FoundNumber> {
    let name = quantity.to_string();
    let given = facts.given.iter().filter(|given| given.quantity == name);
    let given: Vec<FoundNumber> =
        given.map(|given| from_elsewhere(given, quantity, facts)).collect();
    if !given.is_empty() {
        return given;
    }
    match quantity {
        CriterionQuantity::Measured { scope, amount } => measurement::find(*scope, *amount, facts),
        CriterionQuantity::Calibrated { mix, what } => calibration::find(*mix, *what, facts),
        CriterionQuantity::Loaded { each_rung, what } => loaded::find(*each_rung, *what, facts),
        CriterionQuantity::Queried { what } => queries::find(*what, facts),
        CriterionQuantity::Transactions | CriterionQuantity::TransactionTime(_) => {
            vec![FoundNumber::absent("no imported result has it")]
        }
        CriterionQuantity::IntegrityFindings => vec![findings(facts)],
        CriterionQuantity::DurabilityLost => vec![lost(facts)],
        CriterionQuantity::DurabilityLossPerCut => vec![loss_per_cut(facts)],
        CriterionQuantity::AtomicUnit => vec![atomic_unit(facts)],
        CriterionQuantity::HostCpuBusy => vec![host_busy(quantity, facts)],
        CriterionQuantity::DatabaseResponse => vec![FoundNumber::absent(
            "the database does not time the I/O waits of its sessions: set track_io_timing and \
             track_wal_io_timing (PostgreSQL) or performance_schema (MySQL, MariaDB) to on, then \
             check again",
        )],
        CriterionQuantity::HostTcpRetransmits => {
            vec![FoundNumber::absent(
                "the host sent fewer than 1,000 TCP segments, or none were counted",
            )]
        }
    }
}

/// What the caller knows has no measured time here; what it made of times of the run has the doubts
/// of those.
fn from_elsewhere(
    given: &NamedEstimate,
    quantity: &CriterionQuantity,
    facts: &Facts<'_>,
) -> FoundNumber {
    let mut doubts: Vec<Doubt> = if given.estimate.has_interval() {
        doubts::few_bursts(&given.estimate, None).into_iter().collect()
    } else {
        vec![doubts::no_interval()]
    };
    let run = facts.run.filter(|_| *quantity == CriterionQuantity::DatabaseResponse);
    let mut elapsed_s = 0.0;
    if let Some(run) = run {
        doubts.extend(doubts::of_measurement(&READ_RESPONSE, run.measurement));
        doubts.extend(facts.content_doubts(true));
        elapsed_s = run.measurement.elapsed_s();
    }
    let known = Ok(KnownNumber::new(given.estimate, elapsed_s, doubts));
    FoundNumber { subject: given.subject.clone(), known }
}

/// The time that most of a database's response rests on.
const READ_RESPONSE: CriterionQuantity = CriterionQuantity::Measured {
    scope: Scope::Whole,
    amount: Amount::Time {
        operation: Operation::Read,
        kind: CriterionTimeKind::Response,
        statistic: TimeStatistic::Mean,
    },
};

/// Blocks are counted, and a run that verified nothing has none to count.
fn findings(facts: &Facts<'_>) -> FoundNumber {
    let Some(integrity) = facts.integrity else {
        return FoundNumber::absent("nothing was verified; measure with --verify");
    };
    if integrity.found_blocks() + integrity.coverage.verified_blocks == 0 {
        return FoundNumber::absent("no written block was read again");
    }
    let blocks = integrity.coverage.verified_blocks + integrity.found_blocks();
    let estimate = Estimate::exact(real(integrity.found_blocks()), blocks);
    FoundNumber { subject: None, known: Ok(KnownNumber::new(estimate, 0.0, Vec::new())) }
}

/// What cuts came to, where one of them took something away.
fn cuts<'a>(facts: &Facts<'a>) -> Option<(&'a Durability, u64)> {
    let of_blocks = facts.integrity.and_then(|found| found.durability.as_ref());
    let of_load = facts.load.as_ref().and_then(|facts| facts.load.durability.as_ref());
    let durability = of_blocks.or(of_load).filter(|found| !found.is_void())?;
    let cuts = durability.strongest_cuts().map(|(_, cuts)| cuts);
    cuts.or((durability.broken() > 0).then_some(1)).map(|cuts| (durability, cuts))
}

/// Broken promises over all cuts: blocks that lost acknowledged writes, or what is wrong with a
/// database.
fn lost(facts: &Facts<'_>) -> FoundNumber {
    let Some((durability, cuts)) = cuts(facts) else {
        return FoundNumber::absent("nothing was cut; see `assay verify --ledger`");
    };
    let estimate = Estimate::exact(real(durability.broken()), cuts);
    FoundNumber { subject: None, known: Ok(KnownNumber::new(estimate, 0.0, Vec::new())) }
}

/// The highest chance of a loss that the cuts leave; a limit is itself what is judged.
fn loss_per_cut(facts: &Facts<'_>) -> FoundNumber {
    let known = cuts(facts).and_then(|(found, cuts)| Some((found.loss_per_cut_max?, cuts)));
    let Some((chance, cuts)) = known else {
        return FoundNumber::absent("nothing was cut; see `assay verify --ledger`");
    };
    let known = KnownNumber::new(Estimate::exact(chance, cuts), 0.0, Vec::new());
    FoundNumber { subject: None, known: Ok(known) }
}

/// Only a write that was torn shows where writes are torn: what was never torn may be larger or may
/// have had luck.
fn atomic_unit(facts: &Facts<'_>) -> FoundNumber {
    let Some((durability, _)) = cuts(facts) else {
        return FoundNumber::absent("nothing was cut; see `assay verify --ledger`");
    };
    let Some(unit_bytes) = durability.atomic_unit_bytes() else {
        return FoundNumber::absent(
            "no write in flight was torn by a cut, so nothing is known about larger ones",
        );
    };
    let torn = durability.cuts.iter().map(|cut| cut.torn_blocks).sum();
    let known = KnownNumber::new(Estimate::exact(real(unit_bytes), torn), 0.0, Vec::new());
    FoundNumber { subject: None, known: Ok(known) }
}

/// The share over the whole run is a count of clock ticks, not a sample: it has no interval.
fn host_busy(quantity: &CriterionQuantity, facts: &Facts<'_>) -> FoundNumber {
    let Some(run) = facts.run else {
        return FoundNumber::absent("no workload was run");
    };
    let Some(share) = run.measurement.conduct.host_busy_share else {
        return FoundNumber::absent("the CPU utilization of the host is unknown");
    };
    let doubts = doubts::of_measurement(quantity, run.measurement);
    let known = KnownNumber::new(Estimate::exact(share, 1), run.measurement.elapsed_s(), doubts);
    FoundNumber { subject: None, known: Ok(known) }
}
