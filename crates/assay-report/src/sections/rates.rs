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

/// Three significant digits: as many as a sentence can carry.
pub(super) fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}
