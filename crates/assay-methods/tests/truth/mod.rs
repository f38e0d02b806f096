//! Simulated devices whose answers are known, and the answers.

pub mod drawn;
pub mod noisy;
mod raid;
mod usl;

use assay_methods::{CalibrationMix, CalibrationPlan};
use assay_model::calibration::LatencyLimit;
use assay_model::spelling::LimitStatistic;
use assay_model::units::Nanos;
use assay_stats::queueing::ClosedQueue;
use assay_stats::special::incomplete_gamma;

/// True answers; rates in I/Os or bytes per second, times in ns.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub base_service_time_ns: f64,
    pub iops_max: f64,
    /// The rate before it falls, where it does.
    pub iops_burst: Option<f64>,
    /// How long the burst lasts at that rate, s.
    pub burst_s: Option<f64>,
    /// `None` where no load keeps the limit.
    pub iops_within: Option<f64>,
    pub throughput_max: Option<f64>,
    pub single_stream: Option<f64>,
}

/// A device, the plan to calibrate it by, and what must come out.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: &'static str,
    pub device: String,
    pub plan: CalibrationPlan,
    pub truth: Truth,
}

const MIB: f64 = 1_048_576.0;

/// A plan for one mix with the 0.99 quantile within a limit.
pub fn plan(read_share: f64, limit_us: f64, budget_s: f64) -> CalibrationPlan {
    CalibrationPlan {
        limit: LatencyLimit {
            quantile: LimitStatistic::Quantile(0.99),
            service_time_ns: limit_us * 1e3,
        },
        mixes: vec![CalibrationMix::of(read_share)],
        time_budget: Nanos::from_seconds(budget_s),
        ..CalibrationPlan::default()
    }
}

/// The largest load up to `most` that keeps a limit, given the share of I/Os beyond it at each
/// load.
pub fn last_within(most: u32, beyond: impl Fn(u32) -> f64) -> Option<u32> {
    (1..=most).take_while(|load| beyond(*load) <= 0.01).last()
}

/// Exponential servers: below their number nobody waits, above it all wait for an Erlang time.
pub fn exponential(servers: u32, service_us: f64, limit_us: f64, budget_s: f64) -> Case {
    let queue =
        |customers: u32| ClosedQueue { servers, services_per_s: 1e6 / service_us, customers };
    let within = last_within(1024, |load| queue(load).response_exceeds(limit_us / 1e6));
    let most = f64::from(servers) * 1e6 / service_us;
    Case {
        name: "exponential servers",
        device: format!("servers?count={servers}&service={service_us}us"),
        plan: plan(1.0, limit_us, budget_s),
        truth: Truth {
            base_service_time_ns: service_us * 1e3,
            iops_max: most,
            iops_within: within.map(|load| queue(load).throughput()),
            throughput_max: Some(most * MIB),
            single_stream: Some(1e6 / service_us * MIB),
            ..Truth::default()
        },
    }
}

/// One exponential server of mean `server_us` before a delay of mean `delay_us`: throughput and the
/// share of I/Os that take longer than a limit, with `load` of them circulating.
///
/// The number at the server has weights k-fold of the delay's factorials; who arrives sees the
/// system with one less (Lavenberg and Reiser, J. Applied Probability 17, 1980) and takes an Erlang
/// and an exponential time.
pub fn server_and_delay(load: u32, server_us: f64, delay_us: f64, limit_us: f64) -> (f64, f64) {
    let waiting = |load: u32| -> Vec<f64> {
        // P(k at the server) is proportional to (server / delay)^k load! / (load - k)!.
        let mut weights = vec![1.0];
        for k in 0..load {
            let last = weights[weights.len() - 1];
            weights.push(last * f64::from(load - k) * server_us / delay_us);
        }
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    };
    let throughput = (1.0 - waiting(load)[0]) * 1e6 / server_us;
    let (serve, pass) = (limit_us / server_us, limit_us / delay_us);
    let exceeds = |ahead: f64| {
        let erlang = incomplete_gamma(ahead, serve).upper;
        let factor = (server_us.recip() / (server_us.recip() - delay_us.recip())).ln() * ahead;
        erlang + (factor - pass).exp() * incomplete_gamma(ahead, serve - pass).lower
    };
    let beyond = waiting(load - 1)
        .iter()
        .zip(1u32..)
        .map(|(share, ahead)| share * exceeds(f64::from(ahead)))
        .sum();
    (throughput, beyond)
}

/// A server before a delay: the rate rises smoothly, so that a limit falls between steps.
pub fn smooth(server_us: f64, delay_us: f64, limit_us: f64, budget_s: f64) -> Case {
    let of = |load: u32| server_and_delay(load, server_us, delay_us, limit_us);
    let within = last_within(200, |load| of(load).1);
    let most = 1e6 / server_us;
    Case {
        name: "server and delay",
        device: format!(
            "servers?count=1&service={server_us}us+servers?count=4096&service={delay_us}us"
        ),
        plan: plan(1.0, limit_us, budget_s),
        truth: Truth {
            base_service_time_ns: (server_us + delay_us) * 1e3,
            iops_max: most,
            iops_within: within.map(|load| of(load).0),
            throughput_max: Some(most * MIB),
            single_stream: Some(1e6 / (server_us + delay_us) * MIB),
            ..Truth::default()
        },
    }
}

