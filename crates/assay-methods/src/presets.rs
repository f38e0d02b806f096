//! Ready-made workloads: documents like any other, with the source of their numbers in them.

use crate::patterns::{LoadPattern, PATTERNS};
use assay_model::document::nearest;
use assay_model::workload::parse_workload;
use assay_model::{Error, Result, Workload};

/// Name and text of every preset.
pub const PRESETS: &[(&str, &str)] = &[
    ("oltp", include_str!("../presets/oltp.toml")),
    ("oltp-read", include_str!("../presets/oltp-read.toml")),
    ("oltp-readmostly", include_str!("../presets/oltp-readmostly.toml")),
    ("oltp-write", include_str!("../presets/oltp-write.toml")),
    ("dss", include_str!("../presets/dss.toml")),
    ("redo", include_str!("../presets/redo.toml")),
    ("scan", include_str!("../presets/scan.toml")),
    ("backup", include_str!("../presets/backup.toml")),
    ("database", include_str!("../presets/database.toml")),
];

/// A preset or a pattern by its name.
///
/// # Errors
/// A usage error with the nearest name and all names.
pub fn preset(name: &str) -> Result<Workload> {
    match preset_text(name) {
        Some(text) => parse_workload(text).map_err(|error| error.context(format!("preset {name}"))),
        None => LoadPattern::named(name).map(LoadPattern::workload).ok_or_else(|| unknown(name)),
    }
}

/// The document of a preset, with the reasons for its numbers.
pub fn preset_text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

fn unknown(name: &str) -> Error {
    let presets = PRESETS.iter().map(|(known, _)| *known);
    let known = presets.chain(PATTERNS.iter().map(|pattern| pattern.name));
    let names: Vec<String> = known.map(str::to_owned).collect();
    let near =
        nearest(name, &names).map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
    let hint = format!("{near}specify a workload file, or one of {}", names.join(", "));
    Error::usage(format!("there is no workload file and no preset '{name}'"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, SimulatedBench};
    use assay_engine::Ignore;
    use assay_engine::device::DeviceSpec;
    use assay_model::units::Nanos;

    #[test]
    fn every_preset_runs_and_all_its_streams_work() {
        let device = DeviceSpec::parse(
            "device?size=64GiB+bandwidth?rate=4GB/s+constant?count=64&service=100us",
        )
        .unwrap();
        for (name, _) in PRESETS {
            let mut workload = preset(name).unwrap();
            assert_eq!(workload.name, *name);
            (workload.warm_up, workload.duration) = (Nanos(0), Nanos(1_000_000_000));
            let measurement = SimulatedBench::new(&device).measure(&workload, &mut Ignore).unwrap();
            for stream in &measurement.streams {
                assert!(stream.operations.ios() > 0, "{name}: {}", stream.name);
            }
            // Only what was due in the last moment.
            assert!(measurement.conduct.missed_arrivals < 10, "{name}");
        }
    }

    #[test]
    fn an_unknown_preset_is_answered_with_the_nearest() {
        let error = preset("olpt").unwrap_err();
        assert!(error.hint().starts_with("did you mean 'oltp'?"), "{error}");
    }
}
