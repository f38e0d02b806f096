//! Sizing: every entry of a catalog is tried, what meets every limit is kept and sorted by cost,
//! the rest says why not.

use crate::array::size_arrays;
use crate::candidate::{CandidateOutcome, Need, binding, failing, limit, refused};
use crate::cost::cost;
use crate::databases::{SizedDatabase, databases};
use crate::demand::build_demand;
use crate::device::size_devices;
use crate::doubts::doubts;
use crate::formulas::{PORT_USE, port_count};
use crate::plan::SizingPlan;
use crate::sample::DemandSample;
use crate::volume::size_volumes;
use assay_catalog::{CatalogIndex, CatalogListing, PriceAge, are_limits_old, price_age};
use assay_model::catalog::{InstanceOffer, Offer, PortOffer};
use assay_model::number::real;
use assay_model::profile::Profile;
use assay_model::sizing::{
    Configuration, FORMAT, FailingPart, LimitKind, LimitUse, Rejection, Sizing,
};
use assay_model::{Error, Result};

/// Of more databases only the first are named.
const NAMED_MAX: usize = 4;

/// Sizes a demand: that of the profiles, which come with the names of their files, or the one that
/// the plan gives.
///
/// # Errors
/// A usage error when the plan or a profile has no demand, a name is in no catalog, or prices are
/// in two currencies.
pub fn size(
    profiles: &[(&str, &Profile)],
    index: &CatalogIndex,
    plan: &SizingPlan,
) -> Result<Sizing> {
    plan.check()?;
    let databases = demanding(profiles, plan)?;
    let demand = build_demand(&databases, plan)?;
    let need = Need::of(&demand);
    let place = PathPlace::find(index, plan)?;
    let mut found = Tried::default();
    for listing in considered(index, plan, &place)? {
        found.take(listing, tried(listing, &place, &need, plan));
    }
    let Tried { mut configurations, mut undecided, mut rejections } = found;
    one_currency(configurations.iter().chain(&undecided))?;
    sort_by_rank(&mut configurations);
    sort_by_rank(&mut undecided);
    rejections.sort_by(|one, other| nearness(one).total_cmp(&nearness(other)));
    Ok(Sizing {
        format: FORMAT,
        day: plan.day,
        read_latency_s: plan.read_latency.map(assay_model::units::Nanos::seconds),
        survives: plan.survives.clone(),
        doubts: doubts(profiles, &databases, plan, &configurations),
        demand,
        configurations,
        undecided,
        rejections,
    })
}

/// The databases of the profiles, or the demand of the plan.
fn demanding(profiles: &[(&str, &Profile)], plan: &SizingPlan) -> Result<Vec<SizedDatabase>> {
    match &plan.given {
        Some(_) if !profiles.is_empty() => Err(Error::usage(
            "both profiles and --iops are given",
            "pass profiles or --iops, not both",
        )),
        Some(given) => Ok(vec![SizedDatabase::given(DemandSample::given(given))]),
        None => {
            let databases = databases(profiles)?;
            if databases.len() > 1 && !plan.consolidates {
                return Err(several(&databases));
            }
            Ok(databases)
        }
    }
}

fn several(databases: &[SizedDatabase]) -> Error {
    let names: Vec<&str> = databases.iter().take(NAMED_MAX).map(|one| one.name.as_str()).collect();
    let more = databases.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Error::usage(
        format!(
            "the profiles are of {} different databases: {}{more}",
            databases.len(),
            names.join(", ")
        ),
        "size each separately, or pass --consolidate for one shared storage",
    )
}

/// What stands between the host and the storage.
struct PathPlace<'a> {
    index: &'a CatalogIndex,
    machine: Option<&'a InstanceOffer>,
    port: Option<(&'a str, &'a PortOffer)>,
}

impl<'a> PathPlace<'a> {
    fn find(index: &'a CatalogIndex, plan: &'a SizingPlan) -> Result<Self> {
        let wrong = |name: &str, what: &str| {
            Error::usage(
                format!("'{name}' is not a {what}"),
                "`assay list catalog` lists the entries",
            )
        };
        let machine = plan.instance.as_deref().map(|name| match index.find(name)?.entry.offer() {
            Some(Offer::Instance(machine)) => Ok(machine),
            _ => Err(wrong(name, "virtual machine")),
        });
        let port = plan.port.as_deref().map(|name| match index.find(name)?.entry.offer() {
            Some(Offer::Port(port)) => Ok((name, port)),
            _ => Err(wrong(name, "port")),
        });
        Ok(Self { index, machine: machine.transpose()?, port: port.transpose()? })
    }
}

