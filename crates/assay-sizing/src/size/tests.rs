//! Published figures to the digit, what cannot be, and properties that hold for every demand.

use super::*;
use crate::{GivenDemand, Peak};
use assay_model::array::RaidLevel;
use assay_model::catalog::parse_catalog;
use assay_model::sizing::{Cost, DemandQuantity};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use proptest::prelude::*;

const TIB: u64 = 1 << 40;

fn index() -> CatalogIndex {
    CatalogIndex::built_in().unwrap()
}

/// A demand as it is: nothing on top, nothing left empty.
fn plain(rate: f64, read_share: f64, only: &[&str]) -> SizingPlan {
    SizingPlan {
        given: Some(GivenDemand {
            rate: Rate(rate),
            read_share: Share(read_share),
            block_size: Bytes(8192),
            throughput_per_s: None,
        }),
        headroom: Share(0.0),
        fill: Share(1.0),
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        ..SizingPlan::new("2026-11-24".parse().unwrap())
    }
}

fn sized(plan: &SizingPlan) -> Sizing {
    size(&[], &index(), plan).unwrap_or_else(|error| panic!("{error}"))
}

fn first_cost(sizing: &Sizing) -> &Cost {
    sizing.configurations[0].cost.as_ref().unwrap()
}

#[test]
fn a_volume_costs_what_its_list_says() {
    let mut plan = plain(20_000.0, 0.7, &["gp3", "io2"]);
    plan.given.as_mut().unwrap().throughput_per_s = Some(Bytes(600 << 20));
    plan.capacity = Some(Bytes(4 * TIB));
    plan.stripes_max = 1;
    let sizing = sized(&plan);
    let names: Vec<&str> = sizing.configurations.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["gp3", "io2"]);
    let cost = first_cost(&sizing);
    assert!((cost.month_total - 431.68).abs() < 1e-9, "{cost:?}");
    let amounts: Vec<f64> = cost.lines.iter().map(|line| line.amount_value).collect();
    for (found, expected) in amounts.iter().zip([327.68, 85.0, 19.0]) {
        assert!((found - expected).abs() < 1e-9, "{amounts:?}");
    }
    assert!((cost.thousand_iops_value.unwrap() - 21.584).abs() < 1e-9);
    assert!((cost.tebibyte_value.unwrap() - 107.92).abs() < 1e-9);
    let io2 = sizing.configurations[1].cost.as_ref().unwrap();
    assert!((io2.month_total - 1812.0).abs() < 1e-9, "{io2:?}");
    // A price of more than half a year is a doubt.
    assert!(sizing.configurations[0].doubts.iter().any(|doubt| doubt.contains("237 days old")));
}

#[test]
fn disks_are_those_of_the_paper() {
    let sizing = sized(&plain(100_000.0, 1.0, &["hdd-300-iops"]).raid0());
    assert_eq!(sizing.configurations[0].units, 334);
    // The capacity of these disks at 2 ms: less than a third of each is used.
    let mut plan = plain(100_000.0, 1.0, &["hdd-300-iops"]).raid0();
    plan.capacity = Some(Bytes(334 * 300_000_000_000));
    plan.read_latency = Some(Nanos(2_000_000));
    let sizing = sized(&plan);
    assert_eq!(sizing.configurations[0].units, 1114);
    assert_eq!(sizing.configurations[0].layout, "RAID 0, 30% of each used");
    // No disk is faster.
    plan.read_latency = Some(Nanos(1_000_000));
    let sizing = sized(&plan);
    assert!(sizing.configurations.is_empty());
    let rejection = &sizing.rejections[0];
    assert_eq!(rejection.limit, Some(LimitKind::Latency));
    assert!((rejection.short_ratio.unwrap() - 2.0).abs() < 1e-9, "{rejection:?}");
}

#[test]
fn licences_cost_what_the_paper_divides() {
    for (name, capacity, terabyte) in [
        ("exadata-x4-2-quarter", 144_000_000_000_000, 2500.0),
        ("exadata-x3-2-quarter", 108_000_000_000_000, 3_333.333_333),
    ] {
        let mut plan = plain(1.0, 1.0, &[name]);
        plan.given = None;
        plan.capacity = Some(Bytes(capacity));
        let refused = sized(&plan);
        assert!(refused.rejections[0].reason.contains("2014-02-13"), "{refused:?}");
        plan.accepts_old_prices = true;
        let sizing = sized(&plan);
        let cost = first_cost(&sizing);
        assert!((cost.once_total - 360_000.0).abs() < 1e-9);
        assert!((cost.terabyte_value.unwrap() - terabyte).abs() < 1e-5, "{cost:?}");
    }
}

