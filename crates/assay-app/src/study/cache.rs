//! How large the cache of a load's server is, where a study says it by its data or by the host's memory.

use super::labels::option;
use crate::load::LoadPlan;
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

/// Options of a load by their names.
pub type Options<'a> = Vec<(&'a str, FactorValue)>;

/// The options with the size of the cache in place of `cache_ratio` or `memory_share`.
///
/// # Errors
/// A usage error when the value means nothing, or when two of them say how large it is.
pub fn sized<'a>(plan: &LoadPlan, options: Options<'a>) -> Result<Options<'a>> {
    let is_said = |name: &str| ["cache-ratio", "memory-share"].contains(&option(name).as_str());
    let said: Vec<&str> =
        options.iter().map(|(name, _)| *name).filter(|name| is_said(name)).collect();
    let Some(first) = said.first().copied() else {
        return Ok(options);
    };
    let is_itself = |name: &&str| plan.spelled(name).is_ok_and(|name| name == CACHE);
    let other = options.iter().map(|(name, _)| *name).find(is_itself);
    if let Some(other) = said.get(1).copied().or(other) {
        return Err(Error::usage(
            format!("'{first}' and '{other}' both say how large the cache is"),
            "leave one of them out",
        ));
    }
    let bytes = bytes(plan, first, &options)?.max(CACHE_MIN) / BLOCK_BYTES * BLOCK_BYTES;
    let size = FactorValue::Text(Bytes(bytes).to_string());
    let replaced = |(name, value)| {
        if name == first { ("buffer_pool", size.clone()) } else { (name, value) }
    };
    Ok(options.into_iter().map(replaced).collect())
}

fn bytes(plan: &LoadPlan, name: &str, options: &Options<'_>) -> Result<u64> {
    let known = options.iter().find(|(known, _)| *known == name);
    let text = known.map(|(_, value)| value.to_string()).unwrap_or_default();
    if option(name) == "cache-ratio" {
        return Ok(count(ratio(&text)? * real(data_bytes(plan, name, options)?)));
    }
    let share: Share = text.parse().map_err(|error: Error| error.context("memory_share"))?;
    let host = read_host(&Survey::new(&SysRoot::live()));
    Ok(count(share.0 * real(host.memory.total_bytes)))
}

/// Bytes of the data that the load has with all other options.
fn data_bytes(plan: &LoadPlan, cache: &str, options: &Options<'_>) -> Result<u64> {
    let mut plan = plan.clone();
    for (name, value) in options.iter().filter(|(name, _)| *name != cache) {
        plan.set(name, value)?;
    }
    plan.load().data_bytes()
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
    use assay_loads::oltp::Rules;

    fn text(value: &str) -> FactorValue {
        FactorValue::Text(value.to_owned())
    }

    fn cache(kind: &str, options: Options<'_>) -> Result<u64> {
        let sized = sized(&LoadPlan::named(kind, "/tmp")?, options)?;
        let size = sized.iter().find(|(name, _)| *name == "buffer_pool").unwrap();
        Ok(size.1.to_string().parse::<Bytes>().unwrap().0)
    }

    #[test]
    fn a_ratio_is_of_the_data_of_the_load() {
        let oltp =
            |ratio| vec![("warehouses", FactorValue::Whole(10)), ("cache_ratio", text(ratio))];
        let data = Rules { warehouses: 10, ..Rules::default() }.data_bytes();
        for (ratio, of_data) in [("2:1", 2.0), ("1:1", 1.0), ("1:3", 1.0 / 3.0)] {
            let found = real(cache("oltp", oltp(ratio)).unwrap());
            assert!((found / real(data) / of_data - 1.0).abs() < 1e-3, "{ratio}: {found}");
        }
        let dss = vec![("scale", FactorValue::Real(0.5)), ("cache_ratio", text("1:2"))];
        assert_eq!(cache("dss", dss).unwrap(), 475_000_000 / 8192 * 8192);
        let slob = vec![("scale", text("64MiB")), ("cache_ratio", text("1:1"))];
        assert!(cache("slob", slob).unwrap() > 64 << 20);
        for customers in [1000, 2000] {
            let data = brokerage::Rules { customers, ..brokerage::Rules::default() }.data_bytes();
            let customers = ("customers", FactorValue::Whole(customers.into()));
            let found = cache("brokerage", vec![customers, ("cache_ratio", text("1:4"))]).unwrap();
            assert!((4.0 * real(found) / real(data) - 1.0).abs() < 1e-3, "{found}");
        }
    }

    #[test]
    fn a_share_is_of_the_memory_of_the_host() {
        let of = |share| real(cache("oltp", vec![("memory_share", text(share))]).unwrap());
        assert!((of("40%") / of("20%") - 2.0).abs() < 0.01);
    }

    #[test]
    fn what_means_nothing_or_contradicts_is_refused() {
        let ratio = |value: &str| vec![("cache_ratio", text(value))];
        for (kind, options, complaint) in [
            ("oltp", ratio("2"), "not a ratio"),
            ("oltp", ratio("0:1"), "not a ratio"),
            ("oltp", vec![("memory_share", text("x"))], "no share"),
            ("oltp", vec![("cache_ratio", text("1:1")), ("memory", text("1GiB"))], "both say"),
            ("oltp", vec![("cache_ratio", text("1:1")), ("memory_share", text("1%"))], "both say"),
        ] {
            let error = cache(kind, options).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(complaint) || message.contains("not a share"), "{message}");
        }
        let plain = vec![("memory", text("1GiB"))];
        let oltp = LoadPlan::named("oltp", "/tmp").unwrap();
        assert_eq!(sized(&oltp, plain.clone()).unwrap(), plain);
    }
}
