//! What a load of Assay's own knows better than the server: its clock and its counts have no edges
//! of an interval.

use crate::demand::PredictedDemand;
use assay_model::load::{Load, LoadKind, Rung};
use assay_model::number::{rate, real, seconds};
use assay_stats::group_commit;

/// Other programs of equal priority leave a database that mostly sleeps at least this share of the
/// processors.
const FAIR_SHARE: f64 = 0.5;

/// The event of InnoDB for I/O on data files.
const INNODB_DATA_FILE: &str = "wait/io/file/innodb/innodb_data_file";
/// Up to this share of a statement is the way to the client and back; what is more the server
/// waited for, and did not say.
const OUTSIDE_MAX: f64 = 0.10;

/// A step of a load as its sessions saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepFacts {
    /// Sessions.
    pub sessions: f64,
    /// Statements (or transactions) a second by the sessions' own count.
    pub throughput_per_s: f64,
    /// Mean time of one as its session saw it, seconds.
    pub response_s: f64,
    /// CPU time of the server's sessions for one, seconds, where it is known.
    pub cpu_s: Option<f64>,
    /// Reads of the server for one that its sessions waited for.
    pub reads_mean: Option<f64>,
    /// Reads of the server for one that its sessions did not wait for.
    pub background_reads_mean: f64,
    /// Whether sessions wait for pages that others read or write, and the server does not time
    /// that.
    pub has_silent_page_waits: bool,
    /// Mean wait for such a read, seconds.
    pub read_latency_s: Option<f64>,
    /// Commits of changes of one, where the load knows.
    pub commits_mean: Option<f64>,
    /// Flushes of the device under the data for one, where the kernel counts them.
    pub flushes_mean: Option<f64>,
    /// Share of its reads that the page cache answered, where it is known.
    pub cached_share: Option<f64>,
    /// Processors of the host.
    pub processors_mean: f64,
}

impl StepFacts {
    /// Of one step of a load.
    pub fn of(load: &Load, rung: &Rung) -> Self {
        let operations = rung.measurement.operations();
        let (ios, elapsed_s) = (operations.ios(), rung.elapsed_s());
        let sum_s: f64 = operations
            .iter()
            .map(|(_, of)| of.service.mean_ns() / 1e9 * real(of.service.ios()))
            .sum();
        let per = |amount: f64| amount / real(ios.max(1));
        let reads = Some(rung.database.reads).filter(|reads| *reads > 0);
        let own = own_reads(rung);
        let own_share =
            own.zip(reads).map_or(1.0, |((waits, _), all)| (waits / real(all)).min(1.0));
        Self {
            sessions: f64::from(rung.sessions),
            throughput_per_s: rate(ios, elapsed_s),
            response_s: per(sum_s),
            cpu_s: rung.time.cpu_ns.map(|cpu_ns| per(seconds(cpu_ns))),
            reads_mean: reads.map(|reads| own_share * per(real(reads))),
            background_reads_mean: (1.0 - own_share) * reads.map_or(0.0, |reads| per(real(reads))),
            has_silent_page_waits: own.is_some(),
            read_latency_s: own
                .map(|(waits, time_s)| time_s / waits)
                .or_else(|| rung.read_wait_mean_ns().map(|wait_ns| wait_ns / 1e9)),
            commits_mean: (load.kind == LoadKind::Slob)
                .then(|| per(operations.write.as_ref().map_or(0.0, |updates| real(updates.ios)))),
            flushes_mean: rung.device.as_ref().map(|device| per(real(device.counters.flush_ios))),
            cached_share: cached_share(load, rung),
            processors_mean: f64::from(load.processors),
        }
    }

