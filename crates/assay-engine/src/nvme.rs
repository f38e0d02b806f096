//! NVMe commands as the kernel hands them to a drive unseen, and what a drive answers.
//!
//! Sources: NVM Express Base Specification 2.0c, figures of status values and of Identify
//! Namespace; NVM Command Set Specification 1.0c, Read, Write and Flush; `linux/nvme_ioctl.h` for
//! the form in which the kernel takes them.

use crate::backend::BackendIo;
use assay_model::measurement::Operation;

/// `NVME_URING_CMD_IO`: `_IOWR('N', 0x80, struct nvme_uring_cmd)`, a structure of 72 bytes.
pub const URING_COMMAND_IO: u32 = 0xC048_4E80;
/// Bytes that an entry of 128 bytes has for a command.
pub const COMMAND_BYTES: usize = 80;
/// The number of blocks has 16 bits in a command, and 0 means one.
pub const COMMAND_BLOCKS_MAX: u64 = 1 << 16;

const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
/// Forced unit access, in the dword with the number of blocks.
const DURABLE: u32 = 1 << 30;

/// The kernel's own error numbers end at 4095; an answer of a drive is a number from here on.
const STATUS_BASE: i32 = 1 << 16;
/// Kind and number of a status, without the bits that say whether to try again.
const STATUS_MASK: i32 = 0x7ff;

/// An I/O as a command to a namespace, with its data at an address of this process; offset and
/// bytes are whole blocks.
pub fn command(
    io: &BackendIo,
    namespace: u32,
    block_bytes: u64,
    address: u64,
) -> [u8; COMMAND_BYTES] {
    let mut command = [0; COMMAND_BYTES];
    let mut put = |place: usize, bytes: &[u8]| {
        command[place..place + bytes.len()].copy_from_slice(bytes);
    };
    put(4, &namespace.to_le_bytes());
    let opcode = match io.operation {
        Operation::Read => READ,
        Operation::Write => WRITE,
        Operation::Sync => FLUSH,
    };
    put(0, &[opcode]);
    if io.operation != Operation::Sync {
        put(24, &address.to_le_bytes());
        put(36, &io.bytes.to_le_bytes());
        // The first block takes two dwords.
        put(40, &(io.offset / block_bytes).to_le_bytes());
        let blocks = u32::try_from(u64::from(io.bytes) / block_bytes).unwrap_or(u32::MAX);
        let durable = if io.durable { DURABLE } else { 0 };
        put(48, &(blocks.saturating_sub(1) | durable).to_le_bytes());
    }
    command
}

/// What a completion says, as a worker counts it: bytes moved, or a negative error number, the
/// drive's status among them.
pub const fn outcome(result: i32, bytes: u32) -> i32 {
    match result {
        // A command moves all of its data or none; the kernel checked that no transfer exceeds an
        // `i32`.
        0 => bytes.cast_signed(),
        status @ 1.. => -(STATUS_BASE + (status & STATUS_MASK)),
        errno => errno,
    }
}

const fn status_of(errno: i32) -> Option<i32> {
    if errno >= STATUS_BASE { Some(errno - STATUS_BASE) } else { None }
}

/// The status in words where the error number is one.
pub fn meaning(errno: i32) -> Option<String> {
    let status = status_of(errno)?;
    let known = STATUSES.iter().find(|(known, _)| *known == status);
    let name = known.map_or("unknown status of the drive", |(_, name)| name);
    Some(format!("{name} (NVMe status {status:#05x})"))
}

/// The error number of the system: for a status, the one that the block layer makes of it
/// (`nvme_error_status` in the kernel's driver).
pub const fn system_errno(errno: i32) -> i32 {
    let Some(status) = status_of(errno) else { return errno };
    match status {
        0x001 | 0x002 | 0x00b | 0x180 => libc::EOPNOTSUPP,
        0x020 => libc::EROFS,
        0x080 | 0x082 => libc::EREMOTEIO,
        0x081 => libc::ENOSPC,
        0x083 => libc::EBADE,
        0x181 | 0x282..=0x284 => libc::EILSEQ,
        0x182 | 0x280 | 0x281 | 0x285..=0x287 => libc::ENODATA,
        0x370 => libc::ENOLINK,
        _ => libc::EIO,
    }
}

