//! What to order of a cloud's volume: the least size, IOPS and throughput of each in a stripe, and
//! the machine above them.

use crate::candidate::{
    CandidateOutcome, Need, configuration, latency_limit, limit, refused, short, too_slow,
    undocumented_latency,
};
use crate::plan::SizingPlan;
use assay_catalog::CatalogListing;
use assay_model::catalog::{InstanceOffer, Volume, VolumeOrder};
use assay_model::number::{count, real};
use assay_model::sizing::{LimitKind, LimitUse, Rejection};
use assay_model::units::{Bytes, Nanos, Rate};

/// The order with the least of everything for a stripe of volumes.
pub(crate) fn size_volumes(
    listing: &CatalogListing,
    volume: &Volume,
    stripe: u32,
    machine: Option<&InstanceOffer>,
    need: &Need,
    plan: &SizingPlan,
) -> CandidateOutcome {
    let latency_s = volume.latency.map(Nanos::seconds);
    if let Some(least_s) = latency_s.filter(|latency_s| *latency_s > plan.latency_limit_s()) {
        return Err(too_slow(listing, least_s, plan).into());
    }
    let order = order(listing, volume, stripe, need, plan)?;
    let mut limits = of_stripe(volume, &order, stripe, need, plan);
    if let Some(machine) = machine {
        if machine.provider != volume.provider {
            let reason = format!("it cannot be attached to a machine of {}", machine.provider);
            return Err(Box::new(refused(listing, reason)));
        }
        limits.extend(of_machine(machine, stripe, volume, need));
    }
    if let Some(broken) = limits.iter().find(|limit| limit.use_ratio() > 1.0 + 1e-9) {
        return Err(short(listing, broken.limit, broken.need_value, broken.has_value, "").into());
    }
    let layout = if stripe == 1 { "one volume".to_owned() } else { format!("stripe of {stripe}") };
    let mut found = configuration(listing, u64::from(stripe), layout, limits);
    found.order = Some(order);
    found.undocumented.extend(undocumented_latency(latency_s.is_some(), plan));
    if !found.undocumented.is_empty() {
        found.doubts.push(format!(
            "the only documented latency is: {}; measure it before you buy",
            volume.promise
        ));
    }
    if machine.is_none() {
        found
            .doubts
            .push("no --instance was specified: a virtual machine may allow less".to_owned());
    }
    Ok(found)
}

/// The demand in the I/Os that the provider counts: larger ones are several.
fn counted_iops(volume: &Volume, need: &Need) -> f64 {
    let parts = need.normal.block_size_bytes() / real(volume.block_size.0);
    need.normal.iops() * parts.max(1.0)
}

/// I/Os per second that each volume must sustain: what credits carry through the peak is not among
/// them.
fn sustained_iops(volume: &Volume, iops: f64, peak_time: Option<Nanos>) -> f64 {
    let Some((burst, time)) = volume.burst.zip(peak_time) else {
        return iops;
    };
    if iops > burst.rate.0 || time.0 == 0 {
        return iops;
    }
    (iops - real(burst.credits) / time.seconds()).max(0.0)
}

fn order(
    listing: &CatalogListing,
    volume: &Volume,
    stripe: u32,
    need: &Need,
    plan: &SizingPlan,
) -> Result<VolumeOrder, Box<Rejection>> {
    let volumes = f64::from(stripe);
    let at_most =
        format!(" at most in {stripe} {}", if stripe == 1 { "volume" } else { "volumes" });
    let bytes_per_s = need.normal.bytes_per_s() / volumes;
    let each = sustained_iops(volume, counted_iops(volume, need) / volumes, plan.peak_time);
    let most = [
        (LimitKind::Iops, each, volume.iops.max.0),
        (LimitKind::Throughput, bytes_per_s, real(volume.throughput.max_per_s.0)),
        (LimitKind::Capacity, need.capacity_bytes / volumes, real(volume.size.max.0)),
    ];
    let worst =
        most.into_iter().max_by(|one, other| (one.1 / one.2).total_cmp(&(other.1 / other.2)));
    let beyond = |kind, need: f64, has: f64| {
        Err(short(listing, kind, volumes * need, volumes * has, &at_most).into())
    };
    if let Some((kind, need, has)) = worst.filter(|(_, need, has)| need > has) {
        return beyond(kind, need, has);
    }
    let by_bytes = volume.throughput.iops_for(bytes_per_s).unwrap_or(0.0);
    let wanted = each.max(by_bytes).ceil();
    let Some(by_iops) = volume.iops.bytes_for(wanted) else {
        return beyond(
            LimitKind::Throughput,
            bytes_per_s,
            volume.throughput.most(volume.iops.max.0),
        );
    };
    let size_bytes = by_iops.max(need.capacity_bytes / volumes);
    let Some(size) = volume.size.at_least(size_bytes) else {
        return beyond(LimitKind::Capacity, size_bytes, real(volume.size.max.0));
    };
    let iops = if volume.iops.provisioned {
        wanted.max(volume.iops.included.0)
    } else {
        volume.iops.most(size)
    };
    let throughput = if volume.throughput.provisioned {
        bytes_per_s.max(real(volume.throughput.included_per_s.0))
    } else {
        volume.throughput.most(iops)
    };
    Ok(VolumeOrder { size, iops: Rate(iops), throughput_per_s: whole_bytes(throughput) })
}

/// Whole bytes of at least this number; a sum that is whole but for rounding is whole.
fn whole_bytes(bytes: f64) -> Bytes {
    Bytes(count((bytes * (1.0 - 1e-12)).ceil()))
}

fn of_stripe(
    volume: &Volume,
    order: &VolumeOrder,
    stripe: u32,
    need: &Need,
    plan: &SizingPlan,
) -> Vec<LimitUse> {
    let volumes = f64::from(stripe);
    let iops = counted_iops(volume, need);
    let by_credits = iops / volumes > order.iops.0;
    let has_iops =
        if by_credits { volume.burst.map_or(0.0, |burst| burst.rate.0) } else { order.iops.0 };
    let formula = if by_credits { "volumes x burst, by credits" } else { "volumes x ordered IOPS" };
    let mut limits = vec![
        limit(LimitKind::Iops, iops, volumes * has_iops, formula),
        limit(
            LimitKind::Throughput,
            need.normal.bytes_per_s(),
            volumes * real(order.throughput_per_s.0),
            "volumes x ordered throughput",
        ),
        limit(
            LimitKind::Capacity,
            need.capacity_bytes,
            volumes * real(order.size.0),
            "volumes x ordered size",
        ),
    ];
    limits.extend(latency_limit(
        volume.latency.map(Nanos::seconds),
        plan,
        "the provider's guarantee",
    ));
    limits
}

/// What the machine lets through to all volumes together.
fn of_machine(machine: &InstanceOffer, stripe: u32, volume: &Volume, need: &Need) -> [LimitUse; 3] {
    let of = "the machine's limit for all its volumes";
    [
        limit(LimitKind::InstanceIops, counted_iops(volume, need), machine.iops.0, of),
        limit(
            LimitKind::InstanceThroughput,
            need.normal.bytes_per_s(),
            real(machine.throughput_per_s.0),
            of,
        ),
        limit(LimitKind::InstanceVolumes, f64::from(stripe), f64::from(machine.volumes_max), of),
    ]
}
