//! Who listens at a local socket, and whether he may be given a password: anybody can make a socket
//! in a shared directory.
//!
//! Source: `unix(7)`, `SO_PEERCRED`; PostgreSQL documentation, "Preventing Server Spoofing".

use crate::account::find;
use rustix::process::geteuid;

/// The account whose process listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOwner {
    /// Number of the user.
    pub user: u32,
    /// Whether it is the superuser, this user, the owner of the socket's directory, or an account
    /// that such servers run as.
    pub is_trusted: bool,
}

/// Who could have put a socket where it was found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SocketPlace {
    /// The user whose directory it is in.
    pub(crate) directory_owner: Option<u32>,
    /// The user who made its name.
    pub(crate) maker: Option<u32>,
}

impl SocketOwner {
    /// Who listens at a socket in this place; trusted only when nobody else made it.
    pub(crate) fn of(user: u32, place: SocketPlace, usual: &[&str]) -> Self {
        let is_trusted = |user| {
            user == 0
                || user == geteuid().as_raw()
                || place.directory_owner == Some(user)
                || usual.iter().any(|name| number_of(name) == Some(user))
        };
        Self { user, is_trusted: is_trusted(user) && place.maker.is_some_and(is_trusted) }
    }

    /// Of a pair of sockets that has no place.
    pub(crate) fn made_here(user: u32) -> Self {
        Self::of(user, SocketPlace { directory_owner: None, maker: Some(user) }, &[])
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
        let trusted = |user, directory_owner, maker| {
            let place = SocketPlace { directory_owner, maker: Some(maker) };
            SocketOwner::of(user, place, &["nosuchname"]).is_trusted
        };
        assert!(trusted(own, None, own) && trusted(0, None, 0) && trusted(0, None, own));
        assert!(!trusted(stranger, None, stranger) && !trusted(stranger, Some(0), stranger));
        assert!(trusted(stranger, Some(stranger), stranger));
        // Somebody else put the name of a trusted listener's socket there.
        assert!(!trusted(0, Some(0), stranger));
        assert!(!SocketOwner::of(0, SocketPlace::default(), &[]).is_trusted);
        assert_eq!(number_of("root"), Some(0));
    }
}
