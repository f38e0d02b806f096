//! The few system calls that have no safe wrapper in the standard library: clock, memory, usage,
//! durable writes.
#![allow(
    unsafe_code,
    reason = "each call here is one line over the C library with its contract next to it"
)]

use crate::backend::BackendIo;
use crate::nvme::{self, IDENTIFY_BYTES};
use assay_model::measurement::Operation;
use assay_model::number::{count_of, index_of};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// `CLOCK_MONOTONIC` in nanoseconds; through the vDSO, so without entering the kernel.
#[inline]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for one timespec; CLOCK_MONOTONIC always exists on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// CPU time and context switches so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadUsage {
    /// User CPU time, s.
    pub user_s: f64,
    /// System CPU time, s.
    pub system_s: f64,
    /// Times that the kernel put the thread to sleep on its own behalf.
    pub voluntary_switches: i64,
}

impl ThreadUsage {
    /// Usage of the calling thread.
    pub fn of_thread() -> Self {
        Self::of(libc::RUSAGE_THREAD)
    }

    /// Usage of the whole process, kernel workers of its rings included.
    pub fn of_process() -> Self {
        Self::of(libc::RUSAGE_SELF)
    }

    fn of(who: libc::c_int) -> Self {
        // SAFETY: all-zero bytes are a valid rusage, which is plain numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a valid place for one rusage and `who` one of the constants above.
        unsafe { libc::getrusage(who, &raw mut usage) };
        let seconds = |time: libc::timeval| {
            assay_model::number::seconds(time.tv_sec.unsigned_abs() * 1_000_000_000)
                + assay_model::number::seconds(time.tv_usec.unsigned_abs() * 1_000)
        };
        Self {
            user_s: seconds(usage.ru_utime),
            system_s: seconds(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw,
        }
    }

    /// What was used since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_s: self.user_s - earlier.user_s,
            system_s: self.system_s - earlier.system_s,
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
        }
    }
}

/// Asks the kernel for timers as exact as it can; the default rounds sleeps up by 50 µs.
pub fn sharpen_timers() {
    // SAFETY: PR_SET_TIMERSLACK takes a number of nanoseconds and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1usize) };
}

/// Page-aligned memory for `slots` buffers of equal size, resident before the first I/O.
#[derive(Debug)]
pub struct Buffers {
    start: NonNull<u8>,
    slot_bytes: usize,
    slots: usize,
}

// SAFETY: the memory belongs to this value alone; nothing in it is tied to a thread.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps the memory; `slot_bytes` is rounded up to whole pages.
    ///
    /// # Errors
    /// What `mmap` says, usually that memory is short.
    pub fn new(slots: usize, slot_bytes: usize) -> io::Result<Self> {
        let slot_bytes = slot_bytes.next_multiple_of(4096).max(4096);
        let length = slots.max(1) * slot_bytes;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
        // SAFETY: an anonymous private mapping at an address of the kernel's choice aliases
        // nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Self { start, slot_bytes, slots: slots.max(1) })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The buffer of a slot. While the kernel reads or writes it, the slot must not be asked for.
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the slot lies inside the mapping, and `&mut self` keeps other slices away.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.start.as_ptr().add(slot * self.slot_bytes),
                self.slot_bytes,
            )
        }
    }

    /// The address of a slot's buffer.
    pub fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the slot lies inside the mapping.
        unsafe { self.start.as_ptr().add(slot * self.slot_bytes) }
    }

    /// The whole region as one vector, for registration with a ring.
    pub fn whole(&self) -> libc::iovec {
        libc::iovec { iov_base: self.start.as_ptr().cast(), iov_len: self.slots * self.slot_bytes }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `new` made; owners forget this value while I/O is in
        // flight.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.slots * self.slot_bytes) };
    }
}

/// Reads or writes `bytes` at an address of a slot's buffer, durable on return where `flags` has
/// `RWF_DSYNC`; gives the bytes moved or the negative error number, as a ring would.
///
/// # Safety
/// `address` must point to `bytes` bytes that nothing else uses until the call returns.
pub unsafe fn transfer(
    file: &File,
    write: bool,
    address: *mut u8,
    bytes: usize,
    offset: i64,
    flags: i32,
) -> i32 {
    let vector = libc::iovec { iov_base: address.cast(), iov_len: bytes };
    // The C library has these calls since glibc 2.26 only, the kernel since 4.6. The offset's upper
    // half is there for 32-bit machines.
    let call = if write { libc::SYS_pwritev2 } else { libc::SYS_preadv2 };
    let (vectors, upper) = (1_usize, 0_usize);
    // SAFETY: one vector over memory that the caller keeps for us; the file is open.
    let moved = unsafe {
        libc::syscall(call, file.as_raw_fd(), &raw const vector, vectors, offset, upper, flags)
    };
    if moved < 0 { -last_errno() } else { i32::try_from(moved).unwrap_or(i32::MAX) }
}

