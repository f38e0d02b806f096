//! Packed files: gzip (RFC 1952) and zip (PKWARE's APPNOTE), unpacked in bounded memory.

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::collections::HashSet;

/// The first member of a gzip file: head, deflated data, check sum and length.
///
/// # Errors
/// Says that the file is damaged, or would unpack to more than `bytes_max`.
pub fn gunzip(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    let damaged = || "not a whole gzip file".to_owned();
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = bytes else {
        return Err(damaged());
    };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else {
            return Err(damaged());
        };
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        rest = after.get(length..).ok_or_else(damaged)?;
    }
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(damaged)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..).ok_or_else(damaged)?;
    }
    inflated(rest, bytes_max)
}

fn inflated(bytes: &[u8], bytes_max: usize) -> Result<Vec<u8>, String> {
    decompress_to_vec_with_limit(bytes, bytes_max).map_err(|error| error.to_string())
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
    members(bytes).ok_or_else(|| "not a whole zip file".to_owned())
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
    // A directory may name one body any number of times, each time for an archive's whole size when it is unpacked.
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
    Some(ZipMember { name, method: u16_at(bytes, at + 10)?, data })
}

impl ZipMember<'_> {
    /// Its bytes.
    ///
    /// # Errors
    /// Says that it is damaged, packed in another way than stored or deflated, or larger than `bytes_max`.
    pub fn unpacked(&self, bytes_max: usize) -> Result<Vec<u8>, String> {
        match self.method {
            0 if self.data.len() <= bytes_max => Ok(self.data.to_vec()),
            0 => Err("larger than allowed".to_owned()),
            8 => inflated(self.data, bytes_max),
            other => Err(format!("packed by method {other}, which is not read")),
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    pair.try_into().ok().map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(four)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of two files, one stored and one deflated, as APPNOTE 4.3 lays it out.
    fn archive() -> Vec<u8> {
        let files: [(&str, u16, Vec<u8>); 2] = [
            ("a/stored.txt", 0, b"stored".to_vec()),
            ("deflated.txt", 8, miniz_oxide::deflate::compress_to_vec(b"deflated", 6)),
        ];
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, method, data) in &files {
            let at = u32::try_from(bytes.len()).unwrap();
            let size = u32::try_from(data.len()).unwrap().to_le_bytes();
            let length = u16::try_from(name.len()).unwrap().to_le_bytes();
            bytes.extend(
                [LOCAL, &[20, 0, 0, 0], &method.to_le_bytes(), &[0; 8], &size, &size].concat(),
            );
            bytes.extend([length.as_slice(), &[0, 0], name.as_bytes(), data].concat());
            directory
                .extend([ENTRY, &[20, 0, 20, 0, 0, 0], &method.to_le_bytes(), &[0; 8]].concat());
            directory
                .extend([size.as_slice(), &size, &length, &[0; 12], &at.to_le_bytes()].concat());
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

    #[test]
    fn a_gzip_file_is_bounded_and_a_cut_one_is_damaged() {
        let mut packed = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
        packed.extend(b"name\0");
        packed.extend(miniz_oxide::deflate::compress_to_vec(b"a report", 6));
        assert!(is_gzip(&packed));
        assert_eq!(gunzip(&packed, 100).unwrap(), b"a report");
        assert!(gunzip(&packed, 3).is_err());
        assert!(gunzip(&packed[..12], 100).is_err());
    }
}
