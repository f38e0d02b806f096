//! The arithmetic of sizing, one function a rule; each names where the rule stands.

use assay_model::array::RaidLevel;
use assay_model::catalog::IopsPoint;
use assay_model::number::count;

/// Share of a port's payload that is planned for: what is above waits for the others.
pub const PORT_USE: f64 = 0.7;

/// Back-end I/Os of one small write: 1 without redundancy, 2 with copies, 4 with one parity (two
/// reads, two writes), 6 with two (three and three). Chen et al., RAID, ACM Computing Surveys 26
/// (1994).
pub const fn write_penalty(level: RaidLevel) -> f64 {
    match level {
        RaidLevel::Raid0 => 1.0,
        RaidLevel::Raid1 | RaidLevel::Raid10 => 2.0,
        RaidLevel::Raid5 => 4.0,
        RaidLevel::Raid6 => 6.0,
    }
}

/// Share of the raw capacity that holds data, with groups of `members`.
pub fn raid_efficiency(level: RaidLevel, members: u32) -> f64 {
    let members = f64::from(members.max(1));
    match level {
        RaidLevel::Raid0 => 1.0,
        RaidLevel::Raid1 | RaidLevel::Raid10 => 0.5,
        RaidLevel::Raid5 => (members - 1.0) / members,
        RaidLevel::Raid6 => (members - 2.0) / members,
    }
}

/// I/Os of the devices: reads, and writes times the penalty.
pub fn back_end_iops(read_iops: f64, write_iops: f64, penalty: f64) -> f64 {
    penalty.mul_add(write_iops, read_iops)
}

/// I/Os of the host that these of the devices carry at a share of reads: the inverse of
/// [`back_end_iops`].
pub fn front_end_iops(back_end_iops: f64, read_share: f64, penalty: f64) -> f64 {
    back_end_iops / penalty.mul_add(1.0 - read_share, read_share)
}

/// More pieces than this are not counted apart.
const COUNT_MAX: u64 = 1 << 50;

/// Devices for a rate: the least whole number of which a share `used` carries it.
pub fn device_count(rate: f64, rate_of_one: f64, used: f64) -> u64 {
    // A quotient that is whole but for rounding is whole.
    count((rate / (rate_of_one * used) - 1e-9).ceil()).min(COUNT_MAX)
}

/// Random I/Os per second of a disk, one at a time: one over seek and half a turn.
pub fn disk_iops(seek_s: f64, turns_per_min: f64) -> f64 {
    1.0 / (seek_s + 30.0 / turns_per_min)
}

/// I/Os per second that a link carries: its payload over their size.
pub fn link_iops(payload_bytes_per_s: f64, block_size_bytes: f64) -> f64 {
    payload_bytes_per_s / block_size_bytes
}

/// Ports for a throughput with `PORT_USE` of each planned for, and one more where one may fail.
pub fn port_count(bytes_per_s: f64, payload_bytes_per_s: f64, survives: bool) -> u64 {
    device_count(bytes_per_s, payload_bytes_per_s, PORT_USE).max(1) + u64::from(survives)
}

/// How often a day the capacity of all devices is written: host writes times what redundancy adds.
pub fn drive_writes_per_day(written_bytes: f64, redundancy: f64, devices: f64, bytes: f64) -> f64 {
    written_bytes * redundancy / (devices * bytes)
}

/// Bytes written for one byte of the host: copies, or data and parities of a small write.
pub const fn write_copies(level: RaidLevel) -> f64 {
    match level {
        RaidLevel::Raid0 => 1.0,
        RaidLevel::Raid1 | RaidLevel::Raid10 | RaidLevel::Raid5 => 2.0,
        RaidLevel::Raid6 => 3.0,
    }
}

