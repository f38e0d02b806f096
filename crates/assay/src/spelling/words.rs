//! The words of a command line before they are read: verbs by other names, and the options of fio.

use super::fio::{CommandWords, translate};
use assay_model::Result;

/// Kinds of built-in documents that people type as verbs: `assay workload oltp` is `assay show workload oltp`.
const KINDS: [&str; 12] = [
    "workload",
    "workloads",
    "preset",
    "presets",
    "studies",
    "criteria",
    "array",
    "mix",
    "mixes",
    "schema",
    "schemas",
    "patterns",
];

/// The command line, program first, as Assay spells it, with notes about what is read otherwise than it was typed.
///
/// # Errors
/// A usage error for an option of fio that has no counterpart.
pub fn spelled(typed: &[String]) -> Result<CommandWords> {
    let Some((verb, rest)) = typed.get(1).zip(typed.get(2..)) else {
        return Ok(CommandWords { words: typed.to_vec(), notes: Vec::new() });
    };
    let begun = |verbs: &[&str], rest: Vec<String>| {
        let verbs = verbs.iter().map(|verb| (*verb).to_owned());
        typed.iter().take(1).cloned().chain(verbs).chain(rest).collect()
    };
    let asks_for_text = |word: &String| word == "--list" || word == "--print";
    if verb == "run" {
        let job = translate(rest)?;
        return Ok(CommandWords { words: begun(&["run"], job.words), notes: job.notes });
    }
    let is_kind = KINDS.contains(&verb.as_str())
        || (["study", "arrays"].contains(&verb.as_str()) && rest.iter().any(asks_for_text));
    if is_kind {
        let rest = rest.iter().filter(|word| !asks_for_text(word)).cloned().collect();
        return Ok(CommandWords { words: begun(&["show", verb], rest), notes: Vec::new() });
    }
    Ok(CommandWords { words: typed.to_vec(), notes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        spelled(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap().words.join(" ")
    }

    #[test]
    fn kinds_of_documents_are_shown_by_their_own_names() {
        assert_eq!(words("assay workload --print oltp"), "assay show workload oltp");
        assert_eq!(words("assay schema --list"), "assay show schema");
        assert_eq!(words("assay study --print emc-slob"), "assay show study emc-slob");
        assert_eq!(words("assay study emc-slob DIR"), "assay study emc-slob DIR");
        assert_eq!(words("assay"), "assay");
    }

    #[test]
    fn a_run_may_be_written_as_for_fio() {
        assert_eq!(
            words("assay run --rw=read --bs=1m D"),
            "assay run fio --job-word=rw=read --job-word=bs=1m D"
        );
        assert_eq!(words("assay load --rw=read"), "assay load --rw=read");
    }
}
