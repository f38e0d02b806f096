//! Sizes of tablespaces, as a person writes them: one `name,size` a line.

use assay_model::units::Bytes;
use assay_model::{Error, Result};
use std::collections::HashMap;

/// Reads the sizes.
///
/// # Errors
/// A usage error with the line that is not `name,size`.
pub fn parse_capacities(text: &str) -> Result<HashMap<String, u64>> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let wrong = |why: String| {
                Error::usage(
                    format!("line {number}: {why}"),
                    "write one tablespace per line with its size: USERS,120GiB",
                )
            };
            let (name, size) = line
                .rsplit_once(',')
                .ok_or_else(|| wrong("no comma between name and size".to_owned()))?;
            let size: Bytes =
                size.parse().map_err(|error: Error| wrong(error.message().to_owned()))?;
            Ok((name.trim().to_owned(), size.0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_sizes_are_read() {
        let sizes = parse_capacities("# sizes\nUSERS,120GiB\n\nPDB1/DATA, 2TB\n").unwrap();
        assert_eq!(sizes["USERS"], 120 << 30);
        assert_eq!(sizes["PDB1/DATA"], 2_000_000_000_000);
        let error = parse_capacities("USERS 120").unwrap_err();
        assert!(error.message().contains("line 1"));
        assert!(parse_capacities("USERS,120").unwrap_err().message().contains("no unit"));
    }
}
