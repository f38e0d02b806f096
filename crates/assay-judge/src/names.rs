//! From the name of a quantity to its meaning, and from a wrong name to the nearest one that is
//! known.

use crate::quantity::{
    Amount, CapacityOf, CriterionQuantity, CriterionTimeKind, LoadAmount, QuantityMix, QueryAmount,
    Scope, TimeStatistic,
};
use assay_model::document::nearest;
use assay_model::load::LoadKind;
use assay_model::measurement::Operation;
use assay_model::{Error, Result};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Quantiles that are offered when a name is not known; any other may be written.
const COMMON_QUANTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// The queries of decision support.
const QUERIES: RangeInclusive<u8> = 1..=22;

impl FromStr for CriterionQuantity {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        check_quantile(name)?;
        parse(name).ok_or_else(|| {
            let known: Vec<String> = known().iter().map(ToString::to_string).collect();
            let hint = nearest(name, &known)
                .map_or_else(overview, |near| format!("did you mean '{near}'?"));
            Error::usage(format!("'{name}' is not a known quantity"), hint)
        })
    }
}

/// The quantity of a name; `None` when there is none.
fn parse(name: &str) -> Option<CriterionQuantity> {
    match name {
        "transactions" => return Some(CriterionQuantity::Transactions),
        "integrity.findings" => return Some(CriterionQuantity::IntegrityFindings),
        "durability.lost" => return Some(CriterionQuantity::DurabilityLost),
        "durability.loss_per_cut" => return Some(CriterionQuantity::DurabilityLossPerCut),
        "atomic_unit" => return Some(CriterionQuantity::AtomicUnit),
        "database.response_time" => return Some(CriterionQuantity::DatabaseResponse),
        "host.cpu_busy" => return Some(CriterionQuantity::HostCpuBusy),
        "host.tcp_retransmits" => return Some(CriterionQuantity::HostTcpRetransmits),
        _ => {}
    }
    if let Some(rest) = name.strip_prefix("transaction.response_time.") {
        return statistic(rest).map(CriterionQuantity::TransactionTime);
    }
    if let Some(rest) = name.strip_prefix("calibration.") {
        return calibrated(rest);
    }
    if let Some(rest) = name.strip_prefix("load.") {
        if let Some(what) = query_amount(rest) {
            return Some(CriterionQuantity::Queried { what });
        }
        // Criteria files of 0.2 say `rung`.
        let of_rung = rest.strip_prefix("step.").or_else(|| rest.strip_prefix("rung."));
        let what = load_amount(of_rung.unwrap_or(rest))?;
        return Some(CriterionQuantity::Loaded { each_rung: of_rung.is_some(), what });
    }
    let scopes = [Scope::Stream, Scope::Target, Scope::Whole];
    let scope = scopes.into_iter().find(|scope| name.starts_with(&scope.to_string()))?;
    let amount = amount(name.strip_prefix(&scope.to_string())?)?;
    Some(CriterionQuantity::Measured { scope, amount })
}

/// What follows `calibration.`: mix and capacity.
fn calibrated(rest: &str) -> Option<CriterionQuantity> {
    let (mix, what) = rest.split_once('.')?;
    Some(CriterionQuantity::Calibrated {
        mix: QuantityMix::ALL.into_iter().find(|known| known.name() == mix)?,
        what: capacity(what)?,
    })
}

/// A capacity, or a quantile at queue depth 1.
fn capacity(what: &str) -> Option<CapacityOf> {
    if let Some(digits) = what.strip_prefix("base_service_time.q") {
        return quantile(digits).map(CapacityOf::BaseQuantile);
    }
    CapacityOf::NAMED.into_iter().find(|known| known.name() == what)
}

/// What follows `load.` or `load.step.`.
fn load_amount(name: &str) -> Option<LoadAmount> {
    match name {
        "statements" => return Some(LoadAmount::Statements),
        "physical_reads" => return Some(LoadAmount::PhysicalReads),
        "errors" => return Some(LoadAmount::Errors),
        _ => {}
    }
    if let Some(counted) = LoadKind::all_counted().find(|counted| counted.figures[0].0 == name) {
        return Some(LoadAmount::Counted(counted));
    }
    let (transaction, statistic) = name.split_once(".response_time.")?;
    let transaction = LoadKind::all_streams().find(|known| *known == transaction)?;
    Some(LoadAmount::Time { transaction, statistic: self::statistic(statistic)? })
}

/// What follows `load.` where it is of a load of decision support.
fn query_amount(name: &str) -> Option<QueryAmount> {
    let known = QueryAmount::OF_ALL.into_iter().find(|known| known.to_string() == name);
    known.or_else(|| {
        let number = name.strip_prefix('q')?.strip_suffix(".query_time")?;
        QUERIES
            .contains(&number.parse().ok()?)
            .then(|| number.parse().ok().map(QueryAmount::Query))?
    })
}

