//! A verdict with every outcome.

use super::about;
use assay_model::Estimate;
use assay_model::verdict::{
    Bias, Doubt, Evidence, Judgement, Limit, OmittedCriterion, Outcome, Reason, Unit, Verdict,
};

fn judgement(
    quantity: &str,
    label: &str,
    unit: Unit,
    limit: Limit,
    estimate: Option<Estimate>,
    outcome: Outcome,
) -> Judgement {
    Judgement {
        quantity: quantity.to_owned(),
        subject: None,
        label: label.to_owned(),
        at: String::new(),
        unit,
        limit,
        evidence: Evidence { estimate, elapsed_s: 120.0, ..Evidence::default() },
        outcome,
        reason: Reason::Clear,
        why: String::new(),
        source: String::new(),
    }
}

/// Six criteria: three pass, one fails, one straddles, one is doubtful, one is left out.
pub(crate) fn verdict() -> Verdict {
    let mut judgements = targets();
    judgements.extend(others());
    Verdict {
        format: 1,
        criteria: "orders database".to_owned(),
        outcome: Outcome::Fail,
        judgements,
        left_out: vec![OmittedCriterion {
            quantity: "host.tcp_retransmits".to_owned(),
            label: "TCP retransmissions of the host".to_owned(),
            missing: "the host's TCP segments were not counted".to_owned(),
        }],
    }
}

fn targets() -> Vec<Judgement> {
    let time = |file: &str, mean: f64, doubt: f64, outcome: Outcome, reason: Reason| Judgement {
        subject: Some(format!("/oradata/{file}")),
        at: "at 61,300 IOPS".to_owned(),
        why: "Every order waits for single-block reads.".to_owned(),
        source: "Service agreement, section 4".to_owned(),
        reason,
        ..judgement(
            "target.read.service_time.q0.99",
            "p99 of reads",
            Unit::Ns,
            Limit::AtMost(1e6),
            Some(about(mean, doubt)),
            outcome,
        )
    };
    vec![
        time("data01.dbf", 0.82e6, 0.06, Outcome::Pass, Reason::Clear),
        time(
            "data02.dbf",
            1.04e6,
            0.07,
            Outcome::Inconclusive,
            Reason::Straddles { enough_s: Some(372.0) },
        ),
    ]
}

fn others() -> Vec<Judgement> {
    let sync = judgement(
        "sync.service_time.mean",
        "mean latency of syncs",
        Unit::Ns,
        Limit::AtMost(1e6),
        Some(about(1.27e6, 0.03)),
        Outcome::Fail,
    );
    let mut capacity = judgement(
        "calibration.read.iops_max",
        "highest rate of reads",
        Unit::IosPerS,
        Limit::AtLeast(150_000.0),
        Some(about(121_000.0, 0.011)),
        Outcome::Inconclusive,
    );
    capacity.reason = Reason::Doubtful;
    capacity.evidence.doubts.push(Doubt {
        what: "the rate was still rising at the highest load; the storage may deliver more"
            .to_owned(),
        bias: Bias::Unflattering,
        remedy: "allow more outstanding I/Os".to_owned(),
    });
    let within = judgement(
        "calibration.mix.iops_within_limit",
        "rate of reads and writes",
        Unit::IosPerS,
        Limit::AtLeast(30_000.0),
        Some(about(61_300.0, 0.011)),
        Outcome::Pass,
    );
    let within = Judgement { at: "with p99 ≤ 1 ms".to_owned(), ..within };
    let cpu = judgement(
        "host.cpu_busy",
        "CPU use of the host",
        Unit::Share,
        Limit::AtMost(0.8),
        Some(Estimate::exact(0.161, 1)),
        Outcome::Pass,
    );
    vec![Judgement { why: "A commit waits for the log.".to_owned(), ..sync }, capacity, within, cpu]
}
