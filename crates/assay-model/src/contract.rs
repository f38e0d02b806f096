//! The JSON schemas of all documents, as they ship with the program.

use crate::document::nearest;
use crate::error::{Error, Result};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// Names of all schemas (JSON Schema, draft 2020-12), sorted.
pub const SCHEMAS: &[&str] = include!(concat!(env!("OUT_DIR"), "/schema_names.rs"));
/// Names and texts, each ended by a zero byte, compressed by build.rs.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schemas.zlib"));
/// More than all of them together, bytes.
const TEXTS_BYTES_MAX: usize = 16 << 20;

/// The schema of a document by its name, for example `run`; `run.schema.json` is the same.
///
/// # Errors
/// A usage error with the nearest name.
///
/// # Panics
/// When the program was packed wrongly.
pub fn schema_text(name: &str) -> Result<String> {
    let wanted = name.trim_end_matches(".json").trim_end_matches(".schema");
    find(&unpacked(), wanted).ok_or_else(|| {
        let names: Vec<String> = SCHEMAS.iter().map(|known| (*known).to_owned()).collect();
        let near = nearest(wanted, &names).map(|near| format!("did you mean '{near}'? "));
        Error::usage(
            format!("there is no schema '{name}'"),
            format!("{}`assay list schemas` lists them", near.unwrap_or_default()),
        )
    })
}

fn unpacked() -> String {
    let bytes = decompress_to_vec_zlib_with_limit(PACKED, TEXTS_BYTES_MAX);
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.unwrap_or_else(|| panic!("the schemas that are built in cannot be unpacked"))
}

/// The text behind a name.
fn find(texts: &str, wanted: &str) -> Option<String> {
    let mut parts = texts.split('\0');
    while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
        if name == wanted {
            return Some(text.to_owned());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_contract_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contract");
        let names = std::fs::read_dir(folder).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| name.ends_with(".schema.json")) {
            assert!(schema_text(&name).unwrap().contains("\"$schema\""), "{name}");
        }
        assert!(schema_text("runn").unwrap_err().hint().contains("'run'"));
    }
}
