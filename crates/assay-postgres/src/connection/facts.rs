//! What a server says of itself at the login.

use super::messages::zero_ended;

/// What the server is, as it said at the login.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresFacts {
    /// For example `18.6`.
    pub version: String,
    /// Number of the process that serves this session.
    pub process_id: u32,
}

/// Reads a setting that the server reports at the login.
pub(super) fn reported(body: &[u8]) -> Option<(&str, &str)> {
    let (name, rest) = zero_ended(body)?;
    let (value, _) = zero_ended(rest)?;
    Some((name, value))
}