#[test]
fn a_licence_of_which_no_iops_are_known_is_undecided_with_its_cost() {
    let mut plan = plain(20_000.0, 0.7, &["exadata-x4-2-quarter"]);
    (plan.capacity, plan.accepts_old_prices) = (Some(Bytes(100_000_000_000_000)), true);
    plan.read_latency = Some(Nanos(1_000_000));
    let sizing = sized(&plan);
    assert!(sizing.configurations.is_empty() && sizing.rejections.is_empty(), "{sizing:?}");
    let found = &sizing.undecided[0];
    assert_eq!(found.undocumented, [LimitKind::Iops, LimitKind::Latency]);
    let cost = found.cost.as_ref().unwrap();
    assert!((cost.terabyte_value.unwrap() - 2500.0).abs() < 1e-9, "{cost:?}");
    assert!(cost.thousand_iops_value.is_none() && cost.monthly_total.is_sign_positive());
}

#[test]
fn a_latency_that_nobody_documents_decides_nothing() {
    let mut plan = plain(5000.0, 0.7, &["gp3", "io2"]);
    plan.read_latency = Some(Nanos(1_000_000));
    let sizing = sized(&plan);
    let of = |found: &[Configuration]| -> Vec<String> {
        found.iter().map(|one| one.name.clone()).collect()
    };
    assert!(of(&sizing.configurations).iter().all(|name| name == "io2"), "{sizing:?}");
    assert!(of(&sizing.undecided).iter().all(|name| name == "gp3"), "{sizing:?}");
    assert_eq!(sizing.undecided[0].undocumented, [LimitKind::Latency]);
    assert!(sizing.rejections.is_empty());
    // The limit is what is needed, the promise what there is.
    let latency = sizing.configurations[0].limit(LimitKind::Latency).unwrap();
    assert!((latency.need_value - 1e-3).abs() < 1e-12 && (latency.has_value - 5e-4).abs() < 1e-12);
    assert!((latency.use_ratio() - 0.5).abs() < 1e-12, "{latency:?}");
    // Beyond its IOPS it is rejected whatever its latency is.
    plan.given.as_mut().unwrap().rate = Rate(5e6);
    assert!(sized(&plan).undecided.is_empty());
}

#[test]
fn models_of_old_arrays_are_no_shopping_list() {
    let sizing = sized(&plain(900.0, 0.7, &[]));
    let names = sizing.configurations.iter().map(|one| one.name.as_str());
    let names: Vec<&str> =
        names.chain(sizing.rejections.iter().map(|one| one.name.as_str())).collect();
    assert!(names.contains(&"gp3") && names.contains(&"hdd-15k"), "{names:?}");
    assert!(!names.contains(&"xtremio-1") && !names.contains(&"hdd-300-iops"), "{names:?}");
    assert_eq!(sized(&plain(900.0, 0.7, &["xtremio-1"])).configurations[0].name, "xtremio-1");
}

#[test]
fn numbers_of_volumes_between_powers_of_two_are_tried() {
    let mut plan = plain(6500.0, 0.8, &["gp3"]);
    plan.capacity = Some(Bytes(625 << 30));
    for (stripes_max, volumes, month) in [(2, 2, 52.58), (4, 3, 50.16), (8, 5, 50.0)] {
        plan.stripes_max = stripes_max;
        let sizing = sized(&plan);
        let (found, total) = (&sizing.configurations[0], first_cost(&sizing).month_total);
        assert_eq!(found.units, volumes, "{found:?}");
        assert!((total - month).abs() < 1e-9, "{total}");
    }
}

#[test]
fn limits_of_more_than_a_year_are_a_doubt() {
    let mut plan = plain(1000.0, 0.8, &["premium-ssd-v2"]);
    plan.capacity = Some(Bytes(TIB));
    assert!(!sized(&plan).configurations[0].doubts.iter().any(|doubt| doubt.contains("limits of")));
    plan.instance = Some("e8bds-v5".to_owned());
    let doubts = sized(&plan).configurations[0].doubts.join("; ");
    assert!(doubts.contains("the limits of e8bds-v5 are of 2024-07-08"), "{doubts}");
}

