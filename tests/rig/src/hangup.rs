//! The signals that end a program here: a hang-up only where no ancestor has it ignored, as `nohup`
//! does.

use rustix::process::Signal;

/// The bit of SIGHUP in the mask of ignored signals (`proc_pid_status(5)`).
const HANGUP: u64 = 1;

/// SIGINT, SIGTERM, and SIGHUP where a program that starts here meets it.
#[expect(clippy::print_stdout, reason = "tests say what they skip")]
pub fn ending_signals() -> Vec<Signal> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut signals = vec![Signal::INT, Signal::TERM];
    if is_ignored(&status) {
        println!("skipped: SIGHUP is ignored here, and so by every program that is started");
    } else {
        signals.push(Signal::HUP);
    }
    signals
}

fn is_ignored(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & HANGUP != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_is_the_hang_up() {
        assert!(is_ignored("Name:\tsh\nSigIgn:\t0000000000001001\n"));
        assert!(!is_ignored("SigIgn:\t0000000000001000\n") && !is_ignored(""));
    }
}
