//! The kernel's FUSE requests, passed on to the device in its own terms.

use crate::clock::monotonic_ns;
use crate::device::{Device, Request};
use crate::errno::Errno;
use crate::operation::Operation;
use crate::script::{Mode, Script};
use crate::store::BLOCK_BYTES;
use crate::timer::{Appointments, locked};
use crate::translate::{Answer, attributes, grows, kernel, permissions, text};
use crate::tree::ROOT;
use assay_model::number::{count_of, index_of};
use fuser::{
    BsdFileFlags, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, TimeOrNow,
    WriteFlags,
};
use rustix::fs::OFlags;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// For how long the kernel may answer for names and attributes without asking.
const REMEMBER: Duration = Duration::from_secs(1);

/// The largest transfer that the kernel passes on in one piece.
const TRANSFER_BYTES_MAX: u32 = 1 << 20;

/// The file system of one mount.
pub(crate) struct RigFileSystem {
    pub(crate) device: Arc<Mutex<Device>>,
    pub(crate) appointments: Appointments,
    open_flags: FopenFlags,
    refuse_direct: bool,
    max_background: u16,
}

impl RigFileSystem {
    pub(crate) fn new(
        script: &Script,
        device: Arc<Mutex<Device>>,
        appointments: Appointments,
    ) -> Self {
        let open_flags = match script.mode {
            Mode::Asynchronous => FopenFlags::empty(),
            Mode::Blocking => {
                FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            }
        };
        Self {
            device,
            appointments,
            open_flags,
            refuse_direct: script.refuse_direct,
            max_background: script.max_background,
        }
    }

    /// Plans a data operation, and answers it now or has it answered when it is due.
    fn take(&self, request: Request, answer: Answer) {
        let arrival_ns = monotonic_ns();
        let mut device = locked(&self.device);
        let ticket = device.arrive(request, arrival_ns);
        let gone = device.present().is_err();
        drop(device);
        if gone {
            self.appointments.hurry();
        }
        let shared = Arc::clone(&self.device);
        let due_ns = ticket.due_ns();
        let sequence = ticket.sequence();
        let serve = move || {
            let result = locked(&shared).complete(ticket);
            answer.send(result);
        };
        if due_ns <= arrival_ns {
            serve();
        } else {
            self.appointments.add(due_ns, sequence, serve);
        }
    }

    /// Asks the tree, unless the device is gone.
    fn ask<T>(&self, question: impl FnOnce(&mut Device) -> Result<T, Errno>) -> Result<T, Errno> {
        let mut device = locked(&self.device);
        device.present()?;
        question(&mut device)
    }