#[test]
fn ultra_disk_is_billed_in_its_steps() {
    let mut plan = plain(1000.0, 0.8, &["ultra-disk"]);
    (plan.capacity, plan.accepts_old_prices) = (Some(Bytes(632 << 30)), true);
    plan.stripes_max = 8;
    let sizing = sized(&plan);
    let of_eight = sizing.configurations.iter().find(|one| one.units == 8).unwrap();
    let line = &of_eight.cost.as_ref().unwrap().lines[0];
    assert!((line.amount_value - 122.593_28).abs() < 1e-9, "{line:?}");
    assert_eq!(line.what, "8 x 79.0 GiB, billed as 128 GiB");
}

#[test]
fn capacity_is_built_up_as_in_the_worked_example() {
    let mut plan = plain(1.0, 1.0, &["hdd-7k2"]);
    plan.given = None;
    plan.capacity = Some(Bytes(4_000_000_000_000));
    (plan.growth, plan.years) = (0.3, 3);
    (plan.snapshots, plan.fill) = (Share(0.21), Share(0.8));
    let sizing = sized(&plan);
    let line = sizing.line(DemandQuantity::CapacityBytes).unwrap();
    assert!((line.need_value / 1e12 - 13.292_3).abs() < 1e-3, "{line:?}");
    // RAID 10 of disks of 4 TB: 26.6 TB raw.
    assert_eq!(sizing.configurations[0].units, 8);
}

#[test]
fn penalties_take_their_drives() {
    for (level, drives) in
        [(RaidLevel::Raid10, 124), (RaidLevel::Raid5, 184), (RaidLevel::Raid6, 240)]
    {
        let own = include_str!("../../../../contract/examples/small.catalog.toml")
            .replace("rate = \"180/s\"", "rate = \"150/s\"");
        let index = CatalogIndex::of(parse_catalog(&own).unwrap(), "own");
        let mut plan = plain(10_000.0, 0.7, &["disk"]);
        (plan.raid, plan.used) = (vec![level], Share(0.7));
        let sizing = size(&[], &index, &plan).unwrap();
        // 124, 181 and 239 by IOPS, then whole pairs, and groups of eight.
        assert_eq!(sizing.configurations[0].units, drives, "{level:?}");
    }
}

#[test]
fn what_may_fail_is_bought_on_top() {
    let mut plan = plain(200_000.0, 0.7, &["xtremio-1"]);
    let without = sized(&plan).configurations[0].units;
    plan.survives = vec![FailingPart::Controller, FailingPart::Port];
    plan.port = Some("fc-8g".to_owned());
    let sizing = sized(&plan);
    let found = &sizing.configurations[0];
    // 122,000 each at 70% reads: two, of which three of four controllers would have to carry
    // 200,000.
    assert_eq!((without, found.units), (2, 3));
    let iops = found.limit(LimitKind::Iops).unwrap();
    assert!(iops.failed.is_some_and(|failed| failed.use_ratio() <= 1.0), "{iops:?}");
    // 1.64 GB/s over 0.8 GB/s of which 70% are planned for: three, and one more.
    let ports = found.limit(LimitKind::Ports).unwrap();
    assert!((ports.has_value - 4.0).abs() < 1e-9, "{ports:?}");

    let mut plan = plain(10_000.0, 0.7, &["hdd-15k"]);
    plan.read_latency = Some(Nanos(6_000_000));
    let without = sized(&plan).configurations[0].units;
    plan.survives = vec![FailingPart::Device];
    let with = &sized(&plan).configurations[0];
    assert_eq!((without, with.units, with.spares), (72, 74, 3));
    plan.raid = vec![RaidLevel::Raid0];
    assert!(sized(&plan).rejections[0].reason.contains("loses all data"));
}

#[test]
fn endurance_and_throughput_buy_drives() {
    // 1 GB/s of writes on a mirror: 172.8 TB a day over 0.65 writes of 4 TB.
    let mut plan = plain(1000.0, 0.0, &["nvme-4tb"]);
    plan.given.as_mut().unwrap().throughput_per_s = Some(Bytes(1_000_000_000));
    let sizing = sized(&plan);
    let found = &sizing.configurations[0];
    assert_eq!((found.units, found.binding), (68, LimitKind::Endurance));
    let endurance = found.limit(LimitKind::Endurance).unwrap();
    assert!((endurance.need_value - 172.8e12).abs() < 1.0, "{endurance:?}");
}

