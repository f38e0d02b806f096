//! A volume of a cloud as a device in virtual time: no more than its limits, credits for a burst,
//! and the latency that is promised. What is really behind it is known to its provider alone.

use assay_catalog::VolumeTarget;
use assay_engine::device::{Bandwidth, CreditBucket, DelayLaw, Device, DeviceLaw, LawPipeline};
use assay_model::number::real;

/// The device: at most its I/Os per second, by credits beyond what is sustained, then its
/// bandwidth, then its latency.
pub(super) fn volume_device(volume: &VolumeTarget) -> Box<dyn Device> {
    let counting =
        |bucket: CreditBucket| Box::new(bucket.counting(volume.block_size.0)) as Box<dyn DeviceLaw>;
    let credits = volume.credits();
    let sustained =
        credits.map(|credits| CreditBucket::new(volume.sustained_iops(), real(credits)));
    let laws = [counting(CreditBucket::new(volume.most_iops(), 1.0))];
    let laws = laws.into_iter().chain(sustained.map(counting));
    let bandwidth = Box::new(Bandwidth::new(volume.bytes_per_s())) as Box<dyn DeviceLaw>;
    let delay = Box::new(DelayLaw { delay_ns: volume.latency.0 }) as Box<dyn DeviceLaw>;
    Box::new(LawPipeline::new(laws.chain([bandwidth, delay]).collect()))
}

#[cfg(test)]
mod tests {
    use crate::target::SimulatedDevice;
    use assay_engine::{Ignore, Simulation};
    use assay_model::measurement::Interval;
    use assay_model::units::{Bytes, Nanos, Share};
    use assay_model::workload::{Stream, Workload};
    use std::ops::ControlFlow;

    fn simulation(target: &str) -> Simulation {
        SimulatedDevice::parse(target).unwrap().unwrap().simulation()
    }

    fn closed(block_size: u64, queue_depth: u32, seconds: u64) -> Workload {
        let stream = Stream::closed("io", Share(0.7), Bytes(block_size), queue_depth);
        Workload {
            warm_up: Nanos(1_000_000_000),
            ..Workload::of("closed", Nanos(seconds * 1_000_000_000), stream)
        }
    }

    #[test]
    fn a_volume_gives_its_iops_its_bytes_and_its_latency() {
        for (target, block_size, queue_depth, iops) in [
            ("catalog:gp3?latency=10ms", 8192, 256, 3000.0),
            ("catalog:gp3?iops=20000&latency=10ms", 4096, 512, 20_000.0),
            // The 125 MiB a second that are included are 16,000 I/Os of 8 KiB.
            ("catalog:gp3?iops=20000&latency=10ms", 8192, 512, 16_000.0),
            ("catalog:gp3?iops=20000&instance=r6a.2xlarge&latency=10ms", 8192, 512, 12_000.0),
            // 125 MiB a second in I/Os of 64 KiB.
            ("catalog:gp3?latency=10ms", 65_536, 256, 2000.0),
            // Four parts of 256 KiB each.
            ("catalog:gp3?throughput=750MiB&latency=10ms", 1_048_576, 64, 750.0),
            // One at a time takes what is documented.
            ("catalog:io2?iops=50000", 8192, 1, 2000.0),
        ] {
            let found = simulation(target).run(&closed(block_size, queue_depth, 5), &mut Ignore);
            let found = found.unwrap().iops();
            assert!((found / iops - 1.0).abs() < 0.01, "{target} {block_size}: {found}");
        }
    }

    /// 60,000 credits, 3,000 I/Os per second drawn and 300 refilled: empty after 60,000 / 2,700 =
    /// 22.2 s.
    #[test]
    fn the_rate_falls_when_the_credits_are_used_up() {
        let mut rates = Vec::new();
        let mut see = |interval: &Interval, _: &_| {
            rates.push(interval.operations.ios());
            ControlFlow::Continue(())
        };
        let stream = Stream::closed("io", Share(1.0), Bytes(8192), 64);
        let workload = Workload::of("burst", Nanos(40_000_000_000), stream);
        simulation("catalog:gp2?size=100GiB&credits=60000&latency=10ms")
            .run(&workload, &mut see)
            .unwrap();
        assert_eq!(rates.len(), 40);
        let fall = rates.iter().position(|ios| *ios < 2900).unwrap();
        assert_eq!(fall, 22, "{rates:?}");
        assert!(rates[1..22].iter().all(|ios| ios.abs_diff(3000) <= 1), "{rates:?}");
        assert!(rates[23..].iter().all(|ios| ios.abs_diff(300) <= 1), "{rates:?}");
    }
}
