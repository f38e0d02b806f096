//! A disk over a socket, with a volatile cache whose power can be cut: what a virtual machine gets
//! as its own.
//!
//! The network block device's protocol, as its own document describes it (`doc/proto.md` of the
//! project NetworkBlockDevice/nbd): fixed newstyle handshake, one export, simple replies. Requests
//! are carried out in their order.

use crate::cache::{Cache, VolatileCache};
use crate::skip::Skip;
use crate::store::{Content, Store, Version};
use assay_model::number::index_of;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

const GREETING: [u8; 16] = *b"NBDMAGICIHAVEOPT";
/// The server knows the fixed handshake and leaves zeros out.
const HANDSHAKE_FLAGS: u16 = 1 | 2;
const OPTION_REQUEST: u64 = u64::from_be_bytes(*b"IHAVEOPT");
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;
/// Flags are sent, flush, FUA and trim are known.
const EXPORT_FLAGS: u16 = 1 | 4 | 8 | 32;
const FUA: u16 = 1;
/// Longer requests are mistakes.
const REQUEST_BYTES_MAX: u32 = 32 << 20;
/// The disk is the only file.
const INODE: u64 = 1;

/// What a client asked for in the handshake.
mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
}

/// Answers to options.
mod answer {
    pub const ACK: u32 = 1;
    pub const INFO: u32 = 3;
    pub const UNSUPPORTED: u32 = (1 << 31) + 1;
}

/// What a request does.
mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISCONNECT: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
}

/// Requests that were carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskCounts {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Of these, writes that had to be durable.
    pub fua_writes: u64,
    /// Flushes.
    pub flushes: u64,
}

/// The content, the cache before it, and who is connected.
struct Disk {
    cache: Cache,
    store: Store,
    volatile: VolatileCache,
    clients: Vec<UnixStream>,
    counts: DiskCounts,
    /// Times that the power came back: who connected before has no disk any more.
    cuts: u64,
}

/// A disk served at a socket until it is dropped.
pub struct NbdDisk {
    path: PathBuf,
    disk: Arc<Mutex<Disk>>,
    /// The socket that is listened at, to be shut down.
    socket: UnixStream,
    server: Option<JoinHandle<()>>,
}

impl NbdDisk {
    /// Serves a disk of zeros at a socket that is made.
    ///
    /// # Errors
    /// A skip where no socket can be made.
    pub fn serve(path: &Path, size_bytes: u64, cache: Cache) -> Result<Self, Skip> {
        let skip = |error| Skip::new(format!("a socket at {}: {error}", path.display()));
        let listener = UnixListener::bind(path).map_err(skip)?;
        // Of the same kind, and with the method that ends it.
        let socket = UnixStream::from(OwnedFd::from(listener.try_clone().map_err(skip)?));
        let disk = Arc::new(Mutex::new(Disk {
            cache,
            store: Store::new(size_bytes, Content::Zeros, 0),
            volatile: VolatileCache::new(cache),
            clients: Vec::new(),
            counts: DiskCounts::default(),
            cuts: 0,
        }));
        let shared = Arc::clone(&disk);
        let server = std::thread::spawn(move || listen(&listener, &shared));
        Ok(Self { path: path.to_owned(), disk, socket, server: Some(server) })
    }

    /// Where clients connect.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Cuts the power: clients lose their connections, and of the cache is left what follows from
    /// the seed. Who connects again has a disk with power.
    pub fn cut_power(&self, seed: u64) {
        let mut disk = lock(&self.disk);
        disk.disconnect();
        disk.cuts += 1;
        if let Some(left) = disk.volatile.cut(seed).remove(&INODE) {
            disk.store = left;
        }
        disk.volatile = VolatileCache::new(disk.cache);
    }

    /// What was asked for so far.
    pub fn counts(&self) -> DiskCounts {
        lock(&self.disk).counts
    }
}

impl Drop for NbdDisk {
    fn drop(&mut self) {
        // Nobody is accepted any more, and then nobody served: whoever came in between is among the
        // clients.
        drop(self.socket.shutdown(Shutdown::Both));
        if let Some(server) = self.server.take() {
            // One that panicked has said so.
            drop(server.join());
        }
        // A socket that is gone already is what was wanted.
        drop(std::fs::remove_file(&self.path));
    }
}

