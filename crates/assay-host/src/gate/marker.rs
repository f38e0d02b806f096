//! The header by which a file that Assay created is known again: its first 4 KiB.

use crate::draw::Draw;
use crate::root::SysRoot;
use std::fmt;
use std::str::FromStr;

/// Length of the header, bytes.
pub const HEADER_BYTES: usize = 4096;
/// Begin of the data, bytes: far enough behind the header that large transfers stay aligned to
/// their own size.
pub const DATA_START_BYTES: u64 = 1 << 20;

const MAGIC: &[u8; 16] = b"ASSAY TEST FILE\n";
const FORMAT: u32 = 1;
const CONTENT_BYTES_MAX: usize = 2048;
const CONTENT_AT: usize = 84;
/// Behind the longest content; zeros in headers of older versions.
const MAKER_AT: usize = 3072;
const CHECKSUM_AT: usize = HEADER_BYTES - 8;

/// 128 random bits that tell whose file it is; written as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OwnerId(pub [u8; 16]);

/// Who made a file: where locks do not reach, it shows whether anybody could still be using it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnerProcess {
    /// What sets its host apart from others.
    pub host: [u8; 16],
    /// The start of that host's system.
    pub boot: [u8; 16],
    /// Its process.
    pub process: u32,
    /// When that process started, ticks since the system did.
    pub started_ticks: u64,
}

impl OwnerProcess {
    /// This process on this system.
    pub fn here(root: &SysRoot) -> Self {
        let text = |place: &str| root.text(place).unwrap_or_default();
        let boot = text("/proc/sys/kernel/random/boot_id").replace('-', "");
        let host = format!("{} {}", text("/etc/machine-id"), text("/proc/sys/kernel/hostname"));
        // Behind the name of the program, which may hold anything, the start is the twentieth
        // field.
        let stat = text("/proc/self/stat");
        let start = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
        Self {
            host: digest(&host),
            boot: u128::from_str_radix(&boot, 16).unwrap_or_default().to_be_bytes(),
            process: std::process::id(),
            started_ticks: start.and_then(|ticks| ticks.parse().ok()).unwrap_or_default(),
        }
    }

    /// Whether it worked on another host: neither the host nor the start of its system is this
    /// one's.
    pub fn is_elsewhere(&self, here: &Self) -> bool {
        self.host != here.host && self.boot != here.boot
    }

    fn put(&self, bytes: &mut [u8; HEADER_BYTES]) {
        put(bytes, MAKER_AT, &self.host);
        put(bytes, MAKER_AT + 16, &self.boot);
        put(bytes, MAKER_AT + 32, &self.started_ticks.to_le_bytes());
        put(bytes, MAKER_AT + 40, &self.process.to_le_bytes());
    }

    /// None where an older version made the file.
    fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let half = |place| number(bytes, place).to_le_bytes();
        let whole = |place| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&half(place));
            id[8..].copy_from_slice(&half(place + 8));
            id
        };
        let process = small(bytes, MAKER_AT + 40);
        (process > 0).then(|| Self {
            host: whole(MAKER_AT),
            boot: whole(MAKER_AT + 16),
            started_ticks: number(bytes, MAKER_AT + 32),
            process,
        })
    }
}

/// 128 bits of a text, for comparing and not for keeping secrets.
fn digest(text: &str) -> [u8; 16] {
    let [first, second] = [1, 2].map(|seed| {
        let mix = |state: u64, byte| Draw::new(state ^ u64::from(byte)).next();
        text.bytes().fold(seed, mix).to_be_bytes()
    });
    let mut both = [0; 16];
    both[..8].copy_from_slice(&first);
    both[8..].copy_from_slice(&second);
    both
}

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Whose file it is.
    pub owner: OwnerId,
    /// Size of the file when it was created, bytes.
    pub size_bytes: u64,
    /// Number of the file on its file system: a copy has another.
    pub inode: u64,
    /// When it was created, nanoseconds since 1970 UTC.
    pub created_unix_ns: u64,
    /// Bytes, from the start of the data, that were written through after it was created.
    pub filled_bytes: u64,
    /// What was written there, in the words of the writer; at most 2 KiB.
    pub content: String,
    /// Who made it; older versions did not say.
    pub maker: Option<OwnerProcess>,
}

