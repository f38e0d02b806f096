//! The page that shows a run while it is measured: it reads events from the program that serves it,
//! and gives way to the run's own page in the end.

use super::frame::{SCRIPT_HASH, STYLE};

const OWN_STYLE: &str = include_str!("live.css");
const BODY: &str = include_str!("live.html");
const SCRIPT: &str = include_str!("live.js");
/// SHA-256 of the script in base64: browsers run this one, and that of the run's own page. A test
/// computes it again.
const OWN_HASH: &str = "eOn3m+Xfxy2PMdbYpvnPxKL6/mtxpU/qyzluQpfqBD0=";

/// The page.
pub fn live_html() -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta \
         http-equiv=\"Content-Security-Policy\" content=\"{}\"><meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" \
         content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\"><link \
         rel=\"icon\" href=\"data:,\"><title>Assay \
         live</title><style>{STYLE}{OWN_STYLE}</style></head><body>{BODY}<script>{SCRIPT}</\
         script></body></html>\n",
        policy()
    )
}

/// What the page may do: read from where it came, and show the page of the run.
fn policy() -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
         img-src data:; connect-src 'self'; frame-src 'self'; script-src 'sha256-{OWN_HASH}' \
         'sha256-{SCRIPT_HASH}'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_server_says_becomes_markup() {
        let page = live_html();
        assert!(page.contains(OWN_HASH) && page.contains(SCRIPT_HASH));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("</script"));
    }
}
