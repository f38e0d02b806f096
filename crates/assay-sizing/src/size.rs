//! Sizing: every entry of a catalog is tried, what meets every limit is kept and sorted by cost, the rest says why not.

use crate::array::size_arrays;
use crate::candidate::{Need, Outcome, binding, failing, limit, refused};
use crate::cost::cost;
use crate::demand::build_demand;
use crate::device::size_devices;
use crate::doubts::doubts;
use crate::formulas::{PORT_USE, port_count};
use crate::plan::SizingPlan;
use crate::volume::size_volumes;
use assay_catalog::{CatalogIndex, Listing, PriceAge, price_age};
use assay_model::catalog::{InstanceOffer, Offer, PortOffer};
use assay_model::number::real;
use assay_model::profile::Profile;
use assay_model::sizing::{
    Configuration, FORMAT, FailingPart, LimitKind, LimitUse, Rejection, Sizing,
};
use assay_model::{Error, Result};

/// Sizes a demand: that of the profiles, which come with the names of their files, or the one that the plan gives.
///
/// # Errors
/// A usage error when the plan or a profile has no demand, a name is in no catalog, or prices are in two currencies.
pub fn size(
    profiles: &[(&str, &Profile)],
    index: &CatalogIndex,
    plan: &SizingPlan,
) -> Result<Sizing> {
    plan.check()?;
    let demand = build_demand(profiles, plan)?;
    let need = Need::of(&demand);
    let place = Place::find(index, plan)?;
    let mut configurations = Vec::new();
    let mut rejections: Vec<Rejection> = Vec::new();
    for listing in considered(index, plan, &place)? {
        let found = tried(listing, &place, &need, plan);
        let mut kept = keep(found, &mut configurations);
        // Why the nearest of its layouts does not do is enough, and nothing where one does.
        kept.sort_by(|one, other| nearness(one).total_cmp(&nearness(other)));
        let does = configurations.iter().any(|one: &Configuration| one.name == listing.entry.name);
        rejections.extend(kept.into_iter().next().filter(|_| !does));
    }
    one_currency(&configurations)?;
    configurations.sort_by(|one, other| {
        rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    rejections.sort_by(|one, other| nearness(one).total_cmp(&nearness(other)));
    Ok(Sizing {
        format: FORMAT,
        day: plan.day,
        read_latency_s: plan.read_latency.map(assay_model::units::Nanos::seconds),
        survives: plan.survives.clone(),
        doubts: doubts(profiles, plan, &configurations),
        demand,
        configurations,
        rejections,
    })
}

/// What stands between the host and the storage.
struct Place<'a> {
    machine: Option<&'a InstanceOffer>,
    port: Option<(&'a str, &'a PortOffer)>,
}

impl<'a> Place<'a> {
    fn find(index: &'a CatalogIndex, plan: &'a SizingPlan) -> Result<Self> {
        let wrong = |name: &str, what: &str| {
            Error::usage(format!("'{name}' is not a {what}"), "`assay catalog` lists what there is")
        };
        let machine = plan.instance.as_deref().map(|name| match index.find(name)?.entry.offer() {
            Some(Offer::Instance(machine)) => Ok(machine),
            _ => Err(wrong(name, "virtual machine")),
        });
        let port = plan.port.as_deref().map(|name| match index.find(name)?.entry.offer() {
            Some(Offer::Port(port)) => Ok((name, port)),
            _ => Err(wrong(name, "port")),
        });
        Ok(Self { machine: machine.transpose()?, port: port.transpose()? })
    }
}

/// The entries that store: those of `--only`, all otherwise; with a machine only volumes.
fn considered<'a>(
    index: &'a CatalogIndex,
    plan: &SizingPlan,
    place: &Place<'_>,
) -> Result<Vec<&'a Listing>> {
    let named = plan.only.iter().map(|name| index.find(name)).collect::<Result<Vec<_>>>()?;
    let all: Vec<&Listing> =
        if named.is_empty() { index.listings().iter().collect() } else { named };
    let stores = |listing: &&Listing| match listing.entry.offer() {
        Some(Offer::Volume(_)) => true,
        Some(Offer::Device(_) | Offer::Array(_)) => place.machine.is_none(),
        _ => false,
    };
    let kept: Vec<&Listing> = all.into_iter().filter(stores).collect();
    if kept.is_empty() {
        return Err(Error::usage(
            "no entry that stores is left",
            "name disks, drives, arrays or volumes with --only; `assay catalog` lists them",
        ));
    }
    Ok(kept)
}

