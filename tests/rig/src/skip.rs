//! Why a test cannot run here, said where a reader of the test's output sees it.

use std::fmt;
use std::io::Write;

/// The reason for which a facility of the rig is missing on this machine or to this user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    reason: String,
}

impl Skip {
    /// A skip with its reason, as in `no /dev/fuse on this machine`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// What is missing.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Prints `skipped: reason` to the process's own standard error, which the test harness does
    /// not capture.
    pub fn announce(&self) {
        // In one piece, because the harness writes at the same time. A reader who closed standard
        // error loses the line, not the test.
        let _ = std::io::stderr().write_all(format!("{self}\n").as_bytes());
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "skipped: {}", self.reason)
    }
}

impl std::error::Error for Skip {}

/// The value of a `Result<_, Skip>`, or `skipped: reason` and `return` from the test.
#[macro_export]
macro_rules! or_skip {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(skip) => {
                $crate::Skip::announce(&skip);
                return;
            }
        }
    };
}