/// A link of 400 MB/s before a constant delay of 100 us: 20.48 us and 100 us for 8 KiB.
pub fn link(limit_us: f64, budget_s: f64) -> Case {
    let (link_us, delay_us) = (8192.0 / 400.0, 100.0);
    let rate = |load: u32| (f64::from(load) / (link_us + delay_us)).min(1.0 / link_us) * 1e6;
    let time_us = |load: u32| (link_us + delay_us).max(f64::from(load) * link_us);
    let within = last_within(1024, |load| f64::from(u8::from(time_us(load) > limit_us)));
    Case {
        name: "bandwidth cap",
        device: "bandwidth?rate=400MB/s+constant?count=4096&service=100us".to_owned(),
        plan: plan(1.0, limit_us, budget_s),
        truth: Truth {
            base_service_time_ns: (link_us + delay_us) * 1e3,
            iops_max: 1e6 / link_us,
            iops_within: within.map(rate),
            throughput_max: Some(400e6),
            single_stream: Some(MIB / (MIB / 400e6 + delay_us / 1e6)),
            ..Truth::default()
        },
    }
}

/// Servers with constant times.
pub fn constant(servers: u32, service_us: f64, limit_us: f64, budget_s: f64) -> Case {
    let most = f64::from(servers) * 1e6 / service_us;
    Case {
        name: "constant servers",
        device: format!("constant?count={servers}&service={service_us}us"),
        plan: plan(1.0, limit_us, budget_s),
        truth: Truth {
            base_service_time_ns: service_us * 1e3,
            iops_max: most,
            iops_within: (limit_us >= service_us).then_some(most),
            throughput_max: Some(most * MIB),
            single_stream: Some(1e6 / service_us * MIB),
            ..Truth::default()
        },
    }
}

/// Eight servers behind a bucket of credits: 8/service until the credits are gone, then the refill.
pub fn bucket(service_us: f64, refill: f64, credits: f64, budget_s: f64) -> Case {
    let burst = 8e6 / service_us;
    Case {
        name: "token bucket",
        device: format!(
            "bucket?rate={refill}/s&credits={credits}+servers?count=8&service={service_us}us"
        ),
        plan: plan(1.0, 20.0 * service_us, budget_s),
        truth: Truth {
            base_service_time_ns: service_us * 1e3,
            iops_max: refill,
            iops_burst: Some(burst),
            burst_s: Some(credits / (burst - refill)),
            iops_within: Some(refill),
            throughput_max: Some(refill * MIB),
            single_stream: Some(1e6 / service_us * MIB),
        },
    }
}

/// A write cache that drains at 80 MB/s before four servers of 100 us.
pub fn cliff(cache: &str, cache_bytes: f64, budget_s: f64) -> Case {
    let (burst, drain) = (40_000.0, 80e6 / 8192.0);
    Case {
        name: "write cliff",
        device: format!("cliff?cache={cache}&drain=80MB/s+constant?count=4&service=100us"),
        plan: plan(0.0, 2000.0, budget_s),
        truth: Truth {
            base_service_time_ns: f64::NAN,
            iops_max: drain,
            iops_burst: Some(burst),
            burst_s: Some(cache_bytes / (burst * 8192.0 - 80e6)),
            iops_within: Some(drain),
            throughput_max: Some(80e6),
            single_stream: Some(80e6),
        },
    }
}

/// Every kind of device, on the time budget given.
pub fn cases(budget_s: f64) -> Vec<Case> {
    let name = |name, case: Case| Case { name, ..case };
    vec![
        name("8 exponential servers", exponential(8, 200.0, 2000.0, budget_s)),
        name("8 exponential servers, limit 100 us", exponential(8, 20.0, 100.0, budget_s / 5.0)),
        name("48 exponential servers", exponential(48, 1000.0, 6000.0, budget_s)),
        name("server and delay, limit 620 us", smooth(50.0, 100.0, 620.0, budget_s)),
        name("server and delay, limit 1.01 ms", smooth(25.0, 200.0, 1010.0, budget_s)),
        name("server and delay, limit on the edge", smooth(50.0, 100.0, 600.0, budget_s)),
        name("slow server and delay", smooth(400.0, 4000.0, 21_000.0, budget_s)),
        name("bandwidth cap", link(1000.0, budget_s)),
        name("bandwidth cap, limit 121 us", link(121.0, budget_s)),
        name("8 constant servers", constant(8, 150.0, 1000.0, budget_s)),
        name("8 constant servers, limit too low", constant(8, 150.0, 100.0, budget_s)),
        name("token bucket", bucket(200.0, 17_000.0, 200_000.0, budget_s)),
        name("slow token bucket", bucket(2000.0, 1700.0, 30_000.0, budget_s)),
        name("write cliff", cliff("4GB", 4e9, budget_s)),
    ]
}