/// IOPS at a share of reads with a mean of at most `latency_s`, and the latency that belongs to
/// them; `None` where no point is as fast.
///
/// Between two shares the time that an I/O occupies the device, one over the IOPS, is linear;
/// beyond the outermost ones it is theirs.
pub fn iops_at_mix(points: &[IopsPoint], read_share: f64, latency_s: f64) -> Option<(f64, f64)> {
    let allowed = points.iter().filter(|point| point.latency_s() <= latency_s * (1.0 + 1e-9));
    let mut best: Vec<&IopsPoint> = Vec::new();
    for point in allowed {
        match best.iter_mut().find(|known| known.read_share == point.read_share) {
            Some(known) if known.rate >= point.rate => {}
            Some(known) => *known = point,
            None => best.push(point),
        }
    }
    best.sort_by(|one, other| one.read_share.0.total_cmp(&other.read_share.0));
    let below = best.iter().rfind(|point| point.read_share.0 <= read_share).or(best.first())?;
    let above = best.iter().find(|point| point.read_share.0 >= read_share).or(best.last())?;
    let span = above.read_share.0 - below.read_share.0;
    if span <= 0.0 {
        return Some((below.rate.0, below.latency_s()));
    }
    let weight = (read_share - below.read_share.0) / span;
    let occupied_s = (1.0 - weight) / below.rate.0 + weight / above.rate.0;
    Some((1.0 / occupied_s, below.latency_s().max(above.latency_s())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::{Bytes, Nanos, Rate, Share};

    fn within(found: f64, expected: f64, share: f64) -> bool {
        (found / expected - 1.0).abs() <= share
    }

    /// Texas Memory Systems, Validating Your IO Subsystem, "Capacity".
    #[test]
    fn the_figures_of_the_paper_on_validating_are_reproduced() {
        let disks = device_count(100_000.0, 300.0, 1.0);
        assert_eq!(disks, 334);
        // Less than 30% of each: the capacity of these disks needs more than a thousand.
        let stroked = device_count(334.0, 0.3, 1.0);
        assert_eq!(stroked, 1114);
        assert!((link_iops(400e6, 128e3) - 3125.0).abs() < 1e-9);
    }

    #[test]
    fn penalties_and_devices_are_those_of_the_worked_examples() {
        // 10,000 IOPS of 70% reads on drives of 150 IOPS, 70% of each used.
        for (level, back, drives) in [
            (RaidLevel::Raid0, 10_000.0, 96),
            (RaidLevel::Raid10, 13_000.0, 124),
            (RaidLevel::Raid5, 19_000.0, 181),
            (RaidLevel::Raid6, 25_000.0, 239),
        ] {
            let found = back_end_iops(7000.0, 3000.0, write_penalty(level));
            assert!((found - back).abs() < 1e-9, "{level:?}: {found}");
            assert_eq!(device_count(found, 150.0, 0.7), drives, "{level:?}");
            assert!((front_end_iops(found, 0.7, write_penalty(level)) - 10_000.0).abs() < 1e-9);
        }
    }

    /// Dell, PS Series: what a penalty says of one figure, and what was measured.
    #[test]
    fn measured_arrays_show_where_the_penalty_holds_and_where_not() {
        // 5.1, disks, RAID 10: 3,846 from 5,000 reads; 4,047 measured.
        let disks = front_end_iops(5000.0, 0.7, 2.0);
        assert!((disks - 3846.15).abs() < 0.01);
        assert!(within(disks, 4047.0, 0.055) && disks < 4047.0);
        // 5.3.1, RAID 6: three reads of the devices a write; 7 drives of 31.78 MB/s in blocks of 8
        // KiB measured.
        let reads = back_end_iops(17_000.0 * 0.7, 17_000.0 * 0.3, 3.0);
        assert!((reads - 27_200.0).abs() < 1e-9);
        assert!(within(reads, 7.0 * 31.78e6 / 8192.0, 0.002));
        // 5.2, flash, RAID 10: 26,538 from 34,500 reads; 16,000 measured. A mix of flash has to be
        // measured.
        let flash = front_end_iops(34_500.0, 0.7, 2.0);
        assert!((flash - 26_538.46).abs() < 0.01 && flash / 16_000.0 > 1.65);
    }

    #[test]
    fn disks_ports_and_endurance_are_those_of_the_worked_examples() {
        let of = |seek_ms: f64, turns| format!("{:.0}", disk_iops(seek_ms / 1e3, turns));
        assert_eq!([of(8.5, 7200.0), of(4.5, 1e4), of(3.5, 15e3)], ["79", "133", "182"]);
        // 6 GB/s over 16GFC, 32GFC, 64GFC and 25 Gbit/s Ethernet.
        let ports = [1.6e9, 3.2e9, 6.4e9, 2.9e9].map(|payload| port_count(6e9, payload, false));
        assert_eq!(ports, [6, 3, 2, 3]);
        assert_eq!(port_count(6e9, 3.2e9, true), 4);
        // 120 MB/s on a mirror of eight drives of 7.68 TB.
        let writes = drive_writes_per_day(120e6 * 86_400.0, 2.0, 8.0, 7.68e12);
        assert!((writes - 0.3375).abs() < 1e-12);
        assert!((raid_efficiency(RaidLevel::Raid6, 6) - 4.0 / 6.0).abs() < 1e-12);
    }

    fn point(read_share: f64, rate: f64, latency_ms: u64) -> IopsPoint {
        IopsPoint {
            read_share: Share(read_share),
            rate: Rate(rate),
            block_size: Bytes(8192),
            latency: Some(Nanos(latency_ms * 1_000_000)),
            queue_depth: None,
        }
    }

    #[test]
    fn a_mix_lies_between_its_measured_neighbours() {
        let points = [
            point(1.0, 60_000.0, 1),
            point(1.0, 100_000.0, 5),
            point(0.0, 20_000.0, 1),
            point(0.7, 50_000.0, 2),
        ];
        let at = |share, latency_s| iops_at_mix(&points, share, latency_s).map(|found| found.0);
        assert_eq!((at(1.0, 0.001), at(1.0, 1.0)), (Some(60_000.0), Some(100_000.0)));
        assert_eq!((at(0.7, 1.0), at(1.0, 0.0005)), (Some(50_000.0), None));
        // Half way from 0% to 70%: the mean of 1/20,000 and 1/50,000.
        let half = at(0.35, 1.0).unwrap();
        assert!((half - 1.0 / (0.5 / 20e3 + 0.5 / 50e3)).abs() < 1e-6);
        let between = at(0.7, 0.001).unwrap();
        assert!((between - 1.0 / (0.3 / 20e3 + 0.7 / 60e3)).abs() < 1e-6);
        // Where only reads are known, a write takes as long.
        assert_eq!(iops_at_mix(&points[..1], 0.2, 1.0).map(|found| found.0), Some(60_000.0));
    }
}
