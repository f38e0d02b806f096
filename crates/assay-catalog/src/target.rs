//! A volume that is ordered by words: `gp3?iops=20000&size=4TiB&instance=r6a.8xlarge`, and the
//! limits that it then has.

use crate::CatalogIndex;
use assay_model::catalog::{Burst, InstanceOffer, Offer, Volume, VolumeOrder};
use assay_model::number::{count, real};
use assay_model::units::{Bytes, Nanos, Rate, show_bytes, show_count, show_throughput};
use assay_model::{Error, Result};

/// What an order may say.
const KEYS: [&str; 6] = ["size", "iops", "throughput", "instance", "latency", "credits"];

/// A volume as it is ordered, with what limits it: its own limits, or those of the machine it is
/// attached to.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeTarget {
    /// Name of the entry.
    pub name: String,
    /// The order; IOPS and throughput are those that are sustained.
    pub order: VolumeOrder,
    /// More IOPS while there are credits.
    pub burst: Option<Burst>,
    /// Mean latency, as it is documented or assumed.
    pub latency: Nanos,
    /// What a larger I/O counts as several of.
    pub block_size: Bytes,
    /// What the machine lets through.
    machine: Option<InstanceOffer>,
}

/// An order, key by key.
#[derive(Default)]
struct TargetWords<'a> {
    size: Option<Bytes>,
    iops: Option<f64>,
    throughput: Option<Bytes>,
    instance: Option<&'a str>,
    latency: Option<Nanos>,
    credits: Option<u64>,
}

impl VolumeTarget {
    /// Reads `NAME?key=value&…` and checks that such a volume can be ordered.
    ///
    /// # Errors
    /// A usage error that names the key or the limit.
    pub fn parse(text: &str, index: &CatalogIndex) -> Result<Self> {
        let (name, query) = text.split_once('?').unwrap_or((text, ""));
        let entry = &index.find(name)?.entry;
        let volume = match entry.offer() {
            Some(Offer::Volume(volume)) => volume,
            Some(Offer::Array(array)) if array.model.is_some() => {
                let model = array.model.as_deref().unwrap_or_default();
                return Err(no_volume(name, &format!("its model is the target array:{model}")));
            }
            _ => {
                return Err(no_volume(
                    name,
                    "only cloud volumes can be simulated, for example catalog:gp3",
                ));
            }
        };
        let words =
            TargetWords::parse(query).map_err(|error| error.context(format!("catalog:{name}")))?;
        words.ordered(name, volume, index).map_err(|error| error.context(format!("catalog:{name}")))
    }

    /// I/Os per second that it sustains, at most those of its machine.
    pub fn sustained_iops(&self) -> f64 {
        self.machine_iops().min(self.order.iops.0)
    }

    /// I/Os per second at most: of a burst, where there is one.
    pub fn most_iops(&self) -> f64 {
        let burst = self.burst.map_or(0.0, |burst| burst.rate.0);
        self.machine_iops().min(self.order.iops.0.max(burst))
    }

    /// Bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        let machine = self.machine.as_ref().map_or(u64::MAX, |one| one.throughput_per_s.0);
        real(self.order.throughput_per_s.0.min(machine))
    }

    /// Credits of a full balance, where they carry more than is sustained.
    pub fn credits(&self) -> Option<u64> {
        self.burst.filter(|_| self.most_iops() > self.sustained_iops()).map(|burst| burst.credits)
    }

    fn machine_iops(&self) -> f64 {
        self.machine.as_ref().map_or(f64::INFINITY, |machine| machine.iops.0)
    }
}

/// A volume whose latency nobody knows cannot be simulated, and nothing can be judged by a guess.
fn undocumented(name: &str, volume: &Volume) -> Error {
    Error::usage(
        format!("the only documented latency is: {}", volume.promise),
        format!("assume one with catalog:{name}?latency=1ms, or measure a trial volume"),
    )
}

fn no_volume(name: &str, hint: &str) -> Error {
    Error::usage(format!("'{name}' is not a volume"), hint)
}

fn whole(key: &str, text: &str) -> Result<u64> {
    text.parse().map_err(|_| {
        Error::usage(format!("{key}: '{text}' is not a whole number"), "write for example 20000")
    })
}

fn per_s(text: &str) -> &str {
    text.strip_suffix("/s").unwrap_or(text)
}

