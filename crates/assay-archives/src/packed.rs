//! Packed files: gzip (RFC 1952) and zip (PKWARE's APPNOTE), unpacked in bounded memory.

use assay_model::number::index_of;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use std::collections::HashSet;

/// All members of a gzip file, one behind the other, each compared with its checksum and its
/// length.
///
/// # Errors
/// Says that the file is damaged, or would unpack to more than `bytes_max`.
pub fn gunzip(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let mut rest = bytes;
    loop {
        let data = behind_head(rest).ok_or("it is not a complete gzip file")?;
        let (member, used) = inflated(data, bytes_max - plain.len())?;
        let [c0, c1, c2, c3, l0, l1, l2, l3, behind @ ..] = &data[used..] else {
            return Err("it is not a complete gzip file".to_owned());
        };
        compare(&member, u32::from_le_bytes([*c0, *c1, *c2, *c3]), [*l0, *l1, *l2, *l3])?;
        plain.extend(member);
        rest = behind;
        // Tapes fill their last block with zeros; gzip passes by what else follows.
        if !is_gzip(rest) {
            return Ok(plain);
        }
    }
}

/// What follows the head of a member.
fn behind_head(bytes: &[u8]) -> Option<&[u8]> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else { return None };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else { return None };
        rest = after.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

/// Whether the content is the one that was packed: its CRC-32, and its length modulo 2^32.
fn compare(plain: &[u8], crc32: u32, length: [u8; 4]) -> Result<(), String> {
    let is_whole = crc32fast::hash(plain) == crc32
        && plain.len() & 0xffff_ffff == index_of(u64::from(u32::from_le_bytes(length)));
    let damaged = || "its content does not match its checksum".to_owned();
    is_whole.then_some(()).ok_or_else(damaged)
}

/// How much is unpacked at once.
const BLOCK_BYTES: usize = 64 << 10;

/// The deflated data at the beginning of these bytes, unpacked, and how many of the bytes they are.
fn inflated(bytes: &[u8], bytes_max: usize) -> Result<(Vec<u8>, usize), String> {
    let mut state = InflateState::new_boxed(DataFormat::Raw);
    let (mut plain, mut used) = (Vec::new(), 0);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let step = inflate(&mut state, &bytes[used..], &mut block, MZFlush::None);
        used += step.bytes_consumed;
        plain.extend(&block[..step.bytes_written]);
        if plain.len() > bytes_max {
            return Err("it is too large when unpacked".to_owned());
        }
        match step.status {
            Ok(MZStatus::StreamEnd) => return Ok((plain, used)),
            Ok(MZStatus::Ok) if step.bytes_consumed + step.bytes_written > 0 => {}
            _ => return Err("its compressed data are damaged or cut off".to_owned()),
        }
    }
}

/// Whether a file is packed by gzip.
pub fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 8])
}

/// Whether a file is a zip archive with anything in it.
pub fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// One file of a zip archive, still packed.
#[derive(Clone, Copy, Debug)]
pub struct ZipMember<'a> {
    /// Its name with the folders before it.
    pub name: &'a str,
    method: u16,
    is_encrypted: bool,
    crc32: u32,
    length: [u8; 4],
    data: &'a [u8],
}

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

/// The files of an archive in the order of its directory, each body once.
///
/// # Errors
/// Says that the directory at the archive's end is damaged, as it is in one that was cut short.
pub fn zip_members(bytes: &[u8]) -> Result<Vec<ZipMember<'_>>, String> {
    members(bytes).ok_or_else(|| "not a complete zip file".to_owned())
}

