//! What makes a catalog untrustworthy, said before anything is sized by it.

use super::{Catalog, CatalogEntry, DeviceOffer, IopsPoint, Offer, PriceList, Volume};
use crate::document::parse_toml;
use crate::error::{Error, Result};
use std::collections::BTreeSet;

/// Reads a catalog and checks every row.
///
/// # Errors
/// A usage error that names the line or the entry, and what would be accepted.
pub fn parse_catalog(text: &str) -> Result<Catalog> {
    let catalog: Catalog = parse_toml(text, "catalog")?;
    catalog.check()?;
    Ok(catalog)
}

fn refuse(message: impl Into<String>, hint: &str) -> Result<()> {
    Err(Error::usage(message, hint))
}

/// Refuses where the condition does not hold.
fn demand(holds: bool, message: &str, hint: &str) -> Result<()> {
    if holds { Ok(()) } else { refuse(message, hint) }
}

impl Catalog {
    /// Refuses what cannot be sized by: see the module.
    ///
    /// # Errors
    /// A usage error that names the entry.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            return refuse(
                format!("format {} is not known", self.format),
                "this version reads format = 1",
            );
        }
        let is_code = self.currency.len() == 3
            && self.currency.bytes().all(|letter| letter.is_ascii_uppercase());
        if !is_code {
            return refuse(
                format!("'{}' is not a currency", self.currency),
                "use the three letters of ISO 4217, for example USD",
            );
        }
        let mut names = BTreeSet::new();
        for entry in &self.entries {
            if !names.insert(entry.name.as_str()) {
                return refuse(
                    format!("two entries are called '{}'", entry.name),
                    "use unique names",
                );
            }
            entry.check().map_err(|error| error.context(format!("entry '{}'", entry.name)))?;
        }
        Ok(())
    }
}

impl CatalogEntry {
    fn check(&self) -> Result<()> {
        demand(!self.name.trim().is_empty(), "it has no name", "write name = \"…\"")?;
        demand(
            !self.source.trim().is_empty(),
            "it has no source",
            "state where its limits were published",
        )?;
        self.check_offer()?;
        self.price.as_ref().map_or(Ok(()), PriceList::check)
    }

    fn check_offer(&self) -> Result<()> {
        let offers = [
            self.device.is_some(),
            self.array.is_some(),
            self.volume.is_some(),
            self.instance.is_some(),
            self.port.is_some(),
        ];
        let count = offers.iter().filter(|is_there| **is_there).count();
        demand(
            count == 1,
            "it does not define exactly one item",
            "give it exactly one of device, array, volume, instance and port",
        )?;
        match self.offer() {
            Some(Offer::Device(device)) => device.check(),
            Some(Offer::Array(array)) => {
                demand(array.capacity.0 > 0 && array.controllers > 0, EMPTY, ABOVE_ZERO)?;
                array.iops.iter().try_for_each(IopsPoint::check)
            }
            Some(Offer::Volume(volume)) => volume.check(),
            Some(Offer::Instance(one)) => demand(
                one.iops.0 > 0.0 && one.throughput_per_s.0 > 0 && one.volumes_max > 0,
                EMPTY,
                ABOVE_ZERO,
            ),
            Some(Offer::Port(port)) => demand(port.payload_per_s.0 > 0, EMPTY, ABOVE_ZERO),
            None => Ok(()),
        }
    }
}

const EMPTY: &str = "a limit of 0 is not allowed";
const ABOVE_ZERO: &str =
    "write capacities, rates and numbers above 0, and leave out what is not known";

impl DeviceOffer {
    fn check(&self) -> Result<()> {
        let limits = [self.capacity.0, self.read_per_s.0, self.write_per_s.0];
        demand(!limits.contains(&0) && !self.iops.is_empty(), EMPTY, ABOVE_ZERO)?;
        let stroke = self.short_stroke.map_or(1.0, |short| short.stroke.0);
        let writes = self.daily_writes_ratio.unwrap_or(1.0);
        demand(stroke > 0.0 && writes.is_finite() && writes > 0.0, EMPTY, ABOVE_ZERO)?;
        self.iops.iter().try_for_each(IopsPoint::check)
    }
}

impl IopsPoint {
    fn check(&self) -> Result<()> {
        demand(self.rate.0.is_finite() && self.rate.0 > 0.0, EMPTY, ABOVE_ZERO)?;
        if self.latency_s().is_finite() && self.latency_s() > 0.0 {
            return Ok(());
        }
        refuse(
            format!("{} IOPS need a latency", self.rate.0),
            "write latency = \"5ms\", or how many I/Os were outstanding",
        )
    }
}

