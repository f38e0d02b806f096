//! A plan as a file that a person reads: the workload, and as comments where every number came
//! from.

use super::DemandPlan;
use assay_model::Result;
use assay_model::document::to_toml;

/// Columns of a comment at most.
const WIDTH: usize = 116;

impl DemandPlan {
    /// The plan as a workload document with comments.
    ///
    /// # Errors
    /// When the workload cannot be written, which is a mistake of this program.
    pub fn to_toml(&self) -> Result<String> {
        let plain = to_toml(&self.workload)?;
        let mut written = comments(&self.notes);
        let mut notes = self.stream_notes.iter();
        for line in plain.lines() {
            if line == "[[stream]]" {
                let notes = notes.next().map(|notes| comments(notes)).unwrap_or_default();
                written.push_str(&notes);
            }
            written.push_str(line);
            written.push('\n');
        }
        Ok(written)
    }
}

/// Lines of comment. A report's text can carry anything, and must not end a comment.
fn comments(notes: &[String]) -> String {
    notes.iter().flat_map(|note| wrapped(note)).collect()
}

fn wrapped(note: &str) -> Vec<String> {
    let mut lines = vec!["#".to_owned()];
    for word in note.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 1 && used + word.chars().count() >= WIDTH {
            lines.push("#  ".to_owned());
        }
        if let Some(line) = lines.last_mut().filter(|_| !word.is_empty()) {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}
