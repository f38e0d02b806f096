//! The figures of a load that a study compares.

use crate::loaded_run::read_cell;
use assay_judge::compare::mean_of_repeats;
use assay_judge::totals;
use assay_model::dss::{Dss, DssKind, DssRun};
use assay_model::load::{CountedTransaction, Load, Physical, Rung};
use assay_model::measurement::Finish;
use assay_model::number::{rate, real};
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Estimate, Result};
use assay_store::{RunReader, StoredDocument};

/// What a load that came to nothing says.
pub fn failed(why: &str) -> Error {
    Error::environment(format!("the load: {why}"), "run `assay bench` by hand to find the cause")
}

/// What a load came to: the figures of the last step of its ladder, or the times of its queries.
///
/// # Errors
/// What the store says, or that nothing was measured to its end.
pub fn measures(run: &RunReader) -> Result<Vec<NamedEstimate>> {
    if let Some(dss) = run.json::<Dss>(StoredDocument::Dss)? {
        return of_queries(&dss);
    }
    let Some(cell) = run.cells()?.pop() else {
        return Err(failed("it measured nothing"));
    };
    let (report, _) = read_cell(&cell, &[])?;
    if let Finish::Failed { reason } = &report.measurement.finish {
        return Err(failed(reason));
    }
    let load = run.json::<Load>(StoredDocument::Load)?;
    let last = load.as_ref().and_then(|load| load.kind.counted().zip(load.rungs.last()));
    let found = last.and_then(|(counted, rung)| of_transactions(counted, rung, &report.estimates));
    if let Some(found) = found {
        return Ok(found);
    }
    // What was measured for too short a time has no interval, but it has done what it has done.
    let mut found = report.estimates;
    for total in totals(&report.measurement) {
        let is_known =
            |known: &NamedEstimate| known.subject.is_none() && known.quantity == total.quantity;
        if !found.iter().any(is_known) {
            found.push(total);
        }
    }
    Ok(found)
}

/// The counted transactions and their times, with intervals where there are any; nothing where none
/// was carried out.
fn of_transactions(
    counted: &CountedTransaction,
    rung: &Rung,
    estimates: &[NamedEstimate],
) -> Option<Vec<NamedEstimate>> {
    let stream = rung.measurement.streams.iter().find(|stream| stream.name == counted.stream)?;
    let result = stream.operations.write.as_ref()?;
    let elapsed_s = rung.measurement.elapsed_s();
    let times = result.response();
    let of = |known: &str, name: &str, value: f64| {
        let is_it = |named: &&NamedEstimate| {
            named.subject.as_deref() == Some(counted.stream) && named.quantity.ends_with(known)
        };
        let estimate = estimates.iter().find(is_it).map(|named| named.estimate);
        named(name, estimate.unwrap_or_else(|| Estimate::without_interval(value, 1)))
    };
    let [rate_name, mean_name, q99_name] = counted.figures.map(|(name, _)| name);
    let mut found = vec![
        of("write.iops", rate_name, rate(result.ios, elapsed_s)),
        of("write.response_time.mean", mean_name, times.mean_ns()),
        of("write.response_time.q0.99", q99_name, real(times.quantile_ns(0.99))),
    ];
    found.extend(of_reads(&rung.physical, elapsed_s));
    Some(found)
}

/// How long power and throughput runs took, and what a query takes in them. One run has no
/// interval: repeats of the cell give one. Of several numbers of streams or processes in one load
/// the last counts; factors vary them.
fn of_queries(dss: &Dss) -> Result<Vec<NamedEstimate>> {
    let mut found = Vec::new();
    for (kind, name) in [(DssKind::Power, "power_run"), (DssKind::Throughput, "throughput_run")] {
        let whole = || dss.runs.iter().filter(|run| run.kind == kind && run.is_whole());
        let Some(last) = whole().next_back() else { continue };
        let at = |run: &DssRun| (run.streams, run.parallel);
        let alike = || whole().filter(|run| at(run) == at(last));
        let lengths: Vec<f64> = alike().map(|run| real(run.elapsed_ns)).collect();
        let means_s = alike().filter_map(DssRun::geometric_mean_s);
        let means: Vec<f64> = means_s.map(|mean_s| mean_s * 1e9).collect();
        found.extend(mean(&format!("{name}.time"), &lengths));
        found.extend(mean(&format!("{name}.query_time.geometric_mean"), &means));
    }
    if let Some(run) = dss.runs.last().filter(|_| !found.is_empty()) {
        found.extend(of_reads(&run.physical, run.elapsed_s()));
        return Ok(found);
    }
    Err(failed(match dss.end.as_str() {
        "" => "no run of queries completed",
        why => why,
    }))
}

/// What the server read, and what of it storage had to give.
fn of_reads(physical: &Physical, elapsed_s: f64) -> Vec<NamedEstimate> {
    let once =
        |name: &str, bytes: u64| named(name, Estimate::without_interval(rate(bytes, elapsed_s), 1));
    let read = once("database.read_throughput", physical.database_bytes);
    let stored = physical.process_bytes.map(|bytes| once("storage.read_throughput", bytes));
    std::iter::once(read).chain(stored).collect()
}

/// The mean of times, ns; repeats say how sure it is.
fn mean(quantity: &str, times: &[f64]) -> Option<NamedEstimate> {
    let once = |time_ns: &f64| Estimate::without_interval(*time_ns, 1);
    let each: Vec<Estimate> = times.iter().map(once).collect();
    (!each.is_empty()).then(|| named(quantity, mean_of_repeats(&each)))
}

fn named(quantity: &str, estimate: Estimate) -> NamedEstimate {
    NamedEstimate { quantity: quantity.to_owned(), subject: None, estimate }
}
