//! Asks a person at the terminal for a password, once for each address, without showing what is
//! typed.

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// No password is as long.
const PASSWORD_BYTES_MAX: u64 = 4096;
/// What was answered, by address; nothing where nobody answered.
static ANSWERS: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());

/// The password that a person types for an address; none where no person sits at this program.
pub fn ask_password(address: &str) -> Option<String> {
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    answers.entry(address.to_owned()).or_insert_with(|| typed(address)).clone()
}

fn typed(address: &str) -> Option<String> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return None;
    }
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    let shown = tcgetattr(&terminal).ok()?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    hidden.local_modes.insert(LocalModes::ECHONL);
    write!(&terminal, "Password for {address}: ").ok()?;
    tcsetattr(&terminal, OptionalActions::Flush, &hidden).ok()?;
    let mut line = String::new();
    let read =
        BufReader::new(std::io::Read::take(&terminal, PASSWORD_BYTES_MAX)).read_line(&mut line);
    // The terminal is the person's: it gets its ways back also when nothing was read.
    let restored = tcsetattr(&terminal, OptionalActions::Flush, &shown);
    read.ok().filter(|_| restored.is_ok())?;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    (!line.is_empty()).then_some(line)
}