fn members(bytes: &[u8]) -> Option<Vec<ZipMember<'_>>> {
    // A comment of up to 64 KiB can follow the end record.
    let from = bytes.len().saturating_sub(END_BYTES + 0xffff);
    let end = from + bytes[from..].windows(4).rposition(|four| four == END)?;
    let comment = u16_at(bytes, end + 20)?;
    bytes.get(end..end + END_BYTES + usize::from(comment))?;
    let count = u16_at(bytes, end + 10)?;
    let mut at = u32_at(bytes, end + 16)?;
    let mut members: Vec<ZipMember<'_>> = Vec::new();
    // A directory may name one body any number of times, each time for an archive's whole size when
    // it is unpacked.
    let mut bodies = HashSet::new();
    for _ in 0..count {
        if bytes.get(at..at + 4)? != ENTRY {
            return None;
        }
        let lengths = [28, 30, 32].map(|offset| u16_at(bytes, at + offset));
        let [name, extra, comment] = [lengths[0]?, lengths[1]?, lengths[2]?].map(usize::from);
        let found = member(bytes, at, name);
        members.extend(found.filter(|found| bodies.insert(found.data.as_ptr())));
        at = at.checked_add(ENTRY_BYTES + name + extra + comment)?;
    }
    Some(members)
}

/// The file of an entry of the directory; none for folders and for names that are not text.
fn member(bytes: &[u8], at: usize, name_length: usize) -> Option<ZipMember<'_>> {
    let name = bytes.get(at + ENTRY_BYTES..at + ENTRY_BYTES + name_length)?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.ends_with('/'))?;
    let (size, local) = (u32_at(bytes, at + 20)?, u32_at(bytes, at + 42)?);
    if bytes.get(local..local.checked_add(4)?)? != LOCAL {
        return None;
    }
    let lengths = [u16_at(bytes, local + 26)?, u16_at(bytes, local + 28)?].map(usize::from);
    let data = local + LOCAL_BYTES + lengths[0] + lengths[1];
    let data = bytes.get(data..data.checked_add(size)?)?;
    Some(ZipMember {
        name,
        method: u16_at(bytes, at + 10)?,
        is_encrypted: u16_at(bytes, at + 8)? & 1 != 0,
        crc32: u32::from_le_bytes(four_at(bytes, at + 16)?),
        length: four_at(bytes, at + 24)?,
        data,
    })
}

impl ZipMember<'_> {
    /// Its bytes, compared with their checksum and length.
    ///
    /// # Errors
    /// Says that it is damaged, encrypted, packed in another way than stored or deflated, or larger
    /// than `bytes_max`.
    pub fn unpacked(&self, bytes_max: usize) -> Result<Vec<u8>, String> {
        let plain = match self.method {
            _ if self.is_encrypted => return Err("it is encrypted".to_owned()),
            0 if self.data.len() <= bytes_max => self.data.to_vec(),
            0 => return Err("it is too large".to_owned()),
            8 => inflated(self.data, bytes_max)?.0,
            other => return Err(format!("its compression method {other} is not supported")),
        };
        compare(&plain, self.crc32, self.length)?;
        Ok(plain)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    pair.try_into().ok().map(u16::from_le_bytes)
}

