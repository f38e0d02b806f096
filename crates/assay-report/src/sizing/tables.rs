//! The tables of a sizing.

use super::words::{amount, demanded, limit, pieces, times, undocumented};
use crate::view::{CellLook, ViewTable};
use assay_model::sizing::{Configuration, Cost, DemandLine, LimitUse, Rejection, Sizing};

const ABSENT: &str = "–";

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), amount)
}

/// From what was seen to what has to be carried.
pub(super) fn demand(sizing: &Sizing) -> ViewTable {
    let table = ViewTable::new("Demand").look(CellLook::Stacked).words("").numbers("measured");
    let table = table.numbers("peak").numbers("with headroom").words("source").words("factors");
    table.with(sizing.demand.iter().filter(|line| line.seen_value > 0.0).map(line))
}

fn line(line: &DemandLine) -> Vec<String> {
    let factors = line.factors.iter().map(|one| format!("{:.3} {}", one.factor, one.name));
    vec![
        line.quantity.name().to_owned(),
        demanded(line.quantity, line.seen_value),
        demanded(line.quantity, line.peak_value),
        demanded(line.quantity, line.need_value),
        line.source.clone(),
        factors.collect::<Vec<_>>().join(", "),
    ]
}

/// One configuration a row, the cheapest first.
pub(super) fn cost(best: &[&Configuration]) -> ViewTable {
    let table = ViewTable::new("Configurations").look(CellLook::Dense).words("");
    // Phones show the first columns, so the price comes first.
    let table = table.numbers("per month").numbers("once").words("layout");
    let table = table.numbers("pieces").words("binding").numbers("used").numbers("per TB");
    let table = table.numbers("1,000 IOPS").numbers("transaction/s");
    table.with(best.iter().map(|found| costed(found)))
}

fn costed(found: &Configuration) -> Vec<String> {
    let cost = found.cost.as_ref();
    let of = |value: fn(&Cost) -> Option<f64>| optional(cost.and_then(value));
    let binding = found.limit(found.binding).map_or(0.0, LimitUse::worst_ratio);
    vec![
        found.name.clone(),
        of(|cost| Some(cost.month_total)),
        of(|cost| (cost.once_total > 0.0).then_some(cost.once_total)),
        found.layout.clone(),
        (found.units + found.spares).to_string(),
        found.binding.name().to_owned(),
        percent(binding),
        of(|cost| cost.terabyte_value),
        of(|cost| cost.thousand_iops_value),
        of(|cost| cost.transaction_value),
    ]
}

fn percent(ratio: f64) -> String {
    format!("{:.0}%", 100.0 * ratio)
}

/// Every limit of a configuration: need, has and use, normally and with a part gone.
pub(super) fn limits(found: &Configuration) -> ViewTable {
    let fails = found.limits.iter().any(|limit| limit.failed.is_some());
    let mut table = ViewTable::of_numbers("", &["", "need", "has", "used"]);
    if fails {
        table = table.words("failed").numbers("need then").numbers("has then").numbers("used then");
    }
    let asked = found.limits.iter().filter(|limit| limit.need_value > 0.0);
    table.with(asked.map(|one| used(one, fails)))
}

fn used(one: &LimitUse, fails: bool) -> Vec<String> {
    let mut cells = vec![
        one.limit.name().to_owned(),
        limit(one.limit, one.need_value),
        limit(one.limit, one.has_value),
        percent(one.use_ratio()),
    ];
    if fails {
        cells.extend(one.failed.map_or_else(
            || vec![ABSENT.to_owned(); 4],
            |failed| {
                vec![
                    failed.part.name().to_owned(),
                    limit(one.limit, failed.need_value),
                    limit(one.limit, failed.has_value),
                    percent(failed.use_ratio()),
                ]
            },
        ));
    }
    cells
}

/// What each cost is made of.
pub(super) fn lines(best: &[&Configuration]) -> ViewTable {
    let table = ViewTable::new("Cost lines").look(CellLook::Dense).words("").words("for");
    let table = table.numbers("once").numbers("per month").words("currency");
    let rows = best.iter().filter_map(|found| Some((found, found.cost.as_ref()?)));
    table.with(rows.flat_map(|(found, cost)| {
        cost.lines.iter().map(|line| {
            let shown = amount(line.amount_value);
            let (once, month) = if line.is_monthly {
                (ABSENT.to_owned(), shown)
            } else {
                (shown, ABSENT.to_owned())
            };
            vec![found.name.clone(), line.what.clone(), once, month, cost.currency.clone()]
        })
    }))
}

/// The days on which prices held, each once.
pub(super) fn price_days(sizing: &Sizing, best: &[&Configuration]) -> ViewTable {
    let table = ViewTable::new("Price dates").look(CellLook::Dense).words("").numbers("day");
    let table = table.numbers("days ago").words("source");
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (found, cost) in best.iter().filter_map(|found| Some((found, found.cost.as_ref()?))) {
        let days = sizing.day.days_since(cost.as_of).to_string();
        let row = vec![found.name.clone(), cost.as_of.to_string(), days, cost.source.clone()];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    table.with(rows)
}

/// What suffices if what is not documented is enough, the cheapest first.
pub(super) fn undecided(best: &[&Configuration]) -> ViewTable {
    let table = ViewTable::new("Undecided").look(CellLook::Dense).words("").words("layout");
    let table =
        table.words("not documented").numbers("once").numbers("per month").numbers("per TB");
    table.with(best.iter().map(|found| {
        let cost = found.cost.as_ref();
        vec![
            found.name.clone(),
            pieces(found),
            undocumented(found),
            optional(cost.map(|cost| cost.once_total).filter(|once| *once > 0.0)),
            optional(cost.map(|cost| cost.month_total)),
            optional(cost.and_then(|cost| cost.terabyte_value)),
        ]
    }))
}

/// What was tried and does not do, with the reason.
pub(super) fn rejections(rejections: &[Rejection]) -> ViewTable {
    let table = ViewTable::new("Rejected").look(CellLook::Stacked).words("").words("why");
    let table = table.numbers("times too little");
    table.with(rejections.iter().map(|one| {
        let far = one.short_ratio.map_or_else(|| ABSENT.to_owned(), times);
        vec![one.name.clone(), one.reason.clone(), far]
    }))
}
