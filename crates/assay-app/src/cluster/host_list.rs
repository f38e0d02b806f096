//! Lists of hosts as people write them: names joined by commas, `n[001-100]` as Slurm writes it,
//! and `@FILE` with the names in a file.

use assay_files::read_plain;
use assay_model::{Error, Result};
use std::path::Path;

/// No file of names is as long.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Hosts of a list at most; a longer one is cut, and refused for its length.
const LISTED_MAX: usize = 10_000;

/// The names in a file, one a line or several, in place of `@FILE`; every other list as it is.
///
/// # Errors
/// An environment error when the file cannot be read.
pub(super) fn read(list: &str) -> Result<String> {
    let Some(file) = list.strip_prefix('@') else { return Ok(list.to_owned()) };
    let read = read_plain(Path::new(file), FILE_BYTES_MAX);
    let text = read.map_err(|error| {
        let hint = "specify a readable file of host names, one a line";
        Error::environment(format!("reading the hosts in {file}: {error}"), hint)
    })?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or(""));
    let names = lines.flat_map(|line| line.split(|sign: char| sign == ',' || sign.is_whitespace()));
    Ok(names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(","))
}

/// The single names of a list.
pub(super) fn names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in parts(list) {
        match range(part) {
            Some(range) => names.extend(range),
            None => names.push(part.trim().to_owned()),
        }
        names.truncate(LISTED_MAX);
    }
    names
}

/// What stands between commas outside of brackets.
fn parts(list: &str) -> Vec<&str> {
    let mut is_inside = false;
    let separates = |letter: char| {
        is_inside = if letter == '[' { true } else { is_inside && letter != ']' };
        letter == ',' && !is_inside
    };
    list.split(separates).collect()
}

/// The names of `n[001-100]` or `n[1,7-9].site`; nothing where it is none.
fn range(text: &str) -> Option<Vec<String>> {
    let (before, rest) = text.trim().split_once('[')?;
    let (numbers, after) = rest.split_once(']')?;
    let mut names = Vec::new();
    for numbers in numbers.split(',') {
        let (first, last) = numbers.split_once('-').unwrap_or((numbers, numbers));
        let (from, to) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        let width = first.len();
        let numbers = (from..=to).take(LISTED_MAX);
        names.extend(numbers.map(|number| format!("{before}{number:0width$}{after}")));
        names.truncate(LISTED_MAX);
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_slurm() {
        assert_eq!(names("n[08-10],head"), ["n08", "n09", "n10", "head"]);
        assert_eq!(names("r1-[1,3-4].site, x"), ["r1-1.site", "r1-3.site", "r1-4.site", "x"]);
        assert_eq!(names("n[001-100]").len(), 100);
        assert_eq!(names("n[1-99999999999]").len(), LISTED_MAX);
        // What is none is refused as a name.
        for wrong in ["n[", "n[a-b]", "n]1["] {
            assert_eq!(names(wrong), [wrong]);
        }
    }

    #[test]
    fn a_file_lists_hosts_one_a_line_or_more() {
        let path = std::env::temp_dir().join(format!("assay-hosts-{}", std::process::id()));
        std::fs::write(&path, "# rack 1\nhA\nhB, hC # spare\n\n").unwrap();
        let list = read(&format!("@{}", path.display()));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(list.unwrap(), "hA,hB,hC");
        assert!(read("@/nowhere/hosts").unwrap_err().message().contains("/nowhere/hosts"));
        assert_eq!(read("hA,hB").unwrap(), "hA,hB");
    }
}
