//! How large the cache of a load's server is, where a study says it by its data or by the host's
//! memory.

use super::labels::option;
use crate::load::load_options::LoadOptions;
use assay_host::environment::read_host;
use assay_host::root::{Survey, SysRoot};
use assay_model::number::{count, real};
use assay_model::study::FactorValue;
use assay_model::units::{Bytes, Share};
use assay_model::{Error, Result};

/// Bytes of a block of a database.
const BLOCK_BYTES: u64 = 8192;
/// The option that is the size of the cache.
const CACHE: &str = "buffer-pool";
/// A server does not start with less; whole blocks are asked of it.
const CACHE_MIN: u64 = 1 << 20;

/// Whether a study says by this name how large the cache is, and not in bytes.
pub fn is_size_of_cache(name: &str) -> bool {
    ["cache-ratio", "memory-share"].contains(&option(name).as_str())
}

/// Sets the size of the cache by `cache_ratio` or `memory_share`, after all other options.
///
/// # Errors
/// A usage error when the value means nothing, or when two of them say how large it is.
pub fn size_cache(load: &mut LoadOptions, sizes: &[(&str, &FactorValue)]) -> Result<()> {
    let Some((name, value)) = sizes.first() else { return Ok(()) };
    let other = sizes.get(1).map(|(other, _)| *other);
    if let Some(other) = other.or_else(|| load.value(CACHE).map(|_| CACHE)) {
        return Err(Error::usage(
            format!("'{name}' and '{other}' both set the size of the cache"),
            "leave one of them out",
        ));
    }
    let said = value.to_string();
    let bytes = if option(name) == "cache-ratio" {
        count(ratio(&said)? * real(load.plan()?.load().data_bytes()?))
    } else {
        let share: Share = said.parse().map_err(|error: Error| error.context("memory_share"))?;
        let host = read_host(&Survey::new(&SysRoot::live()));
        count(share.0 * real(host.memory.total_bytes))
    };
    let whole = bytes.max(CACHE_MIN) / BLOCK_BYTES * BLOCK_BYTES;
    load.set(CACHE, &FactorValue::Text(Bytes(whole).to_string()))
}

/// `2:1` as 2.
fn ratio(text: &str) -> Result<f64> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| *number > 0.0);
    let parts = text.split_once(':').and_then(|(cache, data)| number(cache).zip(number(data)));
    parts.map(|(cache, data)| cache / data).ok_or_else(|| {
        Error::usage(
            format!("cache_ratio: '{text}' is not a ratio of cache to data"),
            "write for example \"2:1\" or \"1:3\"",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_loads::brokerage;
    use assay_loads::oltp::OltpRules;

    fn text(value: &str) -> FactorValue {
        FactorValue::Text(value.to_owned())
    }

    fn cache(kind: &str, options: &[(&str, FactorValue)]) -> Result<u64> {
        let mut load = LoadOptions::new(kind, "/tmp")?;
        let (sizes, others): (Vec<_>, Vec<_>) = options
            .iter()
            .map(|(name, value)| (*name, value))
            .partition(|(name, _)| is_size_of_cache(name));
        for (name, value) in others {
            load.set(name, value)?;
        }
        size_cache(&mut load, &sizes)?;
        Ok(load.value(CACHE).unwrap().to_string().parse::<Bytes>().unwrap().0)
    }

    #[test]
    fn a_ratio_is_of_the_data_of_the_load() {
        let oltp =
            |ratio| vec![("warehouses", FactorValue::Whole(10)), ("cache_ratio", text(ratio))];
        let data = OltpRules { warehouses: 10, ..OltpRules::default() }.data_bytes();
        for (ratio, of_data) in [("2:1", 2.0), ("1:1", 1.0), ("1:3", 1.0 / 3.0)] {
            let found = real(cache("oltp", &oltp(ratio)).unwrap());
            assert!((found / real(data) / of_data - 1.0).abs() < 1e-3, "{ratio}: {found}");
        }
        let dss = vec![("scale", FactorValue::Real(0.5)), ("cache_ratio", text("1:2"))];
        assert_eq!(cache("dss", &dss).unwrap(), 475_000_000 / 8192 * 8192);
        let slob = vec![("scale", text("64MiB")), ("cache_ratio", text("1:1"))];
        assert!(cache("slob", &slob).unwrap() > 64 << 20);
        for customers in [1000, 2000] {
            let data =
                brokerage::BrokerageRules { customers, ..brokerage::BrokerageRules::default() }
                    .data_bytes();
            let customers = ("customers", FactorValue::Whole(customers.into()));
            let found = cache("brokerage", &[customers, ("cache_ratio", text("1:4"))]).unwrap();
            assert!((4.0 * real(found) / real(data) - 1.0).abs() < 1e-3, "{found}");
        }
    }

    #[test]
    fn a_share_is_of_the_memory_of_the_host() {
        let of = |share| real(cache("oltp", &[("memory_share", text(share))]).unwrap());
        assert!((of("40%") / of("20%") - 2.0).abs() < 0.01);
    }

    #[test]
    fn what_means_nothing_or_contradicts_is_refused() {
        let ratio = |value: &str| vec![("cache_ratio", text(value))];
        for (kind, options, complaint) in [
            ("oltp", ratio("2"), "not a ratio"),
            ("oltp", ratio("0:1"), "not a ratio"),
            ("oltp", vec![("memory_share", text("x"))], "no share"),
            ("oltp", vec![("cache_ratio", text("1:1")), ("memory", text("1GiB"))], "both set"),
            ("oltp", vec![("cache_ratio", text("1:1")), ("memory_share", text("1%"))], "both set"),
        ] {
            let error = cache(kind, &options).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(complaint) || message.contains("not a share"), "{message}");
        }
        assert_eq!(cache("oltp", &[("memory", text("1GiB"))]).unwrap(), 1 << 30);
    }
}
