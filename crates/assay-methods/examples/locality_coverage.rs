//! How often the intervals of a locality hold the truth on simulated devices, and how far the
//! values are off: `locality_coverage SEEDS [FIRST_SEED [DEVICE]]` prints one row a device and
//! quantity.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

use assay_engine::device::DeviceSpec;
use assay_methods::SimulatedBench;
use assay_methods::locality::{LocalityCurve, locality};
use assay_model::locality::Locality;
use assay_model::number::{real, real_len};
use assay_model::units::{Bytes, Nanos};
use assay_model::{Error, Estimate, Result};

/// A device, how it is measured, and what is true of it.
struct Kind {
    device: &'static str,
    largest: Bytes,
    point_s: f64,
    follow_s: Option<f64>,
    sizes_mib: &'static [f64],
    latencies_us: &'static [f64],
}

/// Time of a read of the slow place of the device that is followed, s.
const SLOW_S: f64 = 2e-3;

const KINDS: [Kind; 5] = [
    Kind {
        device: "device?size=40GB+tiers?sizes=3MiB&latencies=90us,1100us",
        largest: Bytes(16 << 20),
        point_s: 2.0,
        follow_s: None,
        sizes_mib: &[3.0],
        latencies_us: &[90.0, 1100.0],
    },
    Kind {
        device: "device?size=100GB+tiers?sizes=7MiB,110MiB&latencies=170us,550us,3ms",
        largest: Bytes(512 << 20),
        point_s: 2.0,
        follow_s: None,
        sizes_mib: &[7.0, 110.0],
        latencies_us: &[170.0, 550.0, 3000.0],
    },
    Kind {
        device: "device?size=2GiB+tiers?sizes=5MiB,30MiB,150MiB&latencies=150us,400us,1500us,9ms",
        largest: Bytes(1 << 30),
        point_s: 3.0,
        follow_s: None,
        sizes_mib: &[5.0, 30.0, 150.0],
        latencies_us: &[150.0, 400.0, 1500.0, 9000.0],
    },
    Kind {
        device: "device?size=7GB+tiers?sizes=13MiB&latencies=40us,900us+servers?count=1&\
                 service=150us",
        largest: Bytes(128 << 20),
        point_s: 2.0,
        follow_s: None,
        sizes_mib: &[13.0],
        latencies_us: &[190.0, 1050.0],
    },
    Kind {
        device: "device?size=1TB+tiers?sizes=8MiB&latencies=120us,2ms&follow=6s",
        largest: Bytes(64 << 20),
        point_s: 2.0,
        follow_s: Some(30.0),
        // Places that follow late have no sizes by a curve.
        sizes_mib: &[],
        latencies_us: &[],
    },
];

/// One quantity over all seeds.
#[derive(Default)]
struct Row {
    covered: u64,
    errors: Vec<f64>,
    widths: Vec<f64>,
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<u64>());
    let seeds = words.next().and_then(std::result::Result::ok);
    let seeds = seeds.ok_or_else(|| {
        Error::usage("no number of seeds", "locality_coverage SEEDS [FIRST_SEED [DEVICE]]")
    })?;
    let first = words.next().and_then(std::result::Result::ok).unwrap_or(1);
    let only = words.next().and_then(std::result::Result::ok);
    println!("| device | quantity | covered | mean error | largest error | median half-width |");
    println!("|---|---|---|---|---|---|");
    for (_, kind) in (0..).zip(&KINDS).filter(|(at, _)| only.is_none_or(|only| only == *at)) {
        let mut rows: Vec<(String, Row)> = Vec::new();
        for seed in first..first + seeds {
            let found = measured(kind, seed)?;
            for (at, (name, truth, interval)) in quantities(kind, &found).into_iter().enumerate() {
                if rows.len() == at {
                    rows.push((name, Row::default()));
                }
                rows[at].1.add(truth, &interval);
            }
        }
        for (name, row) in &mut rows {
            row.print(kind.device, name);
        }
    }
    Ok(())
}

fn measured(kind: &Kind, seed: u64) -> Result<Locality> {
    let spec = DeviceSpec::parse(kind.device)?.with_seed(seed);
    let follow = kind.follow_s.map(Nanos::from_seconds);
    let curve = LocalityCurve {
        largest: Some(kind.largest),
        time: Nanos::from_seconds(kind.point_s),
        follow,
        seed,
        ..LocalityCurve::default()
    };
    locality(&mut SimulatedBench::new(&spec), &curve, spec.length_bytes, &mut |_| {})
}

/// What was found, with its truth.
fn quantities(kind: &Kind, found: &Locality) -> Vec<(String, f64, Estimate)> {
    let none = Estimate::exact(0.0, 0);
    let mut all = Vec::new();
    for (at, truth) in kind.sizes_mib.iter().enumerate() {
        let interval = found.tiers.get(at).and_then(|tier| tier.holds_interval_bytes);
        all.push((format!("{truth} MiB"), truth * f64::from(1 << 20), interval.unwrap_or(none)));
    }
    for (at, truth) in kind.latencies_us.iter().enumerate() {
        let interval = found.tiers.get(at).and_then(|tier| tier.interval_ns);
        all.push((format!("{truth} µs"), truth * 1000.0, interval.unwrap_or(none)));
    }
    if let (Some(_), Some(following)) = (kind.follow_s, &found.following) {
        let (half, most) = followed(following.hot_bytes, SLOW_S);
        all.push(("half followed".to_owned(), half, following.half_mean_s.unwrap_or(none)));
        all.push(("nine tenths followed".to_owned(), most, following.most_mean_s.unwrap_or(none)));
    }
    all
}

/// A place serves a page 6 s after its first read; reads of the slow place touch pages at random,
/// so that after a time t the share 1 - exp(-t / (pages · latency)) was touched.
fn followed(hot_bytes: f64, latency_s: f64) -> (f64, f64) {
    let touching_s = hot_bytes / 8192.0 * latency_s;
    (6.0 + touching_s * 2.0_f64.ln(), 6.0 + touching_s * 10.0_f64.ln())
}

impl Row {
    fn add(&mut self, truth: f64, interval: &Estimate) {
        self.covered += u64::from(interval.covers(truth));
        self.errors.push(interval.value / truth - 1.0);
        self.widths.push(interval.relative_half_width());
    }

    fn print(&mut self, device: &str, name: &str) {
        let n = real_len(self.errors.len());
        let mean = self.errors.iter().sum::<f64>() / n;
        let largest = self.errors.iter().fold(0.0_f64, |most, one| most.max(one.abs()));
        self.widths.sort_by(f64::total_cmp);
        println!(
            "| `{device}` | {name} | {} of {n} ({:.1}%) | {:.2}% | {:.2}% | {:.2}% |",
            self.covered,
            100.0 * real(self.covered) / n,
            100.0 * mean,
            100.0 * largest,
            100.0 * self.widths[self.widths.len() / 2],
        );
    }
}
