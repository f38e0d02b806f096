//! The numbers of an imported result under the names that criteria use.

use assay_model::Estimate;
use assay_model::study::{CellResult, StudyResult};
use assay_model::verdict::NamedEstimate;

/// Numbers of each row; of several rows each is a subject.
pub(super) fn numbers(study: &StudyResult) -> Vec<NamedEstimate> {
    let rows: Vec<&CellResult> = study.cells.iter().filter(|row| row.is_imported()).collect();
    let is_one = rows.len() == 1;
    let of_row = |row: &&CellResult| {
        let name = (!is_one).then(|| format!("row {}", row.cell.number));
        let own = row.measures.iter().filter(|named| named.subject.is_none()).cloned();
        let mut all: Vec<NamedEstimate> = own.collect();
        let loads: Vec<NamedEstimate> = all.iter().filter_map(of_load).collect();
        all.extend(loads);
        all.extend(["iops", "throughput"].into_iter().filter_map(|what| sum(&row.measures, what)));
        all.into_iter().map(move |named| NamedEstimate { subject: name.clone(), ..named })
    };
    rows.iter().flat_map(of_row).collect()
}

/// What a load on a database is called in criteria: `load.new_orders`, a minute.
fn of_load(named: &NamedEstimate) -> Option<NamedEstimate> {
    let is_rate = named.quantity == "new_orders";
    let is_time = named.quantity.contains(".response_time.")
        && !["read.", "write.", "transaction."].iter().any(|side| named.quantity.starts_with(side));
    let estimate = if is_rate { named.estimate.scaled(60.0) } else { named.estimate };
    (is_rate || is_time).then(|| NamedEstimate {
        quantity: format!("load.{}", named.quantity),
        estimate,
        ..named.clone()
    })
}

/// Reads and writes together, where only each of them is known; how they vary together is not.
fn sum(measures: &[NamedEstimate], what: &str) -> Option<NamedEstimate> {
    let of = |quantity: &str| measures.iter().find(|named| named.quantity == quantity);
    if of(what).is_some() {
        return None;
    }
    let sides = ["read", "write"].map(|side| of(&format!("{side}.{what}")));
    let known: Vec<Estimate> = sides.into_iter().flatten().map(|named| named.estimate).collect();
    let estimate = match known.as_slice() {
        [] => return None,
        [only] => *only,
        both => Estimate::without_interval(both.iter().map(|one| one.value).sum(), 1),
    };
    Some(NamedEstimate { quantity: what.to_owned(), subject: None, estimate })
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::*;

    fn named(quantity: &str, value: f64) -> NamedEstimate {
        NamedEstimate {
            quantity: quantity.to_owned(),
            subject: None,
            estimate: Estimate::without_interval(value, 1),
        }
    }

    #[test]
    fn numbers_have_the_names_of_criteria() {
        let orders = of_load(&named("new_orders", 2000.0)).unwrap();
        assert_eq!(
            (orders.quantity.as_str(), orders.estimate.value),
            ("load.new_orders", 120_000.0)
        );
        let payment = of_load(&named("payment.response_time.mean", 5.0)).unwrap();
        assert_eq!(payment.quantity, "load.payment.response_time.mean");
        assert_eq!(of_load(&named("read.response_time.mean", 5.0)), None);
        let sides = [named("read.iops", 70.0), named("write.iops", 30.0)];
        assert_eq!(sum(&sides, "iops").unwrap().estimate.value, 100.0);
        assert_eq!(sum(&sides[..1], "iops").unwrap().estimate.value, 70.0);
        assert_eq!(sum(&[named("iops", 5.0)], "iops"), None);
    }
}
