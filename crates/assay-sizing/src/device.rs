//! How many disks or drives carry a demand: by IOPS, capacity, throughput and endurance, in whole
//! groups, also with one gone.

use crate::candidate::{
    CandidateLoad, CandidateOutcome, Need, PIECES_MAX, configuration, failing, latency_limit,
    least_latency_s, limit, refused, too_many, too_slow,
};
use crate::formulas::{
    back_end_iops, device_count, iops_at_mix, raid_efficiency, write_copies, write_penalty,
};
use crate::plan::SizingPlan;
use assay_catalog::CatalogListing;
use assay_model::array::RaidLevel;
use assay_model::catalog::DeviceOffer;
use assay_model::number::real;
use assay_model::sizing::{FailingPart, LimitKind, LimitUse, Rejection};

/// Share of a group's IOPS that a rebuild takes while it lasts.
const REBUILD_SHARE: f64 = 0.25;
/// Devices for which one spare waits.
const DEVICES_PER_SPARE: u64 = 30;

/// One device as it is used.
struct DeviceUse<'a> {
    device: &'a DeviceOffer,
    level: RaidLevel,
    group: u64,
    /// Share of the capacity in use.
    stroke: f64,
    iops: f64,
    latency_s: f64,
    /// Share of all that is planned for.
    used: f64,
}

/// The least number of devices in one layout.
pub(crate) fn size_devices(
    listing: &CatalogListing,
    device: &DeviceOffer,
    level: RaidLevel,
    need: &Need,
    plan: &SizingPlan,
) -> CandidateOutcome {
    if level == RaidLevel::Raid0 && plan.survives(FailingPart::Device) {
        return Err(Box::new(refused(listing, "RAID 0: a failed device loses all data")));
    }
    let one = DeviceUse::new(listing, device, level, need, plan)?;
    let mut devices = one.whole_groups(one.least(need));
    while plan.survives(FailingPart::Device) && !one.survives(devices, need) && devices < PIECES_MAX
    {
        devices += one.group;
    }
    if devices >= PIECES_MAX {
        return Err(too_many(listing).into());
    }
    let limits = one.limits(devices, need, plan);
    let mut found = configuration(listing, devices, one.layout(), limits);
    if plan.survives(FailingPart::Device) {
        found.spares = devices.div_ceil(DEVICES_PER_SPARE);
    }
    let block_size = need.normal.block_size_bytes();
    let published = device.iops.iter().map(|point| real(point.block_size.0)).fold(0.0, f64::max);
    if block_size > 2.0 * published {
        found.doubts.push(format!(
            "its IOPS are for a block size of {published} B, the demand has {block_size:.0} B"
        ));
    }
    Ok(found)
}

const fn level_name(level: RaidLevel) -> &'static str {
    match level {
        RaidLevel::Raid0 => "RAID 0",
        RaidLevel::Raid1 => "RAID 1",
        RaidLevel::Raid10 => "RAID 10",
        RaidLevel::Raid5 => "RAID 5",
        RaidLevel::Raid6 => "RAID 6",
    }
}

/// The I/Os of the devices for those of the host.
fn back_end(load: &CandidateLoad, level: RaidLevel) -> f64 {
    back_end_iops(load.read_iops, load.write_iops, write_penalty(level))
}

/// Share of reads among the I/Os of the devices: half of the I/Os of a write with parity are reads.
fn back_end_read_share(load: &CandidateLoad, level: RaidLevel) -> f64 {
    let reads_of_write = match level {
        RaidLevel::Raid5 | RaidLevel::Raid6 => write_penalty(level) / 2.0,
        RaidLevel::Raid0 | RaidLevel::Raid1 | RaidLevel::Raid10 => 0.0,
    };
    let all = back_end(load, level);
    if all > 0.0 { reads_of_write.mul_add(load.write_iops, load.read_iops) / all } else { 1.0 }
}

impl<'a> DeviceUse<'a> {
    /// The whole device where it is fast enough, else its outer tracks.
    fn new(
        listing: &CatalogListing,
        device: &'a DeviceOffer,
        level: RaidLevel,
        need: &Need,
        plan: &SizingPlan,
    ) -> Result<Self, Box<Rejection>> {
        let share = back_end_read_share(&need.normal, level);
        let limit_s = plan.latency_limit_s();
        let whole = iops_at_mix(&device.iops, share, limit_s).map(|found| (1.0, found));
        let outer = device.short_stroke.filter(|short| short.latency.seconds() <= limit_s);
        let outer = outer.and_then(|short| {
            let (iops, _) = iops_at_mix(&device.iops, share, f64::INFINITY)?;
            Some((short.stroke.0, (iops, short.latency.seconds())))
        });
        let Some((stroke, (iops, latency_s))) = whole.or(outer) else {
            let stroked =
                device.short_stroke.map_or(f64::INFINITY, |short| short.latency.seconds());
            let least_s = least_latency_s(&device.iops).min(stroked);
            return Err(too_slow(listing, least_s, plan).into());
        };
        let group = match level {
            RaidLevel::Raid0 => 1,
            RaidLevel::Raid1 | RaidLevel::Raid10 => 2,
            RaidLevel::Raid5 | RaidLevel::Raid6 => u64::from(plan.group_members),
        };
        Ok(Self { device, level, group, stroke, iops, latency_s, used: plan.used.0 })
    }

