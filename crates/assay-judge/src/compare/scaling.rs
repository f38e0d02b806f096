//! How a quantity grows with the number of nodes: against linear growth, and by the Universal
//! Scalability Law.

use crate::statistics;
use assay_model::Estimate;
use assay_model::comparison::{Scaling, ScalingPoint};
use assay_model::verdict::Unit;

/// A scaling curve; `None` of fewer than two different numbers of nodes.
pub fn scaling(quantity: &str, unit: Unit, values: &[(f64, Estimate)]) -> Option<Scaling> {
    let mut values = values.to_vec();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (least, alone) = *values.first()?;
    if values.last()?.0 <= least {
        return None;
    }
    let point = |(nodes, value): &(f64, Estimate)| ScalingPoint {
        nodes: *nodes,
        value: *value,
        of_linear: of_linear(value, &alone, nodes / least),
    };
    let seen: Vec<(f64, f64)> = values.iter().map(|(nodes, value)| (*nodes, value.value)).collect();
    Some(Scaling {
        quantity: quantity.to_owned(),
        unit,
        points: values.iter().map(point).collect(),
        law: statistics::scaling_law(&seen),
    })
}

/// What is given over what linear growth promises; exact for the smallest point itself.
fn of_linear(value: &Estimate, alone: &Estimate, times: f64) -> Estimate {
    if times <= 1.0 {
        return Estimate::exact(1.0, value.n);
    }
    let ratio = statistics::quotient(value, alone).unwrap_or(Estimate {
        value: value.value / alone.value,
        low: 0.0,
        high: f64::MAX,
        ..*value
    });
    ratio.scaled(times.recip())
}
