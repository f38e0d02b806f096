//! What people call a run, apart from its id: `baseline`, `old array`.

use crate::document::StoredDocument;
use crate::id::is_id;
use crate::run::RunReader;
use assay_model::{Error, Result};

/// Letters at most.
const LETTERS_MAX: usize = 80;

/// Refuses a label that could not be typed again or would be taken for something else.
///
/// # Errors
/// A usage error that says what is allowed.
pub(crate) fn check(label: &str) -> Result<()> {
    let is_plain = |letter: char| !letter.is_control() && !['/', ':', ','].contains(&letter);
    let is_fit = !label.is_empty()
        && label == label.trim()
        && !["latest", ".", ".."].contains(&label)
        && !is_id(label)
        && label.chars().count() <= LETTERS_MAX
        && label.chars().all(is_plain);
    if is_fit {
        return Ok(());
    }
    Err(Error::usage(
        format!("'{label}' cannot be the name of a run"),
        "use up to 80 characters without / : , or leading and trailing spaces; not 'latest', '.', \
         '..' or an id",
    ))
}

impl RunReader {
    /// What its owner calls it; none where it has no name or the name cannot be read.
    pub fn label(&self) -> Option<String> {
        let text = self.document(StoredDocument::Label).ok()??;
        Some(text.trim_end().to_owned())
    }
}