impl Volume {
    fn check(&self) -> Result<()> {
        let latency = self.latency.map_or(1, |latency| latency.0);
        let sizes = [self.size.min.0, self.size.step.0, self.block_size.0, latency];
        demand(!sizes.contains(&0) && self.throughput.per_io.0 > 0, EMPTY, ABOVE_ZERO)?;
        demand(
            self.size.min <= self.size.max
                && self.iops.included <= self.iops.max
                && self.throughput.included_per_s <= self.throughput.max_per_s,
            "its minimum is above its maximum",
            "write min and included that are not above max",
        )?;
        let rates = [Some(self.iops.included), Some(self.iops.max), self.iops.per_gib];
        let rates = rates.into_iter().flatten().chain(self.burst.map(|burst| burst.rate));
        demand(
            rates.into_iter().all(|rate| rate.0.is_finite() && rate.0 >= 0.0)
                && self.iops.max.0 > 0.0
                && self.iops.per_gib.is_none_or(|rate| rate.0 > 0.0),
            EMPTY,
            ABOVE_ZERO,
        )
    }
}

impl PriceList {
    fn check(&self) -> Result<()> {
        demand(
            !self.source.trim().is_empty(),
            "its price has no source",
            "state where the price was published",
        )?;
        let tiers = self.per_iops_month.iter().map(|tier| tier.price);
        let throughput = self.per_throughput_month.iter().map(|one| one.price);
        let prices = [self.per_unit, self.per_gib_month].into_iter().flatten();
        let mut all = prices.chain(tiers).chain(throughput);
        demand(
            all.all(|price| price.0.is_finite() && price.0 >= 0.0),
            "a price is not an amount of money",
            "write prices of at least 0",
        )?;
        let ascending = self.per_iops_month.is_sorted_by(|one, next| one.above < next.above);
        let units = self.per_throughput_month.is_none_or(|one| one.unit_per_s.0 > 0);
        demand(
            ascending && units,
            "the price steps are not ascending",
            "write steps by rising `above`, and a unit_per_s above 0",
        )?;
        let billed = &self.billed_sizes;
        let rise = billed.is_sorted_by(|one, next| one < next);
        demand(
            rise && billed.first().is_none_or(|least| least.0 > 0),
            "the billed sizes are not in ascending order",
            "list billed_sizes in ascending order, all above 0",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../../../../contract/examples/small.catalog.toml");

    fn refusal(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        parse_catalog(&GOOD.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn the_example_is_read() {
        let catalog = parse_catalog(GOOD).unwrap();
        let kinds: Vec<&str> = catalog.entries.iter().map(CatalogEntry::kind).collect();
        assert_eq!(kinds, ["disk", "drive", "array", "volume", "instance", "port"]);
        // By Little's law: 256 outstanding at 640,000 a second.
        let drive = catalog.entries[1].device.as_ref().unwrap();
        assert!((drive.iops[0].latency_s() - 0.000_4).abs() < 1e-12);
    }

    #[test]
    fn rows_without_unit_date_source_or_latency_are_refused() {
        for (from, to, expected) in [
            ("latency = \"5ms\"", "", "180 IOPS need a latency"),
            ("source = \"made up\"", "source = \" \"", "it has no source"),
            ("capacity = \"600GB\"", "capacity = 600", "'600' has no unit"),
            ("rate = \"180/s\"", "rate = \"0/s\"", "a limit of 0"),
            ("as_of = \"2026-01-01\"", "as_of = \"2026-13-01\"", "not a day"),
            (
                "source = \"made up\"\nas_of = \"2026-01-02\"",
                "source = \"made up\"",
                "missing field `as_of`",
            ),
            ("currency = \"EUR\"", "currency = \"€\"", "not a currency"),
            ("per_unit = 150.0", "per_unit = -1.0", "not an amount of money"),
            ("name = \"drive\"", "name = \"disk\"", "two entries are called 'disk'"),
            ("format = 1", "format = 2", "format 2 is not known"),
            ("[entry.port]\npayload_per_s = \"3200MB\"", "", "exactly one item"),
            ("stroke = \"30%\"", "stroke = \"0%\"", "a limit of 0"),
            ("max = \"16TiB\"", "max = \"1MiB\"", "its minimum is above its maximum"),
        ] {
            let error = refusal(from, to);
            assert!(error.contains(expected), "{from} -> {to}: {error}");
        }
    }
}
