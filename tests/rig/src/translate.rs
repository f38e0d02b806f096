//! The words of FUSE and of the rig for the same thing: answers, errors, names, attributes.

use crate::errno::Errno;
use crate::store::Store;
use crate::tree::Tree;
use fuser::{FileAttr, FileType, INodeNo, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::fs::FallocateFlags;
use std::ffi::OsStr;
use std::time::UNIX_EPOCH;

/// Where the answer of a data operation goes.
pub(crate) enum Answer {
    Data(ReplyData),
    Written(ReplyWrite, u32),
    Synced(ReplyEmpty),
}

impl Answer {
    pub(crate) fn send(self, result: Result<Vec<u8>, Errno>) {
        match (self, result) {
            (Self::Data(reply), Ok(bytes)) => reply.data(&bytes),
            (Self::Written(reply, length), Ok(_)) => reply.written(length),
            (Self::Synced(reply), Ok(_)) => reply.ok(),
            (Self::Data(reply), Err(errno)) => reply.error(kernel(errno)),
            (Self::Written(reply, _), Err(errno)) => reply.error(kernel(errno)),
            (Self::Synced(reply), Err(errno)) => reply.error(kernel(errno)),
        }
    }
}

pub(crate) fn kernel(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.raw())
}

pub(crate) fn text(name: &OsStr) -> Result<&str, Errno> {
    name.to_str().ok_or(Errno::EILSEQ)
}

pub(crate) fn permissions(mode: u32) -> u16 {
    u16::try_from(mode & 0o7777).unwrap_or(0o600)
}

pub(crate) fn attributes(tree: &Tree, inode: u64) -> Result<FileAttr, Errno> {
    let node = tree.node(inode)?;
    let kind = if node.is_directory() { FileType::Directory } else { FileType::RegularFile };
    Ok(FileAttr {
        ino: INodeNo(inode),
        size: node.store.as_ref().map_or(0, Store::size_bytes),
        blocks: node.store.as_ref().map_or(0, Store::allocated_bytes) / 512,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm: node.permissions,
        nlink: 1,
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
        rdev: 0,
        blksize: 4096,
        flags: 0,
    })
}

/// `fallocate` in the one form that file creation uses; whether the file grows.
pub(crate) fn grows(mode: i32) -> Result<bool, Errno> {
    let mode = u32::try_from(mode).map_err(|_| Errno::EINVAL)?;
    match FallocateFlags::from_bits_retain(mode) {
        flags if flags.is_empty() => Ok(true),
        FallocateFlags::KEEP_SIZE => Ok(false),
        _ => Err(Errno::EOPNOTSUPP),
    }
}
