//! The demand of a database on storage over a stretch of time, per second.

use crate::plan::GivenDemand;
use assay_model::number::real;
use assay_model::profile::{IoClass, IoPurpose, Profile, RateKind};
use assay_model::sizing::DemandQuantity;
use assay_model::units::Share;
use assay_model::{Error, Result};

/// Purposes that add up to all I/O where a report has no total. Temporary files are direct I/O
/// where that is counted.
const PURPOSES: [IoPurpose; 7] = [
    IoPurpose::SingleBlockRead,
    IoPurpose::MultiBlockRead,
    IoPurpose::DirectRead,
    IoPurpose::DirectWrite,
    IoPurpose::DataFileWrite,
    IoPurpose::LogWrite,
    IoPurpose::Backup,
];
/// A database's block of which nothing is known, bytes.
const BLOCK_BYTES: f64 = 8192.0;

/// What was demanded over a stretch of time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DemandSample {
    /// Where it was read.
    pub(crate) name: String,
    pub(crate) elapsed_s: Option<f64>,
    values: Vec<(DemandQuantity, f64)>,
}

/// I/O of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Directions {
    read_iops: f64,
    write_iops: f64,
    read_bytes_per_s: f64,
    write_bytes_per_s: f64,
}

impl Directions {
    fn new(iops: f64, bytes_per_s: f64, read_share: Share) -> Self {
        let written = 1.0 - read_share.0;
        Self {
            read_iops: iops * read_share.0,
            write_iops: iops * written,
            read_bytes_per_s: bytes_per_s * read_share.0,
            write_bytes_per_s: bytes_per_s * written,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            read_iops: self.read_iops + other.read_iops,
            write_iops: self.write_iops + other.write_iops,
            read_bytes_per_s: self.read_bytes_per_s + other.read_bytes_per_s,
            write_bytes_per_s: self.write_bytes_per_s + other.write_bytes_per_s,
        }
    }
}

impl DemandSample {
    /// Requests and bytes that reach the storage; where a report counts bytes of reads and writes
    /// apart, by these.
    ///
    /// # Errors
    /// A usage error when the profile has no rate of I/Os.
    pub(crate) fn new(name: &str, profile: &Profile) -> Result<Self> {
        profile.check_demand()?;
        let Some(directions) = total(profile).or_else(|| purposes(profile)) else {
            return Err(Error::usage(
                format!("{name} has no I/O rate to size for"),
                "use a report with Instance Activity Stats or IOStat sections, or a longer excerpt",
            ));
        };
        let elapsed_s = profile.elapsed_s.as_ref().map(|elapsed| elapsed.value);
        let transactions = profile.work.transactions_per_s.as_ref().map(|rate| rate.value);
        Ok(Self::from_directions(name, elapsed_s, directions, transactions))
    }

    /// What was given on the command line.
    pub(crate) fn given(given: &GivenDemand) -> Self {
        let product = given.rate.0 * real(given.block_size.0);
        let bytes_per_s = given.throughput_per_s.map_or(product, |bytes| real(bytes.0));
        let directions = Directions::new(given.rate.0, bytes_per_s, given.read_share);
        Self::from_directions("given", None, directions, None)
    }

    fn from_directions(
        name: &str,
        elapsed_s: Option<f64>,
        directions: Directions,
        transactions: Option<f64>,
    ) -> Self {
        let mut values = vec![
            (DemandQuantity::ReadIops, directions.read_iops),
            (DemandQuantity::WriteIops, directions.write_iops),
            (DemandQuantity::ReadBytesPerS, directions.read_bytes_per_s),
            (DemandQuantity::WriteBytesPerS, directions.write_bytes_per_s),
        ];
        values.extend(transactions.map(|rate| (DemandQuantity::TransactionsPerS, rate)));
        Self { name: name.to_owned(), elapsed_s, values }
    }

