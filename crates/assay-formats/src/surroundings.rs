//! What a job file may ask for outside of itself: other files, and values of variables. Whoever
//! calls decides.

use crate::conversion::{ConversionPart, Note, OptionOrigin};
use crate::reading::ReadSetting;
use crate::reason::OptionReason;

/// Gives what a job file refers to.
pub struct Surroundings<'a> {
    /// The text of an included file, by the name that stands in the file.
    pub file: &'a dyn Fn(&str) -> assay_model::Result<String>,
    /// The value of a variable, where it has one.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Included files in one another at most, as in fio.
pub const DEPTH_MAX: usize = 16;
/// Bytes of a file with everything that it includes, at most.
pub const BYTES_MAX: usize = 4 << 20;
/// Bytes of all sections together at most: defaults count in each section that takes them over,
/// variables with their values.
const HELD_BYTES_MAX: usize = 32 << 20;
/// What an option costs besides its text: the section, the note on it and the line of the document
/// keep it.
const SETTING_BYTES: usize = 256;
/// What a document and a stream of it cost besides where their lines come from.
const DOCUMENT_BYTES: usize = 2048;
const STREAM_BYTES: usize = 1024;

/// Counts what the sections of a file hold together: a short file can multiply a long value.
#[derive(Default)]
pub struct HeldBytes(usize);

impl HeldBytes {
    /// Counts an option, which this many sections hold.
    ///
    /// # Errors
    /// [`OptionReason::TooLarge`] where it is too much.
    pub fn add(&mut self, setting: &ReadSetting, sections: usize) -> Result<(), OptionReason> {
        let value = setting.value.as_ref().map_or(0, String::len);
        self.add_bytes(setting_bytes(&setting.origin, value).saturating_mul(sections))
    }

    /// Counts a document and the notes on it: each run of a file repeats what its workloads say.
    ///
    /// # Errors
    /// The same.
    pub fn add_part(&mut self, part: &ConversionPart, notes: &[Note]) -> Result<(), OptionReason> {
        let origins = part.sources.values().flatten().map(|origin| setting_bytes(origin, 0));
        let notes = notes.iter().map(|note| setting_bytes(&note.origin, note.value.len()));
        let lines: usize = origins.chain(notes).sum();
        self.add_bytes(DOCUMENT_BYTES + part.streams() * STREAM_BYTES + lines)
    }

    fn add_bytes(&mut self, bytes: usize) -> Result<(), OptionReason> {
        self.0 = self.0.saturating_add(bytes);
        if self.0 > HELD_BYTES_MAX { Err(OptionReason::TooLarge) } else { Ok(()) }
    }

    /// Counts all options of a list that another section takes over.
    ///
    /// # Errors
    /// The same.
    pub fn add_all(
        &mut self,
        settings: &[ReadSetting],
        sections: usize,
    ) -> Result<(), OptionReason> {
        settings.iter().try_for_each(|setting| self.add(setting, sections))
    }
}

fn setting_bytes(origin: &OptionOrigin, value: usize) -> usize {
    origin.file.len() + origin.key.len() + value + SETTING_BYTES
}

impl Surroundings<'static> {
    /// Nothing around: a file that includes others or has variables is refused.
    pub const fn none() -> Self {
        Surroundings { file: &no_file, variable: &|_| None }
    }
}

fn no_file(name: &str) -> assay_model::Result<String> {
    Err(assay_model::Error::usage(format!("'{name}' does not exist"), "specify an existing file"))
}