/// Why a header does not stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerError {
    /// It does not begin like an Assay file.
    Foreign,
    /// It is of a format that this program does not know.
    Format(u32),
    /// It begins like an Assay file and is damaged.
    Damaged,
}

/// A block that direct I/O can write from.
#[repr(align(4096))]
#[derive(Clone, Debug)]
pub(super) struct MarkerBlock(pub(super) [u8; HEADER_BYTES]);

impl Marker {
    /// The header; content beyond its limit is cut at a character's end.
    pub(super) fn to_block(&self) -> Box<MarkerBlock> {
        let mut block = Box::new(MarkerBlock([0; HEADER_BYTES]));
        let bytes = &mut block.0;
        let content = cut(&self.content);
        bytes[..16].copy_from_slice(MAGIC);
        put(bytes, 16, &FORMAT.to_le_bytes());
        put(bytes, 20, &4096_u32.to_le_bytes());
        put(bytes, 24, &self.owner.0);
        for (place, number) in [
            (40, self.size_bytes),
            (48, DATA_START_BYTES),
            (56, self.created_unix_ns),
            (64, self.inode),
            (72, self.filled_bytes),
        ] {
            put(bytes, place, &number.to_le_bytes());
        }
        let length = u32::try_from(content.len()).unwrap_or_default();
        put(bytes, 80, &length.to_le_bytes());
        put(bytes, CONTENT_AT, content.as_bytes());
        if let Some(maker) = &self.maker {
            maker.put(bytes);
        }
        let sum = checksum(&bytes[..CHECKSUM_AT]);
        put(bytes, CHECKSUM_AT, &sum.to_le_bytes());
        block
    }

    /// The header as bytes.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        self.to_block().0
    }

    /// Reads a header.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Self, MarkerError> {
        if &bytes[..16] != MAGIC {
            return Err(MarkerError::Foreign);
        }
        if number(bytes, CHECKSUM_AT) != checksum(&bytes[..CHECKSUM_AT]) {
            return Err(MarkerError::Damaged);
        }
        let format = small(bytes, 16);
        if format != FORMAT || number(bytes, 48) != DATA_START_BYTES {
            return Err(MarkerError::Format(format));
        }
        let length = usize::try_from(small(bytes, 80)).unwrap_or(usize::MAX);
        let content = bytes.get(CONTENT_AT..CONTENT_AT + length.min(CONTENT_BYTES_MAX));
        let mut owner = [0; 16];
        owner.copy_from_slice(&bytes[24..40]);
        Ok(Self {
            owner: OwnerId(owner),
            size_bytes: number(bytes, 40),
            created_unix_ns: number(bytes, 56),
            inode: number(bytes, 64),
            filled_bytes: number(bytes, 72),
            content: String::from_utf8_lossy(content.unwrap_or_default()).into_owned(),
            maker: OwnerProcess::read(bytes),
        })
    }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(CONTENT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn put(bytes: &mut [u8; HEADER_BYTES], place: usize, field: &[u8]) {
    bytes[place..place + field.len()].copy_from_slice(field);
}

fn number(bytes: &[u8; HEADER_BYTES], place: usize) -> u64 {
    let mut field = [0; 8];
    field.copy_from_slice(&bytes[place..place + 8]);
    u64::from_le_bytes(field)
}

fn small(bytes: &[u8; HEADER_BYTES], place: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[place..place + 4]);
    u32::from_le_bytes(field)
}

/// Every 64-bit word, mixed with its place; it guards against damage, not against forgery.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0x6173_7361_7920_3121;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum = Draw::new(sum ^ u64::from_le_bytes(word)).next();
    }
    sum
}

