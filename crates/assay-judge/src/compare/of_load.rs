//! A ladder of sessions on a database as one side of a comparison: what criteria may ask of each
//! step.

use super::sides::{SideCurve, SideFacts, SideFigure};
use crate::facts::{Facts, JudgedLoadFacts};
use crate::loaded;
use crate::names::load_amounts;
use crate::quantity::{CriterionQuantity, LoadAmount, TimeStatistic};
use assay_model::comparison::{OverlayAxis, OverlayPoint, Side, SideKind};
use assay_model::load::{Load, Rung, Setting};

/// Settings of a load that do not make two ladders different questions.
const FREE: [&str; 1] = ["seed"];
/// The quantile that is compared, next to the mean.
const QUANTILE: f64 = 0.99;

/// A ladder as a side: every number of sessions that both sides have is judged, repeats pooled.
pub fn facts_of_load(name: &str, target: &str, load: JudgedLoadFacts<'_>) -> SideFacts {
    let facts = Facts {
        dss: None,
        integrity: None,
        calibration: None,
        run: None,
        load: Some(load),
        environment: None,
        given: &[],
        doubts: &[],
    };
    let found: Vec<(LoadAmount, Vec<FoundAmount>)> = load_amounts()
        .into_iter()
        .filter(|amount| is_compared(*amount))
        .map(|amount| (amount, of_amount(amount, &facts)))
        .collect();
    SideFacts {
        curves: found.iter().map(|(amount, found)| curve(*amount, found)).collect(),
        measures: found
            .into_iter()
            .flat_map(|(_, found)| found)
            .map(|found| found.measured)
            .collect(),
        made: made(load.load),
        ..SideFacts::new(side(name, target, load.load))
    }
}

fn side(name: &str, target: &str, load: &Load) -> Side {
    Side {
        name: name.to_owned(),
        kind: SideKind::Load,
        target: target.to_owned(),
        elapsed_s: load.rungs.iter().map(Rung::elapsed_s).sum(),
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    }
}

/// What makes two ladders different questions: the kind of load, the product and what was asked of
/// both.
fn made(load: &Load) -> Vec<(String, String)> {
    let asked = load.plan.iter().filter(|setting| !FREE.contains(&setting.name.as_str()));
    let pair = |Setting { name, value }: &Setting| (format!("load.{name}"), value.clone());
    let mut made = vec![
        ("load.kind".to_owned(), load.kind.name().to_owned()),
        ("load.product".to_owned(), load.server.product.to_string()),
    ];
    made.extend(asked.map(pair));
    made
}

/// Rates, and the mean and p99 of times: other numbers are on the pages of both loads.
fn is_compared(amount: LoadAmount) -> bool {
    match amount {
        LoadAmount::Counted(_) | LoadAmount::Statements | LoadAmount::PhysicalReads => true,
        LoadAmount::Errors => false,
        LoadAmount::Time { statistic, .. } => match statistic {
            TimeStatistic::Mean => true,
            TimeStatistic::Max => false,
            TimeStatistic::Quantile(quantile) => (quantile - QUANTILE).abs() < 1e-9,
        },
    }
}

/// One amount at one number of sessions.
struct FoundAmount {
    sessions: f64,
    measured: SideFigure,
}

/// An amount at every number of sessions; those where it is not known are left out.
fn of_amount(amount: LoadAmount, facts: &Facts<'_>) -> Vec<FoundAmount> {
    let quantity = CriterionQuantity::Loaded { each_rung: true, what: amount };
    let one = |found: crate::found::FoundNumber| {
        let (sessions, known) = (found.subject?, found.known.ok()?);
        let number = sessions.parse().ok()?;
        let measured = SideFigure {
            judged: amount != LoadAmount::PhysicalReads,
            doubts: known.evidence.doubts,
            ..SideFigure::new(
                quantity.to_string(),
                Some(format!("{sessions} sessions")),
                quantity.unit(),
                known.estimate,
            )
        };
        Some(FoundAmount { sessions: number, measured })
    };
    let mut found: Vec<FoundAmount> =
        loaded::find(true, amount, facts).into_iter().filter_map(one).collect();
    found.sort_by(|one, other| one.sessions.total_cmp(&other.sessions));
    found
}

/// An amount over the sessions.
fn curve(amount: LoadAmount, found: &[FoundAmount]) -> SideCurve {
    let quantity = CriterionQuantity::Loaded { each_rung: true, what: amount };
    let point =
        |found: &FoundAmount| OverlayPoint { x: found.sessions, value: found.measured.estimate };
    SideCurve {
        what: quantity.label(),
        over: OverlayAxis::Sessions,
        unit: quantity.unit(),
        points: found.iter().map(point).collect(),
    }
}
