//! What a load of Assay's own knows better than the server: its clock and its counts have no edges of an interval.

use crate::demand::Demand;
use assay_model::load::{Load, LoadKind, Rung};
use assay_model::number::{rate, real, seconds};

/// Other programs of equal priority leave a database that mostly sleeps at least this share of the processors.
const FAIR_SHARE: f64 = 0.5;

/// A rung of a load as its sessions saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadFacts {
    /// Sessions.
    pub sessions: f64,
    /// Statements (or transactions) a second by the sessions' own count.
    pub throughput_per_s: f64,
    /// Mean time of one as its session saw it, seconds.
    pub response_s: f64,
    /// CPU time of the server's sessions for one, seconds, where it is known.
    pub cpu_s: Option<f64>,
    /// Reads of the server for one.
    pub reads_mean: Option<f64>,
    /// Mean wait for such a read, seconds.
    pub read_latency_s: Option<f64>,
    /// Commits of changes of one, where the load knows.
    pub commits_mean: Option<f64>,
    /// Share of its reads that the page cache answered, where it is known.
    pub cached_share: Option<f64>,
    /// Processors of the host.
    pub processors_mean: f64,
}

impl LoadFacts {
    /// Of one rung of a load.
    pub fn of(load: &Load, rung: &Rung) -> Self {
        let operations = rung.measurement.operations();
        let (ios, elapsed_s) = (operations.ios(), rung.elapsed_s());
        let sum_s: f64 = operations
            .iter()
            .map(|(_, of)| of.service.mean_ns() / 1e9 * real(of.service.ios()))
            .sum();
        let per = |amount: f64| amount / real(ios.max(1));
        let reads = Some(rung.database.reads).filter(|reads| *reads > 0);
        Self {
            sessions: f64::from(rung.sessions),
            throughput_per_s: rate(ios, elapsed_s),
            response_s: per(sum_s),
            cpu_s: rung.time.cpu_ns.map(|cpu_ns| per(seconds(cpu_ns))),
            reads_mean: reads.map(|reads| per(real(reads))),
            read_latency_s: rung.read_wait_mean_ns().map(|wait_ns| wait_ns / 1e9),
            commits_mean: (load.kind == LoadKind::Slob)
                .then(|| per(operations.write.as_ref().map_or(0.0, |updates| real(updates.ios)))),
            cached_share: cached_share(load, rung),
            processors_mean: f64::from(load.processors),
        }
    }

    /// The demand that the server's counters gave, with what the sessions know: counts go with the work, shares of DB time with
    /// the response, and what is left of the response is time outside of any event: the way to the client and back.
    pub(crate) fn correct(&self, demand: &mut Demand) {
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
        let rest_s = demand.response_s - demand.known_s();
        demand.other_s += rest_s.max(0.0);
        demand.unaccounted_s = rest_s.min(0.0);
    }

    fn scale(&self, demand: &mut Demand) {
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

/// A server that reads past the page cache has no read from there; the kernel's account of its processes has edges.
fn cached_share(load: &Load, rung: &Rung) -> Option<f64> {
    if load.server.direct_io == Some(true) { Some(0.0) } else { rung.physical.cached_share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sessions_own_clock_decides_and_every_second_is_somewhere() {
        let facts = LoadFacts {
            sessions: 8.0,
            throughput_per_s: 50.0,
            response_s: 0.160,
            cpu_s: Some(0.001),
            reads_mean: Some(8.0),
            read_latency_s: Some(0.016),
            commits_mean: None,
            cached_share: Some(0.0),
            processors_mean: 2.0,
        };
        // The server counted a tenth more work and less DB time, and its CPU was taken for a part of its waits.
        let mut demand = Demand {
            throughput_per_s: 55.0,
            response_s: 0.120,
            reads_mean: 9.0,
            read_latency_s: 0.016,
            commits_mean: 0.5,
            commit_latency_s: 0.012,
            contention_s: 0.003,
            processors_mean: 0.1,
            ..Demand::default()
        };
        facts.correct(&mut demand);
        assert!(
            (demand.throughput_per_s - 50.0).abs() < 1e-9 && (demand.cpu_s - 0.001).abs() < 1e-9
        );
        // Commits were a twentieth of DB time, and are so still.
        assert!((demand.commit_s() - 0.008).abs() < 1e-9, "{}", demand.commit_s());
        assert!((demand.contention_s - 0.004).abs() < 1e-9);
        assert!((demand.other_s - (0.160 - 0.128 - 0.001 - 0.008 - 0.004)).abs() < 1e-9);
        assert!(
            (demand.known_s() - demand.response_s).abs() < 1e-9
                && demand.unaccounted_s.abs() < 1e-9
        );
        assert!((demand.processors_mean - 1.0).abs() < 1e-9);
    }
}