/// What follows the scope: operation, if any, and what about it.
fn amount(name: &str) -> Option<Amount> {
    let head = name.split('.').next()?;
    let operation = Operation::ALL.into_iter().find(|known| known.name() == head);
    let rest =
        operation.map_or(Some(name), |known| name.strip_prefix(known.name())?.strip_prefix('.'))?;
    match (rest, operation) {
        ("iops", _) => Some(Amount::Iops(operation)),
        // A sync moves no data, so it has no throughput.
        ("throughput", Some(Operation::Sync)) => None,
        ("throughput", _) => Some(Amount::Throughput(operation)),
        ("errors", _) => Some(Amount::Errors(operation)),
        (_, Some(operation)) => time(rest, operation),
        (_, None) => None,
    }
}

/// What follows the operation of a time: kind and statistic.
fn time(rest: &str, operation: Operation) -> Option<Amount> {
    let (kind, statistic) = rest.split_once('.')?;
    let kind = match kind {
        "service_time" => CriterionTimeKind::Service,
        "response_time" => CriterionTimeKind::Response,
        _ => return None,
    };
    Some(Amount::Time { operation, kind, statistic: self::statistic(statistic)? })
}

fn statistic(name: &str) -> Option<TimeStatistic> {
    Some(match name {
        "mean" => TimeStatistic::Mean,
        "max" => TimeStatistic::Max,
        _ => TimeStatistic::Quantile(quantile(name.strip_prefix('q')?)?),
    })
}

/// A quantile strictly between 0 and 1.
fn quantile(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value = plain.then(|| text.parse::<f64>().ok()).flatten()?;
    (value > 0.0 && value < 1.0).then_some(value)
}

/// `p99` and `q99` are what people from elsewhere write; they are answered with what is meant here.
fn check_quantile(name: &str) -> Result<()> {
    let Some((before, digits)) = name
        .rsplit_once("_time.")
        .and_then(|(before, last)| Some((before, last.strip_prefix(['p', 'q'])?)))
    else {
        return Ok(());
    };
    let hundredth = digits.parse::<f64>().ok().filter(|value| *value >= 1.0 && *value < 100.0);
    let Some(value) = hundredth else {
        return Ok(());
    };
    let meant = format!("{before}_time.q{}", hundredth_of(value));
    Err(Error::usage(
        format!("'{name}' is not a known quantity: a quantile lies between 0 and 1"),
        format!("write '{meant}'"),
    ))
}

/// A hundredth, without the digits that binary arithmetic adds.
fn hundredth_of(value: f64) -> f64 {
    (value * 1e7).round() / 1e9
}

/// The forms of names, for those whose name resembles none.
fn overview() -> String {
    "quantities look like read.service_time.q0.99, write.service_time.mean, sync.service_time.max, \
     iops, throughput, errors (each also as stream.… or target.…), \
     calibration.read.iops_within_limit, load.new_orders, load.step.payment.response_time.q0.99, \
     integrity.findings, durability.lost, atomic_unit, host.cpu_busy"
        .to_owned()
}

/// Every quantity, with the common quantiles.
pub(crate) fn known() -> Vec<CriterionQuantity> {
    let mut known = vec![
        CriterionQuantity::Transactions,
        CriterionQuantity::IntegrityFindings,
        CriterionQuantity::DurabilityLost,
        CriterionQuantity::DurabilityLossPerCut,
        CriterionQuantity::AtomicUnit,
        CriterionQuantity::HostCpuBusy,
        CriterionQuantity::DatabaseResponse,
        CriterionQuantity::HostTcpRetransmits,
    ];
    known.extend(statistics().map(CriterionQuantity::TransactionTime));
    for scope in [Scope::Whole, Scope::Stream, Scope::Target] {
        known.extend(
            amounts().into_iter().map(|amount| CriterionQuantity::Measured { scope, amount }),
        );
    }
    for mix in QuantityMix::ALL {
        let what = CapacityOf::NAMED.into_iter().chain([CapacityOf::BaseQuantile(0.99)]);
        known.extend(what.map(|what| CriterionQuantity::Calibrated { mix, what }));
    }
    for each_rung in [false, true] {
        let loaded = load_amounts().into_iter();
        known.extend(loaded.map(|what| CriterionQuantity::Loaded { each_rung, what }));
    }
    let queried = QueryAmount::OF_ALL.into_iter().chain(QUERIES.map(QueryAmount::Query));
    known.extend(queried.map(|what| CriterionQuantity::Queried { what }));
    known
}

/// Every amount of a load.
pub(crate) fn load_amounts() -> Vec<LoadAmount> {
    let mut amounts = vec![LoadAmount::Statements, LoadAmount::PhysicalReads, LoadAmount::Errors];
    amounts.extend(LoadKind::all_counted().map(LoadAmount::Counted));
    for transaction in LoadKind::all_streams() {
        amounts.extend(statistics().map(|statistic| LoadAmount::Time { transaction, statistic }));
    }
    amounts
}