#[test]
fn the_machine_limits_its_volumes() {
    let mut plan = plain(20_000.0, 0.7, &["gp3", "premium-ssd-v2"]);
    plan.instance = Some("r6a.2xlarge".to_owned());
    let sizing = sized(&plan);
    assert!(sizing.configurations.is_empty());
    let nearest = &sizing.rejections[0];
    assert_eq!((nearest.name.as_str(), nearest.limit), ("gp3", Some(LimitKind::InstanceIops)));
    assert_eq!(nearest.reason, "IOPS of the instance: needs 20,000, has 12,000");
    assert!(sizing.rejections[1].reason.contains("cannot be attached"), "{sizing:?}");
    plan.instance = Some("r6a.8xlarge".to_owned());
    assert_eq!(sized(&plan).configurations[0].name, "gp3");
}

#[test]
fn the_dearest_limit_decides_the_size() {
    // 100 GiB of data that want 10,000 IOPS: gp2 brings them with 3,334 GiB.
    let mut plan = plain(10_000.0, 0.7, &["gp2"]);
    plan.capacity = Some(Bytes(100 << 30));
    plan.stripes_max = 1;
    let order = sized(&plan).configurations[0].order.unwrap();
    assert_eq!(order.size, Bytes(3334 << 30));
    // A peak of half an hour is carried by credits: 3,000 burst, 5.4 million of them.
    let mut plan = plain(3000.0, 0.7, &["gp2"]);
    plan.stripes_max = 1;
    let sustained = sized(&plan).configurations[0].order.unwrap();
    plan.peak_time = Some(Nanos(1_800_000_000_000));
    let burst = sized(&plan);
    let order = burst.configurations[0].order.unwrap();
    assert_eq!((sustained.size, order.size), (Bytes(1000 << 30), Bytes(1 << 30)));
    assert!(burst.configurations[0].limits[0].formula.contains("credits"));
}

#[test]
fn what_cannot_be_says_which_limit_and_how_far() {
    let mut plan = plain(5_000_000.0, 0.7, &["io2", "gp3"]);
    plan.stripes_max = 4;
    let sizing = sized(&plan);
    assert!(sizing.configurations.is_empty());
    let [near, far] = sizing.rejections.as_slice() else { panic!("{sizing:?}") };
    assert_eq!((near.name.as_str(), far.name.as_str()), ("io2", "gp3"));
    assert!((far.short_ratio.unwrap() - 5e6 / 320e3).abs() < 0.1, "{far:?}");
    assert!(near.reason.contains("at most in 4 volumes"), "{near:?}");
}

#[test]
fn a_demand_beyond_all_measure_is_an_answer_and_no_panic() {
    let mut plan = plain(1e300, 0.5, &["hdd-7k2", "xtremio-1", "gp3"]);
    plan.capacity = Some(Bytes(u64::MAX));
    plan.port = Some("fc-4g".to_owned());
    (plan.growth, plan.years) = (1.0, 50);
    plan.survives = vec![FailingPart::Controller, FailingPart::Port, FailingPart::Device];
    let sizing = sized(&plan);
    let reasons: Vec<&str> = sizing.rejections.iter().map(|one| one.reason.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("more than a million")), "{reasons:?}");
}

