//! The cheapest order against an exhaustive search of a small catalog, with prices and limits
//! computed independently.

use super::*;
use assay_model::catalog::Volume;

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// Two made-up volumes: IOPS and throughput are ordered with the size, or follow from it; one is
/// billed in steps.
const SMALL: &str = r#"
format = 1
as_of = "2026-01-01"
currency = "EUR"

[[entry]]
name = "ordered"
title = "IOPS and throughput by order"
source = "made up"
as_of = "2026-01-02"
[entry.volume]
provider = "somewhere"
block_size = "256KiB"
promise = "none"
size = { min = "1GiB", max = "12GiB", step = "1GiB" }
iops = { provisioned = true, included = "3/s", max = "40/s", per_gib = "5/s" }
throughput = { provisioned = true, included_per_s = "2MiB", max_per_s = "8MiB", per_io = "512KiB" }
[entry.price]
as_of = "2026-01-02"
source = "made up"
basis = "list"
per_gib_month = 2.0
per_iops_month = [{ above = "3/s", price = 0.7 }, { above = "20/s", price = 0.3 }]
per_throughput_month = { unit_per_s = "1MiB", price = 1.1 }

[[entry]]
name = "bound"
title = "IOPS by size, billed in steps"
source = "made up"
as_of = "2026-01-02"
[entry.volume]
provider = "somewhere"
block_size = "256KiB"
promise = "none"
size = { min = "2GiB", max = "24GiB", step = "1GiB" }
iops = { provisioned = false, included = "4/s", max = "30/s", per_gib = "2/s" }
throughput = { provisioned = false, included_per_s = "1MiB", max_per_s = "6MiB", per_io = "512KiB" }
[entry.price]
as_of = "2026-01-02"
source = "made up"
basis = "list"
per_gib_month = 1.5
billed_sizes = ["2GiB", "4GiB", "8GiB"]
"#;

/// One order.
#[derive(Clone, Copy)]
struct VolumeCandidate {
    volumes: u32,
    gib: f64,
    iops: f64,
    mib_per_s: f64,
}

/// What has to be carried.
#[derive(Clone, Copy)]
struct WantedVolume {
    iops: f64,
    mib_per_s: f64,
    gib: f64,
}

impl VolumeCandidate {
    /// Whether it can be ordered, by the words of the catalog.
    fn can_be_ordered(self, volume: &Volume) -> bool {
        let per_gib = volume.iops.per_gib.unwrap().0;
        let most_iops = (per_gib * self.gib).clamp(volume.iops.included.0, volume.iops.max.0);
        let iops_fit = if volume.iops.provisioned {
            (volume.iops.included.0..=most_iops).contains(&self.iops)
        } else {
            (self.iops - most_iops).abs() < 1e-9
        };
        let [included, max, per_io] = [
            volume.throughput.included_per_s,
            volume.throughput.max_per_s,
            volume.throughput.per_io,
        ]
        .map(|bytes| real(bytes.0) / real(MIB));
        let most_mib = (per_io * self.iops).clamp(included, max);
        let mib_fit = if volume.throughput.provisioned {
            (included..=most_mib).contains(&self.mib_per_s)
        } else {
            (self.mib_per_s - most_mib).abs() < 1e-9
        };
        let sizes = real(volume.size.min.0 / GIB)..=real(volume.size.max.0 / GIB);
        sizes.contains(&self.gib) && iops_fit && mib_fit
    }

    fn carries(self, wanted: WantedVolume) -> bool {
        let volumes = f64::from(self.volumes);
        volumes * self.iops >= wanted.iops - 1e-9
            && volumes * self.mib_per_s >= wanted.mib_per_s - 1e-9
            && volumes * self.gib >= wanted.gib - 1e-9
    }

    /// By the words of the price lists above.
    fn price(self, is_ordered: bool) -> f64 {
        let each = if is_ordered {
            let tiers =
                0.7 * (self.iops.min(20.0) - 3.0).max(0.0) + 0.3 * (self.iops - 20.0).max(0.0);
            2.0 * self.gib + tiers + 1.1 * (self.mib_per_s - 2.0)
        } else {
            let billed = [2.0, 4.0, 8.0].into_iter().find(|step| *step >= self.gib);
            1.5 * billed.unwrap_or_else(|| (self.gib / 8.0).ceil() * 8.0)
        };
        f64::from(self.volumes) * each
    }
}

/// The least price over all orders: whole gibibytes and IOPS, and throughputs in quarters or just
/// what is wanted.
fn cheapest(volume: &Volume, wanted: WantedVolume, stripes_max: u32) -> f64 {
    let mut least = f64::INFINITY;
    for volumes in 1..=stripes_max {
        let exact = wanted.mib_per_s / f64::from(volumes);
        let throughputs: Vec<f64> =
            (4_u32..=32).map(|quarters| f64::from(quarters) / 4.0).chain([exact]).collect();
        for (gib, iops) in (1_u32..=24).flat_map(|gib| (1_u32..=40).map(move |iops| (gib, iops))) {
            for mib_per_s in &throughputs {
                let (gib, iops, mib_per_s) = (f64::from(gib), f64::from(iops), *mib_per_s);
                let one = VolumeCandidate { volumes, gib, iops, mib_per_s };
                if one.carries(wanted) && one.can_be_ordered(volume) {
                    least = least.min(one.price(volume.iops.provisioned));
                }
            }
        }
    }
    least
}

fn sized_small(index: &CatalogIndex, name: &str, wanted: WantedVolume, stripes_max: u32) -> f64 {
    let bytes = |units: f64, unit: u64| Bytes(assay_model::number::count(units * real(unit)));
    let mut plan = plain(wanted.iops, 0.5, &[name]);
    plan.given.as_mut().unwrap().throughput_per_s = Some(bytes(wanted.mib_per_s, MIB));
    plan.given.as_mut().unwrap().block_size = Bytes(512);
    plan.capacity = Some(bytes(wanted.gib, GIB));
    plan.stripes_max = stripes_max;
    let sizing = size(&[], index, &plan).unwrap();
    let found = sizing.configurations.first().and_then(|first| first.cost.as_ref());
    found.map_or(f64::INFINITY, |cost| cost.month_total)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_order_is_cheaper_and_none_is_missed(
        iops in 1_u32..=180, quarters in 0_u32..=100, gib in 1_u32..=70, stripes_max in 1_u32..=6,
        name in prop::sample::select(vec!["ordered", "bound"]),
    ) {
        let index = CatalogIndex::of(parse_catalog(SMALL).unwrap(), "small");
        let volume = index.find(name).unwrap().entry.volume.clone().unwrap();
        // Larger I/Os than the provider's count as several: at most as many bytes as the IOPS can move.
        let mib_per_s = (f64::from(quarters) / 4.0).min(f64::from(iops) / 4.0);
        let wanted = WantedVolume { iops: f64::from(iops), mib_per_s, gib: f64::from(gib) };
        let least = cheapest(&volume, wanted, stripes_max);
        let found = sized_small(&index, name, wanted, stripes_max);
        // Throughputs are ordered in whole bytes.
        let same = (found - least).abs() < 1e-4 || (found.is_infinite() && least.is_infinite());
        prop_assert!(same, "{name} {iops} {mib_per_s} {gib} {stripes_max}: {found} instead of {least}");
    }
}
