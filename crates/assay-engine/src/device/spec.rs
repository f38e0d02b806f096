//! Simulated devices by name: `sim:servers?count=8&service=200us+stall?every=20s&length=1s`.

use super::laws::{Bandwidth, Cliff, CreditBucket, DeviceLaw, ServersLaw, ServiceLaw, Stall};
use super::tiers::SimulatedTiers;
use super::{Device, LawPipeline};
use assay_model::document::nearest;
use assay_model::units::{Bytes, Nanos, Rate};
use assay_model::{Error, Result};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The parts a device can be made of, with their keys: name, keys, what it does.
pub const PARTS: &[(&str, &[&str], &str)] = &[
    (
        "servers",
        &["count", "service"],
        "equal servers with exponential service times behind one queue (M/M/c)",
    ),
    (
        "constant",
        &["count", "service"],
        "equal servers with constant service times behind one queue",
    ),
    ("bandwidth", &["rate"], "a link with this bandwidth"),
    ("bucket", &["rate", "credits"], "credits refilled at a rate: burst, then sustained IOPS"),
    (
        "cliff",
        &["cache", "drain"],
        "a write cache that is fast until full, then as slow as it drains",
    ),
    (
        "tiers",
        &["sizes", "latencies", "follow"],
        "faster tiers of these sizes for recently used data, with one more latency than sizes; a \
         tier admits new data after a while",
    ),
    ("stall", &["every", "length"], "no I/O completes for some time at the end of every period"),
];

/// A described device, built for each simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSpec {
    /// Bytes that can be addressed.
    pub length_bytes: u64,
    seed: u64,
    parts: Vec<SpecPart>,
}

#[derive(Clone, Debug, PartialEq)]
enum SpecPart {
    Servers { count: usize, service: ServiceLaw },
    Bandwidth(f64),
    Bucket { iops: f64, credits: f64 },
    Cliff { cache: Bytes, drain_bytes_per_s: f64 },
    Tiers { sizes: Vec<Bytes>, latencies: Vec<Nanos>, follow: Nanos },
    Stall { every: Nanos, length: Nanos },
}

/// Keys and values of one part.
struct Keys<'a> {
    part: &'a str,
    values: BTreeMap<&'a str, &'a str>,
}

impl DeviceSpec {
    /// Reads `PART?key=value&key=value+PART?…`; the pseudo-part `device?size=1GiB&seed=1` sets size
    /// and seed.
    ///
    /// # Errors
    /// A usage error that names the part or key and the nearest known one.
    pub fn parse(text: &str) -> Result<Self> {
        let mut spec = Self { length_bytes: 1 << 40, seed: 1, parts: Vec::new() };
        for part in text.split('+') {
            let (name, query) = part.split_once('?').unwrap_or((part, ""));
            spec.add(name, query)
                .map_err(|error| error.context(format!("simulated device '{text}'")))?;
        }
        if spec.parts.is_empty() {
            return Err(Error::usage(
                format!("simulated device '{text}' has no components"),
                parts_hint(),
            ));
        }
        Ok(spec)
    }

    fn add(&mut self, name: &str, query: &str) -> Result<()> {
        if name == "device" {
            let keys = Keys::parse(name, query, &["size", "seed"])?;
            self.length_bytes = keys
                .get("size")
                .map_or(Ok(self.length_bytes), |text| text.parse::<Bytes>().map(|size| size.0))?;
            self.seed = keys.get("seed").map_or(Ok(self.seed), whole)?;
            return Ok(());
        }
        let known = PARTS.iter().find(|(part, ..)| *part == name);
        let (part, keys, _) = known.ok_or_else(|| {
            let names: Vec<String> = PARTS.iter().map(|(part, ..)| (*part).to_owned()).collect();
            let near = nearest(name, &names)
                .map(|near| format!("did you mean '{near}'? "))
                .unwrap_or_default();
            Error::usage(format!("there is no part '{name}'"), format!("{near}{}", parts_hint()))
        })?;
        self.parts.push(SpecPart::parse(part, &Keys::parse(part, query, keys)?)?);
        Ok(())
    }

    /// The same device with other random numbers.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The device, fresh.
    pub fn build(&self) -> Box<dyn Device> {
        let law = |(index, part): (u64, &SpecPart)| part.build(self.seed.wrapping_add(index));
        Box::new(LawPipeline::new((0u64..).zip(&self.parts).map(law).collect()))
    }
}

fn parts_hint() -> String {
    let names: Vec<&str> = PARTS.iter().map(|(part, ..)| *part).collect();
    format!("the parts are {}; for example sim:servers?count=8&service=200us", names.join(", "))
}

fn whole(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|_| Error::usage(format!("'{text}' is not a whole number"), "write for example 8"))
}

impl<'a> Keys<'a> {
    fn parse(part: &'a str, query: &'a str, known: &[&str]) -> Result<Self> {
        let mut values = BTreeMap::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !known.contains(&key) {
                let hint = format!("'{part}' has {}", known.join(", "));
                return Err(Error::usage(format!("'{part}' has no key '{key}'"), hint));
            }
            values.insert(key, value);
        }
        Ok(Self { part, values })
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).copied()
    }

    fn read<T: FromStr<Err = Error>>(&self, key: &str) -> Result<T> {
        self.text(key)?.parse::<T>().map_err(|error| error.context(format!("{}?{key}", self.part)))
    }

    fn text(&self, key: &str) -> Result<&str> {
        let missing =
            || Error::usage(format!("'{}' needs the key '{key}'", self.part), parts_hint());
        self.get(key).ok_or_else(missing)
    }
}

