//! Writes the pictures of a made-up report: `cargo run -p assay-report --example pictures -- FOLDER`.

mod made_up;

use assay_report::{Options, png};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    for (name, bytes) in png(&made_up::report(120), Options::default())? {
        std::fs::write(std::path::Path::new(&folder).join(name), bytes)?;
    }
    Ok(())
}
