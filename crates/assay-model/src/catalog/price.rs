//! What an offer costs: once or by the month, by the piece, the capacity, the IOPS and the
//! throughput that are ordered.

use crate::calendar::Day;
use crate::units::{Bytes, Rate};
use serde::{Deserialize, Serialize};

/// An amount of money in the currency of its catalog.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Price(pub f64);

/// Where a price stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PriceBasis {
    /// In the seller's public list.
    List,
    /// In an offer or an invoice.
    Street,
}

/// The prices of an offer; what is absent costs nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceList {
    /// Day on which these prices held.
    pub as_of: Day,
    /// Where they stood.
    pub source: String,
    /// List or street.
    pub basis: PriceBasis,
    /// Region of a cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// One piece, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_unit: Option<Price>,
    /// A gibibyte for a month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_gib_month: Option<Price>,
    /// Sizes that are billed, ascending: any other is billed as the next larger one, and beyond
    /// the last as a multiple of it. Where there are none, each gibibyte is billed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub billed_sizes: Vec<Bytes>,
    /// I/Os per second for a month, in steps of a rising rate; the first one begins where those
    /// that are included end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_iops_month: Vec<PriceTier>,
    /// A throughput for a month, above what is included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_throughput_month: Option<ThroughputPrice>,
}

/// The price of one of the I/Os per second beyond a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PriceTier {
    /// From which rate on.
    pub above: Rate,
    /// One I/O a second for a month.
    pub price: Price,
}

/// The price of a throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThroughputPrice {
    /// How many bytes per second are priced together: `1MiB` or `1MB`.
    pub unit_per_s: Bytes,
    /// That much for a month.
    pub price: Price,
}

impl PriceList {
    /// The size that a volume of these bytes is billed as.
    pub fn billed_bytes(&self, size: Bytes) -> Bytes {
        let next = self.billed_sizes.iter().find(|billed| **billed >= size);
        let multiple = |last: &Bytes| Bytes(size.0.div_ceil(last.0).saturating_mul(last.0));
        next.copied().or_else(|| self.billed_sizes.last().map(multiple)).unwrap_or(size)
    }

    /// What provisioned IOPS cost a month: every one by the tier in which it lies.
    pub fn iops_month(&self, iops: f64) -> f64 {
        let ends = self.per_iops_month.iter().skip(1).map(|tier| tier.above.0);
        let ends = ends.chain([f64::INFINITY]);
        let within =
            |(tier, end): (&PriceTier, f64)| (iops.min(end) - tier.above.0).max(0.0) * tier.price.0;
        self.per_iops_month.iter().zip(ends).map(within).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(per_iops_month: Vec<PriceTier>, billed_sizes: Vec<Bytes>) -> PriceList {
        PriceList {
            as_of: Day(0),
            source: "made up".to_owned(),
            basis: PriceBasis::List,
            region: None,
            per_unit: None,
            per_gib_month: None,
            billed_sizes,
            per_iops_month,
            per_throughput_month: None,
        }
    }

    #[test]
    fn a_size_is_billed_as_the_next_step() {
        let gib = |gib: u64| Bytes(gib << 30);
        let steps = list(Vec::new(), vec![gib(4), gib(128), gib(256), gib(1024)]);
        for (ordered, billed) in
            [(1, 4), (4, 4), (5, 128), (200, 256), (257, 1024), (1025, 2048), (5000, 5120)]
        {
            assert_eq!(steps.billed_bytes(gib(ordered)), gib(billed), "{ordered} GiB");
        }
        assert_eq!(list(Vec::new(), Vec::new()).billed_bytes(gib(79)), gib(79));
    }

    /// Exact: 32,000 at 0.065, 32,000 at 0.046, the rest at 0.032.
    #[test]
    fn every_i_o_a_second_is_priced_by_the_tier_it_lies_in() {
        let tier = |above, price| PriceTier { above: Rate(above), price: Price(price) };
        let tiers = vec![tier(0.0, 0.065), tier(32e3, 0.046), tier(64e3, 0.032)];
        let list = list(tiers, Vec::new());
        for (iops, expected) in
            [(20e3, 1300.0), (32e3, 2080.0), (64e3, 3552.0), (100e3, 4704.0), (0.0, 0.0)]
        {
            assert!((list.iops_month(iops) - expected).abs() < 1e-9, "{iops}");
        }
    }
}
