//! Writes the pictures of made-up reports: `cargo run -p assay-report --example pictures --
//! FOLDER`.

mod made_up;

use assay_report::{Options, png};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    for report in [made_up::report(120), made_up::cuts::report(60, true)] {
        for (name, bytes) in png(&report, Options::default())? {
            std::fs::write(std::path::Path::new(&folder).join(name), bytes)?;
        }
    }
    Ok(())
}
