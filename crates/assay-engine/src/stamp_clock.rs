//! The clock of time stamps: the processor's time-stamp counter where the kernel keeps time by it,
//! too, checked against the system's clock a hundred times per second; else the system's clock.
//!
//! The counter is read in half the time, and a turn of a worker with one I/O reads the clock twice.
//! Both show `CLOCK_MONOTONIC`. Most of what the system's clock costs is the fence in front of its
//! counter. A stamp needs none: a worker reads it when it comes out of the kernel, before it looks
//! at completions, and before it hands I/Os over; the processor may carry the reading out some
//! nanoseconds early, and a stamp is off by no more than those. The checks read with a fence.
//!
//! Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, section
//! "Invariant TSC", and `RDTSC` in volume 2 for its order and the fence; Linux kernel
//! documentation, "Timekeeping Virtualization for X86-Based Architectures".

use crate::sys::monotonic_ns;
use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

/// The kernel's file that says by what it keeps time: it leaves a counter alone that it has once
/// caught out.
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
/// Time between two checks, ns.
const CHECK_NS: u64 = 10_000_000;
/// Time from which the rate of the counter is taken at least, ns.
const BASELINE_NS: u64 = 2_000_000;
/// The two clocks may be so far apart at a check, ns, and farther by this part of the time since
/// the last one: more than a network's time server makes of it.
const APART_NS: u64 = 1000;
const APART_PARTS: u64 = 100_000;
/// Both clocks are read together within this time, ns; a reading that was interrupted compares
/// nothing.
const TOGETHER_NS: u64 = 400;
/// Tries to read them so.
const TRIES: usize = 8;
/// Nanoseconds a tick are kept in units of 2^-32.
const SHIFT: u32 = 32;

/// A clock of one worker.
#[derive(Debug)]
pub struct StampClock {
    counter: Option<CounterClock>,
}

impl StampClock {
    /// The better clock of this machine.
    pub fn new() -> Self {
        Self { counter: origin().and_then(CounterClock::since) }
    }

    /// `CLOCK_MONOTONIC`, ns.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.counter {
            Some(counter) => counter.now_ns(),
            None => monotonic_ns(),
        }
    }

    /// By what it is read, where that is not the system's clock alone.
    pub fn feature(&self) -> Option<String> {
        let counter = self.counter.as_ref()?;
        let apart_ns = counter.apart_ns.get();
        Some(if counter.has_strayed.get() {
            "the system clock, because the CPU's time-stamp counter deviated from it".to_owned()
        } else {
            format!(
                "time stamps from the CPU's time-stamp counter, at most {apart_ns} ns from the \
                 system clock when checked"
            )
        })
    }
}

impl Default for StampClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Both clocks at one time.
#[derive(Clone, Copy, Debug)]
struct StampPair {
    ticks: u64,
    at_ns: u64,
    /// Ticks that passed while they were read.
    width_ticks: u64,
}

/// Time as a line over the counter's ticks.
#[derive(Clone, Copy, Debug)]
struct ClockLine {
    ticks: u64,
    at_ns: u64,
    /// Nanoseconds a tick, in units of 2^-32.
    scale: u64,
    /// Ticks for which it is good.
    good_ticks: u64,
}

impl ClockLine {
    /// A line through the system's clock, with the rate since `origin`.
    fn since(origin: &StampPair, now: &StampPair) -> Option<Self> {
        let scale = rate(origin, now)?;
        let good_ticks = ticks_in(CHECK_NS, scale);
        let is_exact = now.width_ticks.max(origin.width_ticks) <= ticks_in(TOGETHER_NS, scale);
        is_exact.then_some(Self { ticks: now.ticks, at_ns: now.at_ns, scale, good_ticks })
    }

    /// The time at a reading of the counter; nothing where a check is due, or where the counter
    /// went back.
    #[inline]
    fn at_ns(&self, ticks: u64) -> Option<u64> {
        // A counter that went back wraps to a huge number, which leads to a check as well.
        let since = ticks.wrapping_sub(self.ticks);
        // At most a few hundred million ticks of less than 2^34 each fit into 64 bits.
        (since <= self.good_ticks).then(|| self.at_ns + ((since * self.scale) >> SHIFT))
    }

    /// The time at any reading of the counter, also when a check is due; a counter that went back
    /// has stood still.
    fn beyond_ns(&self, ticks: u64) -> u64 {
        let since = u128::from(ticks.saturating_sub(self.ticks));
        let passed_ns = (since * u128::from(self.scale)) >> SHIFT;
        self.at_ns.saturating_add(u64::try_from(passed_ns).unwrap_or(u64::MAX))
    }

