//! Frames read one at a time from a file or a connection.

use crate::frame::{CONTENT_BYTES_MAX, FRAME_HEAD_BYTES, Found, FrameKind, find};
use assay_model::number::count_of;
use std::io::{self, ErrorKind, Read};

/// The longest frame.
const FRAME_BYTES_MAX: usize = FRAME_HEAD_BYTES + CONTENT_BYTES_MAX;
/// Bytes of one read.
const PIECE_BYTES: usize = 64 << 10;
/// What is added up at most to look for whole frames among bytes that are none: beyond, they count
/// as damaged.
const SEARCH_BYTES_MAX: usize = 256 << 20;

/// Reads frames.
pub(crate) struct FrameStream<R> {
    reader: R,
    buffer: Vec<u8>,
    used: usize,
    is_at_end: bool,
}

/// What follows the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    /// Bytes of it.
    pub(crate) bytes: u64,
    /// Whether whole frames lie among them.
    pub(crate) holds_frames: bool,
}

impl<R: Read> FrameStream<R> {
    pub(crate) const fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), used: 0, is_at_end: false }
    }

    fn here(&self) -> &[u8] {
        &self.buffer[self.used..]
    }

    /// Reads until `length` bytes are here, or the end.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        if self.here().len() >= length {
            return Ok(());
        }
        self.buffer.drain(..self.used);
        self.used = 0;
        let mut piece = vec![0; PIECE_BYTES];
        while self.buffer.len() < length && !self.is_at_end {
            match self.reader.read(&mut piece) {
                Ok(0) => self.is_at_end = true,
                Ok(read) => self.buffer.extend_from_slice(&piece[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes the first bytes where they are these.
    pub(crate) fn takes(&mut self, begin: &[u8]) -> io::Result<bool> {
        self.fill(begin.len())?;
        let begins = self.here().starts_with(begin);
        if begins {
            self.used += begin.len();
        }
        Ok(begins)
    }

    /// The frame here, and the bytes that it takes; nothing where no whole one follows.
    pub(crate) fn peek(&mut self) -> io::Result<Option<(FrameKind, &[u8], usize)>> {
        let mut length = FRAME_HEAD_BYTES;
        loop {
            self.fill(length)?;
            match find(self.here()) {
                Found::Short(needed) if !self.is_at_end => length = needed,
                Found::Whole(..) => break,
                Found::Short(_) | Found::Foreign => return Ok(None),
            }
        }
        match find(self.here()) {
            Found::Whole(kind, content, length) => Ok(Some((kind, content, length))),
            Found::Short(_) | Found::Foreign => Ok(None),
        }
    }

    /// Goes on behind `length` bytes.
    pub(crate) const fn skip(&mut self, length: usize) {
        self.used += length;
    }

    /// Reads all that follows, which does not begin with a frame.
    pub(crate) fn rest(mut self) -> io::Result<Rest> {
        let (mut rest, mut searched) = (Rest::default(), 0);
        loop {
            self.fill(2 * FRAME_BYTES_MAX)?;
            let here = self.here().len();
            // At the end a frame may begin anywhere, before it only where it would be whole here.
            let end = if self.is_at_end { here } else { here - FRAME_BYTES_MAX };
            for at in 0..end {
                if rest.holds_frames {
                    break;
                }
                let bytes = &self.buffer[self.used + at..];
                searched += claimed_bytes(bytes);
                rest.holds_frames =
                    searched > SEARCH_BYTES_MAX || matches!(find(bytes), Found::Whole(..));
            }
            rest.bytes += count_of(end);
            self.used += end;
            if self.is_at_end && self.here().is_empty() {
                return Ok(rest);
            }
        }
    }
}

/// How much is added up to judge whether a frame stands here.
fn claimed_bytes(bytes: &[u8]) -> usize {
    match find_length(bytes) {
        Some(length) if length <= CONTENT_BYTES_MAX => length,
        _ => 1,
    }
}

/// The length that a frame of a known kind would have here.
fn find_length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..4)?.try_into().ok().map(u32::from_le_bytes)?;
    let kind = bytes.get(4..8)?.try_into().ok().map(u32::from_le_bytes)?;
    (1..=3).contains(&kind).then(|| usize::try_from(length).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::frame;

    /// Gives one byte a call, as a slow line may.
    struct SlowStream<'a>(&'a [u8]);

    impl Read for SlowStream<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = 1.min(buffer.len());
            self.0.read(&mut buffer[..length])
        }
    }

    fn contents(mut stream: FrameStream<impl Read>) -> (Vec<Vec<u8>>, Rest) {
        let mut found = Vec::new();
        while let Some((_, content, length)) = stream.peek().unwrap() {
            found.push(content.to_vec());
            stream.skip(length);
        }
        (found, stream.rest().unwrap())
    }

    #[test]
    fn frames_are_read_one_by_one_however_they_come() {
        let contents_of = [b"first".to_vec(), vec![7; CONTENT_BYTES_MAX], Vec::new()];
        let bytes: Vec<u8> =
            contents_of.iter().flat_map(|content| frame(FrameKind::Judgement, content)).collect();
        let short = frame(FrameKind::Judgement, b"short");
        assert_eq!(contents(FrameStream::new(&bytes[..])).0, contents_of);
        assert_eq!(contents(FrameStream::new(SlowStream(&short))).0, [b"short"]);
    }

    #[test]
    fn what_follows_the_last_frame_is_counted_and_searched_for_others() {
        let one = frame(FrameKind::Head, b"one");
        let of = |bytes: &[u8]| contents(FrameStream::new(bytes)).1;
        assert_eq!(of(&one), Rest::default());
        let torn = [one.as_slice(), &one[..one.len() - 1]].concat();
        assert_eq!(of(&torn), Rest { bytes: count_of(one.len()) - 1, holds_frames: false });
        let damaged = [one.as_slice(), &vec![0xff; 3 * FRAME_BYTES_MAX], &one].concat();
        let rest = of(&damaged);
        assert!(rest.holds_frames && rest.bytes == count_of(damaged.len() - one.len()));
        let zeros = vec![0; 5 << 20];
        assert_eq!(of(&zeros), Rest { bytes: 5 << 20, holds_frames: false });
    }
}
