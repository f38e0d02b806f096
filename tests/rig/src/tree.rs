//! The names of a mount: directories and files, kept in memory.

use crate::errno::Errno;
use crate::random::word_at;
use crate::script::Script;
use crate::store::{Content, Store};
use assay_model::number::count_of;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// Inode number of the root.
pub(crate) const ROOT: u64 = 1;

/// One file or directory.
#[derive(Debug)]
pub(crate) struct Node {
    /// Path below the root, as the log writes it.
    pub(crate) path: Arc<str>,
    pub(crate) permissions: u16,
    /// The content of a file; a directory has none.
    pub(crate) store: Option<Store>,
    handles: u64,
    linked: bool,
}

impl Node {
    fn new(path: &str, permissions: u16, store: Option<Store>) -> Self {
        Self { path: path.into(), permissions, store, handles: 0, linked: true }
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.store.is_none()
    }
}

/// All nodes, and the names that lead to them.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: HashMap<u64, Node>,
    names: BTreeMap<(u64, String), u64>,
    next_inode: u64,
}

impl Tree {
    pub(crate) fn new(script: &Script) -> Self {
        let mut tree = Self {
            nodes: HashMap::from([(ROOT, Node::new("", 0o777, None))]),
            names: BTreeMap::new(),
            next_inode: ROOT + 1,
        };
        for (index, file) in script.files.iter().enumerate() {
            let seed = word_at(script.seed, count_of(index));
            let store = Store::new(file.size.0, file.content, seed);
            tree.insert(ROOT, &file.name, Node::new(&file.name, 0o666, Some(store)));
        }
        tree
    }

