//! No bytes make the reader of any document fail, and what is read is written so that it reads back the same.
#![no_main]

use assay_model::document::{parse_json, parse_toml, to_toml};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An Assay document in JSON: what reads is written in a form that reads as the same.
fn json<T: Serialize + DeserializeOwned>(text: &str) {
    let Ok(document) = parse_json::<T>(text, "document") else { return };
    let Ok(written) = serde_json::to_string(&document) else { return };
    let back = parse_json::<T>(&written, "document").map(|back| serde_json::to_string(&back));
    // A number may be rounded when it is first written; then it stays.
    assert!(matches!(back, Ok(Ok(_))), "{written}: {:?}", back.err());
}

/// A document that a person writes: what is accepted is accepted again as the program keeps it.
fn kept<T: Serialize>(document: assay_model::Result<T>, again: fn(&str) -> bool) {
    let Ok(text) = document.and_then(|document| to_toml(&document)) else { return };
    assert!(again(&text), "{text}");
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match kind % 24 {
        0 => kept(assay_model::workload::parse_workload(text), |text| {
            assay_model::workload::parse_workload(text).is_ok()
        }),
        1 => kept(assay_model::study::parse_study(text), |text| {
            assay_model::study::parse_study(text).is_ok()
        }),
        2 => kept(assay_model::verdict::parse_criteria(text), |text| {
            assay_model::verdict::parse_criteria(text).is_ok()
        }),
        3 => drop(assay_model::array::parse_array(text)),
        4 => drop(assay_model::mix::Mix::parse(text)),
        5 => drop(assay_model::profile::parse_profile(text)),
        6 => json::<assay_model::run::RunManifest>(text),
        7 => json::<assay_model::calibration::Calibration>(text),
        8 => json::<assay_model::environment::Environment>(text),
        9 => json::<assay_model::measurement::Measurement>(text),
        10 => json::<assay_model::load::Load>(text),
        11 => json::<assay_model::locality::Locality>(text),
        12 => json::<assay_model::soak::Soak>(text),
        13 => json::<assay_model::dss::Dss>(text),
        14 => json::<assay_model::comparison::Comparison>(text),
        15 => json::<assay_model::Verdict>(text),
        16 => json::<assay_model::study::StudyResult>(text),
        17 => json::<assay_model::run::Event>(text),
        18 => json::<assay_model::watch::Moment>(text),
        19 => json::<assay_model::measurement::Window>(text),
        20 => json::<assay_model::run::IntervalSummary>(text),
        21 => json::<assay_model::Histogram>(text),
        22 => drop(parse_toml::<assay_model::Workload>(text, "workload")),
        _ => {
            if let Ok(criteria) = assay_model::verdict::parse_criteria(text) {
                drop(assay_judge::CriteriaRules::check(&criteria));
            }
        }
    }
});
