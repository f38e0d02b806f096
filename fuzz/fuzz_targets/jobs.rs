//! No text makes the readers of other programs' files fail, and what they make of one can be written and is valid.
#![no_main]

use assay_formats::annotate::annotated;
use assay_formats::{Surroundings, convert, results};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let included = |name: &str| Ok(format!("[global]\nbs={name}\n"));
    let around = Surroundings { file: &included, variable: &|name| Some(name.to_owned()) };
    if let Ok(conversion) = convert(text, "job", &around) {
        for part in &conversion.parts {
            part.document.workload().expect("every document has a workload").check().expect("a valid workload");
            drop(annotated(&conversion, part).expect("a document is TOML"));
        }
    }
    drop(results::import(text, "x_lat.log"));
    drop(results::import(text, "x_iops.csv"));
});
