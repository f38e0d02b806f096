//! Who runs a server when this program is the superuser.

use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A user of the system without rights of his own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemAccount {
    /// Name.
    pub name: String,
    /// Number of the user.
    pub user: u32,
    /// Number of his group.
    pub group: u32,
}

impl SystemAccount {
    /// The user that a server must run as: none unless this program is the superuser. The product's
    /// own user is taken where there is one, else `nobody`.
    pub fn needed(usual: &str) -> Option<Self> {
        geteuid().is_root().then(|| Self::unprivileged(usual))
    }

    /// The first directory on the way to `path` that this user may not enter; further groups of his
    /// are not looked at.
    pub fn kept_out_by<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        above
            .into_iter()
            .rev()
            .find(|directory| directory.metadata().is_ok_and(|metadata| !self.may_enter(&metadata)))
    }

    fn may_enter(&self, directory: &Metadata) -> bool {
        let right = match (directory.uid() == self.user, directory.gid() == self.group) {
            (true, _) => 0o100,
            (false, true) => 0o010,
            (false, false) => 0o001,
        };
        directory.mode() & right != 0
    }

    fn unprivileged(usual: &str) -> Self {
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let named = [usual, "nobody"].iter().find_map(|name| find(&users, name));
        // The number that the kernel gives to users whom it does not know.
        named.unwrap_or(Self { name: "nobody".to_owned(), user: 65_534, group: 65_534 })
    }
}

/// `name:x:101:104:…`.
pub(crate) fn find(users: &str, wanted: &str) -> Option<SystemAccount> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, user, group, ..] = fields.as_slice() else {
            return None;
        };
        let user = user.parse().ok().filter(|user| *user != 0)?;
        (*name == wanted).then_some(SystemAccount {
            name: wanted.to_owned(),
            user,
            group: group.parse().ok()?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_first_closed_directory_on_the_way_is_named() {
        let root = std::env::temp_dir().join(format!("assay-account-{}", std::process::id()));
        let inner = root.join("open/inner");
        std::fs::create_dir_all(&inner).unwrap();
        let owner = root.metadata().unwrap().uid();
        let stranger = SystemAccount { name: "x".to_owned(), user: owner + 1, group: u32::MAX - 1 };
        let mode = |bits| {
            std::fs::set_permissions(&root, std::fs::Permissions::from_mode(bits)).unwrap();
        };
        mode(0o700);
        assert_eq!(stranger.kept_out_by(&inner), Some(root.as_path()));
        let own = SystemAccount { user: owner, ..stranger.clone() };
        assert_eq!(own.kept_out_by(&inner), None);
        mode(0o701);
        assert_eq!(stranger.kept_out_by(&inner), None);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn users_are_found_by_name_and_never_the_superuser() {
        let users = "root:x:0:0::/:\npostgres:x:101:104:PostgreSQL:/var/lib/postgresql:/bin/bash\n\
                     evil:x:0:0::/:\n";
        let found = find(users, "postgres").unwrap();
        assert_eq!((found.user, found.group), (101, 104));
        assert_eq!((find(users, "evil"), find(users, "nobody")), (None, None));
    }
}