impl fmt::Display for OwnerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl FromStr for OwnerId {
    type Err = assay_model::Error;
    fn from_str(text: &str) -> assay_model::Result<Self> {
        let wide = u128::from_str_radix(text, 16).ok();
        let whole = wide.filter(|_| text.len() == 32 && !text.starts_with('+'));
        whole.map(|wide| Self(wide.to_be_bytes())).ok_or_else(|| {
            assay_model::Error::usage(
                format!("'{text}' is not an owner id"),
                "an owner id has 32 hexadecimal digits",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marker(content: &str) -> Marker {
        Marker {
            owner: OwnerId([7; 16]),
            size_bytes: 64 << 20,
            inode: 12,
            created_unix_ns: 1_790_000_000_000_000_000,
            filled_bytes: 5 << 20,
            content: content.into(),
            maker: Some(OwnerProcess::here(&SysRoot::live())),
        }
    }

    #[test]
    fn a_header_of_an_older_version_says_nothing_of_its_maker_and_still_stands() {
        let old = Marker { maker: None, ..marker("kept incompressible") };
        assert_eq!(Marker::parse(&old.to_block().0), Ok(old));
    }

    #[test]
    fn another_host_is_told_from_another_start_of_this_one() {
        let here = OwnerProcess::here(&SysRoot::live());
        assert!(here.process == std::process::id() && here.started_ticks > 0);
        assert!(!OwnerProcess { boot: [1; 16], ..here }.is_elsewhere(&here));
        // A container has a name of its own, and the kernel of its host.
        assert!(!OwnerProcess { host: [1; 16], ..here }.is_elsewhere(&here));
        assert!(OwnerProcess { host: [1; 16], boot: [1; 16], ..here }.is_elsewhere(&here));
        assert_ne!(digest("one host"), digest("two hosts"));
    }

    #[test]
    fn a_header_reads_back_as_written() {
        let written = marker("seed 7");
        assert_eq!(Marker::parse(&written.to_block().0), Ok(written));
    }

    #[test]
    fn long_content_is_cut_at_a_character() {
        let long = "ä".repeat(1500);
        let read = Marker::parse(&marker(&long).to_block().0).unwrap();
        assert_eq!(read.content, "ä".repeat(1024));
    }

    #[test]
    fn another_format_is_told_from_damage() {
        let mut bytes = marker("").to_block().0;
        put(&mut bytes, 16, &2_u32.to_le_bytes());
        assert_eq!(Marker::parse(&bytes), Err(MarkerError::Damaged));
        let sum = checksum(&bytes[..CHECKSUM_AT]);
        put(&mut bytes, CHECKSUM_AT, &sum.to_le_bytes());
        assert_eq!(Marker::parse(&bytes), Err(MarkerError::Format(2)));
        assert_eq!(Marker::parse(&[0; 4096]), Err(MarkerError::Foreign));
    }

    #[test]
    fn an_owner_id_reads_back_as_written() {
        let owner = OwnerId([0xab; 16]);
        assert_eq!(owner.to_string().parse::<OwnerId>().unwrap(), owner);
        assert!("ab".parse::<OwnerId>().is_err());
        assert!(format!("+{}", "a".repeat(31)).parse::<OwnerId>().is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_single_changed_byte_is_always_noticed(place in 0usize..4096, change in 1u8..=255) {
            let mut bytes = marker("x").to_block().0;
            bytes[place] ^= change;
            prop_assert!(Marker::parse(&bytes).is_err());
        }

        #[test]
        fn arbitrary_bytes_are_never_a_header(bytes in proptest::collection::vec(any::<u8>(), 4096), ours: bool) {
            let mut header: [u8; 4096] = bytes.try_into().unwrap();
            if ours {
                header[..16].copy_from_slice(MAGIC);
            }
            prop_assert!(Marker::parse(&header).is_err());
        }
    }
}