/// Every amount that any scope can have.
fn amounts() -> Vec<Amount> {
    let mut amounts = vec![Amount::Iops(None), Amount::Throughput(None), Amount::Errors(None)];
    for operation in Operation::ALL {
        amounts.extend([Amount::Iops(Some(operation)), Amount::Errors(Some(operation))]);
        if operation != Operation::Sync {
            amounts.push(Amount::Throughput(Some(operation)));
        }
        for kind in [CriterionTimeKind::Service, CriterionTimeKind::Response] {
            amounts.extend(statistics().map(|statistic| Amount::Time {
                operation,
                kind,
                statistic,
            }));
        }
    }
    amounts
}

/// Every statistic of a time, with the common quantiles.
fn statistics() -> impl Iterator<Item = TimeStatistic> {
    let quantiles = COMMON_QUANTILES.into_iter().map(TimeStatistic::Quantile);
    [TimeStatistic::Mean, TimeStatistic::Max].into_iter().chain(quantiles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(name: &str) -> (String, String) {
        let error = name.parse::<CriterionQuantity>().unwrap_err();
        (error.message().to_owned(), error.hint().to_owned())
    }

    #[test]
    fn every_known_name_reads_back_and_has_words() {
        for quantity in known() {
            assert_eq!(quantity.to_string().parse::<CriterionQuantity>().unwrap(), quantity);
            assert!(quantity.label().len() > 5, "{quantity}");
        }
        assert_eq!(
            known().len(),
            4 + 3 * (3 + 3 * 2 + 2 + 3 * 2 * 7) + 3 * 7 + 2 * (5 + 20 * 7) + 3 + 1 + 23 + 1 + 7 + 1
        );
    }

    #[test]
    fn other_rooms_read_the_same_from_a_name() {
        use assay_model::quantity_name::{NamedStatistic, NamedTime, QuantityName};
        for quantity in known() {
            let (kind, statistic) = match &quantity {
                CriterionQuantity::Measured {
                    amount: Amount::Time { kind, statistic, .. },
                    ..
                } => (*kind, *statistic),
                CriterionQuantity::Loaded { what: LoadAmount::Time { statistic, .. }, .. } => {
                    (CriterionTimeKind::Response, *statistic)
                }
                _ => continue,
            };
            let time = match kind {
                CriterionTimeKind::Service => NamedTime::Service,
                CriterionTimeKind::Response => NamedTime::Response,
            };
            let statistic = match statistic {
                TimeStatistic::Mean => NamedStatistic::Mean,
                TimeStatistic::Max => NamedStatistic::Max,
                TimeStatistic::Quantile(quantile) => NamedStatistic::Quantile(quantile),
            };
            let expected = QuantityName { time: Some(time), statistic: Some(statistic) };
            assert_eq!(QuantityName::of(&quantity.to_string()), expected, "{quantity}");
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let near = |name: &str| refused(name).1;
        assert_eq!(near("read.servicetime.q0.99"), "did you mean 'read.service_time.q0.99'?");
        assert_eq!(near("iosp"), "did you mean 'iops'?");
        assert_eq!(
            near("calibration.read.iops_in_limit"),
            "did you mean 'calibration.read.iops_within_limit'?"
        );
        assert_eq!(near("load.new_order"), "did you mean 'load.new_orders'?");
        assert_eq!(near("sync.throughput"), "did you mean 'read.throughput'?");
        assert_eq!(near("the weather of tomorrow in Zurich"), overview());
        assert_eq!(refused("iosp").0, "'iosp' is not a known quantity");
    }

    #[test]
    fn hundredths_are_answered_with_the_quantile() {
        assert_eq!(refused("read.service_time.p99").1, "write 'read.service_time.q0.99'");
        assert_eq!(
            refused("target.write.response_time.q99.95").1,
            "write 'target.write.response_time.q0.9995'"
        );
        for name in [
            "read.service_time.q1.0",
            "read.service_time.q0",
            "read.service_time.q-1",
            "read.service_time.qx",
        ] {
            assert!(name.parse::<CriterionQuantity>().is_err(), "{name}");
        }
    }

    #[test]
    fn words_say_the_share() {
        let label = |name: &str| name.parse::<CriterionQuantity>().unwrap().label();
        assert_eq!(label("read.service_time.q0.999"), "p99.9 of reads");
        assert_eq!(label("stream.write.response_time.mean"), "mean response time of writes");
        assert_eq!(label("errors"), "failed I/Os");
        assert_eq!(
            label("load.step.new_order.response_time.q0.95"),
            "p95 response time of ‘new order’"
        );
    }

    proptest! {
        #[test]
        fn any_quantile_reads_back(nines in 1u32..999_999) {
            let name = format!("target.sync.response_time.q{}", f64::from(nines) / 1e6);
            prop_assert_eq!(name.parse::<CriterionQuantity>().unwrap().to_string(), name);
        }

        #[test]
        fn no_name_makes_the_parser_panic(name in "\\PC*") {
            let _ = name.parse::<CriterionQuantity>();
        }
    }
}