    /// What all of them demanded together.
    pub(crate) fn sum<'a>(parts: impl Iterator<Item = &'a Self>, elapsed_s: Option<f64>) -> Self {
        Self::folded(parts, elapsed_s, |one, other| one + other)
    }

    /// The highest of each quantity.
    pub(crate) fn highest<'a>(parts: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let elapsed_s = parts.clone().filter_map(|part| part.elapsed_s).reduce(f64::max);
        Self::folded(parts, elapsed_s, f64::max)
    }

    fn folded<'a>(
        parts: impl Iterator<Item = &'a Self>,
        elapsed_s: Option<f64>,
        fold: impl Fn(f64, f64) -> f64,
    ) -> Self {
        let (mut names, mut values) = (Vec::new(), Vec::<(DemandQuantity, f64)>::new());
        for part in parts {
            names.push(part.name.as_str());
            for (quantity, value) in &part.values {
                match values.iter_mut().find(|(known, _)| known == quantity) {
                    Some((_, known)) => *known = fold(*known, *value),
                    None => values.push((*quantity, *value)),
                }
            }
        }
        Self { name: names.join(" + "), elapsed_s, values }
    }

    /// The same demand for longer.
    pub(crate) fn lengthen(&mut self, more_s: Option<f64>) {
        self.elapsed_s = self.elapsed_s.zip(more_s).map(|(one, more)| one + more);
    }

    pub(crate) fn value(&self, quantity: DemandQuantity) -> Option<f64> {
        self.values.iter().find(|(of, _)| *of == quantity).map(|found| found.1)
    }
}

/// All I/O as the report counts it.
fn total(profile: &Profile) -> Option<Directions> {
    let all = profile.class(IoPurpose::All)?;
    let rate = all.rate_iops.as_ref().map(|rate| rate.value);
    let rate = rate.filter(|rate| rate.is_finite() && *rate > 0.0)?;
    let share = all.read_share.as_ref().map_or(1.0, |share| share.value);
    let share = Share(share.clamp(0.0, 1.0));
    let block = profile.block_bytes.as_ref().map_or(BLOCK_BYTES, |block| block.value);
    let bytes = all.throughput_bytes_per_s.as_ref().map_or(rate * block, |bytes| bytes.value);
    let directions = Directions::new(rate, bytes, share);
    Some(counted_bytes(profile).map_or(directions, |[read, written]| Directions {
        read_bytes_per_s: read,
        write_bytes_per_s: written,
        ..directions
    }))
}

/// Bytes of reads and writes as the report counts them.
fn counted_bytes(profile: &Profile) -> Option<[f64; 2]> {
    let bytes = &profile.report.as_ref()?.bytes;
    let total = bytes.iter().find(|one| one.kind == RateKind::Total)?;
    let read = total.read_bytes_per_s.as_ref()?.value;
    Some([read, total.write_bytes_per_s.as_ref()?.value])
}

/// Whether its demand is the sum of what it has by purpose, as it has no total.
pub(crate) fn has_no_total(profile: &Profile) -> bool {
    total(profile).is_none()
}

/// I/O of all purposes that have a rate and a size, added up.
fn purposes(profile: &Profile) -> Option<Directions> {
    let of = |purpose: &IoPurpose| of_class(profile.class(*purpose)?);
    let counted: Vec<Directions> = PURPOSES.iter().filter_map(of).collect();
    let direct = [IoPurpose::DirectRead, IoPurpose::DirectWrite];
    let temporary = of(&IoPurpose::Temporary)
        .filter(|_| direct.iter().all(|purpose| profile.class(*purpose).is_none()));
    counted.into_iter().chain(temporary).reduce(Directions::plus)
}

fn of_class(class: &IoClass) -> Option<Directions> {
    let above_0 = |value: &f64| value.is_finite() && *value > 0.0;
    let rate = class.rate_iops.as_ref().map(|rate| rate.value).filter(above_0)?;
    let block_size = class.block_size_bytes.as_ref().map(|bytes| bytes.value).filter(above_0)?;
    let share = class.read_share.as_ref().map_or(1.0, |share| share.value);
    Some(Directions::new(rate, rate * block_size, Share(share.clamp(0.0, 1.0))))
}