/// Status type and code of what reads, writes and flushes may answer.
const STATUSES: &[(i32, &str)] = &[
    (0x001, "invalid command opcode"),
    (0x002, "invalid field in command"),
    (0x003, "command ID conflict"),
    (0x004, "data transfer error"),
    (0x005, "command aborted by a power loss notification"),
    (0x006, "internal error"),
    (0x007, "command abort requested"),
    (0x008, "command aborted by deletion of its queue"),
    (0x009, "command aborted by a failed fused command"),
    (0x00a, "command aborted by a missing fused command"),
    (0x00b, "invalid namespace or format"),
    (0x00c, "command sequence error"),
    (0x00d, "invalid SGL segment descriptor"),
    (0x00e, "invalid number of SGL descriptors"),
    (0x00f, "data SGL length invalid"),
    (0x010, "metadata SGL length invalid"),
    (0x011, "SGL descriptor type invalid"),
    (0x012, "invalid use of the controller's memory buffer"),
    (0x013, "PRP offset invalid"),
    (0x014, "atomic write unit exceeded"),
    (0x015, "operation denied"),
    (0x016, "SGL offset invalid"),
    (0x01b, "command aborted by preempt and abort"),
    (0x01c, "sanitize failed"),
    (0x01d, "sanitize in progress"),
    (0x01e, "SGL data block granularity invalid"),
    (0x01f, "command not supported for a queue in the controller's memory buffer"),
    (0x020, "namespace is write protected"),
    (0x021, "command interrupted"),
    (0x022, "transient transport error"),
    (0x023, "command prohibited by lockdown"),
    (0x024, "admin command media not ready"),
    (0x080, "LBA out of range"),
    (0x081, "capacity exceeded"),
    (0x082, "namespace not ready"),
    (0x083, "reservation conflict"),
    (0x084, "format in progress"),
    (0x180, "conflicting attributes"),
    (0x181, "invalid protection information"),
    (0x182, "attempted write to read only range"),
    (0x183, "command size limit exceeded"),
    (0x280, "write fault"),
    (0x281, "unrecovered read error"),
    (0x282, "end-to-end guard check error"),
    (0x283, "end-to-end application tag check error"),
    (0x284, "end-to-end reference tag check error"),
    (0x285, "compare failure"),
    (0x286, "access denied"),
    (0x287, "deallocated or unwritten logical block"),
    (0x300, "internal path error"),
    (0x301, "asymmetric access persistent loss"),
    (0x302, "asymmetric access inaccessible"),
    (0x303, "asymmetric access transition"),
    (0x360, "controller pathing error"),
    (0x370, "host pathing error"),
    (0x371, "command aborted by the host"),
];

/// How the blocks of a namespace are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockFormat {
    /// Blocks of the namespace.
    pub blocks: u64,
    /// Data of a block, bytes.
    pub block_bytes: u64,
    /// Metadata of a block, bytes.
    pub metadata_bytes: u64,
    /// Whether blocks carry protection information.
    pub is_protected: bool,
}

/// Bytes of the answer to Identify Namespace.
pub const IDENTIFY_BYTES: usize = 4096;