    /// A line that goes on from this one and meets the system's clock at the next check, and how
    /// far they are apart now, ns; nothing where that is too far. The rate is that since
    /// `origin`.
    fn checked(&self, origin: &StampPair, now: &StampPair) -> Option<(Self, u64)> {
        let rate = rate(origin, now)?;
        let shown_ns = self.beyond_ns(now.ticks);
        let apart_ns = shown_ns.abs_diff(now.at_ns);
        let since_ns = now.at_ns.saturating_sub(self.at_ns);
        // A rate that was taken from little time is as inexact as the readings at its ends.
        let known_ns = self.at_ns.saturating_sub(origin.at_ns).max(1);
        let rate_doubt_ns = TOGETHER_NS * since_ns / known_ns;
        let most_ns = APART_NS + since_ns / APART_PARTS + rate_doubt_ns;
        if now.ticks < self.ticks || apart_ns > most_ns {
            return None;
        }
        let good_ticks = ticks_in(CHECK_NS, rate);
        let turn = (apart_ns << SHIFT) / good_ticks.max(1);
        let scale = if shown_ns > now.at_ns { rate.checked_sub(turn)? } else { rate + turn };
        // The line continues from the time that it showed and corrects its slope only: stamps
        // never jump or go back.
        Some((Self { ticks: now.ticks, at_ns: shown_ns, scale, good_ticks }, apart_ns))
    }
}

/// Nanoseconds a tick between two moments, in units of 2^-32.
fn rate(from: &StampPair, to: &StampPair) -> Option<u64> {
    let ticks = u128::from(to.ticks.checked_sub(from.ticks)?);
    let passed_ns = u128::from(to.at_ns.checked_sub(from.at_ns)?);
    let scale = u64::try_from((passed_ns << SHIFT).checked_div(ticks)?).ok()?;
    // Between 250 MHz and 1 THz; anything else counts no time.
    (1 << (SHIFT - 10)..1 << (SHIFT + 2)).contains(&scale).then_some(scale)
}

fn ticks_in(time_ns: u64, scale: u64) -> u64 {
    (time_ns << SHIFT) / scale
}

/// The counter as a clock.
#[derive(Debug)]
struct CounterClock {
    origin: StampPair,
    line: Cell<ClockLine>,
    /// The farthest that both clocks were apart at a check, ns.
    apart_ns: Cell<u64>,
    has_strayed: Cell<bool>,
}

impl CounterClock {
    /// Starts at the system's clock, with the rate since `origin`.
    fn since(origin: StampPair) -> Option<Self> {
        let line = ClockLine::since(&origin, &together())?;
        let (line, apart_ns, has_strayed) = (Cell::new(line), Cell::new(0), Cell::new(false));
        Some(Self { origin, line, apart_ns, has_strayed })
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        let ticks = counter::ticks();
        self.line.get().at_ns(ticks).unwrap_or_else(|| self.check(ticks))
    }

    /// Compares the clocks, and gives the time of the reading that asked for it.
    #[cold]
    fn check(&self, ticks: u64) -> u64 {
        if self.has_strayed.get() {
            return monotonic_ns();
        }
        let line = self.line.get();
        let stamp_ns = line.beyond_ns(ticks);
        let now = together();
        if now.width_ticks > ticks_in(TOGETHER_NS, line.scale) {
            // Interrupted again and again: the next reading tries again.
            return stamp_ns;
        }
        if let Some((next, apart_ns)) = line.checked(&self.origin, &now) {
            self.line.set(next);
            self.apart_ns.set(self.apart_ns.get().max(apart_ns));
            return stamp_ns;
        }
        self.has_strayed.set(true);
        // With 0 ticks, later readings come here too, and so use the system's clock.
        self.line.set(ClockLine { good_ticks: 0, ..line });
        monotonic_ns()
    }
}

/// From when on this process knows the counter, the same for all workers; nothing where it is not
/// to be trusted, or is no faster.
fn origin() -> Option<StampPair> {
    static ORIGIN: OnceLock<Option<StampPair>> = OnceLock::new();
    *ORIGIN.get_or_init(|| {
        let trusted = std::fs::read_to_string(CLOCK_SOURCE).is_ok_and(|name| name.trim() == "tsc");
        if !trusted || !counter::IS_THERE || !is_faster() {
            return None;
        }
        let origin = together();
        std::thread::sleep(Duration::from_nanos(BASELINE_NS));
        Some(origin)
    })
}

/// Both clocks read at once: the closest of several tries.
fn together() -> StampPair {
    let read = || {
        let before = counter::fenced_ticks();
        let at_ns = monotonic_ns();
        let width_ticks = counter::fenced_ticks().wrapping_sub(before);
        // The system's clock was read somewhere in between: the middle halves the largest error.
        StampPair { ticks: before.wrapping_add(width_ticks / 2), at_ns, width_ticks }
    };
    let closer = |one: StampPair, other: StampPair| {
        if other.width_ticks < one.width_ticks { other } else { one }
    };
    (1..TRIES).fold(read(), |closest, _| closer(closest, read()))
}

/// Whether the counter is read in less time than the clock: under some hypervisors each reading is
/// a trap.
fn is_faster() -> bool {
    const READINGS: u32 = 64;
    let fastest_ns = |read: &dyn Fn() -> u64| {
        let round = |_| {
            let begun_ns = monotonic_ns();
            (0..READINGS).for_each(|_| {
                std::hint::black_box(read());
            });
            monotonic_ns() - begun_ns
        };
        // The fastest round is the one that was interrupted least.
        (0..TRIES).map(round).min()
    };
    fastest_ns(&counter::ticks) < fastest_ns(&monotonic_ns)
}