    fn entry(&self, reply: ReplyEntry, inode: impl FnOnce(&mut Device) -> Result<u64, Errno>) {
        let found = self.ask(|device| {
            let inode = inode(device)?;
            attributes(&device.tree, inode)
        });
        match found {
            Ok(attributes) => reply.entry(&REMEMBER, &attributes, Generation(0)),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn done(&self, reply: ReplyEmpty, work: impl FnOnce(&mut Device) -> Result<(), Errno>) {
        match self.ask(work) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn check_flags(&self, flags: OpenFlags) -> Result<(), Errno> {
        let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
        if self.refuse_direct && flags.0 & direct != 0 { Err(Errno::EINVAL) } else { Ok(()) }
    }

    fn listing(&self, inode: u64) -> Result<Vec<(u64, FileType, String)>, Errno> {
        self.ask(|device| {
            let mut entries = vec![
                (inode, FileType::Directory, ".".to_owned()),
                (ROOT, FileType::Directory, "..".to_owned()),
            ];
            for (name, child) in device.tree.children(inode) {
                entries.push((child, attributes(&device.tree, child)?.kind, name.to_owned()));
            }
            Ok(entries)
        })
    }
}

impl Filesystem for RigFileSystem {
    fn init(&mut self, _: &fuser::Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let missing = |_| std::io::Error::from(std::io::ErrorKind::Unsupported);
        if !self.open_flags.contains(FopenFlags::FOPEN_DIRECT_IO) {
            config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(missing)?;
        }
        let out_of_range = |_| std::io::Error::from(std::io::ErrorKind::InvalidInput);
        config.set_max_background(self.max_background).map_err(out_of_range)?;
        config.set_max_write(TRANSFER_BYTES_MAX).map_err(|_| std::io::ErrorKind::InvalidInput)?;
        Ok(())
    }

    fn lookup(&self, _: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |device| device.tree.lookup(parent.0, text(name)?));
    }

    fn getattr(&self, _: &fuser::Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.ask(|device| attributes(&device.tree, ino.0)) {
            Ok(attributes) => reply.attr(&REMEMBER, &attributes),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn setattr(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let changed = self.ask(|device| {
            if let Some(size) = size {
                device.truncate(ino.0, size)?;
            }
            if let Some(mode) = mode {
                device.tree.node_mut(ino.0)?.permissions = permissions(mode);
            }
            attributes(&device.tree, ino.0)
        });
        match changed {
            Ok(attributes) => reply.attr(&REMEMBER, &attributes),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn mkdir(
        &self,
        _: &fuser::Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        self.entry(reply, |device| {
            device.tree.create(parent.0, text(name)?, permissions(mode & !umask), true)
        });
    }

    fn unlink(&self, _: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |device| device.tree.remove(parent.0, text(name)?, false));
    }

    fn rmdir(&self, _: &fuser::Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |device| device.tree.remove(parent.0, text(name)?, true));
    }

    fn rename(
        &self,
        _: &fuser::Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        self.done(reply, |device| {
            let to = (newparent.0, text(newname)?);
            if flags.contains(RenameFlags::RENAME_EXCHANGE) {
                return Err(Errno::EINVAL);
            }
            let taken = device.tree.lookup(to.0, to.1).is_ok();
            if taken && flags.contains(RenameFlags::RENAME_NOREPLACE) {
                return Err(Errno::EEXIST);
            }
            device.tree.rename((parent.0, text(name)?), to)
        });
    }

    fn create(
        &self,
        _: &fuser::Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let created = self.check_flags(OpenFlags(flags)).and_then(|()| {
            self.ask(|device| {
                let mode = permissions(mode & !umask);
                let inode = device.tree.create(parent.0, text(name)?, mode, false)?;
                device.tree.open(inode)?;
                attributes(&device.tree, inode)
            })
        });
        match created {
            Ok(attributes) => {
                let handle = FileHandle(0);
                reply.created(&REMEMBER, &attributes, Generation(0), handle, self.open_flags);
            }
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn open(&self, _: &fuser::Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened =
            self.check_flags(flags).and_then(|()| self.ask(|device| device.tree.open(ino.0)));
        match opened {
            Ok(()) => reply.opened(FileHandle(0), self.open_flags),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn release(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        locked(&self.device).tree.release(ino.0);
        reply.ok();
    }

    fn read(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size);
        let operation = Operation::Read;
        let request = Request { inode: ino.0, operation, offset, length, data: Vec::new() };
        self.take(request, Answer::Data(reply));
    }

    fn write(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let request = Request {
            inode: ino.0,
            operation: Operation::Write,
            offset,
            length: count_of(data.len()),
            data: data.to_vec(),
        };
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        self.take(request, Answer::Written(reply, length));
    }

    fn fsync(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        let operation = Operation::Sync;
        let request = Request { inode: ino.0, operation, offset: 0, length: 0, data: Vec::new() };
        self.take(request, Answer::Synced(reply));
    }

    fn flush(
        &self,
        _: &fuser::Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsyncdir(
        &self,
        _: &fuser::Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        self.done(reply, |_| Ok(()));
    }

    fn fallocate(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.done(reply, |device| device.reserve(ino.0, offset + length, grows(mode)?));
    }

    fn opendir(&self, _: &fuser::Request, _ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.ask(|_| Ok(())) {
            Ok(()) => reply.opened(FileHandle(0), FopenFlags::empty()),
            Err(errno) => reply.error(kernel(errno)),
        }
    }

    fn readdir(
        &self,
        _: &fuser::Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listing = match self.listing(ino.0) {
            Ok(listing) => listing,
            Err(errno) => return reply.error(kernel(errno)),
        };
        for (position, (inode, kind, name)) in listing.iter().enumerate().skip(index_of(offset)) {
            if reply.add(INodeNo(*inode), count_of(position) + 1, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &fuser::Request, _ino: INodeNo, reply: ReplyStatfs) {
        match self.ask(|device| Ok(device.room_blocks())) {
            Ok((all, free)) => {
                let block = u32::try_from(BLOCK_BYTES).unwrap_or(4096);
                reply.statfs(all, free, free, 1 << 20, 1 << 20, block, 255, block);
            }
            Err(errno) => reply.error(kernel(errno)),
        }
    }
}