impl<'a> TargetWords<'a> {
    fn parse(query: &'a str) -> Result<Self> {
        let mut words = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "size" => words.size = Some(value.parse()?),
                "iops" => words.iops = Some(real(whole(key, per_s(value))?)),
                "throughput" => words.throughput = Some(per_s(value).parse()?),
                "instance" => words.instance = Some(value),
                "latency" => words.latency = Some(value.parse()?),
                "credits" => words.credits = Some(whole(key, value)?),
                _ => {
                    let hint = format!("its keys are {}", KEYS.join(", "));
                    return Err(Error::usage(format!("it has no key '{key}'"), hint));
                }
            }
        }
        Ok(words)
    }

    fn ordered(self, name: &str, volume: &Volume, index: &CatalogIndex) -> Result<VolumeTarget> {
        let order = self.order(volume)?;
        let latency = self.latency.or(volume.latency).ok_or_else(|| undocumented(name, volume))?;
        let machine = self.instance.map(|instance| machine(instance, volume, index)).transpose()?;
        let with_credits =
            |burst: Burst| Burst { credits: self.credits.unwrap_or(burst.credits), ..burst };
        Ok(VolumeTarget {
            name: name.to_owned(),
            order,
            burst: volume.burst.map(with_credits),
            latency,
            block_size: volume.block_size,
            machine: machine.cloned(),
        })
    }

    /// What is not said is what every volume has; a size that is not said is the least that gives
    /// the rest.
    fn order(&self, volume: &Volume) -> Result<VolumeOrder> {
        let size = self.size(volume)?;
        let plain = volume.of_size(size);
        let iops = self.iops.unwrap_or(plain.iops.0);
        let most = volume.iops.most(size);
        let can = if volume.iops.provisioned { iops <= most } else { (iops - most).abs() < 1.0 };
        if !can || iops <= 0.0 {
            let what = if volume.iops.provisioned { "at most" } else { "exactly" };
            return Err(Error::usage(
                format!("{} IOPS cannot be ordered", show_count(iops)),
                format!("{} deliver {what} {}", show_bytes(real(size.0)), show_count(most)),
            ));
        }
        let usual = if volume.throughput.provisioned {
            real(volume.throughput.included_per_s.0)
        } else {
            volume.throughput.most(iops)
        };
        let throughput = self.throughput.map_or(usual, |throughput| real(throughput.0));
        let most = volume.throughput.most(iops);
        if throughput > most * (1.0 + 1e-9) || throughput <= 0.0 {
            return Err(Error::usage(
                format!("{} cannot be ordered", show_throughput(throughput)),
                format!("with {} IOPS it has at most {}", show_count(iops), show_throughput(most)),
            ));
        }
        let throughput_per_s = Bytes(count(throughput));
        Ok(VolumeOrder { size, iops: Rate(iops), throughput_per_s })
    }

    fn size(&self, volume: &Volume) -> Result<Bytes> {
        let needed = self.iops.and_then(|iops| volume.iops.bytes_for(iops)).unwrap_or(0.0);
        let asked = self.size.map_or(needed, |size| real(size.0));
        let sizes = volume.size;
        let found = sizes.at_least(asked).filter(|size| self.size.is_none_or(|own| own == *size));
        found.ok_or_else(|| {
            let hint = format!("sizes go from {} to {} by {}", sizes.min, sizes.max, sizes.step);
            Error::usage(format!("{} cannot be ordered", show_bytes(asked)), hint)
        })
    }
}

fn machine<'i>(name: &str, volume: &Volume, index: &'i CatalogIndex) -> Result<&'i InstanceOffer> {
    match index.find(name)?.entry.offer() {
        Some(Offer::Instance(instance)) if instance.provider == volume.provider => Ok(instance),
        Some(Offer::Instance(instance)) => Err(Error::usage(
            format!("a volume of {} cannot be attached to '{name}'", volume.provider),
            format!("'{name}' is one of {}", instance.provider),
        )),
        _ => Err(Error::usage(
            format!("'{name}' is not a virtual machine"),
            "`assay list catalog` lists those that are known",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<VolumeTarget> {
        VolumeTarget::parse(text, &CatalogIndex::built_in().unwrap())
    }

    #[test]
    fn an_order_gets_what_it_says_and_the_machine_limits_it() {
        let gp3 = target("gp3?iops=20000&size=4TiB&throughput=600MiB&latency=1ms").unwrap();
        assert_eq!((gp3.sustained_iops(), gp3.most_iops()), (20_000.0, 20_000.0));
        assert_eq!((gp3.bytes_per_s(), gp3.credits()), (600.0 * 1_048_576.0, None));
        let small = target("gp3?iops=20000&instance=r6a.2xlarge&latency=1ms").unwrap();
        assert_eq!((small.sustained_iops(), small.order.size), (12_000.0, Bytes(40 << 30)));
        let gp2 = target("gp2?size=100GiB&latency=1ms").unwrap();
        assert_eq!((gp2.sustained_iops(), gp2.most_iops()), (300.0, 3000.0));
        assert_eq!(gp2.credits(), Some(5_400_000));
        assert_eq!(target("gp2?size=2TiB&latency=1ms").unwrap().credits(), None);
    }

    #[test]
    fn what_cannot_be_ordered_is_refused_with_the_limit() {
        for (text, expected) in [
            ("gp3?iops=20000&size=10GiB", "20,000 IOPS cannot be ordered"),
            ("gp3?iops=90000", "90,000 IOPS cannot be ordered"),
            ("gp3?throughput=3000MiB", "cannot be ordered"),
            ("gp3?size=65TiB", "sizes go from 1GiB to 64TiB"),
            ("gp3?size=100MB", "sizes go from 1GiB to 64TiB"),
            ("gp3", "the only documented latency is: single-digit millisecond latency"),
            ("gp3?iop=5", "no key 'iop'"),
            ("gp2?size=100GiB&iops=500", "exactly 300"),
            ("premium-ssd-v2?instance=r6a.2xlarge", "cannot be attached"),
            ("gp3?latency=1ms&instance=gp2", "not a virtual machine"),
            ("fc-32g", "is not a volume"),
            ("xtremio-1", "array:xtremio-1"),
            ("gp5", "'gp5' is not in any catalog"),
        ] {
            let error = target(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