#[cfg(target_arch = "x86_64")]
mod counter {
    #![allow(
        unsafe_code,
        reason = "two instructions that every processor of this architecture has"
    )]

    use std::arch::x86_64::{_mm_lfence, _rdtsc};

    pub(super) const IS_THERE: bool = true;

    /// Ticks so far.
    #[inline]
    pub(super) fn ticks() -> u64 {
        // SAFETY: it touches no memory, and a kernel that forbids the counter does not keep time by
        // it.
        unsafe { _rdtsc() }
    }

    /// Ticks so far, read only after all earlier instructions have ended.
    #[inline]
    pub(super) fn fenced_ticks() -> u64 {
        // SAFETY: a fence touches no memory.
        unsafe { _mm_lfence() };
        ticks()
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub(super) const IS_THERE: bool = false;

    pub(super) fn ticks() -> u64 {
        0
    }

    pub(super) fn fenced_ticks() -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::random::Random;

    /// A counter of 2.7 GHz next to a clock that gains `gained_ppb` on it.
    fn pair(ticks: u64, gained_ppb: u64, read_late_ns: u64) -> StampPair {
        let passed = u128::from(ticks) * (1_000_000_000 + u128::from(gained_ppb)) / 2_700_000_000;
        let at_ns = 5_000_000_000 + u64::try_from(passed).unwrap() + read_late_ns;
        StampPair { ticks, at_ns, width_ticks: 0 }
    }

    /// After 2 ms, with a reading that was 40 ns late.
    fn first(origin: &StampPair) -> ClockLine {
        ClockLine::since(origin, &pair(5_400_000, 0, 40)).unwrap()
    }

    #[test]
    fn the_line_follows_a_clock_that_is_read_inexactly_and_never_goes_back() {
        let (mut random, origin) = (Random::new(7), pair(0, 0, 0));
        let mut line = first(&origin);
        let (mut ticks, mut last_ns) = (line.ticks, 0);
        for step in 0..3000 {
            let next = ticks + 25_000_000 + random.below(4_000_000);
            for at in (ticks..next).step_by(1_700_001) {
                let shown_ns = line.beyond_ns(at);
                assert!(shown_ns >= last_ns, "{step}");
                last_ns = shown_ns;
                // After the first checks the rate is known.
                let off_ns = shown_ns.abs_diff(pair(at, 0, 0).at_ns);
                assert!(off_ns <= if step < 10 { 400 } else { 60 }, "{step}: {off_ns}");
            }
            ticks = next;
            let (checked, apart_ns) =
                line.checked(&origin, &pair(ticks, 0, random.below(50))).unwrap();
            assert!(apart_ns < 400);
            line = checked;
        }
    }

    #[test]
    fn a_time_server_may_turn_the_clock_and_a_counter_that_strays_is_given_up() {
        let origin = pair(0, 0, 0);
        // 0.5 ppm, far from what a counter does that changes its rate.
        let turned = first(&origin).checked(&origin, &pair(27_000_000, 500, 0));
        assert!(turned.is_some_and(|(_, apart_ns)| apart_ns < 500));
        // 0.2%: 16 µs in 8 ms.
        assert!(first(&origin).checked(&origin, &pair(27_000_000, 2_000_000, 0)).is_none());
        // Readings that were interrupted give no rate.
        assert!(
            ClockLine::since(&origin, &StampPair { width_ticks: 3000, ..pair(5_400_000, 0, 0) })
                .is_none()
        );
        // It began again at nought, as after a machine was moved.
        let later = ClockLine { ticks: 1 << 40, at_ns: 1 << 39, ..first(&origin) };
        assert!(later.checked(&origin, &pair(27_000_000, 0, 0)).is_none());
        assert_eq!(later.at_ns(27_000_000), None);
    }

    #[test]
    fn only_what_counts_time_has_a_rate() {
        let (from, at) = (pair(0, 0, 0), |ticks| StampPair { ticks, ..pair(2_700_000, 0, 0) });
        assert!(rate(&from, &at(2_700_000)).is_some());
        assert_eq!([0, 10, u64::MAX].map(|ticks| rate(&from, &at(ticks))), [None; 3]);
    }

    #[test]
    fn stamps_lie_between_two_readings_of_the_systems_clock() {
        let clock = StampClock::new();
        let mut last_ns = 0;
        for _ in 0..200_000 {
            let before_ns = monotonic_ns();
            let stamp_ns = clock.now_ns();
            let after_ns = monotonic_ns();
            // What the checks allow, and what passes from one to the next.
            let margin_ns = 2 * APART_NS + CHECK_NS / 1000;
            assert!(stamp_ns + margin_ns >= before_ns && stamp_ns <= after_ns + margin_ns);
            assert!(
                stamp_ns >= last_ns
                    || clock.counter.as_ref().is_some_and(|at| at.has_strayed.get())
            );
            last_ns = stamp_ns;
        }
        assert_eq!(clock.feature().is_some(), clock.counter.is_some());
    }
}
