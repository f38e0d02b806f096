//! Rates in the words and digits of a sentence.

use crate::format::Shown;

/// `94,600 random 8 KiB reads/s`, of reads and writes `94,600 random 8 KiB IOPS`, or for relative
/// rates `78% of the best rate in random 8 KiB reads`.
pub(super) fn paced(what: &str, rate: &Shown) -> String {
    match what.strip_suffix("I/Os") {
        _ if !rate.is_rate() => format!("{rate} of the best rate in {what}"),
        Some(what) => format!("{} {what}IOPS", rate.number),
        None => format!("{} {what}/s", rate.number),
    }
}

/// Rates from here on are printed as whole numbers.
const WHOLE_MIN: f64 = 10.0;

/// Three significant digits: as many as a sentence can carry.
pub(super) fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    // To round to a tenth first would print 41.46 as 42.
    let unit = if value >= WHOLE_MIN { unit.max(1.0) } else { unit };
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_rounded_once() {
        for (value, expected) in [(41.46, 41.0), (41.5, 42.0), (99.6, 100.0), (12_345.0, 12_300.0)]
        {
            assert!((rounded(value) - expected).abs() < 1e-9, "{value}");
        }
        assert!((rounded(4.146) - 4.15).abs() < 1e-9);
    }
}