    fn insert(&mut self, parent: u64, name: &str, node: Node) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.nodes.insert(inode, node);
        self.names.insert((parent, name.to_owned()), inode);
        inode
    }

    pub(crate) fn node(&self, inode: u64) -> Result<&Node, Errno> {
        self.nodes.get(&inode).ok_or(Errno::ENOENT)
    }

    pub(crate) fn node_mut(&mut self, inode: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&inode).ok_or(Errno::ENOENT)
    }

    pub(crate) fn store(&self, inode: u64) -> Result<&Store, Errno> {
        self.node(inode)?.store.as_ref().ok_or(Errno::EISDIR)
    }

    pub(crate) fn store_mut(&mut self, inode: u64) -> Result<&mut Store, Errno> {
        self.node_mut(inode)?.store.as_mut().ok_or(Errno::EISDIR)
    }

    pub(crate) fn lookup(&self, parent: u64, name: &str) -> Result<u64, Errno> {
        self.names.get(&(parent, name.to_owned())).copied().ok_or(Errno::ENOENT)
    }

    /// The inode at `path`, whose parts are separated by slashes.
    pub(crate) fn find(&self, path: &str) -> Result<u64, Errno> {
        path.split('/').try_fold(ROOT, |parent, name| self.lookup(parent, name))
    }

    /// Bytes that count against a capacity.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        let stores = self.nodes.values().filter_map(|node| node.store.as_ref());
        stores.map(Store::allocated_bytes).sum()
    }

    /// Names and inodes in a directory, in order of name.
    pub(crate) fn children(&self, parent: u64) -> impl Iterator<Item = (&str, u64)> {
        let from = Bound::Included((parent, String::new()));
        let to = Bound::Excluded((parent + 1, String::new()));
        self.names.range((from, to)).map(|((_, name), inode)| (name.as_str(), *inode))
    }

    fn path_of(&self, parent: u64, name: &str) -> Result<String, Errno> {
        let above = &self.node(parent)?.path;
        Ok(if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") })
    }

    /// A new empty file or directory.
    pub(crate) fn create(
        &mut self,
        parent: u64,
        name: &str,
        permissions: u16,
        directory: bool,
    ) -> Result<u64, Errno> {
        if self.lookup(parent, name).is_ok() {
            return Err(Errno::EEXIST);
        }
        let store = (!directory).then(|| Store::new(0, Content::Zeros, 0));
        let node = Node::new(&self.path_of(parent, name)?, permissions, store);
        Ok(self.insert(parent, name, node))
    }

    /// Removes a name; the content of a file lives on until its last handle is closed.
    pub(crate) fn remove(&mut self, parent: u64, name: &str, directory: bool) -> Result<(), Errno> {
        let inode = self.lookup(parent, name)?;
        match (self.node(inode)?.is_directory(), directory) {
            (true, false) => return Err(Errno::EISDIR),
            (false, true) => return Err(Errno::ENOTDIR),
            (true, true) if self.children(inode).next().is_some() => return Err(Errno::ENOTEMPTY),
            _ => {}
        }
        self.names.remove(&(parent, name.to_owned()));
        self.node_mut(inode)?.linked = false;
        self.forget_unused(inode);
        Ok(())
    }

    /// Moves a name, in place of what had the new one.
    pub(crate) fn rename(&mut self, from: (u64, &str), to: (u64, &str)) -> Result<(), Errno> {
        let inode = self.lookup(from.0, from.1)?;
        let directory = self.node(inode)?.is_directory();
        match self.lookup(to.0, to.1) {
            Ok(replaced) if replaced == inode => return Ok(()),
            Ok(_) => self.remove(to.0, to.1, directory)?,
            Err(_) => {}
        }
        let path = self.path_of(to.0, to.1)?;
        self.names.remove(&(from.0, from.1.to_owned()));
        self.names.insert((to.0, to.1.to_owned()), inode);
        self.node_mut(inode)?.path = path.into();
        Ok(())
    }

    pub(crate) fn open(&mut self, inode: u64) -> Result<(), Errno> {
        self.node_mut(inode)?.handles += 1;
        Ok(())
    }

    pub(crate) fn release(&mut self, inode: u64) {
        if let Some(node) = self.nodes.get_mut(&inode) {
            node.handles = node.handles.saturating_sub(1);
            self.forget_unused(inode);
        }
    }

    fn forget_unused(&mut self, inode: u64) {
        let unused = |node: &Node| !node.linked && node.handles == 0;
        if self.nodes.get(&inode).is_some_and(unused) {
            self.nodes.remove(&inode);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        Tree::new(&Script::new().file("data", 4096).file("log", 100))
    }

    #[test]
    fn scripted_files_lie_in_the_root_with_content_of_their_own() {
        let tree = tree();
        let names: Vec<&str> = tree.children(ROOT).map(|(name, _)| name).collect();
        assert_eq!(names, ["data", "log"]);
        let read = |name| {
            tree.store(tree.find(name).unwrap()).unwrap().read(
                0,
                100,
                crate::store::Version::Current,
            )
        };
        assert_ne!(read("data"), read("log"));
    }

    #[test]
    fn a_removed_file_lives_until_its_last_handle() {
        let mut tree = tree();
        let inode = tree.find("data").unwrap();
        tree.open(inode).unwrap();
        tree.remove(ROOT, "data", false).unwrap();
        assert_eq!(tree.find("data"), Err(Errno::ENOENT));
        assert!(tree.store(inode).is_ok());
        tree.release(inode);
        assert!(tree.store(inode).is_err());
    }

    #[test]
    fn directories_nest_and_only_empty_ones_go() {
        let mut tree = tree();
        let directory = tree.create(ROOT, "runs", 0o755, true).unwrap();
        let file = tree.create(directory, "a", 0o644, false).unwrap();
        assert_eq!(tree.find("runs/a"), Ok(file));
        assert_eq!(&*tree.node(file).unwrap().path, "runs/a");
        assert_eq!(tree.remove(ROOT, "runs", true), Err(Errno::ENOTEMPTY));
        assert_eq!(tree.remove(ROOT, "runs", false), Err(Errno::EISDIR));
        tree.rename((directory, "a"), (ROOT, "log")).unwrap();
        assert_eq!(tree.find("log"), Ok(file));
        tree.remove(ROOT, "runs", true).unwrap();
        assert_eq!(tree.create(ROOT, "log", 0o644, false), Err(Errno::EEXIST));
    }
}
