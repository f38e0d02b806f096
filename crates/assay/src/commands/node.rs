//! `assay node`: measures as a driver on the other end of its pipes says.

use crate::exit::ExitStatus;
use assay_app::cluster::{TOKEN, serve};
use assay_model::Result;
use std::io::{self, BufRead};

/// Letters of the secret of a session.
const SECRET_MAX: u64 = 256;

/// Carries the command out: orders come from standard input, answers go to standard output. The
/// secret of the session is in the environment, or in the first line where whoever started it could
/// not put it there.
pub fn run() -> Result<ExitStatus> {
    let token = std::env::var(TOKEN).unwrap_or_else(|_| first_line(io::stdin().lock()));
    serve(io::stdin(), io::stdout(), &token, &crate::signals::stop_flag()?)?;
    Ok(ExitStatus::Success)
}

/// One line, of which nothing behind its end is taken; a node without a secret refuses every
/// session.
fn first_line(input: impl BufRead) -> String {
    let mut line = Vec::new();
    drop(input.take(SECRET_MAX).read_until(b'\n', &mut line));
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_taken_and_what_follows_stays() {
        let mut input: &[u8] = b"secret\n{\"hello\":1}\n";
        assert_eq!(first_line(&mut input), "secret");
        assert_eq!(input, b"{\"hello\":1}\n");
        assert_eq!(first_line(io::empty()), "");
    }
}
