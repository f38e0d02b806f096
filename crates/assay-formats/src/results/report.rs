//! A report of a database as a row: what SLOB's own table takes from it.

use super::imported::{ImportedRow, total};
use super::numbers::whole;
use super::rows::{count, word};
use assay_model::profile::{IoPurpose, Profile};
use assay_model::study::{FactorValue, StudySetting};

/// The row of a report: requests per second and the mean time of single-block reads.
pub fn report_row(file: &str, profile: &Profile) -> ImportedRow {
    let mut measures = Vec::new();
    if let Some(rate) = profile.rates.first() {
        measures.extend(rate.read_per_s.as_ref().map(|figure| total("read.iops", figure.value)));
        measures.extend(rate.write_per_s.as_ref().map(|figure| total("write.iops", figure.value)));
    }
    let class = |purpose| profile.classes.iter().find(|class| class.purpose == purpose);
    let bytes = class(IoPurpose::All).and_then(|class| class.throughput_bytes_per_s.as_ref());
    measures.extend(bytes.map(|figure| total("throughput", figure.value)));
    let single = class(IoPurpose::SingleBlockRead).and_then(|class| class.latency_s.as_ref());
    measures.extend(single.map(|figure| total("read.response_time.mean", figure.value * 1e9)));
    let work = profile.work.executions_per_s.as_ref();
    measures.extend(work.map(|figure| total("executions", figure.value)));
    let setting = |factor: &str, value| StudySetting { factor: factor.to_owned(), value };
    let mut settings = vec![setting("run", FactorValue::Text(file.to_owned()))];
    settings.extend(profile.sessions.as_ref().map(|figure| {
        setting("sessions", FactorValue::Whole(assay_model::number::count(figure.value)))
    }));
    let elapsed_s = profile.elapsed_s.as_ref().map(|figure| figure.value);
    ImportedRow { settings, elapsed_s, measures, ..ImportedRow::default() }
}

/// Settings of `slob.conf`, and what they are called here.
const SETTINGS: [(&str, &str); 7] = [
    ("UPDATE_PCT", "updates"),
    ("SCALE", "scale"),
    ("THREADS_PER_SCHEMA", "threads"),
    ("THREADS", "threads"),
    ("RUN_TIME", "run_time"),
    ("WORK_LOOP", "work_loop"),
    ("WORK_UNIT", "work_unit"),
];

/// The load that a `slob.conf` sets; of a setting that is written twice the last counts, as in the
/// shell that reads it.
pub fn slob_settings(text: &str) -> Vec<StudySetting> {
    let value = |name: &str| {
        let mut lines =
            text.lines().filter_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
        let value = lines.next_back()?.split(['#', ';', ' ', '\t']).next()?;
        Some(value.trim_matches(['"', '\''])).filter(|value| !value.is_empty())
    };
    let setting = |(name, factor): (&str, &str)| {
        let value = value(name)?;
        Some(match (factor, whole(value)) {
            ("updates", Some(percent)) => word(factor, &format!("{percent}%")),
            ("run_time", Some(time_s)) => word(factor, &format!("{time_s}s")),
            // A loop of 0 has no end but the run time.
            ("work_loop", Some(0)) => return None,
            ("work_unit" | "scale" | "threads" | "work_loop", Some(number)) => {
                count(factor, number)
            }
            _ => word(factor, value),
        })
    };
    SETTINGS.into_iter().filter_map(setting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_slob_run_are_those_that_its_shell_sees() {
        let text = "# UPDATE_PCT=50\nUPDATE_PCT=20\nRUN_TIME=300 # five minutes\nWORK_LOOP=0\nSCALE=\"10G\"\n\
                    WORK_UNIT=64\nWORK_UNIT=256\nTHREADS_PER_SCHEMA=4\nSYSDBA_PASSWD=x\nexport SCALE\n";
        let shown = |setting: StudySetting| format!("{} {}", setting.factor, setting.value);
        let shown: Vec<String> = slob_settings(text).into_iter().map(shown).collect();
        assert_eq!(
            shown,
            ["updates 20%", "scale 10G", "threads 4", "run_time 300s", "work_unit 256"]
        );
        assert_eq!(slob_settings("hello\n"), []);
    }
}