/// The entries that store: those of `--only`, otherwise all that are for sale; with a machine only
/// volumes.
fn considered<'a>(
    index: &'a CatalogIndex,
    plan: &SizingPlan,
    place: &PathPlace<'_>,
) -> Result<Vec<&'a CatalogListing>> {
    let named = plan.only.iter().map(|name| index.find(name)).collect::<Result<Vec<_>>>()?;
    let all: Vec<&CatalogListing> = if named.is_empty() { for_sale(index) } else { named };
    let stores = |listing: &&CatalogListing| match listing.entry.offer() {
        Some(Offer::Volume(_)) => true,
        Some(Offer::Device(_) | Offer::Array(_)) => place.machine.is_none(),
        _ => false,
    };
    let kept: Vec<&CatalogListing> = all.into_iter().filter(stores).collect();
    if kept.is_empty() {
        return Err(Error::usage(
            "no storage entry is left",
            "specify disks, drives, arrays or volumes with --only; `assay list catalog` lists them",
        ));
    }
    Ok(kept)
}

/// All entries except published models, which nobody sells.
fn for_sale(index: &CatalogIndex) -> Vec<&CatalogListing> {
    index.listings().iter().filter(|listing| !listing.entry.reference).collect()
}

/// Every layout of an entry.
fn tried(
    listing: &CatalogListing,
    place: &PathPlace<'_>,
    need: &Need,
    plan: &SizingPlan,
) -> Vec<CandidateOutcome> {
    if let Some(reason) = too_old(listing, plan) {
        return vec![Err(Box::new(refused(listing, reason)))];
    }
    let found: Vec<CandidateOutcome> = match listing.entry.offer() {
        Some(Offer::Device(device)) => {
            let levels = plan.raid.iter();
            levels.map(|level| size_devices(listing, device, *level, need, plan)).collect()
        }
        Some(Offer::Array(array)) => vec![size_arrays(listing, array, need, plan)],
        Some(Offer::Volume(volume)) => (1..=plan.stripes_max)
            .map(|stripe| size_volumes(listing, volume, stripe, place.machine, need, plan))
            .collect(),
        _ => Vec::new(),
    };
    let completed = |configuration| complete(configuration, listing, place, need, plan);
    found.into_iter().map(|outcome| outcome.map(completed)).collect()
}

fn too_old(listing: &CatalogListing, plan: &SizingPlan) -> Option<String> {
    let as_of = listing.entry.price.as_ref()?.as_of;
    let refused = price_age(as_of, plan.day) == PriceAge::Refused && !plan.accepts_old_prices;
    refused.then(|| {
        format!(
            "its price of {as_of} is more than two years old: add a current one in your own \
             catalog, or pass --accept-old-prices"
        )
    })
}

/// Ports, cost, and the doubts that an old price and old limits are.
fn complete(
    mut configuration: Configuration,
    listing: &CatalogListing,
    place: &PathPlace<'_>,
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
    let machine = plan.instance.as_deref().and_then(|name| place.index.get(name));
    let of_cloud = [Some(listing).filter(|listing| listing.entry.volume.is_some()), machine];
    let doubts = of_cloud.into_iter().flatten().filter_map(|listing| old_limits(listing, plan));
    configuration.doubts.extend(doubts);
    configuration
}

/// That limits of a volume or a machine may have been raised since.
fn old_limits(listing: &CatalogListing, plan: &SizingPlan) -> Option<String> {
    let (entry, today) = (&listing.entry, plan.day);
    are_limits_old(entry.as_of, today).then(|| {
        let days = today.days_since(entry.as_of);
        format!("the limits of {} are of {}, {days} days old", entry.name, entry.as_of)
    })
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

/// What came of all entries.
#[derive(Default)]
struct Tried {
    configurations: Vec<Configuration>,
    undecided: Vec<Configuration>,
    rejections: Vec<Rejection>,
}

impl Tried {
    /// Takes in every layout of an entry: of those that do not suffice the nearest one, and none
    /// where another suffices.
    fn take(&mut self, listing: &CatalogListing, outcomes: Vec<CandidateOutcome>) {
        let mut rejected: Vec<Rejection> = Vec::new();
        for outcome in outcomes {
            match outcome {
                Ok(found) if found.undocumented.is_empty() => self.configurations.push(found),
                Ok(found) => self.undecided.push(found),
                Err(rejection) => rejected.push(*rejection),
            }
        }
        rejected.sort_by(|one, other| nearness(one).total_cmp(&nearness(other)));
        let mut known = self.configurations.iter().chain(&self.undecided);
        let suffices = known.any(|one| one.name == listing.entry.name);
        self.rejections.extend(rejected.into_iter().next().filter(|_| !suffices));
    }
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

fn sort_by_rank(configurations: &mut [Configuration]) {
    configurations.sort_by(|one, other| {
        rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
}

/// Amounts in two currencies cannot be sorted.
fn one_currency<'a>(configurations: impl Iterator<Item = &'a Configuration>) -> Result<()> {
    let currency = |one: &Configuration| one.cost.as_ref().map(|cost| cost.currency.clone());
    let mut priced = configurations.filter_map(|one| Some((&one.name, currency(one)?)));
    let Some((first, of_first)) = priced.next() else {
        return Ok(());
    };
    match priced.find(|(_, currency)| *currency != of_first) {
        None => Ok(()),
        Some((other, of_other)) => Err(Error::usage(
            format!("prices are in two currencies: {first} in {of_first}, {other} in {of_other}"),
            "exclude one of them with --only, or override it with a catalog in the other currency",
        )),
    }
}

#[cfg(test)]
mod tests;
