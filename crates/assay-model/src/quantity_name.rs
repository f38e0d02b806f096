//! What the name of a measured quantity says: `read.service_time.q0.99` is a quantile of a service
//! time. Rooms ask here and do not look into names themselves.

/// Which time a quantity is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedTime {
    /// From submission to completion.
    Service,
    /// From the intended start to completion.
    Response,
    /// Of a query of decision support.
    Query,
}

/// What is said of an operation or of its times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NamedStatistic {
    /// Operations a second.
    Iops,
    /// Bytes per second.
    Throughput,
    /// The mean of times.
    Mean,
    /// The longest time.
    Max,
    /// A quantile of times, 0..=1.
    Quantile(f64),
}

/// A name, as far as others ask about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantityName {
    /// The time that it is of, where it is of one.
    pub time: Option<NamedTime>,
    /// What it says of it; `None` of a quantity of another kind.
    pub statistic: Option<NamedStatistic>,
}

impl QuantityName {
    /// Reads a name; one that is not known says nothing.
    pub fn of(name: &str) -> Self {
        let Some((head, tail)) = split_time(name) else {
            return Self { time: None, statistic: rate(name.rsplit('.').next().unwrap_or(name)) };
        };
        let time = match head.rsplit('.').next() {
            Some("service") => Some(NamedTime::Service),
            Some("response") => Some(NamedTime::Response),
            Some("query") => Some(NamedTime::Query),
            _ => None,
        };
        Self { time, statistic: of_time(tail) }
    }

    /// Whether it is the 99% quantile of a time.
    pub fn is_q99(&self) -> bool {
        matches!(self.statistic, Some(NamedStatistic::Quantile(q)) if (q - 0.99).abs() < 1e-9)
    }

    /// Whether it is the mean of a time.
    pub fn is_mean(&self) -> bool {
        self.statistic == Some(NamedStatistic::Mean)
    }
}

/// What stands before and behind the word of a time.
fn split_time(name: &str) -> Option<(&str, &str)> {
    name.split_once("_time.").or_else(|| Some((name.strip_suffix("_time")?, "")))
}

fn rate(last: &str) -> Option<NamedStatistic> {
    match last {
        "iops" => Some(NamedStatistic::Iops),
        "throughput" => Some(NamedStatistic::Throughput),
        _ => None,
    }
}

fn of_time(statistic: &str) -> Option<NamedStatistic> {
    match statistic {
        // A comparison of decision support names its mean so.
        "mean" | "geometric.mean" => Some(NamedStatistic::Mean),
        "max" => Some(NamedStatistic::Max),
        _ => statistic.strip_prefix('q')?.parse().ok().map(NamedStatistic::Quantile),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_which_time_and_what_of_it() {
        let of = |name: &str| {
            let QuantityName { time, statistic } = QuantityName::of(name);
            (time, statistic)
        };
        let q99 = Some(NamedStatistic::Quantile(0.99));
        assert_eq!(of("read.service_time.q0.99"), (Some(NamedTime::Service), q99));
        assert_eq!(of("write.response_time.q0.99"), (Some(NamedTime::Response), q99));
        let mean = Some(NamedStatistic::Mean);
        assert_eq!(of("new_order.response_time.mean"), (Some(NamedTime::Response), mean));
        assert_eq!(of("power.query_time.geometric.mean"), (Some(NamedTime::Query), mean));
        assert_eq!(of("load.q9.query_time"), (Some(NamedTime::Query), None));
        assert_eq!(of("sync.service_time.max").1, Some(NamedStatistic::Max));
        assert_eq!(of("iops"), (None, Some(NamedStatistic::Iops)));
        assert_eq!(of("read.throughput"), (None, Some(NamedStatistic::Throughput)));
        assert_eq!(of("new_orders_per_min"), (None, None));
        assert!(QuantityName::of("read.service_time.q0.99").is_q99());
        assert!(!QuantityName::of("read.service_time.q0.9").is_q99());
    }
}
