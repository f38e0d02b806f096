//! Names of quantities and factors in words: `read.service_time.q0.99` is what criteria say, not
//! what a reader does.

use crate::phrases::nines;
use assay_model::study::{CellResult, load_figures};

/// A quantity in words: `p99 of read latency`.
pub(super) fn quantity(name: &str) -> String {
    if let Some((.., words)) = load_figures().find(|(figure, ..)| name.ends_with(figure)) {
        return words.to_owned();
    }
    // The subject names the stream.
    if let Some(of_stream) = name.strip_prefix("stream.") {
        return quantity(of_stream);
    }
    // Where the operation stands elsewhere.
    for (prefix, time) in [("service_time.", "latency"), ("response_time.", "response time")] {
        if let Some(statistic) = name.strip_prefix(prefix) {
            return format!("{} {time}", self::statistic(statistic));
        }
    }
    let parts: Vec<&str> = name.splitn(3, '.').collect();
    match parts.as_slice() {
        ["iops"] => "IOPS".to_owned(),
        ["throughput"] => "throughput".to_owned(),
        ["iops_max"] => "most IOPS".to_owned(),
        ["iops_within_limit"] => "IOPS within the limit".to_owned(),
        ["integrity", "findings"] => "wrong blocks".to_owned(),
        [operation, "iops"] => format!("{operation}s per second"),
        [operation, "throughput"] => format!("{operation} throughput"),
        [operation, "service_time", statistic] => {
            format!("{} of {operation} latency", self::statistic(statistic))
        }
        [operation, "response_time", statistic] => {
            format!("{} of {operation} response time", self::statistic(statistic))
        }
        _ => spaced(name),
    }
}

/// A statistic in words: `p99`, `mean`.
fn statistic(name: &str) -> String {
    let quantile = name.strip_prefix('q').and_then(|share| share.parse().ok());
    quantile.map_or_else(|| spaced(name), |share: f64| format!("p{}", nines(share)))
}

/// A factor in words: `sessions.sessions` is `sessions`, `read_share` is `read share`.
pub(super) fn factor(name: &str) -> String {
    let mut parts: Vec<&str> = name.split('.').collect();
    parts.dedup();
    spaced(&parts.join(" "))
}

fn spaced(name: &str) -> String {
    let words = name.split(['_', '.']).map(|word| if word == "iops" { "IOPS" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Settings of a cell in words.
pub(super) fn settings(result: &CellResult) -> String {
    let settings = result.cell.settings.iter();
    let words: Vec<String> =
        settings.map(|setting| format!("{} {}", factor(&setting.factor), setting.value)).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_words() {
        let names = ["iops", "read.iops", "read.service_time.q0.99", "write.response_time.mean"];
        let expected =
            ["IOPS", "reads per second", "p99 of read latency", "mean of write response time"];
        assert_eq!(names.map(quantity), expected);
        assert_eq!(["stream.iops", "stream.read.iops"].map(quantity), ["IOPS", "reads per second"]);
        assert_eq!(quantity("session.cpu_busy"), "session cpu busy");
        assert_eq!(quantity("service_time.q0.99"), "p99 latency");
        assert_eq!(quantity("service_time.q0.999"), "p99.9 latency");
        assert_eq!(["sessions.sessions", "read_share"].map(factor), ["sessions", "read share"]);
    }
}
