//! Packs the JSON schemas of contract/ into one compressed text: they are rarely read, and ten
//! times as long as they need be.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

/// Ends a name and a text; no schema holds it.
const END: char = '\0';
const ENDING: &str = ".schema.json";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../contract");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, Box<dyn Error>>>()?;
    files.sort();
    let (mut names, mut packed) = (String::new(), String::new());
    for file in files {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(name) = name.strip_suffix(ENDING) {
            writeln!(names, "    {name:?},")?;
            write!(packed, "{name}{END}{}{END}", fs::read_to_string(&file)?)?;
        }
    }
    fs::write(out.join("schema_names.rs"), format!("&[\n{names}]\n"))?;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(packed.as_bytes(), 9);
    fs::write(out.join("schemas.zlib"), packed)?;
    Ok(())
}
