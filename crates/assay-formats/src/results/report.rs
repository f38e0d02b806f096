//! A report of a database as a row: what SLOB's own table takes from it.

use super::imported::{ImportedRow, total};
use assay_model::profile::{IoPurpose, Profile};
use assay_model::study::{FactorValue, Setting};

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
    let setting = |factor: &str, value| Setting { factor: factor.to_owned(), value };
    let mut settings = vec![setting("run", FactorValue::Text(file.to_owned()))];
    settings.extend(profile.sessions.as_ref().map(|figure| {
        setting("sessions", FactorValue::Whole(assay_model::number::count(figure.value)))
    }));
    let elapsed_s = profile.elapsed_s.as_ref().map(|figure| figure.value);
    ImportedRow { settings, elapsed_s, measures, ..ImportedRow::default() }
}
