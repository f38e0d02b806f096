//! Whatever comes over the wire of a witness, from one who knows the token or not, neither end fails, waits or keeps what is wrong.
#![no_main]

use assay_ledger::{LedgerPlace, Token, Witness, WitnessAddress};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

const TOKEN: &str = "a token of the fuzzer";

struct Peers {
    witness: Witness,
    /// A witness that says what the input holds.
    hostile: TcpListener,
    token: Token,
}

static PEERS: LazyLock<Peers> = LazyLock::new(|| {
    let place = PathBuf::from(format!("/dev/shm/assay-fuzz-witness-{}", std::process::id()));
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).expect("memory takes a directory");
    let path = place.join("token");
    fs::write(&path, TOKEN).expect("memory takes a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    let token = Token::read(&path).expect("a token");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let witness = Witness::listen(any, &place.join("ledgers"), token.clone()).expect("a port");
    Peers { witness, hostile: TcpListener::bind(any).expect("a port"), token }
});

fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

/// Parts of an input, each with the seal that belongs to it.
fn sealed(end: &[u8], random: [&[u8]; 2], parts: &[u8], message: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let key = mac(TOKEN.as_bytes(), &[end, random[0], random[1]]);
    let mut bytes = Vec::new();
    for (count, part) in (0_u64..).zip(parts.split(|byte| *byte == b'~')) {
        let message = message(part);
        bytes.extend_from_slice(&message);
        bytes.extend(mac(&key, &[&count.to_le_bytes(), &message]));
    }
    bytes
}

/// A frame, whole where its first byte is even.
fn frame(part: &[u8]) -> Vec<u8> {
    let Some((kind, content)) = part.split_first().filter(|(kind, _)| *kind % 2 == 0) else {
        return part.to_vec();
    };
    let length = u32::try_from(content.len()).unwrap_or(0);
    let begin = [length.to_le_bytes(), u32::from(kind / 2 % 4).to_le_bytes()].concat();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&begin);
    hasher.update(content);
    [begin.as_slice(), &hasher.finalize().to_le_bytes(), content].concat()
}

fn piece(part: &[u8]) -> Vec<u8> {
    let length = u32::try_from(part.len()).unwrap_or(0);
    [length.to_le_bytes().as_slice(), part].concat()
}

/// Says something to the witness; with the first bit as one who knows the token.
fn ask(first: u8, rest: &[u8]) {
    let mut stream = TcpStream::connect(PEERS.witness.address()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(9))).expect("a time");
    let mut greeting = [0; 24];
    stream.read_exact(&mut greeting).expect("it greets");
    if first & 1 == 1 {
        let (theirs, mine) = (&greeting[8..], [first; 16]);
        let request = [&[first >> 1 & 3][..], &[first; 16]].concat();
        let proof = mac(TOKEN.as_bytes(), &[b"client", theirs, &mine, &request]);
        let sent = sealed(b"from the client", [theirs, &mine], rest, frame);
        let _ = stream.write_all(&[&mine[..], &proof, &request, &sent].concat());
    } else {
        let _ = stream.write_all(rest);
    }
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = [0; 4096];
    while let Ok(1..) = stream.read(&mut answer) {}
}

/// Hears a client and answers with the input, sealed where the first bit is set.
fn answer(first: u8, rest: &[u8]) {
    let Ok((mut stream, _)) = PEERS.hostile.accept() else { return };
    let (mine, mut said) = ([7; 16], [0; 16 + 32 + 17]);
    if stream.write_all(&[b"ASWITN2\n".as_slice(), &mine].concat()).is_err()
        || stream.read_exact(&mut said).is_err()
    {
        return;
    }
    let theirs = &said[..16];
    let granted = mac(TOKEN.as_bytes(), &[b"witness", &mine, theirs, &[0]]);
    let sent = if first & 1 == 1 {
        sealed(b"from the witness", [&mine, theirs], rest, piece)
    } else {
        rest.to_vec()
    };
    let _ = stream.write_all(&[&[0][..], &granted, &sent].concat());
    let _ = stream.shutdown(Shutdown::Write);
    // What the client asked for, and its end.
    let _ = stream.read_to_end(&mut Vec::new());
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    if first & 8 == 0 {
        ask(*first, rest);
        return;
    }
    let address = PEERS.hostile.local_addr().expect("an address").to_string();
    let place = LedgerPlace::Witness(WitnessAddress { address, token: PEERS.token.clone() });
    thread::scope(|scope| {
        scope.spawn(|| answer(*first, rest));
        let _ = place.read("f", 1 << 20);
    });
});
