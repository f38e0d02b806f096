//! The system calls of eBPF: maps, programs, and their attachment to an event of the kernel.
#![allow(
    unsafe_code,
    reason = "each call here is one line over the C library with its contract next to it"
)]

use crate::program::Instruction;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Commands of `bpf`.
const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const PROGRAM_LOAD: libc::c_int = 5;
/// A program for an event of the kernel.
const PROGRAM_OF_TRACEPOINT: u32 = 5;
/// An event of the kernel in `perf_event_open`, and that its descriptor does not outlive a program
/// that is started.
const EVENT_TRACEPOINT: u32 = 2;
const EVENT_CLOSES: libc::c_ulong = 8;
/// Requests of `ioctl` to such a descriptor.
const SET_PROGRAM: libc::c_ulong = 0x4004_2408;
const ENABLE: libc::c_ulong = 0x2400;

/// What `bpf` takes for a map.
#[repr(C)]
struct MapAttributes {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

/// For a program; places in memory travel as numbers.
#[repr(C)]
struct ProgramAttributes {
    kind: u32,
    instructions: u32,
    program: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
}

/// For a look into a map.
#[repr(C)]
struct ElementAttributes {
    map: u32,
    _gap: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// What `perf_event_open` takes, up to the part that is needed.
#[repr(C)]
struct EventAttributes {
    kind: u32,
    bytes: u32,
    event: u64,
    period: u64,
    rest: [u64; 13],
}

fn place<T>(of: *const T) -> u64 {
    u64::try_from(of.expose_provenance()).unwrap_or(0)
}

/// Calls `bpf`; what it gives is a descriptor or nothing.
///
/// # Safety
/// `attributes` must be those of the command, and every place in them valid for what the command
/// does with it.
unsafe fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<RawFd> {
    // SAFETY: the caller keeps the contract; the kernel reads as many bytes as it is given.
    let given = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>())
    };
    if given < 0 {
        return Err(io::Error::last_os_error());
    }
    RawFd::try_from(given).map_err(|_| io::Error::other("no descriptor"))
}

/// A fresh map.
pub(super) fn map(
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
) -> io::Result<OwnedFd> {
    let attributes = MapAttributes { kind, key_bytes, value_bytes, entries, flags: 0 };
    // SAFETY: the attributes are those of MAP_CREATE and name no place; a descriptor that is given
    // is ours alone.
    unsafe { Ok(OwnedFd::from_raw_fd(bpf(MAP_CREATE, &attributes)?)) }
}

/// Loads a program; the kernel proves first that it ends and touches nothing else.
pub(super) fn load(program: &[Instruction]) -> io::Result<OwnedFd> {
    // The kernel's clock is for programs under a license like its own; whoever wants may use these
    // instructions so.
    let license = c"Dual BSD/GPL";
    let attributes = ProgramAttributes {
        kind: PROGRAM_OF_TRACEPOINT,
        instructions: u32::try_from(program.len()).unwrap_or(0),
        program: place(program.as_ptr()),
        license: place(license.as_ptr()),
        log_level: 0,
        log_bytes: 0,
        log: 0,
    };
    // SAFETY: program and license live until the call is over, are read only, and have the lengths
    // that are given.
    unsafe { Ok(OwnedFd::from_raw_fd(bpf(PROGRAM_LOAD, &attributes)?)) }
}

/// Runs a program at an event of the kernel, on all processors, until the descriptor is closed.
pub(super) fn attach(program: &OwnedFd, event: u64) -> io::Result<OwnedFd> {
    let bytes = u32::try_from(size_of::<EventAttributes>()).unwrap_or(0);
    let attributes =
        EventAttributes { kind: EVENT_TRACEPOINT, bytes, event, period: 1, rest: [0; 13] };
    let (process, processor, group): (libc::pid_t, libc::c_int, libc::c_int) = (-1, 0, -1);
    // SAFETY: the attributes have the length that they state and are read only.
    let given = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            process,
            processor,
            group,
            EVENT_CLOSES,
        )
    };
    let given = RawFd::try_from(given).map_err(|_| io::Error::other("no descriptor"))?;
    if given < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was given just now and is ours alone.
    let event = unsafe { OwnedFd::from_raw_fd(given) };
    control(&event, SET_PROGRAM, program.as_raw_fd())?;
    control(&event, ENABLE, 0)?;
    Ok(event)
}

fn control(event: &OwnedFd, request: libc::c_ulong, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: both requests take a number and touch no memory.
    let done = unsafe { libc::ioctl(event.as_raw_fd(), request, argument) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A number of a map of numbers.
pub(super) fn look_up(map: &OwnedFd, key: u32) -> io::Result<u64> {
    let mut value = 0_u64;
    let attributes = ElementAttributes {
        map: u32::try_from(map.as_raw_fd()).unwrap_or(u32::MAX),
        _gap: 0,
        key: place(&raw const key),
        value: place(&raw mut value),
        flags: 0,
    };
    // SAFETY: the map has keys of four bytes and values of eight, which is what both places hold.
    unsafe { bpf(MAP_LOOKUP, &attributes)? };
    Ok(value)
}
