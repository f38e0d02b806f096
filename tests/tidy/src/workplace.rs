//! The project speaks of itself only: no place where it was built, no unknown host, no unexplained
//! leftover.

use crate::{Finding, Source};

/// Hosts that a committed file may name in an address; a new one is added here on purpose.
pub const HOSTS: &[&str] = &[
    "127.0.0.1",
    "localhost",
    "example.com",
    "example.invalid",
    "github.com",
    "docs.rs",
    "doc.rust-lang.org",
    "nvmexpress.org",
    "rust-lang.github.io",
    "www.apache.org",
    "www.usenix.org",
    "www.w3.org",
    "json-schema.org",
    "dejavu-fonts.github.io",
    "keepachangelog.com",
    "semver.org",
    "doi.org",
    "docs.kernel.org",
    "docs.oracle.com",
    "www.postgresql.org",
    "www.snia.org",
    "www.tpc.org",
];

/// Marks of the machines a developer sat at; split so that this table does not find itself.
const MARKS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("fa", "rm-")];

const LEFTOVERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// What a stranger to the workplace would not understand, in any text file.
pub fn check(source: &Source, hosts: &[&str]) -> Vec<Finding> {
    let lines = source.text.lines().enumerate();
    lines
        .flat_map(|(index, line)| {
            let complaints = complaints(line, hosts).into_iter();
            complaints.map(move |what| Finding::at(&source.path, index + 1, what))
        })
        .collect()
}

fn complaints(line: &str, hosts: &[&str]) -> Vec<String> {
    let marks = MARKS.iter().filter(|mark| line.contains(**mark));
    let mut found: Vec<String> =
        marks.map(|mark| format!("`{mark}` names a place where it was built")).collect();
    let unknown = hosts_of(line).filter(|host| !hosts.contains(host));
    found
        .extend(unknown.map(|host| format!("the host `{host}` is not on the list of known hosts")));
    let leftovers = LEFTOVERS.iter().filter(|word| is_unexplained(line, word));
    found.extend(leftovers.map(|word| format!("{word} without a reason: write `{word}(reason)`")));
    found
}

/// The hosts of all addresses of a line: what stands between `://` and the next `/`, `:` or other
/// mark.
fn hosts_of(line: &str) -> impl Iterator<Item = &str> {
    let addresses = line.split("://").skip(1);
    let schemes = line.split("://");
    schemes
        .zip(addresses)
        .filter(|(before, _)| before.ends_with("http") || before.ends_with("https"))
        .map(|(_, after)| after.split(|mark| !is_of_host(mark)).next().unwrap_or(after))
        .map(|host| host.trim_end_matches('.'))
        .filter(|host| !host.is_empty())
}

fn is_of_host(mark: char) -> bool {
    mark.is_ascii_alphanumeric() || ".-_".contains(mark)
}

/// The word stands alone and no `(reason)` follows.
fn is_unexplained(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        let mut after = line[start + word.len()..].chars();
        let next = after.next();
        let alone = ![before, next].iter().flatten().any(|mark| is_of_word(*mark));
        let explained = next == Some('(') && after.next() != Some(')');
        alone && !explained
    })
}

fn is_of_word(mark: char) -> bool {
    mark.is_alphanumeric() || mark == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let found = check(&Source::new("a.md", text), &["docs.rs", "www.w3.org"]);
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn plain_text_and_known_hosts_pass() {
        let text = "See https://docs.rs/syn/latest.\nA framework and <http://www.w3.org/2000/svg>, `https://`.\n";
        assert_eq!(findings(text), Vec::<String>::new());
    }

    #[test]
    fn an_unknown_host_is_found() {
        let expected = "a.md:2: the host `example.com` is not on the list of known hosts";
        assert_eq!(findings("ok\nhttps://example.com:8080/simple\n"), [expected]);
        assert_eq!(findings("https://docs.rs and http://127.0.0.1/\n").len(), 1);
    }

    #[test]
    fn every_mark_of_a_machine_is_found() {
        for mark in MARKS {
            assert_eq!(findings(&format!("in {mark}there\n")).len(), 1, "{mark}");
        }
    }

    #[test]
    fn a_leftover_needs_a_reason() {
        for word in LEFTOVERS {
            assert_eq!(findings(&format!("# {word}: later\n")).len(), 1, "{word}");
            assert_eq!(findings(&format!("# {word}() later\n")).len(), 1, "{word}");
            assert_eq!(findings(&format!("# {word}(kernel 6.12 lacks it)\n")).len(), 0, "{word}");
            assert_eq!(findings(&format!("mktemp assay.{word}{word}\n")).len(), 0, "{word}");
        }
    }
}
