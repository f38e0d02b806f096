//! Wait classes step after step, from looks at the sessions.

use crate::classes::CPU;
use crate::samples::{SessionSample, SessionSamples, SessionState};
use assay_model::number::{index, real, real_len};
use assay_model::profile::{ClassSeries, WaitSeries};

/// The class of what a session was seen doing.
pub type ClassOf<'a> = &'a dyn Fn(&SessionState) -> &'static str;

/// Steps at most: a page is not wider.
const STEPS_MAX: f64 = 240.0;
/// Shorter steps hold too few samples.
const STEP_MIN_S: f64 = 1.0;

/// Active sessions by class, those without a wait in the class `CPU`; nothing where nobody looked.
pub fn over_time(samples: &SessionSamples, class_of: ClassOf<'_>) -> Option<WaitSeries> {
    if samples.taken.is_empty() || samples.elapsed_s <= 0.0 {
        return None;
    }
    let steps = (samples.elapsed_s / STEP_MIN_S).floor().clamp(1.0, STEPS_MAX);
    let step_s = samples.elapsed_s / steps;
    let mut series = WaitSeries {
        step_s,
        samples: vec![0; index(steps)],
        classes: vec![class(CPU, index(steps))],
    };
    for sample in &samples.taken {
        add(&mut series, sample, class_of);
    }
    finish(&mut series);
    Some(series)
}

fn class(name: &str, steps: usize) -> ClassSeries {
    ClassSeries { class: name.to_owned(), sessions_mean: vec![0.0; steps] }
}

/// Adds sessions to the sums of the step in which they were seen.
fn add(series: &mut WaitSeries, sample: &SessionSample, class_of: ClassOf<'_>) {
    let steps = series.samples.len();
    let step = index(sample.at_s / series.step_s).min(steps - 1);
    series.samples[step] += 1;
    for (seen, sessions) in &sample.sessions {
        let name = if seen.is_no_wait() { CPU } else { class_of(seen) };
        let known = series.classes.iter().position(|one| one.class == name);
        let place = known.unwrap_or_else(|| {
            series.classes.push(class(name, steps));
            series.classes.len() - 1
        });
        series.classes[place].sessions_mean[step] += real(*sessions);
    }
}

/// Sums become means; the first class stays where it is.
fn finish(series: &mut WaitSeries) {
    for class in &mut series.classes {
        for (sum, samples) in class.sessions_mean.iter_mut().zip(&series.samples) {
            *sum /= real(*samples).max(1.0);
        }
    }
    let mean = |class: &ClassSeries| {
        class.sessions_mean.iter().sum::<f64>() / real_len(class.sessions_mean.len())
    };
    series.classes[1..].sort_by(|left, right| mean(right).total_cmp(&mean(left)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn class_of(seen: &SessionState) -> &'static str {
        if seen.kind == "IO" { "User I/O" } else { "Application" }
    }

    fn sample(at_s: f64, sessions: &[(&str, &str, u64)]) -> SessionSample {
        let sessions =
            sessions.iter().map(|(kind, event, count)| (SessionState::new(kind, event), *count));
        SessionSample {
            at_s,
            sessions: sessions.collect::<BTreeMap<_, _>>(),
            ..SessionSample::default()
        }
    }

    #[test]
    fn each_step_has_the_mean_of_its_looks() {
        let read = ("IO", "DataFileRead", 3);
        let samples = vec![
            sample(0.1, &[read, ("", "", 1)]),
            sample(0.9, &[read, ("Lock", "tuple", 1)]),
            sample(2.5, &[("Lock", "tuple", 2)]),
        ];
        let series =
            over_time(&SessionSamples { taken: samples, elapsed_s: 3.0, tasks: None }, &class_of)
                .unwrap();
        assert_eq!((series.step_s, series.samples.as_slice()), (1.0, [2, 0, 1].as_slice()));
        let of = |name: &str| {
            let found = series.classes.iter().find(|class| class.class == name);
            found.unwrap().sessions_mean.clone()
        };
        assert_eq!(of("CPU"), [0.5, 0.0, 0.0]);
        assert_eq!(of("User I/O"), [3.0, 0.0, 0.0]);
        assert_eq!(of("Application"), [0.5, 0.0, 2.0]);
        assert_eq!(series.classes[0].class, "CPU");
        assert!((series.active_mean(0) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_long_interval_has_longer_steps_and_none_is_lost() {
        let samples: Vec<SessionSample> =
            (0..7200).map(|at| sample(f64::from(at), &[("", "", 1)])).collect();
        let series = over_time(
            &SessionSamples { taken: samples, elapsed_s: 7200.0, tasks: None },
            &class_of,
        )
        .unwrap();
        assert_eq!((series.samples.len(), series.samples.iter().sum::<u64>()), (240, 7200));
        assert!(over_time(&SessionSamples::default(), &class_of).is_none());
    }
}