impl BlockFormat {
    /// Reads the answer to Identify Namespace; `None` where it names a format that it does not
    /// have.
    pub fn parse(answer: &[u8; IDENTIFY_BYTES]) -> Option<Self> {
        let blocks = u64::from_le_bytes(answer[..8].try_into().ok()?);
        let (last, chosen, protection) = (answer[25], answer[26], answer[29]);
        // From 17 formats on the index has two more bits.
        let high = if last > 15 { usize::from(chosen >> 5 & 3) << 4 } else { 0 };
        let place = 128 + 4 * (high | usize::from(chosen & 15));
        let &[low, upper, shift, _] = answer.get(place..place + 4)? else { return None };
        (9..32).contains(&shift).then(|| Self {
            blocks,
            block_bytes: 1 << shift,
            metadata_bytes: u64::from(u16::from_le_bytes([low, upper])),
            is_protected: protection & 7 != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(operation: Operation, durable: bool) -> BackendIo {
        let bytes = if operation == Operation::Sync { 0 } else { 16 << 10 };
        BackendIo { slot: 3, operation, target: 0, offset: 0x1_0000_0000_0000, bytes, durable }
    }

    /// Bytes of a command that are not 0, with their places.
    fn written(io: &BackendIo, block_bytes: u64) -> Vec<(usize, u8)> {
        let command = command(io, 0x0102, block_bytes, 0x7f00_1234_5000);
        command.into_iter().enumerate().filter(|(_, byte)| *byte != 0).collect()
    }

    #[test]
    fn commands_have_the_bytes_of_the_specification() {
        // Address, bytes (0x4000), first block (2^48 / 512 = 2^39), 32 blocks less one.
        let mut read = vec![(0, 2), (4, 2), (5, 1), (25, 0x50), (26, 0x34), (27, 0x12), (29, 0x7f)];
        read.extend([(37, 0x40), (44, 0x80), (48, 31)]);
        assert_eq!(written(&io(Operation::Read, false), 512), read);
        let mut write = read.clone();
        write[0] = (0, 1);
        assert_eq!(written(&io(Operation::Write, false), 512), write);
        write.push((51, 0x40));
        assert_eq!(written(&io(Operation::Write, true), 512), write);
        // 2^48 / 4096 = 2^36, 4 blocks less one.
        let tail = [(37, 0x40), (44, 0x10), (48, 3)];
        assert_eq!(written(&io(Operation::Read, false), 4096)[7..], tail);
        assert_eq!(written(&io(Operation::Sync, false), 512), [(4, 2), (5, 1)]);
    }

    #[test]
    fn a_status_is_an_error_with_its_name_and_never_a_short_transfer() {
        assert_eq!(outcome(0, 8192), 8192);
        assert_eq!(outcome(-libc::EIO, 8192), -libc::EIO);
        // Do not retry (0x4000), with more in the error log (0x2000).
        let errno = -outcome(0x4000 | 0x2000 | 0x80, 8192);
        assert_eq!(meaning(errno).unwrap(), "LBA out of range (NVMe status 0x080)");
        assert_eq!(system_errno(errno), libc::EREMOTEIO);
        assert_eq!(
            meaning(-outcome(0x7fe, 1)).unwrap(),
            "unknown status of the drive (NVMe status 0x7fe)"
        );
        assert_eq!(system_errno(-outcome(0x7fe, 1)), libc::EIO);
        assert_eq!(system_errno(-outcome(0x281, 1)), libc::ENODATA);
        assert_eq!((meaning(libc::EIO), system_errno(libc::EIO)), (None, libc::EIO));
    }

    #[test]
    fn statuses_stand_once_and_in_order() {
        assert!(STATUSES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(
            STATUSES.iter().all(|(status, name)| status & !STATUS_MASK == 0 && !name.is_empty())
        );
    }

    #[test]
    fn the_format_in_use_is_read_from_the_list_of_all() {
        let mut answer = [0; IDENTIFY_BYTES];
        answer[..8].copy_from_slice(&0x0010_0000_u64.to_le_bytes());
        answer[25] = 1;
        answer[128..132].copy_from_slice(&[0, 0, 9, 0]);
        answer[132..136].copy_from_slice(&[8, 0, 12, 0]);
        let plain = BlockFormat {
            blocks: 1 << 20,
            block_bytes: 512,
            metadata_bytes: 0,
            is_protected: false,
        };
        assert_eq!(BlockFormat::parse(&answer), Some(plain));
        (answer[26], answer[29]) = (0x11, 0x09);
        let other =
            BlockFormat { block_bytes: 4096, metadata_bytes: 8, is_protected: true, ..plain };
        assert_eq!(BlockFormat::parse(&answer), Some(other));
        // 20 formats, of which the 18th is in use: two more bits of the index count.
        (answer[25], answer[26], answer[29]) = (19, 0x21, 0);
        answer[128 + 4 * 17..][..4].copy_from_slice(&[0, 0, 12, 0]);
        assert_eq!(BlockFormat::parse(&answer), Some(BlockFormat { block_bytes: 4096, ..plain }));
        answer[26] = 0x0f;
        assert_eq!(BlockFormat::parse(&answer), None);
    }
}