/// Reads into a buffer of its own: the bytes read, or the error number.
///
/// # Errors
/// The system's error number.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize, i32> {
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    // SAFETY: the buffer is borrowed for the whole call.
    let moved = unsafe { transfer(file, false, buffer.as_mut_ptr(), buffer.len(), offset, 0) };
    usize::try_from(moved).map_err(|_| -moved)
}

/// Writes a buffer, durable on return where that is asked: the bytes written, or the error number.
///
/// # Errors
/// The system's error number.
pub fn write_at(file: &File, buffer: &mut [u8], offset: u64, durable: bool) -> Result<usize, i32> {
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    let flags = if durable { libc::RWF_DSYNC } else { 0 };
    // SAFETY: the buffer is borrowed for the whole call, which only reads it.
    let moved = unsafe { transfer(file, true, buffer.as_mut_ptr(), buffer.len(), offset, flags) };
    usize::try_from(moved).map_err(|_| -moved)
}

/// Writes a file back and asks the kernel to drop what it holds of it in memory; as far as that
/// goes.
pub fn forget_cached(file: &File) {
    if file.sync_data().is_ok() {
        // SAFETY: the file is open, and the call takes numbers only.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    }
}

/// Whether a failed read is the medium's own word that it has lost the data.
pub const fn is_of_medium(errno: i32) -> bool {
    matches!(errno, libc::EIO | libc::EILSEQ | libc::ENODATA)
}

/// `fdatasync`: 0 or the negative error number.
pub fn sync(file: &File) -> i32 {
    file.sync_data().err().map_or(0, |error| -error.raw_os_error().unwrap_or(libc::EIO))
}

/// `NVME_IOCTL_ID` of `linux/nvme_ioctl.h`: the number of a namespace.
const NAMESPACE_ID: libc::Ioctl = 0x4E40;
/// `NVME_IOCTL_ADMIN_CMD`: `_IOWR('N', 0x41, struct nvme_passthru_cmd)`, a structure of 72 bytes.
const ADMIN_COMMAND: libc::Ioctl = 0xC048_4E41;
/// The command Identify; what it asks for by default is a namespace.
const IDENTIFY: u32 = 0x06;

/// The number of the namespace behind an NVMe device.
///
/// # Errors
/// The system's error number; `ENOTTY` where the file is not such a device.
pub fn namespace_id(file: &File) -> Result<u32, i32> {
    // SAFETY: the request takes no argument; other kinds of files refuse it.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), NAMESPACE_ID) };
    u32::try_from(answer).map_err(|_| last_errno())
}

/// The drive's answer to Identify Namespace.
///
/// # Errors
/// The system's error number, or the status of the drive as the kernel gives it, above 0.
pub fn identify_namespace(file: &File, namespace: u32) -> Result<Box<[u8; IDENTIFY_BYTES]>, i32> {
    let mut answer = Box::new([0; IDENTIFY_BYTES]);
    let mut command = [0_u64; 9];
    let address = answer.as_mut_ptr().expose_provenance();
    command[0] = u64::from(IDENTIFY) | u64::from(namespace) << 32;
    command[3] = count_of(address);
    command[4] = count_of(IDENTIFY_BYTES) << 32;
    // SAFETY: the command has the 72 bytes of the request's structure and names a page of its own,
    // both alive until the call returns.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), ADMIN_COMMAND, command.as_mut_ptr()) };
    match status {
        0 => Ok(answer),
        status if status < 0 => Err(last_errno()),
        _ => Err(libc::EIO),
    }
}

/// `NVME_IOCTL_IO_CMD`: `_IOWR('N', 0x43, struct nvme_passthru_cmd)`, whose 72 bytes are those of
/// the command that rings take.
const IO_COMMAND: libc::Ioctl = 0xC048_4E43;

/// Where a command goes: an open namespace, its number and the size of its blocks.
pub struct NamespaceCommand<'a> {
    /// The open character device.
    pub file: &'a File,
    /// The number of the namespace.
    pub namespace: u32,
    /// Data of a block, bytes.
    pub block_bytes: u64,
}

/// Carries out a write of `data` or a flush on a namespace and waits for it.
///
/// # Errors
/// The system's error number, or the status of the drive as [`nvme::outcome`] encodes it.
pub fn submit_nvme(to: &NamespaceCommand<'_>, io: &BackendIo, data: &[u8]) -> Result<(), i32> {
    assert!(io.operation != Operation::Read, "data of a read would change behind a borrow");
    assert!(index_of(u64::from(io.bytes)) <= data.len(), "a write of more than its data");
    let address = count_of(data.as_ptr().expose_provenance());
    let mut command = nvme::command(io, to.namespace, to.block_bytes, address);
    // SAFETY: the request reads and writes 72 of the command's 80 bytes; the drive only reads the
    // data that it names, which are borrowed until the call returns and long enough (see above).
    let status = unsafe { libc::ioctl(to.file.as_raw_fd(), IO_COMMAND, command.as_mut_ptr()) };
    match status {
        0 => Ok(()),
        status if status < 0 => Err(last_errno()),
        status => Err(-nvme::outcome(status, 0)),
    }
}

fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