#[test]
fn two_currencies_are_refused() {
    let mut index = index();
    let own = include_str!("../../../../contract/examples/small.catalog.toml");
    index.overlay(parse_catalog(own).unwrap(), "own");
    let error = size(&[], &index, &plain(1000.0, 0.7, &["gp3", "volume"])).unwrap_err();
    assert!(error.message().contains("two currencies"), "{error}");
    assert!(size(&[], &index, &plain(1000.0, 0.7, &["volume"])).is_ok());
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let refusal = |change: &dyn Fn(&mut SizingPlan)| {
        let mut plan = plain(1000.0, 0.7, &["gp3"]);
        change(&mut plan);
        size(&[], &index(), &plan).unwrap_err().to_string()
    };
    for (found, expected) in [
        (refusal(&|plan| plan.given = None), "no demand is specified"),
        (refusal(&|plan| plan.fill = Share(0.0)), "--fill"),
        (refusal(&|plan| plan.only = vec!["gp4".to_owned()]), "'gp4' is not in any catalog"),
        (refusal(&|plan| plan.only = vec!["fc-8g".to_owned()]), "no storage entry"),
        (refusal(&|plan| plan.instance = Some("gp3".to_owned())), "is not a virtual machine"),
        (refusal(&|plan| plan.peak = Peak::TimesMean(-1.0)), "--peak"),
        (refusal(&|plan| plan.given.as_mut().unwrap().rate = Rate(0.0)), "--iops: above 0"),
        (refusal(&|plan| plan.stripes_max = 0), "--stripes"),
        (refusal(&|plan| plan.growth = -1.0), "--growth: above -100%"),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

impl SizingPlan {
    fn raid0(self) -> Self {
        Self { raid: vec![RaidLevel::Raid0], ..self }
    }
}

/// What the cheapest costs; the number of pieces where nothing has a price; infinite where nothing
/// does.
fn least(sizing: &Sizing) -> f64 {
    sizing.configurations.first().map_or(f64::INFINITY, |first| {
        first.cost.as_ref().map_or_else(|| real(first.units), |cost| cost.month_total)
    })
}

fn survivals() -> impl Strategy<Value = Vec<FailingPart>> {
    prop_oneof![
        Just(Vec::new()),
        Just(vec![FailingPart::Controller, FailingPart::Device, FailingPart::Port])
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn more_demand_never_costs_less(
        rate in 1.0..400_000.0, share in 0.0..=1.0, more in 1.0..4.0, tebibytes in 0_u64..40,
        kind in prop::sample::select(vec!["gp2", "gp3", "io2", "hdd-15k", "nvme-4tb", "xtremio-1", "ps6010xv"]),
        level in prop::sample::select(vec![RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6]),
        survives in survivals(),
    ) {
        let mut plan = plain(rate, share, &[kind]);
        (plan.capacity, plan.raid, plan.survives) = (Some(Bytes(tebibytes * TIB + 1)), vec![level], survives);
        let before = least(&sized(&plan));
        plan.given.as_mut().unwrap().rate = Rate(rate * more);
        prop_assert!(least(&sized(&plan)) >= before * (1.0 - 1e-9));
        plan.capacity = Some(Bytes((tebibytes + 5) * TIB));
        prop_assert!(least(&sized(&plan)) >= before * (1.0 - 1e-9));
    }

    #[test]
    fn more_headroom_never_selects_less(
        rate in 1.0..200_000.0, share in 0.0..=1.0, headroom in 0.0..=1.0,
        kind in prop::sample::select(vec!["gp2", "gp3", "io2", "hdd-10k", "nvme-2tb", "xtremio-2"]),
        survives in survivals(),
    ) {
        let mut plan = plain(rate, share, &[kind]);
        (plan.stripes_max, plan.survives) = (1, survives);
        let before = sized(&plan);
        plan.headroom = Share(headroom);
        let after = sized(&plan);
        if let Some(after) = after.configurations.first() {
            let before = &before.configurations[0];
            prop_assert!(after.units >= before.units);
            let has = |one: &Configuration| one.limit(LimitKind::Iops).unwrap().has_value;
            prop_assert!(has(after) >= has(before) * (1.0 - 1e-9));
        }
    }

    #[test]
    fn what_is_kept_meets_every_limit_in_both_states(
        rate in 1.0..300_000.0, share in 0.0..=1.0, survives in survivals(), gibibytes in 1_u64..50_000,
    ) {
        let mut plan = plain(rate, share, &[]);
        (plan.survives, plan.capacity) = (survives, Some(Bytes(gibibytes << 30)));
        plan.port = Some("fc-32g".to_owned());
        for one in &sized(&plan).configurations {
            for limit in &one.limits {
                prop_assert!(limit.worst_ratio() <= 1.0 + 1e-6, "{}: {limit:?}", one.name);
            }
        }
    }

    /// The same demand in other units: a rate that is doubled and devices of twice the rate are as many.
    #[test]
    fn units_scale(rate in 100.0..100_000.0, share in 0.0..=1.0, times in 1_u32..50) {
        let devices = |rate: f64, scale: f64| {
            let own = include_str!("../../../../contract/examples/small.catalog.toml")
                .replace("rate = \"180/s\"", &format!("rate = \"{}/s\"", 180.0 * scale))
                .replace("150MB", &format!("{}B", 150e6 * scale));
            let index = CatalogIndex::of(parse_catalog(&own).unwrap(), "own");
            size(&[], &index, &plain(rate, share, &["disk"])).unwrap().configurations[0].units
        };
        let times = f64::from(times);
        prop_assert_eq!(devices(rate, 1.0), devices(rate * times, times));
    }
}

mod exhaustive;
