//! When each operation is due: service time, waiting for a free server, and stalls.

use crate::latency::{Latencies, Latency, Stall};
use crate::operation::Operation;
use crate::random::Random;

/// The time plan of a device. All stamps are nanoseconds of one monotonic clock.
#[derive(Debug)]
pub(crate) struct Schedule {
    latencies: Latencies,
    random: [Random; 3],
    /// When each server is free again; empty if there is one for every operation.
    servers: Vec<u64>,
    stalls: Vec<Stall>,
    first_ns: Option<u64>,
}

impl Schedule {
    pub(crate) fn new(latencies: Latencies, servers: usize, stalls: &[Stall], seed: u64) -> Self {
        Self {
            latencies,
            random: [1, 2, 3].map(|stream| Random::stream(seed, stream)),
            servers: vec![0; servers],
            stalls: stalls.to_vec(),
            first_ns: None,
        }
    }

    pub(crate) fn set_latency(&mut self, operation: Operation, latency: Latency) {
        self.latencies.set(operation, latency);
    }

    /// Time since the first operation, which this may be.
    pub(crate) fn since_first_ns(&mut self, arrival_ns: u64) -> u64 {
        arrival_ns.saturating_sub(*self.first_ns.get_or_insert(arrival_ns))
    }

    /// When an operation that arrives now is due, in order of arrival; `delay_ns` is added to its
    /// service time.
    pub(crate) fn due_ns(&mut self, operation: Operation, arrival_ns: u64, delay_ns: u64) -> u64 {
        let random = &mut self.random[operation.index()];
        let service_ns = self.latencies.of(operation).sample_ns(random).saturating_add(delay_ns);
        let begin_ns = self.free_ns().unwrap_or(0).max(arrival_ns);
        let due_ns = self.served_ns(operation, begin_ns, service_ns);
        if let Some(server) = self.servers.iter_mut().min() {
            *server = due_ns;
        }
        due_ns
    }

    fn free_ns(&self) -> Option<u64> {
        self.servers.iter().min().copied()
    }

    /// The end of a service that begins at `begin_ns` and does not progress while stalled.
    fn served_ns(&self, operation: Operation, begin_ns: u64, service_ns: u64) -> u64 {
        let first_ns = self.first_ns.unwrap_or(begin_ns);
        let mut now_ns = begin_ns.saturating_sub(first_ns);
        let mut left_ns = service_ns;
        while let Some((stall_ns, resume_ns)) = self.next_stall(operation, now_ns) {
            let until_ns = stall_ns.saturating_sub(now_ns);
            let finishes_first = now_ns < stall_ns && left_ns <= until_ns;
            if finishes_first {
                break;
            }
            left_ns -= until_ns.min(left_ns);
            now_ns = resume_ns;
        }
        first_ns.saturating_add(now_ns).saturating_add(left_ns)
    }

    fn next_stall(&self, operation: Operation, since_ns: u64) -> Option<(u64, u64)> {
        let held_up = self.stalls.iter().filter(|stall| stall.operations.contains(&operation));
        held_up.filter_map(|stall| stall.window_ns(since_ns)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::units::Nanos;
    use proptest::prelude::*;
    use std::time::Duration;

    fn fixed(service_ns: u64, servers: usize, stalls: &[Stall]) -> Schedule {
        let latencies =
            Latencies { read: Latency::Fixed(Nanos(service_ns)), ..Latencies::default() };
        let mut schedule = Schedule::new(latencies, servers, stalls, 0);
        schedule.since_first_ns(1_000);
        schedule
    }

    fn once(at_ns: u64, duration_ns: u64) -> Stall {
        Stall::once(Duration::from_nanos(at_ns), Duration::from_nanos(duration_ns))
    }

    fn read(schedule: &mut Schedule, arrival_ns: u64) -> u64 {
        schedule.due_ns(Operation::Read, arrival_ns, 0)
    }

    #[test]
    fn without_servers_nothing_waits() {
        let mut schedule = fixed(100, 0, &[]);
        assert_eq!([1_000, 1_000, 1_000].map(|at| read(&mut schedule, at)), [1_100; 3]);
    }

    #[test]
    fn servers_are_taken_in_order_of_arrival() {
        let mut schedule = fixed(100, 2, &[]);
        let due = [1_000, 1_000, 1_000, 1_150].map(|at| read(&mut schedule, at));
        assert_eq!(due, [1_100, 1_100, 1_200, 1_250]);
    }

    #[test]
    fn service_is_suspended_by_a_stall_and_goes_on_after_it() {
        // The stall lasts from 1500 to 1800 on the clock.
        let stall = [once(500, 300)];
        let mut schedule = fixed(100, 0, &stall);
        assert_eq!(read(&mut schedule, 1_400), 1_500);
        assert_eq!(read(&mut schedule, 1_460), 1_860);
        assert_eq!(read(&mut schedule, 1_500), 1_900);
        assert_eq!(read(&mut schedule, 1_799), 1_900);
        assert_eq!(read(&mut schedule, 1_800), 1_900);
    }

    #[test]
    fn a_stall_holds_up_only_its_operations() {
        let stall = [once(0, 300).on(&[Operation::Write])];
        let mut schedule = fixed(100, 0, &stall);
        assert_eq!(read(&mut schedule, 1_000), 1_100);
        assert_eq!(schedule.due_ns(Operation::Write, 1_000, 0), 1_300);
    }

    #[test]
    fn exponential_times_repeat_with_the_seed() {
        let latencies =
            Latencies { read: Latency::Exponential(Nanos(1_000)), ..Latencies::default() };
        let run = |seed| {
            let mut schedule = Schedule::new(latencies, 0, &[], seed);
            (0..100).map(|_| read(&mut schedule, 0)).collect::<Vec<_>>()
        };
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    proptest! {
        /// The oracle walks nanosecond by nanosecond: work is done in each that no stall covers.
        #[test]
        fn stalls_agree_with_a_walk_over_every_nanosecond(
            arrival in 0u64..60, service in 0u64..40, at in 0u64..30, length in 1u64..10, period in 11u64..30,
        ) {
            let periodic = Stall { every: Some(Nanos(period)), ..once(at, length) };
            let stalls = [periodic, once(45, 20)];
            let stalled = |t: u64| (t >= at && (t - at) % period < length) || (45..65).contains(&t);
            let mut now = arrival;
            let mut left = service;
            while left > 0 || stalled(now) {
                left -= u64::from(!stalled(now)).min(left);
                now += 1;
                if left == 0 && !stalled(now - 1) {
                    break;
                }
            }
            let mut schedule = fixed(service, 0, &stalls);
            prop_assert_eq!(read(&mut schedule, 1_000 + arrival), 1_000 + now);
        }
    }
}
