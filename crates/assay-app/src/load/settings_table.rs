//! Knobs of a load as its result shows them.

use assay_model::load::Setting;

/// Knobs with their names.
pub fn shown<const KNOBS: usize>(knobs: [(&str, String); KNOBS]) -> Vec<Setting> {
    knobs.map(|(name, value)| Setting { name: name.to_owned(), value }).to_vec()
}
