//! A load of decision support as one side of a comparison: the times of its queries over its
//! repeats.

use super::pooled::mean_of_repeats;
use super::sides::{SideFacts, SideFigure};
use assay_model::comparison::{Side, SideKind};
use assay_model::dss::{Dss, DssRun};
use assay_model::load::Setting;
use assay_model::number::count_of;
use assay_model::verdict::Unit;
use assay_model::{Error, Estimate, Result};

/// Knobs that must be the same on both sides; streams and parallel processes are in the names of
/// the measures, and memory is what sides are meant to differ in.
const MADE: [&str; 4] = ["scale", "query limit", "parameters", "refresh functions"];

/// A load as one side. The geometric mean of the queries is judged, the times of single queries are
/// shown; runs with a query that failed or was cancelled at its limit are left out.
pub fn facts_of_dss(name: &str, target: &str, dss: &Dss) -> SideFacts {
    let runs = dss.runs.iter().filter(|run| run.is_whole());
    let made = dss.plan.iter().filter(|knob| MADE.contains(&knob.name.as_str()));
    let pair = |Setting { name, value }: &Setting| (name.clone(), value.clone());
    let side = Side {
        name: name.to_owned(),
        kind: SideKind::Run,
        target: target.to_owned(),
        elapsed_s: runs.clone().map(DssRun::elapsed_s).sum(),
        repeats: 1,
        nodes: None,
        causes: Vec::new(),
        ids: Vec::new(),
    };
    SideFacts {
        measures: measures(&runs.collect::<Vec<_>>()),
        made: made.map(pair).collect(),
        ..SideFacts::new(side)
    }
}

/// Leaves what has an interval; a single run of each kind has none.
///
/// # Errors
/// A usage error when nothing is left.
pub fn with_intervals(mut facts: SideFacts) -> Result<SideFacts> {
    facts.measures.retain(|measure| measure.estimate.high > measure.estimate.low);
    if facts.measures.is_empty() {
        return Err(Error::usage(
            format!("{} has every run only once, so it has no interval", facts.side.name),
            "measure with --repeats 2 or more, or specify several runs of one side: A1,A2 B1,B2",
        ));
    }
    Ok(facts)
}

fn measures(runs: &[&DssRun]) -> Vec<SideFigure> {
    let mut measures = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for group in runs.iter().map(|run| run.group()) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    for name in groups {
        let mine: Vec<&DssRun> = runs.iter().copied().filter(|run| run.group() == name).collect();
        let means = mine.iter().filter_map(|run| run.geometric_mean_s()).map(|mean| mean * 1e9);
        let quantity = format!("{name}.query_time.geometric.mean");
        measures.extend(measured(quantity, None, means.collect()));
        for query in names(&mine) {
            let times = mine.iter().filter_map(|run| run.mean_time_ns(&query)).collect();
            let quantity = format!("{name}.query_time");
            measures.extend(measured(quantity, Some(query), times));
        }
    }
    measures
}

fn names(runs: &[&DssRun]) -> Vec<String> {
    let first = runs.first().map(|run| run.queries.as_slice()).unwrap_or_default();
    let mut names: Vec<&str> = first.iter().map(|query| query.name.as_str()).collect();
    names.sort_by_key(|name| (name.len(), *name));
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

fn measured(quantity: String, subject: Option<String>, times_ns: Vec<f64>) -> Option<SideFigure> {
    let repeats: Vec<Estimate> =
        times_ns.into_iter().map(|time_ns| Estimate::exact(time_ns, 1)).collect();
    let estimate = (!repeats.is_empty()).then(|| mean_of_repeats(&repeats))?;
    let n = count_of(repeats.len());
    let figure = SideFigure::new(quantity, subject, Unit::Ns, Estimate { n, ..estimate });
    Some(SideFigure { runs: repeats, ..figure })
}
