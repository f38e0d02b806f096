//! What a reader must know of a run during which the clock of the host was set.

use assay_host::clock::ClockStep;
use assay_model::measurement::Remark;
use assay_model::number::real;
use assay_model::units::show_time_ns;

/// How the remark begins.
const CLOCK_SET: &str = "the clock of the host was set";

/// Whether it is that of a clock that was set.
pub(crate) fn is_clock_step(remark: &Remark) -> bool {
    remark.what.starts_with(CLOCK_SET)
}

/// The remark of a run during which the clock of the host was set.
pub(super) fn clock_step_remark(step: ClockStep) -> Remark {
    let what = match step {
        ClockStep::Forward(by_ns) => format!(
            "{CLOCK_SET} forward by {}, or the host was suspended",
            show_time_ns(real(by_ns))
        ),
        ClockStep::Back(by_ns) => {
            format!("{CLOCK_SET} back by {}", show_time_ns(real(by_ns)))
        }
    };
    Remark {
        what,
        why: "durations, rates and latencies use a clock that does not jump; the dates of this \
              run continue from its start"
            .to_owned(),
        remedy: "compare it with logs of other programs by the time since its start".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_and_its_direction_are_named() {
        let what = |step| clock_step_remark(step).what;
        let back = what(ClockStep::Back(100_000_000_000));
        assert!(back.contains("set back by 1.67 min"), "{back}");
        assert!(is_clock_step(&clock_step_remark(ClockStep::Back(1))));
        let forward = what(ClockStep::Forward(7_200_000_000_000));
        assert!(forward.contains("set forward by"), "{forward}");
    }
}
