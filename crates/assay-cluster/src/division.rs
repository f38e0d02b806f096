//! What each of several hosts issues of one workload.

use assay_model::units::{Rate, Share};
use assay_model::workload::{Arrival, Span, Stream};
use assay_model::{Error, Result, Workload};
use assay_stats::random::mix;
use serde::{Deserialize, Serialize};

/// What the outstanding I/Os of a workload stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outstanding {
    /// For each host.
    #[default]
    PerHost,
    /// For all hosts together.
    Total,
}

/// Where the hosts work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    /// Each on all of what it opened.
    Own,
    /// Each on a slice of its own of what they share.
    Slices,
}

/// One of several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionMember {
    /// Its number, from 0.
    pub host: u32,
    /// How many there are.
    pub hosts: u32,
}

/// A host's part of a workload; one host alone has all of it, unchanged.
///
/// Rates of open arrivals are of all hosts together, whatever outstanding I/Os stand for: a rate is
/// a demand. Each host draws random numbers of its own.
///
/// # Errors
/// A usage error when there are fewer outstanding I/Os than hosts that share them.
pub fn part_of(
    workload: &Workload,
    member: DivisionMember,
    queue_depth: Outstanding,
    places: Places,
) -> Result<Workload> {
    if member.hosts <= 1 {
        return Ok(workload.clone());
    }
    let mut part = workload.clone();
    part.seed = mix(workload.seed ^ mix(u64::from(member.host) + 1));
    for stream in &mut part.streams {
        divide_arrivals(stream, member, queue_depth)?;
        if places == Places::Slices {
            stream.span = slice(stream.span, member);
        }
    }
    Ok(part)
}

fn divide_arrivals(
    stream: &mut Stream,
    member: DivisionMember,
    divided: Outstanding,
) -> Result<()> {
    let hosts = member.hosts;
    match &mut stream.arrival {
        Arrival::Open { rate, .. } => *rate = Rate(rate.0 / f64::from(hosts)),
        Arrival::Closed { .. } if divided == Outstanding::PerHost => {}
        Arrival::Closed { queue_depth, .. } if *queue_depth < hosts => {
            return Err(Error::usage(
                format!(
                    "stream '{}' has {queue_depth} outstanding I/Os for {hosts} hosts",
                    stream.name
                ),
                "use at least one per host, or omit --total",
            ));
        }
        Arrival::Closed { queue_depth, .. } => {
            let more = u32::from(member.host < *queue_depth % hosts);
            *queue_depth = *queue_depth / hosts + more;
            stream.workers = stream.workers.min(*queue_depth);
        }
    }
    Ok(())
}

/// A host's slice of a span; slices of all hosts cover it without overlap.
fn slice(span: Span, member: DivisionMember) -> Span {
    let (from, length) = (span.from.0, span.to.0 - span.from.0);
    let at = |host: u32| from + length * (f64::from(host) / f64::from(member.hosts));
    let end = if member.host + 1 == member.hosts { span.to.0 } else { at(member.host + 1) };
    Span { from: Share(at(member.host)), to: Share(end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::{Bytes, Nanos};
    use assay_model::workload::Process;
    use proptest::prelude::*;

    fn workload(arrival: Arrival) -> Workload {
        let stream =
            Stream { arrival, workers: 4, ..Stream::closed("reads", Share(1.0), Bytes(8192), 1) };
        Workload::of("shared", Nanos(1_000_000_000), stream)
    }

    fn closed(queue_depth: u32) -> Workload {
        workload(Arrival::Closed { queue_depth, think_time: Nanos(0) })
    }

    fn parts(workload: &Workload, hosts: u32, queue_depth: Outstanding) -> Result<Vec<Workload>> {
        let part =
            |host| part_of(workload, DivisionMember { host, hosts }, queue_depth, Places::Slices);
        (0..hosts).map(part).collect()
    }

    #[test]
    fn one_host_has_the_workload_as_it_is() {
        let whole = closed(8);
        assert_eq!(parts(&whole, 1, Outstanding::Total).unwrap(), [whole]);
    }

    #[test]
    fn outstanding_is_of_each_host_unless_it_is_of_all() {
        let of = |queue_depth| {
            let parts = parts(&closed(10), 4, queue_depth).unwrap();
            let streams = parts.iter().map(|part| &part.streams[0]);
            streams.map(|one| (one.arrival.queue_depth(), one.workers)).collect::<Vec<_>>()
        };
        assert_eq!(of(Outstanding::PerHost), [(10, 4); 4]);
        assert_eq!(of(Outstanding::Total), [(3, 3), (3, 3), (2, 2), (2, 2)]);
        let error = parts(&closed(3), 4, Outstanding::Total).unwrap_err();
        assert!(error.message().contains("3 outstanding I/Os for 4 hosts"), "{error}");
    }

    #[test]
    fn a_rate_is_of_all_hosts_together_and_each_draws_for_itself() {
        let open = workload(Arrival::Open {
            rate: Rate(1000.0),
            process: Process::Poisson,
            burst: 1,
            queue_depth_max: 64,
            group_commit: None,
        });
        let parts = parts(&open, 8, Outstanding::PerHost).unwrap();
        let rate = |part: &Workload| match part.streams[0].arrival {
            Arrival::Open { rate, .. } => rate.0,
            Arrival::Closed { .. } => 0.0,
        };
        assert!((parts.iter().map(rate).sum::<f64>() - 1000.0).abs() < 1e-9);
        let mut seeds: Vec<u64> = parts.iter().map(|part| part.seed).collect();
        seeds.dedup();
        assert_eq!(seeds.len(), 8);
        assert!(parts.iter().all(|part| part.check().is_ok()));
    }

    proptest! {
        #[test]
        fn slices_cover_the_span_without_overlap(from in 0.0..0.9f64, length in 0.01..0.1f64, hosts in 1u32..100) {
            let span = Span { from: Share(from), to: Share(from + length) };
            let slices: Vec<Span> = (0..hosts).map(|host| slice(span, DivisionMember { host, hosts })).collect();
            prop_assert!((slices[0].from.0 - from).abs() < 1e-12);
            prop_assert!((slices[slices.len() - 1].to.0 - span.to.0).abs() < 1e-12);
            for pair in slices.windows(2) {
                prop_assert!((pair[0].to.0 - pair[1].from.0).abs() < 1e-15);
                prop_assert!(pair[0].from.0 < pair[0].to.0);
            }
        }
    }
}
