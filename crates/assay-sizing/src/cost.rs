//! What a configuration costs: its lines, and its price for a terabyte, for 1,000 IOPS and for a
//! transaction.

use crate::candidate::Need;
use crate::plan::SizingPlan;
use assay_catalog::CatalogListing;
use assay_model::catalog::{Offer, PriceList, VolumeOrder};
use assay_model::number::real;
use assay_model::sizing::{Configuration, Cost, CostLine, LimitKind};
use assay_model::units::{Bytes, show_bytes, show_count, show_throughput};

const GIB: f64 = 1_073_741_824.0;
const MONTHS_A_YEAR: f64 = 12.0;

/// The cost of a configuration; `None` where the entry has no price.
pub(crate) fn cost(
    listing: &CatalogListing,
    configuration: &Configuration,
    need: &Need,
    plan: &SizingPlan,
) -> Option<Cost> {
    let list = listing.entry.price.as_ref()?;
    let lines = lines(list, listing, configuration);
    let sum = |is_monthly: bool| -> f64 {
        let of = lines.iter().filter(|line| line.is_monthly == is_monthly);
        // The sum of nothing is 0, and not the -0 of an empty sum.
        of.fold(0.0, |sum, line| sum + line.amount_value)
    };
    let (once_total, monthly_total) = (sum(false), sum(true));
    let months = MONTHS_A_YEAR * f64::from(plan.lifetime_years);
    let month_total = monthly_total + once_total / months;
    let per_capacity = if monthly_total > 0.0 { month_total } else { once_total };
    let bytes = bought_bytes(listing, configuration);
    let per = |unit: f64| (bytes > 0.0).then(|| per_capacity / (bytes / unit));
    Some(Cost {
        currency: listing.currency.clone(),
        once_total,
        monthly_total,
        month_total,
        terabyte_value: per(1e12),
        tebibyte_value: per(1_099_511_627_776.0),
        thousand_iops_value: host_iops(configuration, need).map(|iops| month_total / (iops / 1e3)),
        transaction_value: (need.transactions_per_s > 0.0)
            .then(|| month_total / need.transactions_per_s),
        as_of: list.as_of,
        source: list.source.clone(),
        lines,
    })
}

fn lines(
    list: &PriceList,
    listing: &CatalogListing,
    configuration: &Configuration,
) -> Vec<CostLine> {
    let units = real(configuration.units + configuration.spares);
    let mut lines = Vec::new();
    lines.extend(list.per_unit.map(|price| {
        let what = format!("{} x {}", show_count(units), listing.entry.name);
        CostLine { what, is_monthly: false, amount_value: units * price.0 }
    }));
    let volumes = real(configuration.units);
    if let Some(order) = &configuration.order {
        lines.extend(of_order(list, listing, order).into_iter().map(|line| CostLine {
            amount_value: volumes * line.amount_value,
            what: if configuration.units > 1 {
                format!("{} x {}", configuration.units, line.what)
            } else {
                line.what
            },
            ..line
        }));
    }
    lines
}

/// What one volume costs a month.
fn of_order(list: &PriceList, listing: &CatalogListing, order: &VolumeOrder) -> Vec<CostLine> {
    let monthly =
        |what: String, amount_value: f64| CostLine { what, is_monthly: true, amount_value };
    let mut lines = Vec::new();
    lines.extend(list.per_gib_month.map(|price| {
        let billed = list.billed_bytes(order.size);
        let (shown, size) = (show_bytes(real(billed.0)), show_bytes(real(order.size.0)));
        let what = if billed == order.size { size } else { format!("{size}, billed as {shown}") };
        monthly(what, real(billed.0) / GIB * price.0)
    }));
    let iops = list.iops_month(order.iops.0);
    if !list.per_iops_month.is_empty() && iops > 0.0 {
        lines.push(monthly(format!("{} IOPS", show_count(order.iops.0)), iops));
    }
    lines.extend(list.per_throughput_month.and_then(|price| {
        let included = match listing.entry.offer() {
            Some(Offer::Volume(volume)) => volume.throughput.included_per_s,
            _ => Bytes(0),
        };
        let above = real(order.throughput_per_s.0.saturating_sub(included.0));
        let amount = above / real(price.unit_per_s.0) * price.price.0;
        let what = show_throughput(real(order.throughput_per_s.0));
        (amount > 0.0).then(|| monthly(what, amount))
    }));
    lines
}

/// Bytes that are paid for, before redundancy.
fn bought_bytes(listing: &CatalogListing, configuration: &Configuration) -> f64 {
    let units = real(configuration.units);
    match listing.entry.offer() {
        Some(Offer::Device(device)) => units * real(device.capacity.0),
        Some(Offer::Array(array)) => units * real(array.capacity.0),
        Some(Offer::Volume(_)) => {
            configuration.order.map_or(0.0, |order| units * real(order.size.0))
        }
        _ => 0.0,
    }
}

/// I/Os of the host at the limit: of the back end as many as the demand's mix makes of them.
fn host_iops(configuration: &Configuration, need: &Need) -> Option<f64> {
    let limit = configuration.limit(LimitKind::Iops)?;
    let iops = if limit.need_value > 0.0 {
        limit.has_value * need.normal.iops() / limit.need_value
    } else {
        limit.has_value
    };
    (iops > 0.0).then_some(iops)
}
