//! Scaling of results with the factors of a study: one curve a factor and combination of the
//! others, repeats joined.

use crate::compare::{mean_of_repeats, scaling};
use assay_model::Estimate;
use assay_model::comparison::Scaling;
use assay_model::study::{
    CellResult, CellState, FactorCurve, StudyPoint, StudySetting, load_figures, measure_unit,
};

/// Factors whose values are numbers of something that works at the same time.
const PARALLEL: [&str; 7] =
    ["sessions", "queue_depth", "workers", "parallelism", "volumes", "nodes", "hosts"];
/// What a curve is drawn of.
const SHOWN: [&str; 7] = [
    "iops",
    "throughput",
    "read.service_time.mean",
    "read.service_time.q0.99",
    "write.service_time.mean",
    "write.service_time.q0.99",
    "integrity.findings",
];

/// All curves of a study.
pub fn factor_curves(cells: &[CellResult]) -> Vec<FactorCurve> {
    let shown = SHOWN.into_iter().chain(load_figures().map(|(name, ..)| name));
    curves_of_all(cells, &shown.collect::<Vec<_>>())
}

/// All curves of what another program measured: of every number that it has.
pub fn imported_curves(cells: &[CellResult]) -> Vec<FactorCurve> {
    let mut quantities: Vec<&str> = Vec::new();
    for named in cells.iter().flat_map(|cell| &cell.measures) {
        if named.subject.is_none() && !quantities.contains(&named.quantity.as_str()) {
            quantities.push(&named.quantity);
        }
    }
    curves_of_all(cells, &quantities)
}

fn curves_of_all(cells: &[CellResult], quantities: &[&str]) -> Vec<FactorCurve> {
    let measured: Vec<&CellResult> =
        cells.iter().filter(|result| result.state == CellState::Measured).collect();
    let Some(first) = measured.first() else {
        return Vec::new();
    };
    let mut curves = Vec::new();
    for place in 0..first.cell.settings.len() {
        for quantity in quantities {
            curves.extend(curves_of(&measured, place, quantity));
        }
    }
    curves
}

/// The curves of one quantity over one factor, one for each combination of the others.
fn curves_of(cells: &[&CellResult], place: usize, quantity: &str) -> Vec<FactorCurve> {
    let mut groups: Vec<(String, Vec<&CellResult>)> = Vec::new();
    for cell in cells {
        let at = others(&cell.cell.settings, place);
        match groups.iter_mut().find(|(known, _)| *known == at) {
            Some((_, members)) => members.push(cell),
            None => groups.push((at, vec![cell])),
        }
    }
    let unit = measure_unit(quantity);
    let curve = |(at, members): (String, Vec<&CellResult>)| {
        let points = points(&members, place, quantity);
        (points.len() > 1).then(|| FactorCurve {
            factor: members[0].cell.settings[place].factor.clone(),
            quantity: quantity.to_owned(),
            unit,
            at,
            points,
        })
    };
    groups.into_iter().filter_map(curve).collect()
}

/// The settings that stand still, in words.
fn others(settings: &[StudySetting], place: usize) -> String {
    let words: Vec<String> = settings
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != place)
        .map(|(_, setting)| format!("{} {}", setting.factor, setting.value))
        .collect();
    words.join(", ")
}

/// Rates and times are never below nothing, however far few repeats let their interval reach.
fn positive(estimate: Estimate) -> Estimate {
    Estimate { low: estimate.low.max(0.0), ..estimate }
}

fn points(cells: &[&CellResult], place: usize, quantity: &str) -> Vec<StudyPoint> {
    let mut values = Vec::new();
    for cell in cells {
        let value = &cell.cell.settings[place].value;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if values.iter().all(|value| value.number().is_some()) {
        let number = |value: &assay_model::study::FactorValue| value.number().unwrap_or(0.0);
        values.sort_by(|one, other| number(one).total_cmp(&number(other)));
    }
    let point = |value: &assay_model::study::FactorValue| {
        let found: Vec<Estimate> = cells
            .iter()
            .filter(|cell| cell.cell.settings[place].value == *value)
            .filter_map(|cell| {
                let same = |named: &&assay_model::verdict::NamedEstimate| {
                    named.quantity == quantity && named.subject.is_none()
                };
                Some(cell.measures.iter().find(same)?.estimate)
            })
            .collect();
        (!found.is_empty()).then(|| StudyPoint {
            value: value.clone(),
            estimate: positive(mean_of_repeats(&found)),
            repeats: u32::try_from(found.len()).unwrap_or(u32::MAX),
        })
    };
    values.into_iter().filter_map(point).collect()
}

/// How the rates of a study grow with what works at the same time.
pub fn factor_scaling(curves: &[FactorCurve]) -> Vec<Scaling> {
    let grows = |curve: &&FactorCurve| {
        let factor = curve.factor.split('.').next().unwrap_or_default();
        curve.quantity == "iops" && PARALLEL.contains(&factor)
    };
    curves
        .iter()
        .filter(grows)
        .filter_map(|curve| {
            // Where a stream can be off, others do the work at that point.
            let points: Option<Vec<(f64, Estimate)>> = curve
                .points
                .iter()
                .map(|point| {
                    Some((point.value.number().filter(|number| *number > 0.0)?, point.estimate))
                })
                .collect();
            let name = match curve.at.as_str() {
                "" => format!("iops by {}", curve.factor),
                at => format!("iops by {} ({at})", curve.factor),
            };
            scaling(&name, curve.unit, &points?)
        })
        .collect()
}
