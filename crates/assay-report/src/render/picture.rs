//! The charts of a view as pictures, for a presentation or a ticket: PNG, twice as fine as on the
//! page, in its light colours.

mod canvas;
mod file;
mod glyphs;

use crate::view::View;
use assay_model::{Error, Result};

/// Every chart with the name of its file.
///
/// # Errors
/// An environment error when a picture cannot be drawn for lack of memory.
pub(crate) fn pictures(view: &View<'_>) -> Result<Vec<(String, Vec<u8>)>> {
    let mut pictures: Vec<(String, Vec<u8>)> = Vec::new();
    for chart in view.charts() {
        let number = pictures.len() + 1;
        let is_taken =
            pictures.iter().any(|(name, _)| name.strip_suffix(".png") == Some(&chart.file));
        let name = if is_taken { format!("{}-{number}", chart.file) } else { chart.file.clone() };
        let bytes = canvas::draw(&chart.draw(chart.size)).ok_or_else(|| {
            let hint = "free memory, or use the HTML page";
            Error::environment(format!("drawing {name}.png: out of memory"), hint)
        })?;
        pictures.push((format!("{name}.png"), bytes));
    }
    Ok(pictures)
}