/// Every layout of an entry.
fn tried(listing: &Listing, place: &Place<'_>, need: &Need, plan: &SizingPlan) -> Vec<Outcome> {
    if let Some(reason) = too_old(listing, plan) {
        return vec![Err(Box::new(refused(listing, reason)))];
    }
    let found: Vec<Outcome> = match listing.entry.offer() {
        Some(Offer::Device(device)) => {
            let levels = plan.raid.iter();
            levels.map(|level| size_devices(listing, device, *level, need, plan)).collect()
        }
        Some(Offer::Array(array)) => vec![size_arrays(listing, array, need, plan)],
        Some(Offer::Volume(volume)) => stripes(plan)
            .map(|stripe| size_volumes(listing, volume, stripe, place.machine, need, plan))
            .collect(),
        _ => Vec::new(),
    };
    let completed = |configuration| complete(configuration, listing, place, need, plan);
    found.into_iter().map(|outcome| outcome.map(completed)).collect()
}

/// Stripes of 1, 2, 4 … volumes.
fn stripes(plan: &SizingPlan) -> impl Iterator<Item = u32> {
    let most = plan.stripes_max;
    std::iter::successors(Some(1_u32), |stripe| stripe.checked_mul(2))
        .take_while(move |one| *one <= most)
}

fn too_old(listing: &Listing, plan: &SizingPlan) -> Option<String> {
    let as_of = listing.entry.price.as_ref()?.as_of;
    let refused = price_age(as_of, plan.day) == PriceAge::Refused && !plan.accepts_old_prices;
    refused.then(|| {
        format!("its price is of {as_of}, more than two years old: give today's in a catalog of your own, or --accept-old-prices")
    })
}

/// Ports, cost, and the doubt that an old price is.
fn complete(
    mut configuration: Configuration,
    listing: &Listing,
    place: &Place<'_>,
    need: &Need,
    plan: &SizingPlan,
) -> Configuration {
    if let Some((name, port)) = place.port.filter(|_| configuration.order.is_none()) {
        configuration.limits.push(ports(name, port, need, plan));
        configuration.binding = binding(&configuration.limits);
    }
    configuration.cost = cost(listing, &configuration, need, plan);
    if let Some(price) = &listing.entry.price {
        let days = plan.day.days_since(price.as_of);
        if price_age(price.as_of, plan.day) != PriceAge::Fresh {
            let doubt = format!("its price is of {}, {days} days old", price.as_of);
            configuration.doubts.push(doubt);
        }
    }
    configuration
}

/// The ports that it takes: a limit that is met by buying as many.
fn ports(name: &str, port: &PortOffer, need: &Need, plan: &SizingPlan) -> LimitUse {
    let payload = real(port.payload_per_s.0);
    let survives = plan.survives(FailingPart::Port);
    let number = real(port_count(need.normal.bytes_per_s(), payload, survives));
    let of = |bytes_per_s: f64| bytes_per_s / (payload * PORT_USE);
    let formula = format!("bytes/s over {PORT_USE} x payload of {name}");
    let ports = limit(LimitKind::Ports, of(need.normal.bytes_per_s()), number, formula);
    if survives {
        failing(ports, FailingPart::Port, of(need.failed.bytes_per_s()), number - 1.0)
    } else {
        ports
    }
}

/// Puts what does to the configurations, and gives back what does not.
fn keep(found: Vec<Outcome>, configurations: &mut Vec<Configuration>) -> Vec<Rejection> {
    let mut rejections = Vec::new();
    for outcome in found {
        match outcome {
            Ok(configuration) => configurations.push(configuration),
            Err(rejection) => rejections.push(*rejection),
        }
    }
    rejections
}

/// How far a rejection is from being none; those without a number come last.
fn nearness(rejection: &Rejection) -> f64 {
    rejection.short_ratio.unwrap_or(f64::INFINITY)
}

/// Priced ones first, by what a month costs; then the fewest pieces.
fn rank(configuration: &Configuration) -> (bool, f64, u64, &str) {
    let month = configuration.cost.as_ref().map(|cost| cost.month_total);
    let pieces = configuration.units + configuration.spares;
    (month.is_none(), month.unwrap_or(0.0), pieces, &configuration.name)
}

/// Amounts in two currencies cannot be sorted.
fn one_currency(configurations: &[Configuration]) -> Result<()> {
    let currency = |one: &Configuration| one.cost.as_ref().map(|cost| cost.currency.clone());
    let mut priced = configurations.iter().filter_map(|one| Some((&one.name, currency(one)?)));
    let Some((first, of_first)) = priced.next() else {
        return Ok(());
    };
    match priced.find(|(_, currency)| *currency != of_first) {
        None => Ok(()),
        Some((other, of_other)) => Err(Error::usage(
            format!("prices are in two currencies: {first} in {of_first}, {other} in {of_other}"),
            "leave one of them out with --only, or overlay it with a catalog in the other currency",
        )),
    }
}

#[cfg(test)]
mod tests;