    /// The demand that the server's counters gave, with what the sessions know: counts go with the
    /// work, shares of DB time with the response, and what is left of the response is time
    /// outside of any event: the way to the client and back.
    pub(crate) fn correct(&self, demand: &mut PredictedDemand) {
        if self.throughput_per_s <= 0.0 || self.response_s <= 0.0 || demand.response_s <= 0.0 {
            return;
        }
        self.scale(demand);
        demand.throughput_per_s = self.throughput_per_s;
        demand.response_s = self.response_s;
        demand.cpu_s = self.cpu_s.unwrap_or(demand.cpu_s);
        demand.reads_mean = self
            .reads_mean
            .map_or(demand.reads_mean, |all| (all - demand.large_reads_mean).max(0.0));
        demand.read_latency_s = self.read_latency_s.unwrap_or(demand.read_latency_s);
        let least = FAIR_SHARE * self.processors_mean;
        demand.processors_mean = demand.processors_mean.max(least);
        demand.background_reads_mean = self.background_reads_mean;
        demand.other_flushes_mean = self.other_flushes_mean(demand);
        demand.commits_wait_for_pages = self.has_silent_page_waits;
        fit_into_response(demand);
        let rest_s = demand.response_s - demand.known_s();
        if self.has_silent_page_waits && rest_s > 0.0 {
            demand.page_waits_s = rest_s;
            demand.unaccounted_s = 0.0;
        } else if (0.0..=OUTSIDE_MAX * demand.response_s).contains(&rest_s) {
            demand.other_s += rest_s;
            demand.unaccounted_s = 0.0;
        } else {
            demand.unaccounted_s = rest_s;
        }
    }

    /// Flushes of the device beyond those of commits, which the server times, and of which each
    /// holds a batch.
    fn other_flushes_mean(&self, demand: &PredictedDemand) -> f64 {
        let Some((flush_s, all)) = demand.flush_s.zip(self.flushes_mean) else {
            return 0.0;
        };
        let commits_per_s = demand.throughput_per_s * demand.commits_mean;
        let batch_mean = group_commit::open(commits_per_s, flush_s, 0.0).batch_mean;
        (all - demand.commits_mean / batch_mean).max(0.0)
    }

    fn scale(&self, demand: &mut PredictedDemand) {
        let count = demand.throughput_per_s / self.throughput_per_s;
        let time = self.response_s / demand.response_s;
        let commit_s = demand.commit_s() * time;
        for amount in [
            &mut demand.reads_mean,
            &mut demand.large_reads_mean,
            &mut demand.large_reads_s,
            &mut demand.writes_mean,
            &mut demand.log_writes_mean,
            &mut demand.foreground_writes_mean,
            &mut demand.foreground_writes_s,
            &mut demand.commits_mean,
            &mut demand.io_bytes,
            &mut demand.redo_bytes,
            &mut demand.cpu_s,
        ] {
            *amount *= count;
        }
        for wait_s in [
            &mut demand.contention_s,
            &mut demand.cluster_s,
            &mut demand.write_behind_s,
            &mut demand.other_s,
        ] {
            *wait_s *= time;
        }
        demand.commits_mean = self.commits_mean.unwrap_or(demand.commits_mean);
        if demand.commits_mean > 0.0 {
            demand.commit_latency_s = commit_s / demand.commits_mean;
        } else {
            demand.other_s += commit_s;
        }
    }
}

/// The server's times of waits have the edges of its interval, and the sessions' clock has none:
/// waits that together take a little longer than the whole are that much shorter.
fn fit_into_response(demand: &mut PredictedDemand) {
    let waits_s = demand.known_s() - demand.cpu_s;
    let ratio = (demand.response_s - demand.cpu_s) / waits_s;
    if !(1.0 - OUTSIDE_MAX..1.0).contains(&ratio) {
        return;
    }
    for wait_s in [
        &mut demand.read_latency_s,
        &mut demand.large_reads_s,
        &mut demand.foreground_writes_s,
        &mut demand.commit_latency_s,
        &mut demand.contention_s,
        &mut demand.page_waits_s,
        &mut demand.cluster_s,
        &mut demand.write_behind_s,
        &mut demand.other_s,
    ] {
        *wait_s *= ratio;
    }
}

