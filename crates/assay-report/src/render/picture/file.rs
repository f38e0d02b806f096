//! The PNG format, as much of it as a picture without transparency needs.
//!
//! Source: W3C, Portable Network Graphics Specification (second edition), §5, §9, §10 and annex D.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The bytes by which a PNG file is known.
const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
/// Eight bits a channel, colours as red, green and blue, no interlacing.
const FORM: [u8; 5] = [8, 2, 0, 0, 0];
/// Every row as its difference to the one above.
const FILTER_UP: u8 = 2;
/// Of deflate: beyond it pictures shrink no more.
const LEVEL: u8 = 8;

/// Writes an image of `width` pixels a row, three bytes a pixel.
pub(super) fn encode(width: u32, rows: &[Vec<u8>]) -> Vec<u8> {
    let height = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let mut header = Vec::from(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    header.extend(FORM);
    let mut file = Vec::from(SIGNATURE);
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &compress_to_vec_zlib(&filtered(rows), LEVEL));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Every row as its difference to the one above: charts repeat themselves downwards.
fn filtered(rows: &[Vec<u8>]) -> Vec<u8> {
    let mut filtered = Vec::new();
    let mut above: &[u8] = &[];
    for row in rows {
        filtered.push(FILTER_UP);
        let over = above.iter().copied().chain(std::iter::repeat(0));
        filtered.extend(row.iter().zip(over).map(|(byte, over)| byte.wrapping_sub(over)));
        above = row;
    }
    filtered
}

/// A named piece of the file with its length and its sum.
fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let sum = crc(&file[start..]);
    file.extend(sum.to_be_bytes());
}

/// CRC-32 as in annex D, bit by bit: pictures are small.
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32| {
        if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 }
    };
    let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum));
    !bytes.iter().fold(u32::MAX, byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    #[test]
    fn the_check_value_of_the_crc_comes_out() {
        assert_eq!(crc(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn pixels_read_back() {
        let rows = vec![vec![1, 2, 3, 250, 251, 252], vec![1, 2, 3, 0, 0, 7]];
        let file = encode(2, &rows);
        assert_eq!(file[..8], SIGNATURE);
        assert_eq!(file[12..24], *b"IHDR\0\0\0\x02\0\0\0\x02");
        let start = file.windows(4).position(|name| name == b"IDAT").unwrap();
        let length = u32::from_be_bytes(file[start - 4..start].try_into().unwrap());
        let data = &file[start + 4..start + 4 + usize::try_from(length).unwrap()];
        let plain = decompress_to_vec_zlib(data).unwrap();
        assert_eq!(plain, [2, 1, 2, 3, 250, 251, 252, 2, 0, 0, 0, 6, 5, 11]);
    }
}
