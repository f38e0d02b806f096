//! A client by the protocol's document, and what a disk holds after its power was cut.

use super::*;
use crate::cache::Lie;
use crate::scratch::Scratch;
use assay_model::units::Bytes;

/// A client that has shaken hands.
struct Client(UnixStream);

impl Client {
    fn connect(disk: &NbdDisk) -> Self {
        let mut stream = UnixStream::connect(disk.path()).unwrap();
        assert_eq!(read(&mut stream, 16).unwrap(), GREETING);
        read(&mut stream, 2).unwrap();
        stream.write_all(&3u32.to_be_bytes()).unwrap();
        // Structured replies are not known; then the export of no name is gone to.
        for (option, length) in [(8u32, 0u32), (option::GO, 6)] {
            stream.write_all(b"IHAVEOPT").unwrap();
            stream.write_all(&option.to_be_bytes()).unwrap();
            stream.write_all(&length.to_be_bytes()).unwrap();
            stream.write_all(&vec![0; length as usize]).unwrap();
        }
        let kinds = [answer::UNSUPPORTED, answer::INFO, answer::ACK].map(|_| {
            assert_eq!(long(&mut stream).unwrap(), OPTION_REPLY);
            word(&mut stream).unwrap();
            let (kind, length) = (word(&mut stream).unwrap(), word(&mut stream).unwrap());
            read(&mut stream, length as usize).unwrap();
            kind
        });
        assert_eq!(kinds, [answer::UNSUPPORTED, answer::INFO, answer::ACK]);
        Self(stream)
    }

    fn ask(&mut self, kind: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u32 {
        let head = [
            &REQUEST.to_be_bytes()[..],
            &flags.to_be_bytes(),
            &kind.to_be_bytes(),
            &7u64.to_be_bytes(),
            &offset.to_be_bytes(),
            &length.to_be_bytes(),
        ];
        self.0.write_all(&[head.concat(), data.to_vec()].concat()).unwrap();
        assert_eq!(word(&mut self.0).unwrap(), REPLY);
        let error = word(&mut self.0).unwrap();
        assert_eq!(long(&mut self.0).unwrap(), 7);
        error
    }

    fn write(&mut self, offset: u64, byte: u8, flags: u16) {
        assert_eq!(self.ask(command::WRITE, flags, offset, 4096, &[byte; 4096]), 0);
    }

    fn read(&mut self, offset: u64) -> Vec<u8> {
        assert_eq!(self.ask(command::READ, 0, offset, 4096, &[]), 0);
        read(&mut self.0, 4096).unwrap()
    }

    fn flush(&mut self) {
        assert_eq!(self.ask(command::FLUSH, 0, 0, 0, &[]), 0);
    }
}

/// What is left of a flushed write, a durable one and one of neither, after a cut.
fn left(lie: Lie, seed: u64) -> [Vec<u8>; 3] {
    let scratch = Scratch::new().unwrap();
    let cache = Cache { unit: Bytes(512), lie };
    let disk = NbdDisk::serve(&scratch.join("disk"), 1 << 20, cache).unwrap();
    let mut client = Client::connect(&disk);
    client.write(0, 1, 0);
    client.flush();
    client.write(8192, 2, FUA);
    client.write(16_384, 3, 0);
    assert_eq!(client.read(16_384), [3; 4096]);
    disk.cut_power(seed);
    assert!(read(&mut client.0, 1).is_err(), "the connection goes with the power");
    let mut client = Client::connect(&disk);
    let left = [0, 8192, 16_384].map(|offset| client.read(offset));
    let expected = DiskCounts { reads: 4, writes: 3, fua_writes: 1, flushes: 1 };
    assert_eq!(disk.counts(), expected);
    left
}

#[test]
fn what_was_flushed_or_durable_outlives_a_cut() {
    let mut torn = 0;
    for seed in 0..20 {
        let [flushed, durable, cached] = left(Lie::None, seed);
        assert!(flushed == [1; 4096] && durable == [2; 4096]);
        assert!(cached.chunks(512).all(|unit| unit == [0; 512] || unit == [3; 512]));
        torn += usize::from(cached != [3; 4096] && cached != [0; 4096]);
    }
    assert!(torn > 10, "{torn}");
}

#[test]
fn a_disk_that_ignores_flushes_loses_both() {
    let lost = |seed| left(Lie::IgnoresFlush(Bytes(1 << 20)), seed);
    assert!((0..5).any(|seed| lost(seed)[0] != [1; 4096]));
    assert!((0..5).any(|seed| lost(seed)[1] != [2; 4096]));
}

#[test]
fn requests_beyond_the_end_and_of_no_kind_are_refused() {
    let scratch = Scratch::new().unwrap();
    let cache = Cache { unit: Bytes(512), lie: Lie::None };
    let disk = NbdDisk::serve(&scratch.join("disk"), 1 << 20, cache).unwrap();
    let mut client = Client::connect(&disk);
    assert_eq!(client.ask(command::READ, 0, 1 << 20, 4096, &[]), 22);
    assert_eq!(client.ask(command::READ, 0, u64::MAX - 4, 4096, &[]), 22);
    assert_eq!(client.ask(99, 0, 0, 0, &[]), 22);
    assert_eq!(client.read(0), [0; 4096]);
}