fn four_at(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(four_at(bytes, at)?)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of two files, one stored and one deflated, as APPNOTE 4.3 lays it out.
    fn archive() -> Vec<u8> {
        let packed = miniz_oxide::deflate::compress_to_vec(b"deflated", 6);
        let files: [(&str, u16, Vec<u8>, &[u8]); 2] = [
            ("a/stored.txt", 0, b"stored".to_vec(), b"stored"),
            ("deflated.txt", 8, packed, b"deflated"),
        ];
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, method, data, plain) in &files {
            let at = u32::try_from(bytes.len()).unwrap();
            let size = u32::try_from(data.len()).unwrap().to_le_bytes();
            let length = u16::try_from(name.len()).unwrap().to_le_bytes();
            bytes.extend(
                [LOCAL, &[20, 0, 0, 0], &method.to_le_bytes(), &[0; 8], &size, &size].concat(),
            );
            bytes.extend([length.as_slice(), &[0, 0], name.as_bytes(), data].concat());
            let crc32 = crc32fast::hash(plain).to_le_bytes();
            let whole = u32::try_from(plain.len()).unwrap().to_le_bytes();
            directory
                .extend([ENTRY, &[20, 0, 20, 0, 0, 0], &method.to_le_bytes(), &[0; 4]].concat());
            directory.extend([crc32, size, whole].concat());
            directory.extend([length.as_slice(), &[0; 12], &at.to_le_bytes()].concat());
            directory.extend(name.as_bytes());
        }
        let at = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let size = u32::try_from(directory.len()).unwrap().to_le_bytes();
        bytes.extend(directory);
        bytes.extend([END, &[0, 0, 0, 0, 2, 0, 2, 0], &size, &at, &[0, 0]].concat());
        bytes
    }

    #[test]
    fn both_files_of_an_archive_are_read_and_a_cut_one_is_damaged() {
        let bytes = archive();
        assert!(is_zip(&bytes));
        let members = zip_members(&bytes).unwrap();
        let read: Vec<(&str, Vec<u8>)> =
            members.iter().map(|one| (one.name, one.unpacked(100).unwrap())).collect();
        assert_eq!(
            read,
            [("a/stored.txt", b"stored".to_vec()), ("deflated.txt", b"deflated".to_vec())]
        );
        assert!(members[1].unpacked(3).is_err() && members[0].unpacked(3).is_err());
        for length in 0..bytes.len() {
            assert!(zip_members(&bytes[..length]).is_err());
        }
    }

    /// A directory may name one body as often as it likes; unpacked each time, it would take hours.
    #[test]
    fn a_body_that_is_named_twice_is_one_member() {
        let mut bytes = archive();
        let end = bytes.len() - END_BYTES;
        let entry = bytes[..end].windows(4).position(|four| four == ENTRY).unwrap();
        let first = bytes[entry..entry + ENTRY_BYTES + "a/stored.txt".len()].to_vec();
        let count = 500_u16;
        for _ in 0..count {
            bytes.splice(entry..entry, first.iter().copied());
        }
        let end = bytes.len() - END_BYTES;
        bytes[end + 10..end + 12].copy_from_slice(&(count + 2).to_le_bytes());
        assert_eq!(zip_members(&bytes).unwrap().len(), 2);
    }

    fn member(text: &[u8]) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        let data = miniz_oxide::deflate::compress_to_vec(text, 6);
        let head = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03name\0";
        [head, data.as_slice(), &crc32fast::hash(text).to_le_bytes(), &length].concat()
    }

    #[test]
    fn a_gzip_file_is_bounded_and_a_cut_one_is_damaged() {
        let packed = member(b"a report");
        assert!(is_gzip(&packed));
        assert_eq!(gunzip(&packed, 100).unwrap(), b"a report");
        assert!(gunzip(&packed, 3).is_err());
        for length in 0..packed.len() {
            assert!(gunzip(&packed[..length], 100).is_err(), "{length}");
        }
    }

    #[test]
    fn all_members_of_a_gzip_file_are_one_text() {
        let packed = [member(b"a rep"), member(b""), member(b"ort"), vec![0; 20]].concat();
        assert_eq!(gunzip(&packed, 8).unwrap(), b"a report");
        assert!(gunzip(&packed, 7).is_err());
    }

    #[test]
    fn what_does_not_fit_its_checksum_is_refused() {
        let mut packed = member(b"a report");
        let crc = packed.len() - 8;
        packed[crc] ^= 1;
        assert!(gunzip(&packed, 100).unwrap_err().contains("checksum"));
        let mut zip = archive();
        let stored = zip.windows(6).position(|six| six == b"stored").unwrap();
        let data = zip.windows(6).rposition(|six| six == b"stored").unwrap();
        assert_ne!(stored, data);
        let body = stored + "stored.txt".len();
        zip[body] ^= 1;
        let members = zip_members(&zip).unwrap();
        assert!(members[0].unpacked(100).unwrap_err().contains("checksum"));
    }
}
