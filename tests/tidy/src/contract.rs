//! Whether the schemas in `contract/` are those of the types; `ASSAY_WRITE_CONTRACT=1 cargo test
//! --workspace contract` writes them again after a type has changed.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

/// The schema of a document, as it is kept.
///
/// # Panics
/// Never: a schema can be written.
pub fn schema_of<T: JsonSchema>() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    match serde_json::to_string_pretty(&schema) {
        Ok(text) => text + "\n",
        Err(error) => panic!("a schema cannot be written: {error}"),
    }
}

/// Holds a schema against the one that is kept under this name, or keeps it where that is asked.
///
/// # Panics
/// When the two differ, or when it cannot be kept.
pub fn assert_kept(name: &str, schema: &str) {
    let path = format!("{}/../../contract/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("ASSAY_WRITE_CONTRACT").is_some() {
        let written = std::fs::write(&path, schema);
        assert!(written.is_ok(), "{path}: {written:?}");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == schema,
        "{name} is not that of its type: ASSAY_WRITE_CONTRACT=1 cargo test --workspace contract \
         writes it again"
    );
}