impl SpecPart {
    fn parse(name: &str, keys: &Keys<'_>) -> Result<Self> {
        match name {
            "servers" | "constant" => Self::servers(name, keys),
            "bandwidth" => Ok(Self::Bandwidth(bytes_per_s(keys, "rate")?)),
            "bucket" => Ok(Self::Bucket {
                iops: positive(keys.read::<Rate>("rate")?.0, "rate")?,
                credits: assay_model::number::real(whole(keys.text("credits")?)?),
            }),
            "cliff" => Ok(Self::Cliff {
                cache: keys.read("cache")?,
                drain_bytes_per_s: bytes_per_s(keys, "drain")?,
            }),
            "tiers" => Self::tiers(keys),
            _ => Self::stall(keys),
        }
    }

    fn servers(name: &str, keys: &Keys<'_>) -> Result<Self> {
        let count = assay_model::number::index_of(whole(keys.text("count")?)?);
        if count == 0 || count > 100_000 {
            return Err(Error::usage(format!("{count} servers"), "use 1 to 100000"));
        }
        let time = keys.read::<Nanos>("service")?;
        if time.0 == 0 {
            return Err(Error::usage(
                "a service time of 0s is not allowed",
                "write for example 200us",
            ));
        }
        let time_ns = assay_model::number::real(time.0);
        let service = if name == "servers" {
            ServiceLaw::Exponential(time_ns)
        } else {
            ServiceLaw::Constant(time_ns)
        };
        Ok(Self::Servers { count, service })
    }

    /// One latency more than sizes; sizes ascend, and so do latencies.
    fn tiers(keys: &Keys<'_>) -> Result<Self> {
        let sizes: Vec<Bytes> = list(keys, "sizes")?;
        let latencies: Vec<Nanos> = list(keys, "latencies")?;
        let follow = keys.get("follow").map_or(Ok(Nanos(0)), str::parse)?;
        let ascending = sizes.is_sorted_by(|one, next| one.0 < next.0)
            && latencies.is_sorted_by(|one, next| one.0 < next.0);
        if ascending && latencies.len() == sizes.len() + 1 {
            return Ok(Self::Tiers { sizes, latencies, follow });
        }
        Err(Error::usage(
            format!("{} sizes and {} latencies do not define tiers", sizes.len(), latencies.len()),
            "use ascending sizes and one more latency than sizes, for example \
             tiers?sizes=1GiB&latencies=100us,5ms",
        ))
    }

    fn stall(keys: &Keys<'_>) -> Result<Self> {
        let (every, length) = (keys.read::<Nanos>("every")?, keys.read::<Nanos>("length")?);
        if length.0 < every.0 {
            return Ok(Self::Stall { every, length });
        }
        Err(Error::usage(
            format!("a stall of {length} every {every} never ends"),
            "use a length shorter than every",
        ))
    }

    fn build(&self, seed: u64) -> Box<dyn DeviceLaw> {
        match self {
            Self::Servers { count, service } => Box::new(ServersLaw::new(*count, *service, seed)),
            Self::Bandwidth(bytes_per_s) => Box::new(Bandwidth::new(*bytes_per_s)),
            Self::Bucket { iops, credits } => Box::new(CreditBucket::new(*iops, *credits)),
            Self::Cliff { cache, drain_bytes_per_s } => {
                Box::new(Cliff::new(assay_model::number::real(cache.0), *drain_bytes_per_s))
            }
            Self::Tiers { sizes, latencies, follow } => Box::new(SimulatedTiers::new(
                &sizes.iter().map(|size| size.0).collect::<Vec<_>>(),
                latencies.iter().map(|latency| latency.0).collect(),
                follow.0,
            )),
            Self::Stall { every, length } => Box::new(Stall::new(every.0, length.0)),
        }
    }
}

/// Values separated by commas.
fn list<T: FromStr<Err = Error>>(keys: &Keys<'_>, key: &str) -> Result<Vec<T>> {
    let values = keys.text(key)?.split(',').map(str::parse);
    let values: Result<Vec<T>> = values.collect();
    values.map_err(|error| error.context(format!("{}?{key}", keys.part)))
}

/// `400MB/s`, or `400MB` meaning the same.
fn bytes_per_s(keys: &Keys<'_>, key: &str) -> Result<f64> {
    let text = keys.text(key)?;
    let size = text.strip_suffix("/s").unwrap_or(text).parse::<Bytes>();
    let size = size.map_err(|error| {
        let what = format!("{}?{key}: {}", keys.part, error.message());
        Error::usage(what, "write for example 400MB/s")
    })?;
    positive(assay_model::number::real(size.0), key)
}

fn positive(value: f64, key: &str) -> Result<f64> {
    if value > 0.0 {
        Ok(value)
    } else {
        Err(Error::usage(format!("{key} must be above 0"), "write for example 1000/s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_described_in_one_line() {
        let spec = DeviceSpec::parse(
            "device?size=1GiB&seed=7+servers?count=8&service=200us+stall?every=20s&length=1s",
        )
        .unwrap();
        assert_eq!((spec.length_bytes, spec.seed, spec.parts.len()), (1 << 30, 7, 2));
        assert_eq!(
            DeviceSpec::parse("bandwidth?rate=400MB/s").unwrap().parts,
            [SpecPart::Bandwidth(4e8)]
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("server?count=8", "did you mean 'servers'?"),
            ("servers?count=8&servce=1us", "'servers' has no key 'servce'"),
            ("servers?count=8", "'servers' needs the key 'service'"),
            ("servers?count=8&service=200", "'200' has no unit"),
            ("servers?count=0&service=200us", "0 servers"),
            ("constant?count=1&service=0s", "is not allowed"),
            ("stall?every=1s&length=2s", "never ends"),
            ("device?seed=1", "has no components"),
        ] {
            let error = DeviceSpec::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