/// Waits of sessions for reads of data files, and their sum in seconds, where the server counts
/// them apart from those of its other threads: InnoDB, which also reads for its purge.
fn own_reads(rung: &Rung) -> Option<(f64, f64)> {
    let events = &rung.profile.as_ref()?.server.as_ref()?.events;
    let reads = events.iter().find(|event| event.event == INNODB_DATA_FILE)?;
    Some((real(reads.waits.filter(|waits| *waits > 0)?), reads.time_s.value))
}

/// A server that reads past the page cache has no read from there; the kernel's account of its
/// processes has edges.
fn cached_share(load: &Load, rung: &Rung) -> Option<f64> {
    if load.server.direct_io == Some(true) { Some(0.0) } else { rung.physical.cached_share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_own_clock_decides_and_every_second_is_somewhere() {
        let facts = StepFacts {
            sessions: 8.0,
            throughput_per_s: 50.0,
            response_s: 0.160,
            cpu_s: Some(0.001),
            reads_mean: Some(8.0),
            background_reads_mean: 0.0,
            has_silent_page_waits: false,
            read_latency_s: Some(0.016),
            commits_mean: None,
            flushes_mean: None,
            cached_share: Some(0.0),
            processors_mean: 2.0,
        };
        // The server counted a tenth more work and less DB time, and its CPU was taken for a part
        // of its waits.
        let mut demand = PredictedDemand {
            throughput_per_s: 55.0,
            response_s: 0.120,
            reads_mean: 9.0,
            read_latency_s: 0.016,
            commits_mean: 0.5,
            commit_latency_s: 0.012,
            contention_s: 0.006,
            processors_mean: 0.1,
            ..PredictedDemand::default()
        };
        facts.correct(&mut demand);
        assert!(
            (demand.throughput_per_s - 50.0).abs() < 1e-9 && (demand.cpu_s - 0.001).abs() < 1e-9
        );
        // Commits were 5% of DB time, and are so still.
        assert!((demand.commit_s() - 0.008).abs() < 1e-9, "{}", demand.commit_s());
        assert!((demand.contention_s - 0.008).abs() < 1e-9);
        assert!((demand.other_s - (0.160 - 0.128 - 0.001 - 0.008 - 0.008)).abs() < 1e-9);
        assert!(
            (demand.known_s() - demand.response_s).abs() < 1e-9
                && demand.unaccounted_s.abs() < 1e-9
        );
        assert!((demand.processors_mean - 1.0).abs() < 1e-9);
        // A fifth that is in no event is more than the way to the client.
        let mut silent = PredictedDemand {
            reads_mean: 8.0,
            read_latency_s: 0.016,
            ..PredictedDemand::default()
        };
        (silent.throughput_per_s, silent.response_s) = (50.0, 0.160);
        facts.correct(&mut silent);
        assert!((silent.unaccounted_s - 0.031).abs() < 1e-9 && silent.other_s.abs() < 1e-9);
        // Waits of a twentieth more than the whole are fitted into it; those of a half more stay as
        // they are, and are refused.
        let longer = |read_latency_s: f64| {
            let facts = StepFacts { read_latency_s: Some(read_latency_s), ..facts };
            let mut demand = silent.clone();
            facts.correct(&mut demand);
            demand
        };
        let fitted = longer(1.05 * (0.160 - 0.001) / 8.0);
        assert!((fitted.known_s() - 0.160).abs() < 1e-9 && fitted.unaccounted_s.abs() < 1e-9);
        assert!((fitted.read_latency_s - 0.159 / 8.0).abs() < 1e-9);
        assert!(longer(0.03).unaccounted_s < -0.05);
        // InnoDB is known to wait for pages without a word.
        let facts = StepFacts { has_silent_page_waits: true, ..facts };
        facts.correct(&mut silent);
        assert!((silent.page_waits_s - 0.031).abs() < 1e-9 && silent.unaccounted_s.abs() < 1e-9);
    }
}
