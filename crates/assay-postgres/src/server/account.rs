//! Who runs a server when this program is the superuser.

use rustix::process::geteuid;

/// A user of the system without rights of his own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Name.
    pub name: String,
    /// Number of the user.
    pub user: u32,
    /// Number of his group.
    pub group: u32,
}

impl Account {
    /// The user that a server must run as: none unless this program is the superuser.
    pub fn needed() -> Option<Self> {
        geteuid().is_root().then(Self::unprivileged)
    }

    /// `postgres` where there is one, else `nobody`.
    fn unprivileged() -> Self {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let named = ["postgres", "nobody"].iter().find_map(|name| find(&users, name));
        // The number that the kernel gives to users whom it does not know.
        named.unwrap_or(Self { name: "nobody".to_owned(), user: 65_534, group: 65_534 })
    }
}

/// `name:x:101:104:…`.
fn find(users: &str, wanted: &str) -> Option<Account> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, user, group, ..] = fields.as_slice() else {
            return None;
        };
        let user = user.parse().ok().filter(|user| *user != 0)?;
        (*name == wanted).then_some(Account {
            name: wanted.to_owned(),
            user,
            group: group.parse().ok()?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name_and_never_the_superuser() {
        let users = "root:x:0:0::/:\npostgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash\nevil:x:0:0::/:\n";
        let found = find(users, "postgres").unwrap();
        assert_eq!((found.user, found.group), (101, 104));
        assert_eq!((find(users, "evil"), find(users, "nobody")), (None, None));
    }
}
