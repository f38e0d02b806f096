//! No bytes make the reader of reports fail, and what it derives is a document that reads back.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for report in assay_oracle::read_reports(bytes).into_iter().flatten() {
        let profile = assay_oracle::profile(&report);
        let row = assay_oracle::table_row("file", &report, &profile);
        assert_eq!(row.len(), assay_oracle::COLUMNS.len());
        let text = serde_json::to_string(&profile).unwrap_or_default();
        let back = assay_model::profile::parse_profile(&text);
        assert!(back.is_ok_and(|back| back == profile), "{text}");
    }
});