fn lock(disk: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts clients until the socket is shut down, and ends with all of them.
fn listen(listener: &UnixListener, disk: &Arc<Mutex<Disk>>) {
    let mut threads = Vec::new();
    for client in listener.incoming().map_while(Result::ok) {
        let power = {
            let mut disk = lock(disk);
            disk.clients.extend(client.try_clone());
            disk.cuts
        };
        let disk = Arc::clone(disk);
        // A client that goes away in the middle of a word is one whose power was cut.
        threads.push(std::thread::spawn(move || drop(converse(client, &disk, power))));
    }
    lock(disk).disconnect();
    for thread in threads {
        // One that panicked has said so.
        drop(thread.join());
    }
}

/// The handshake, and requests until the client leaves or the power goes.
fn converse(mut client: UnixStream, disk: &Mutex<Disk>, power: u64) -> io::Result<()> {
    let size_bytes = lock(disk).store.size_bytes();
    client.write_all(&GREETING)?;
    client.write_all(&HANDSHAKE_FLAGS.to_be_bytes())?;
    let wants_zeros = word(&mut client)? & 2 == 0;
    if negotiate(&mut client, size_bytes, wants_zeros)? {
        while serve(&mut client, disk, power)? {}
    }
    Ok(())
}

/// Options until the client goes on to requests; whether it does.
fn negotiate(client: &mut UnixStream, size_bytes: u64, wants_zeros: bool) -> io::Result<bool> {
    loop {
        let magic = long(client)?;
        let (wanted, length) = (word(client)?, word(client)?);
        if magic != OPTION_REQUEST || length > REQUEST_BYTES_MAX {
            return Ok(false);
        }
        read(client, index_of(u64::from(length)))?;
        match wanted {
            option::EXPORT_NAME => {
                let mut export =
                    [&size_bytes.to_be_bytes()[..], &EXPORT_FLAGS.to_be_bytes()].concat();
                export.extend(vec![0; if wants_zeros { 124 } else { 0 }]);
                client.write_all(&export)?;
                return Ok(true);
            }
            option::GO | option::INFO => {
                let information =
                    [&[0, 0][..], &size_bytes.to_be_bytes(), &EXPORT_FLAGS.to_be_bytes()].concat();
                reply_option(client, wanted, answer::INFO, &information)?;
                reply_option(client, wanted, answer::ACK, &[])?;
                if wanted == option::GO {
                    return Ok(true);
                }
            }
            option::ABORT => {
                reply_option(client, wanted, answer::ACK, &[])?;
                return Ok(false);
            }
            _ => reply_option(client, wanted, answer::UNSUPPORTED, &[])?,
        }
    }
}

fn reply_option(client: &mut UnixStream, wanted: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes();
    let head =
        [&OPTION_REPLY.to_be_bytes()[..], &wanted.to_be_bytes(), &kind.to_be_bytes(), &length];
    client.write_all(&[head.concat(), data.to_vec()].concat())
}

/// One request; whether others may follow.
fn serve(client: &mut UnixStream, disk: &Mutex<Disk>, power: u64) -> io::Result<bool> {
    let head = read(client, 28)?;
    let [magic, length] = [0, 24].map(|at| u32::from_be_bytes(part(&head, at)));
    let [flags, kind] = [4, 6].map(|at| u16::from_be_bytes(part(&head, at)));
    let handle: [u8; 8] = part(&head, 8);
    let offset = u64::from_be_bytes(part(&head, 16));
    if magic != REQUEST || length > REQUEST_BYTES_MAX || kind == command::DISCONNECT {
        return Ok(false);
    }
    let sent = if kind == command::WRITE {
        read(client, index_of(u64::from(length)))?
    } else {
        Vec::new()
    };
    let Some((error, data)) = lock(disk).answer(power, (kind, flags), offset, length, sent) else {
        return Ok(false);
    };
    // Without the lock: a client that does not read holds nobody up, and one whose power went
    // meanwhile never hears it.
    let head = [&REPLY.to_be_bytes()[..], &error.to_be_bytes(), &handle].concat();
    client.write_all(&[head, data].concat())?;
    Ok(true)
}

impl Disk {
    fn disconnect(&mut self) {
        for client in self.clients.drain(..) {
            // One that has left cannot be shut down.
            drop(client.shutdown(Shutdown::Both));
        }
    }

    /// The error number, and what a read brings; nothing for a client from before the last cut.
    fn answer(
        &mut self,
        power: u64,
        request: (u16, u16),
        offset: u64,
        length: u32,
        sent: Vec<u8>,
    ) -> Option<(i32, Vec<u8>)> {
        let length = u64::from(length);
        let end = offset.checked_add(length);
        let fits = end.is_some_and(|end| end <= self.store.size_bytes());
        (self.cuts == power).then(|| {
            if fits {
                self.carry_out(request, offset, length, sent)
            } else {
                (rustix::io::Errno::INVAL.raw_os_error(), Vec::new())
            }
        })
    }

    fn carry_out(
        &mut self,
        (kind, flags): (u16, u16),
        offset: u64,
        length: u64,
        sent: Vec<u8>,
    ) -> (i32, Vec<u8>) {
        match kind {
            command::READ => {
                self.counts.reads += 1;
                return (0, self.store.read(offset, length, Version::Current));
            }
            command::WRITE => {
                self.counts.writes += 1;
                self.volatile.before_write(INODE, &self.store);
                self.store.write(0, offset, &sent);
                self.volatile.write(INODE, offset, sent);
                if flags & FUA != 0 {
                    self.counts.fua_writes += 1;
                    self.volatile.make_durable(INODE, offset..offset + length);
                }
            }
            command::FLUSH => {
                self.counts.flushes += 1;
                let mark = self.volatile.mark();
                self.volatile.flush(mark);
            }
            // What is trimmed may be kept.
            command::TRIM => {}
            _ => return (rustix::io::Errno::INVAL.raw_os_error(), Vec::new()),
        }
        (0, Vec::new())
    }
}

fn read(client: &mut UnixStream, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn word(client: &mut UnixStream) -> io::Result<u32> {
    Ok(u32::from_be_bytes(part(&read(client, 4)?, 0)))
}

fn long(client: &mut UnixStream) -> io::Result<u64> {
    Ok(u64::from_be_bytes(part(&read(client, 8)?, 0)))
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut part = [0; N];
    part.copy_from_slice(&bytes[at..at + N]);
    part
}

#[cfg(test)]
mod tests;
