//! Who listens at a local socket, and whether a password may be told him: anybody can make a socket in a shared directory.
//!
//! Source: `unix(7)`, `SO_PEERCRED`; PostgreSQL documentation, "Preventing Server Spoofing".

use crate::account::find;
use rustix::process::geteuid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The account whose process listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Number of the user.
    pub user: u32,
    /// Whether it is the superuser, this user, the owner of the socket's directory, or an account that such servers run as.
    pub is_trusted: bool,
}

impl Owner {
    /// Who listens at the socket of this path, and whether nobody else made it.
    pub(crate) fn at(user: u32, path: &Path, usual: &[&str]) -> Self {
        let listening = Self::of(user, path.parent(), usual);
        let made = path.metadata().map(|metadata| Self::of(metadata.uid(), path.parent(), usual));
        Self {
            is_trusted: listening.is_trusted && made.is_ok_and(|made| made.is_trusted),
            ..listening
        }
    }

    pub(crate) fn of(user: u32, directory: Option<&Path>, usual: &[&str]) -> Self {
        let owns_directory = || {
            let metadata = directory.and_then(|directory| directory.metadata().ok());
            metadata.is_some_and(|metadata| metadata.uid() == user)
        };
        let is_trusted = user == 0
            || user == geteuid().as_raw()
            || owns_directory()
            || usual.iter().any(|name| number_of(name) == Some(user));
        Self { user, is_trusted }
    }
}

/// The number of a user by his name.
pub fn number_of(name: &str) -> Option<u32> {
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    if name == "root" { Some(0) } else { find(&users, name).map(|account| account.user) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_in_a_shared_directory_is_not_trusted() {
        let own = geteuid().as_raw();
        let stranger = own + 4711;
        let temporary = std::env::temp_dir();
        assert!(Owner::of(own, Some(&temporary), &[]).is_trusted);
        assert!(Owner::of(0, None, &[]).is_trusted);
        assert!(!Owner::of(stranger, None, &["nosuchname"]).is_trusted);
        let owner = temporary.metadata().unwrap().uid();
        assert!(Owner::of(owner, Some(&temporary), &[]).is_trusted);
        assert!(!Owner::of(owner + 4711, Some(&temporary), &[]).is_trusted);
        assert_eq!(number_of("root"), Some(0));
    }
}
