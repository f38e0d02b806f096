//! Error numbers in words: the system's, a drive's answers among them, and a transfer that ended
//! short.

use crate::nvme;

/// The words for an error number; 0 is a transfer that ended short.
pub fn meaning(errno: i32) -> String {
    if errno == 0 {
        return "the transfer was shorter than requested".to_owned();
    }
    nvme::meaning(errno).unwrap_or_else(|| std::io::Error::from_raw_os_error(errno).to_string())
}
