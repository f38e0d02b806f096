//! The words of a command line before they are read: the options of fio.

use super::fio::{CommandWords, translate};
use assay_model::Result;

/// The command line, program first, as Assay spells it, with notes about what is read otherwise
/// than it was typed.
///
/// # Errors
/// A usage error for an option of fio that has no counterpart.
pub fn spelled(typed: &[String]) -> Result<CommandWords> {
    match typed {
        [program, command, rest @ ..] if command == "run" => {
            let job = translate(rest)?;
            let words = [program, command].into_iter().cloned().chain(job.words).collect();
            Ok(CommandWords { words, notes: job.notes })
        }
        _ => Ok(CommandWords { words: typed.to_vec(), notes: Vec::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> String {
        spelled(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap().words.join(" ")
    }

    #[test]
    fn a_run_may_be_written_as_for_fio() {
        assert_eq!(
            words("assay run --rw=read --bs=1m D"),
            "assay run fio --job-word=rw=read --job-word=bs=1m D"
        );
        assert_eq!(words("assay bench --rw=read"), "assay bench --rw=read");
        assert_eq!(words("assay"), "assay");
    }
}
