//! Sends malformed packets to a witness, with the token and without it, and looks whether it keeps
//! a ledger afterwards as before.
//!
//! `cargo run --release -p assay-ledger --example malformed_packets [PACKETS]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints, and fails where what it needs is missing"
)]

use assay_ledger::{
    Acknowledgement, LedgerHead, LedgerId, LedgerPlace, LedgerRecorder, LedgerSubject, Token,
    Witness, WitnessAddress,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const TOKEN: &str = "a token of this example";
const THREADS: u64 = 8;
const BEGUN: &[u8] = b"ASWITN2\n";

/// Numbers of no meaning (Marsaglia's xorshift).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let length = self.next() % most;
        (0..length).map(|_| self.next().to_le_bytes()[3]).collect()
    }
}

/// The bytes that prove the token, a purpose and the name of a ledger; some of them wrong in one
/// bit.
fn opening(greeting: &[u8], noise: &mut Noise) -> Vec<u8> {
    let mine: Vec<u8> = (0..16).map(|_| noise.next().to_le_bytes()[1]).collect();
    let mut request = vec![(1 + noise.next() % 4).to_le_bytes()[0]];
    request.extend((0..16).map(|_| noise.next().to_le_bytes()[2]));
    let mut mac = Hmac::<Sha256>::new_from_slice(TOKEN.as_bytes()).unwrap();
    mac.update(b"client");
    mac.update(&greeting[8..24]);
    mac.update(&mine);
    mac.update(&request);
    let mut sent = mine;
    sent.extend(mac.finalize().into_bytes());
    sent.extend(request);
    if noise.next().is_multiple_of(4) {
        let at = usize::try_from(noise.next()).unwrap_or(0) % sent.len();
        sent[at] ^= 1 << (noise.next() % 8);
    }
    sent
}

/// One connection: noise instead of an opening, or an opening and noise behind it.
fn packet(address: SocketAddr, noise: &mut Noise) {
    let Ok(mut stream) = TcpStream::connect(address) else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
    let mut greeting = [0; 24];
    if noise.next().is_multiple_of(2) && stream.read_exact(&mut greeting).is_ok() {
        assert!(greeting.starts_with(BEGUN));
        // Whoever is refused has closed by then.
        let _ = stream.write_all(&opening(&greeting, noise));
    }
    let _ = stream.write_all(&noise.bytes(600));
}

fn head(id: LedgerId) -> LedgerHead {
    LedgerHead {
        format: 1,
        ledger: id.digits(),
        target: "t".to_owned(),
        identity: "the real one".to_owned(),
        directory: None,
        boot: String::new(),
        began_unix_ns: 1,
        subject: LedgerSubject::Commits { run: 1, schema: "s".to_owned(), control: None },
    }
}

/// Whether a ledger is kept and comes back.
fn keeps(place: &LedgerPlace) -> bool {
    let id = LedgerId::random().unwrap();
    let recorder = LedgerRecorder::begin(place.create(id, &head(id)).unwrap(), |_| ()).unwrap();
    recorder.acknowledge(&[Acknowledgement { place: 7, version: 41 }]);
    let kept = recorder.finish().kept;
    let ledger = place.read("the real one", u64::MAX).unwrap();
    kept == 1 && ledger.id == id && ledger.last().promises[&7] == 41
}

fn main() {
    let packets = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let scratch = std::env::temp_dir().join(format!("assay-malformed-{}", std::process::id()));
    std::fs::create_dir(&scratch).unwrap();
    std::fs::write(scratch.join("token"), TOKEN).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(scratch.join("token"), private).unwrap();
    let token = Token::read(&scratch.join("token")).unwrap();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let witness = Witness::listen(any, &scratch.join("store"), token.clone()).unwrap();
    let address = witness.address();
    let place = LedgerPlace::Witness(WitnessAddress { address: address.to_string(), token });
    assert!(keeps(&place), "before");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let mut noise = Noise(0x9e37_79b9_7f4a_7c15 ^ (thread + 1));
            scope.spawn(move || {
                for _ in 0..packets / THREADS {
                    packet(address, &mut noise);
                }
            });
        }
    });
    let elapsed_s = begun.elapsed().as_secs_f64();
    assert!(keeps(&place), "afterwards");
    drop(witness);
    std::fs::remove_dir_all(&scratch).unwrap();
    println!(
        "{packets} malformed packets in {elapsed_s:.0} s: the witness keeps ledgers as before"
    );
}
