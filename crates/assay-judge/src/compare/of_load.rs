//! A ladder of sessions on a database as one side of a comparison: every rung with its rate and its times.

use super::{Measured, SideCurve, SideFacts, joined};
use crate::statistics::Statistics;
use assay_model::comparison::{OverlayAxis, OverlayPoint, Side};
use assay_model::load::{Load, Setting};
use assay_model::verdict::{NamedEstimate, Unit};

/// Settings of a load that do not make two ladders different questions.
const FREE: [&str; 2] = ["seed", "think time seed"];
/// What is compared of a rung, by the names of estimates, with the names that a load gives them: what a measurement calls
/// an I/O is a statement of a session here.
const FIGURES: [(&str, &str, Unit); 5] = [
    ("iops", "load.statements", Unit::IosPerS),
    ("read.service_time.mean", "load.read.statement_time.mean", Unit::Ns),
    ("read.service_time.q0.99", "load.read.statement_time.q0.99", Unit::Ns),
    ("write.service_time.mean", "load.write.statement_time.mean", Unit::Ns),
    ("write.service_time.q0.99", "load.write.statement_time.q0.99", Unit::Ns),
];
/// What is compared of each kind of transaction, where a load has several.
const STREAM_FIGURES: [(&str, &str, Unit); 3] = [
    ("stream.iops", "load.transactions", Unit::IosPerS),
    ("stream.read.service_time.q0.99", "load.transaction_time.q0.99", Unit::Ns),
    ("stream.write.service_time.q0.99", "load.transaction_time.q0.99", Unit::Ns),
];

/// A load and what its rungs measured.
pub struct LoadFacts<'a> {
    /// Id of the run.
    pub name: String,
    /// What was measured.
    pub target: String,
    /// The load.
    pub load: &'a Load,
    /// Its rungs, repeats one by one.
    pub rungs: Vec<RungFacts>,
}

/// One rung of a ladder, measured once.
pub struct RungFacts {
    /// Sessions.
    pub sessions: u32,
    /// Its numbers with their intervals.
    pub estimates: Vec<NamedEstimate>,
}

/// A ladder as a side: every number of sessions that both sides have is judged.
pub fn facts_of_load(facts: &LoadFacts<'_>, statistics: &dyn Statistics) -> SideFacts {
    let rungs = by_sessions(facts, statistics);
    SideFacts {
        side: side(facts),
        curves: curves(&rungs),
        measures: rungs.into_iter().flat_map(|(_, measures)| measures).collect(),
        histograms: Vec::new(),
        work: Vec::new(),
        made: made(facts.load),
    }
}

fn side(facts: &LoadFacts<'_>) -> Side {
    Side {
        name: facts.name.clone(),
        kind: "load".to_owned(),
        target: facts.target.clone(),
        elapsed_s: facts.load.rungs.iter().map(assay_model::load::Rung::elapsed_s).sum(),
        repeats: 1,
        nodes: None,
    }
}

/// What makes two ladders different questions: the kind of load, the product and what was asked of both.
fn made(load: &Load) -> Vec<(String, String)> {
    let asked = load.plan.iter().filter(|setting| !FREE.contains(&setting.name.as_str()));
    let pair = |Setting { name, value }: &Setting| (format!("load.{name}"), value.clone());
    let mut made = vec![
        ("load.kind".to_owned(), load.method.clone()),
        ("load.product".to_owned(), load.server.product.clone()),
    ];
    made.extend(asked.map(pair));
    made
}

/// The measures of each number of sessions, its repeats joined, in ascending order.
fn by_sessions(facts: &LoadFacts<'_>, statistics: &dyn Statistics) -> Vec<(u32, Vec<Measured>)> {
    let mut numbers: Vec<u32> = facts.rungs.iter().map(|rung| rung.sessions).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let measures = |sessions: &u32| {
        let repeats = facts.rungs.iter().filter(|rung| rung.sessions == *sessions);
        let repeats = repeats.map(|rung| SideFacts {
            side: side(facts),
            measures: measures(rung),
            histograms: Vec::new(),
            work: Vec::new(),
            made: Vec::new(),
            curves: Vec::new(),
        });
        let whole = joined(repeats.collect(), statistics)?;
        Some((*sessions, whole.measures))
    };
    numbers.iter().filter_map(measures).collect()
}

fn measures(rung: &RungFacts) -> Vec<Measured> {
    let at = format!("{} sessions", rung.sessions);
    let whole = FIGURES.iter().filter_map(|(known, name, unit)| {
        let found = rung.estimates.iter().find(|one| one.quantity == *known)?;
        let judged = Measured::new(*name, None, *unit, found.estimate).judged;
        Some(Measured { judged, ..Measured::new(*name, Some(at.clone()), *unit, found.estimate) })
    });
    let streams = STREAM_FIGURES.iter().flat_map(|(known, name, unit)| {
        rung.estimates.iter().filter(|one| one.quantity == *known).filter_map(|one| {
            let subject = format!("{}, {at}", one.subject.as_ref()?);
            Some(Measured::new(*name, Some(subject), *unit, one.estimate))
        })
    });
    whole.chain(streams).collect()
}

/// Each figure over the sessions.
fn curves(rungs: &[(u32, Vec<Measured>)]) -> Vec<SideCurve> {
    let curve = |(_, name, unit): &(&str, &str, Unit)| SideCurve {
        what: words(name).to_owned(),
        over: OverlayAxis::Sessions,
        unit: *unit,
        points: points(rungs, name),
    };
    FIGURES.iter().map(curve).collect()
}

fn points(rungs: &[(u32, Vec<Measured>)], name: &str) -> Vec<OverlayPoint> {
    let point = |(sessions, measures): &(u32, Vec<Measured>)| {
        let found = measures.iter().find(|measure| measure.quantity == name)?;
        Some(OverlayPoint { at: f64::from(*sessions), value: found.estimate })
    };
    rungs.iter().filter_map(point).collect()
}

/// A figure in words, for the chart of it.
fn words(name: &str) -> &'static str {
    match name {
        "load.statements" => "statements a second",
        "load.read.statement_time.mean" => "mean time of reading statements",
        "load.read.statement_time.q0.99" => "time of reading statements (p99)",
        "load.write.statement_time.mean" => "mean time of changing statements",
        _ => "time of changing statements (p99)",
    }
}
