//! The manuals of other load generators: their job files as workloads and studies, their results as
//! runs, and runs as they would have written them. Nothing in a file is executed, opened or
//! written: the caller reads files and decides where I/O goes.
#![forbid(unsafe_code)]

pub mod annotate;
pub mod conversion;
pub mod detect;
pub mod fio;
pub mod iometer;
pub mod orion;
pub mod orion_matrix;
pub mod out;
mod reading;
pub mod reason;
pub mod results;
pub mod shown;
mod surroundings;
pub mod vdbench;

pub use conversion::{
    Conversion, ConversionPart, ConvertedDocument, NamedTarget, Note, OptionOrigin, Refused,
    Treatment,
};
pub use detect::{FileKind, detect};
pub use reason::{Approximation, OptionReason};
pub use surroundings::Surroundings;

/// Reads a job file of any program that is known; `name` is what its lines are called by.
///
/// # Errors
/// The line, the option and the reason where nothing can be made of the file.
pub fn convert(text: &str, name: &str, around: &Surroundings<'_>) -> Result<Conversion, Refused> {
    let converted = match detect(text) {
        Some(FileKind::FioJob) => fio::convert(text, name, around),
        Some(FileKind::VdbenchParameters) => vdbench::convert(text, name, around),
        Some(FileKind::IometerConfiguration) => iometer::convert(text, name),
        other => Err(Refused {
            origin: OptionOrigin { file: name.to_owned(), line: 1, key: String::new() },
            value: String::new(),
            reason: match other {
                Some(FileKind::OrionLuns) => OptionReason::Luns,
                _ => OptionReason::NoJob,
            },
        }),
    };
    converted.map_err(|refused| refused.without_included_text(name))
}
