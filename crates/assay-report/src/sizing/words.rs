//! The sentences of a sizing, and how its amounts are written.

use assay_model::number::real;
use assay_model::sizing::{Configuration, Cost, DemandQuantity, LimitKind, Sizing};
use assay_model::units::{show_bytes, show_count, show_throughput, show_time_ns};

/// The cheapest that carries the demand, or how far the nearest is from it.
pub(super) fn headline(sizing: &Sizing) -> String {
    let Some(first) = sizing.configurations.first() else {
        if let Some(first) = sizing.undecided.first() {
            return undecided(first);
        }
        let nearest = sizing.rejections.first().map_or_else(String::new, |nearest| {
            let far = nearest
                .short_ratio
                .map_or_else(String::new, |ratio| format!(" ({} times too little)", times(ratio)));
            format!(" The nearest is {}: {}{far}.", nearest.name, nearest.reason)
        });
        return format!("Nothing in the catalog meets this demand.{nearest}");
    };
    let price = first
        .cost
        .as_ref()
        .map_or_else(|| "without a price".to_owned(), |cost| format!("for {}", a_month(cost)));
    let which = if first.cost.is_some() { "The cheapest is" } else { "The fewest are" };
    format!("{which} {} {price}; {} is its tightest limit.", pieces(first), first.binding.name())
}

/// What would suffice if what nobody documents were enough.
fn undecided(first: &Configuration) -> String {
    let unknown = undocumented(first);
    let price =
        first.cost.as_ref().map_or_else(String::new, |cost| format!(" for {}", a_month(cost)));
    format!(
        "Undecided: {}{price} meets every limit except {unknown}, for which nothing is documented.",
        pieces(first)
    )
}

/// The limits of which nothing is known.
pub(super) fn undocumented(found: &Configuration) -> String {
    let names: Vec<&str> = found.undocumented.iter().map(|limit| limit.name()).collect();
    names.join(" and ")
}

fn need(sizing: &Sizing, quantity: DemandQuantity) -> f64 {
    sizing.line(quantity).map_or(0.0, |line| line.need_value)
}

/// Rates and throughput of the demand, where it has rates.
pub(super) fn demand(sizing: &Sizing) -> Option<String> {
    let need = |quantity| need(sizing, quantity);
    let (reads, writes) = (need(DemandQuantity::ReadIops), need(DemandQuantity::WriteIops));
    let bytes = need(DemandQuantity::ReadBytesPerS) + need(DemandQuantity::WriteBytesPerS);
    (reads + writes > 0.0).then(|| {
        format!(
            "{} reads/s and {} writes/s ({})",
            show_count(reads),
            show_count(writes),
            show_throughput(bytes)
        )
    })
}

/// What the demand is, in a sentence, and what is asked of its failure and its latency.
pub(super) fn details(sizing: &Sizing) -> Vec<String> {
    let capacity = need(sizing, DemandQuantity::CapacityBytes);
    let mut details = Vec::new();
    details.extend(demand(sizing).map(|demand| format!("Demand: {demand}, headroom included.")));
    details.push(if capacity > 0.0 {
        format!("Capacity: {}.", show_bytes(capacity))
    } else {
        "No capacity was given: costs cover only the I/O; add --capacity.".to_owned()
    });
    details.extend(
        sizing.read_latency_s.map(|latency_s| {
            format!("A mean read takes at most {}.", show_time_ns(latency_s * 1e9))
        }),
    );
    if !sizing.survives.is_empty() {
        let parts: Vec<&str> = sizing.survives.iter().map(|part| part.name()).collect();
        details.push(format!(
            "It sustains the peak without headroom after a failure of a {}.",
            parts.join(" or a ")
        ));
    }
    details
}

/// How many of what: `4 x gp3, stripe of 4, each of 1.00 TiB, 5,000 IOPS, 157 MB/s`, or `24 x
/// hdd-15k, RAID 10`.
pub(super) fn pieces(found: &Configuration) -> String {
    let spares =
        if found.spares > 0 { format!(" and {} spares", found.spares) } else { String::new() };
    let order = found.order.map_or_else(String::new, |order| {
        format!(
            "{}, {} IOPS, {}",
            show_bytes(real(order.size.0)),
            show_count(order.iops.0),
            show_throughput(real(order.throughput_per_s.0))
        )
    });
    let (units, name, layout) = (show_count(real(found.units)), &found.name, &found.layout);
    match (order.is_empty(), found.units) {
        (true, _) => format!("{units} × {name}{spares}, {layout}"),
        (false, 1) => format!("{units} × {name} of {order}"),
        (false, _) => format!("{units} × {name}, {layout}, each of {order}"),
    }
}

/// `431.68 USD a month`, or `360,000 USD`.
pub(super) fn a_month(cost: &Cost) -> String {
    if cost.monthly_total > 0.0 {
        format!("{} {} per month", amount(cost.month_total), cost.currency)
    } else {
        format!("{} {}", amount(cost.once_total), cost.currency)
    }
}

/// An amount of money: two digits behind the point where they matter.
pub(super) fn amount(value: f64) -> String {
    let cents = (value * 100.0).round();
    let whole = (cents / 100.0).floor();
    if value >= 10_000.0 {
        return show_count(value);
    }
    format!("{}.{:02}", show_count(whole), (cents - whole * 100.0).round())
}

/// A ratio with two digits, or three where it is close to one.
pub(super) fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { show_count(ratio) }
}

/// An amount of a limit in its unit.
pub(super) fn limit(kind: LimitKind, value: f64) -> String {
    match kind {
        LimitKind::Capacity => show_bytes(value),
        LimitKind::Iops | LimitKind::InstanceIops | LimitKind::InstanceVolumes => show_count(value),
        LimitKind::Ports => format!("{value:.1}"),
        LimitKind::Throughput | LimitKind::InstanceThroughput => show_throughput(value),
        LimitKind::Latency => show_time_ns(value * 1e9),
        LimitKind::Endurance => format!("{}/day", show_bytes(value)),
    }
}

/// An amount of a demand in its unit.
pub(super) fn demanded(quantity: DemandQuantity, value: f64) -> String {
    match quantity {
        DemandQuantity::ReadIops | DemandQuantity::WriteIops => format!("{}/s", show_count(value)),
        DemandQuantity::TransactionsPerS => format!("{value:.1}/s"),
        DemandQuantity::ReadBytesPerS | DemandQuantity::WriteBytesPerS => show_throughput(value),
        DemandQuantity::CapacityBytes => show_bytes(value),
        DemandQuantity::DailyWrittenBytes => format!("{}/day", show_bytes(value)),
    }
}
