//! Names of what loads make in their schema: whatever else lies there was put there by somebody
//! else.

use super::commit_log::COMMITS;
use super::owner::RECORD;

/// Tables that several kinds of load have.
const COMMON: [&str; 4] = [RECORD, "assay_manifest", "assay_contents", COMMITS];

/// Whether any load makes a table of this name.
pub(crate) fn is_common(name: &str) -> bool {
    COMMON.contains(&name)
}

/// `order_line_3` is a part of `order_line`.
pub(crate) fn without_part(name: &str) -> &str {
    let part = name.rsplit_once('_').filter(|(_, number)| is_numbered(number, ""));
    part.map_or(name, |(whole, _)| whole)
}

/// Whether a name is this one and a number.
pub(crate) fn is_numbered(name: &str, begin: &str) -> bool {
    let number = name.strip_prefix(begin);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a text creates something of this name in the schema.
pub(crate) fn creates(text: &str, name: &str) -> bool {
    let makes = ["CREATE FUNCTION {s}.", "CREATE SEQUENCE {s}."];
    let ends = |rest: &str| {
        !rest.starts_with(|letter: char| letter == '_' || letter.is_ascii_alphanumeric())
    };
    let mut pieces = makes.iter().flat_map(|make| text.split(make).skip(1));
    pieces.any(|piece| piece.strip_prefix(name).is_some_and(ends))
}
