//! How strong all that is known is as evidence that acknowledged writes are kept.

use assay_model::durability::{
    CutEvidence, CutKind, Declaration, Durability, FlushTiming, JudgedCut, TimingFinding,
};
use assay_model::number::count_of;
use assay_stats::quantile::chance_at_most;

/// How sure the limit of the loss per cut is.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Weighs declarations, times and cuts together.
pub fn durability(
    declarations: Vec<Declaration>,
    timing: Option<FlushTiming>,
    cuts: Vec<JudgedCut>,
) -> Durability {
    let mut durability =
        Durability { declarations, timing, cuts, ..Durability::of(CutEvidence::Unknown) };
    durability.evidence = evidence(&durability);
    durability.loss_per_cut_max = loss_per_cut_max(&durability);
    durability
}

fn evidence(durability: &Durability) -> CutEvidence {
    let is_timed = durability
        .timing
        .as_ref()
        .is_some_and(|timing| timing.finding != TimingFinding::Implausible);
    match durability.strongest_cuts() {
        _ if durability.broken() > 0 => CutEvidence::Refuted,
        _ if durability.is_void() => CutEvidence::Unknown,
        Some((CutKind::Power, _)) => CutEvidence::PowerCuts,
        Some(_) => CutEvidence::SystemCuts,
        None if is_timed => CutEvidence::Timed,
        None if !durability.declarations.is_empty() => CutEvidence::Declared,
        None => CutEvidence::Unknown,
    }
}

/// The highest chance of a loss per cut that the strongest cuts leave.
fn loss_per_cut_max(durability: &Durability) -> Option<f64> {
    let (kind, cuts) = durability.strongest_cuts()?;
    let of_kind = durability.cuts.iter().filter(|cut| cut.is_evidence() && cut.kind == kind);
    let lossy = of_kind.filter(|cut| cut.broken() > 0).count();
    Some(chance_at_most(count_of(lossy), cuts, CONFIDENCE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::integrity::{FaultCount, FaultKind};

    fn cut(kind: CutKind, lost_blocks: u64) -> JudgedCut {
        let count = FaultCount { kind: FaultKind::Lost, blocks: lost_blocks };
        JudgedCut {
            acknowledgements: 10,
            acknowledged_s: 1.0,
            promised_blocks: 10,
            kept_blocks: 10 - lost_blocks,
            counts: if lost_blocks > 0 { vec![count] } else { Vec::new() },
            ..JudgedCut::of(kind, 1)
        }
    }

    fn of(cuts: Vec<JudgedCut>) -> Durability {
        durability(Vec::new(), None, cuts)
    }

    #[test]
    fn evidence_is_never_stronger_than_what_was_cut() {
        assert_eq!(of(Vec::new()).evidence, CutEvidence::Unknown);
        assert_eq!(of(vec![cut(CutKind::Process, 0)]).evidence, CutEvidence::Unknown);
        assert_eq!(of(vec![cut(CutKind::System, 0)]).evidence, CutEvidence::SystemCuts);
        let both = vec![cut(CutKind::System, 0), cut(CutKind::Power, 0)];
        assert_eq!(of(both).evidence, CutEvidence::PowerCuts);
        let empty = JudgedCut { promised_blocks: 0, ..cut(CutKind::Power, 0) };
        assert_eq!(of(vec![empty]).evidence, CutEvidence::Unknown);
        let declared = Declaration { layer: "sda".to_owned(), what: "write back".to_owned() };
        assert_eq!(durability(vec![declared], None, Vec::new()).evidence, CutEvidence::Declared);
    }

    #[test]
    fn one_lost_block_refutes_whatever_was_cut() {
        let cuts = vec![cut(CutKind::Power, 0), cut(CutKind::Process, 1)];
        assert_eq!(of(cuts).evidence, CutEvidence::Refuted);
    }

    /// 1 - 0.05^(1/n): 45.1% after 5 cuts, 9.5% after 30, 4.95% after 59, 1.0% after 299.
    #[test]
    fn cuts_without_a_loss_bound_the_chance_of_one() {
        for (cuts, bound) in [(1, 0.95), (5, 0.4507), (30, 0.0950), (59, 0.0495), (299, 0.00997)] {
            let found = of(vec![cut(CutKind::Power, 0); cuts]).loss_per_cut_max.unwrap();
            assert!((found - bound).abs() < 5e-5, "{cuts}: {found}");
        }
        assert_eq!(of(Vec::new()).loss_per_cut_max, None);
    }

    /// 1 of 10: the root of (1-p)^10 + 10 p (1-p)^9 = 0.05 is 0.3942 (R: binom.test(1, 10,
    /// alternative = "less")).
    #[test]
    fn cuts_with_losses_have_a_bound_as_well() {
        let mut cuts = vec![cut(CutKind::Power, 0); 9];
        cuts.push(cut(CutKind::Power, 3));
        let found = of(cuts).loss_per_cut_max.unwrap();
        assert!((found - 0.3942).abs() < 5e-5, "{found}");
    }
}