    fn layout(&self) -> String {
        let groups =
            if self.group > 2 { format!(" in groups of {}", self.group) } else { String::new() };
        let stroke = if self.stroke < 1.0 {
            format!(", {:.0}% of each used", 100.0 * self.stroke)
        } else {
            String::new()
        };
        format!("{}{groups}{stroke}", level_name(self.level))
    }

    fn whole_groups(&self, devices: u64) -> u64 {
        devices.max(1).div_ceil(self.group) * self.group
    }

    /// Bytes of data that one device keeps.
    fn data_bytes(&self) -> f64 {
        let members = u32::try_from(self.group).unwrap_or(u32::MAX);
        real(self.device.capacity.0) * self.stroke * raid_efficiency(self.level, members)
    }

    /// Bytes a second of one device for the host's mix: a device reads or writes, at the rate of
    /// each.
    fn bytes_per_s(&self, load: &CandidateLoad) -> f64 {
        let written = load.write_bytes_per_s * write_copies(self.level);
        let all = load.read_bytes_per_s + written;
        let busy = load.read_bytes_per_s / real(self.device.read_per_s.0)
            + written / real(self.device.write_per_s.0);
        if busy > 0.0 { all / busy } else { real(self.device.read_per_s.0) }
    }

    fn moved_bytes_per_s(&self, load: &CandidateLoad) -> f64 {
        load.write_bytes_per_s.mul_add(write_copies(self.level), load.read_bytes_per_s)
    }

    fn least(&self, need: &Need) -> u64 {
        let endurance = self.device.daily_writes_ratio.map_or(0, |writes| {
            let written = need.daily_written_bytes * write_copies(self.level);
            device_count(written, real(self.device.capacity.0) * writes, 1.0)
        });
        let counts = [
            device_count(back_end(&need.normal, self.level), self.iops, self.used),
            device_count(need.capacity_bytes, self.data_bytes(), 1.0),
            device_count(
                self.moved_bytes_per_s(&need.normal),
                self.bytes_per_s(&need.normal),
                self.used,
            ),
            endurance,
        ];
        counts.into_iter().max().unwrap_or(1)
    }

    /// Devices that work while one has failed and its group is rebuilt.
    fn working(&self, devices: u64) -> f64 {
        (real(devices) - 1.0 - REBUILD_SHARE * (real(self.group) - 1.0)).max(0.0)
    }

    fn survives(&self, devices: u64, need: &Need) -> bool {
        let has = self.working(devices) * self.used;
        has * self.iops >= back_end(&need.failed, self.level) * (1.0 - 1e-9)
            && has * self.bytes_per_s(&need.failed)
                >= self.moved_bytes_per_s(&need.failed) * (1.0 - 1e-9)
    }

    fn limits(&self, devices: u64, need: &Need, plan: &SizingPlan) -> Vec<LimitUse> {
        let all = real(devices);
        let mut limits = vec![
            self.with_failure(
                self.iops_limit(all, need),
                plan,
                devices,
                back_end(&need.failed, self.level),
                self.iops,
            ),
            self.with_failure(
                self.throughput_limit(all, need),
                plan,
                devices,
                self.moved_bytes_per_s(&need.failed),
                self.bytes_per_s(&need.failed),
            ),
            limit(
                LimitKind::Capacity,
                need.capacity_bytes,
                all * self.data_bytes(),
                "devices x size x stroke x RAID efficiency",
            ),
        ];
        limits.extend(self.device.daily_writes_ratio.map(|writes| {
            let need = need.daily_written_bytes * write_copies(self.level);
            let has = all * real(self.device.capacity.0) * writes;
            limit(LimitKind::Endurance, need, has, "host writes x copies; devices x size x DWPD")
        }));
        limits.extend(latency_limit(
            Some(self.latency_s),
            plan,
            "mean of the device at these IOPS",
        ));
        limits
    }

    fn iops_limit(&self, devices: f64, need: &Need) -> LimitUse {
        let formula = format!(
            "back-end I/Os: reads + {:.0} x writes; devices x {:.0} x {:.2}",
            write_penalty(self.level),
            self.iops,
            self.used
        );
        let has = devices * self.iops * self.used;
        limit(LimitKind::Iops, back_end(&need.normal, self.level), has, formula)
    }

    fn throughput_limit(&self, devices: f64, need: &Need) -> LimitUse {
        let has = devices * self.bytes_per_s(&need.normal) * self.used;
        let formula = "bytes read + copies x bytes written; devices x throughput of the mix";
        limit(LimitKind::Throughput, self.moved_bytes_per_s(&need.normal), has, formula)
    }

    fn with_failure(
        &self,
        limit: LimitUse,
        plan: &SizingPlan,
        devices: u64,
        need: f64,
        of_one: f64,
    ) -> LimitUse {
        if !plan.survives(FailingPart::Device) {
            return limit;
        }
        failing(limit, FailingPart::Device, need, self.working(devices) * of_one * self.used)
    }
}
