//! Sessions with servers made of bytes: whatever they say, nothing panics, nothing is without end,
//! and no password is given to a server that proves nothing.

use super::messages::message;
use super::*;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

const READY: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0015.4\0Z\0\0\0\x05I";

fn address(text: &str) -> PostgresAddress {
    PostgresAddress::parse(text, |_| None).unwrap()
}

/// A session with a server that says this, whatever it hears, over a local socket.
fn session(said: &[u8]) -> Answer<PostgresConnection> {
    let (mut server, client) = UnixStream::pair().unwrap();
    server.write_all(said).unwrap();
    server.shutdown(std::net::Shutdown::Write).unwrap();
    std::thread::spawn(move || {
        let _ = server.read_to_end(&mut Vec::new());
    });
    PostgresConnection::over(
        ServerStream::from(client),
        &address("postgresql://me:pw@/x?host=/s"),
        "test",
    )
}

/// What a server heard over TCP that says this one after the other, and how the login ended.
fn heard(
    address: &PostgresAddress,
    said: impl Fn(usize, &[u8]) -> Vec<u8> + Send + 'static,
) -> (Vec<u8>, Failure) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = std::thread::spawn(move || {
        let (mut way, _) = listener.accept().unwrap();
        let (mut all, mut room) = (Vec::new(), [0; 4096]);
        for turn in 0.. {
            let Ok(got @ 1..) = way.read(&mut room) else { break };
            all.extend(&room[..got]);
            let _ = way.write_all(&said(turn, &room[..got]));
        }
        all
    });
    let failure =
        PostgresConnection::over(ServerStream::from(client), address, "test").unwrap_err();
    (server.join().unwrap(), failure)
}

fn asking(kind: u32, rest: &[u8]) -> Vec<u8> {
    let mut said = Vec::new();
    message(&mut said, b'R', |body| {
        body.extend(kind.to_be_bytes());
        body.extend(rest);
    });
    said
}

/// A server that answers a first message of SCRAM with this number of rounds.
fn rounds(rounds: u32) -> (Vec<u8>, Failure) {
    let address = address("postgresql://me:S3cretPw@127.0.0.1/x");
    heard(&address, move |turn, got| {
        let got = String::from_utf8_lossy(got);
        // A nonce may have `r=` in it.
        let nonce = got.split_once("r=").map_or("", |(_, nonce)| nonce);
        match turn {
            0 => asking(10, b"SCRAM-SHA-256\0\0"),
            1 => asking(11, format!("r={nonce}XX,s=QUJDRA==,i={rounds}").as_bytes()),
            _ => asking(0, b""),
        }
    })
}

#[test]
fn a_proof_of_few_rounds_or_too_many_is_not_given_and_the_server_must_prove_itself() {
    let (heard, failure) = rounds(1);
    assert!(failure.to_string().contains("1 iterations"), "{failure}");
    assert!(!String::from_utf8_lossy(&heard).contains(",p="));
    let (heard, failure) = rounds(2_147_483_647);
    assert!(failure.to_string().contains("maximum"), "{failure}");
    assert!(!String::from_utf8_lossy(&heard).contains(",p="));
    let (heard, failure) = rounds(4096);
    assert!(String::from_utf8_lossy(&heard).contains(",p="));
    assert!(matches!(failure, Failure::Protocol(_)), "{failure}");
}

#[test]
fn passwords_are_not_told_on_an_open_way() {
    for (kind, rest) in [(3, &b""[..]), (5, b"abcd")] {
        let address = address("postgresql://me:S3cretPw@127.0.0.1/x");
        let (heard, failure) = heard(&address, move |_, _| asking(kind, rest));
        let heard = String::from_utf8_lossy(&heard);
        assert!(!heard.contains("S3cretPw") && !heard.contains("md5"), "{heard}");
        assert!(failure.of("x").hint().contains("sslmode"), "{failure}");
    }
    // The other end of a local pair is this user.
    assert!(session(&[asking(3, b""), READY.to_vec()].concat()).is_ok());
}

#[test]
fn who_demands_a_bound_proof_goes_on_with_no_other() {
    let address = address("postgresql://me:S3cretPw@127.0.0.1/x?channel_binding=require");
    for said in [asking(0, b""), asking(10, b"SCRAM-SHA-256\0\0"), asking(3, b"")] {
        let (heard, failure) = heard(&address, move |_, _| said.clone());
        assert!(failure.to_string().contains("channel_binding"), "{failure}");
        assert!(!String::from_utf8_lossy(&heard).contains("S3cretPw"));
    }
}

#[test]
fn rows_and_notices_without_end_end() {
    let mut row = Vec::new();
    message(&mut row, b'D', |body| body.extend([0, 1, 0xff, 0xff, 0xff, 0xff]));
    let mut notice = Vec::new();
    message(&mut notice, b'N', |body| body.extend([0; 900]));
    for one in [row, notice] {
        let many = one.repeat(2000);
        let (mut server, client) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let mut said = server.write_all(READY);
            while said.is_ok() {
                said = server.write_all(&many);
            }
        });
        let address = address("postgresql://me@/x?host=/s");
        let mut session =
            PostgresConnection::over(ServerStream::from(client), &address, "test").unwrap();
        let failure = session.query("SELECT 1").unwrap_err();
        assert!(failure.is_lost() && failure.to_string().contains("too long"), "{failure}");
    }
}

#[test]
fn words_of_a_server_hold_no_control_characters() {
    let shown = session(b"E\0\0\0\x1aC42501\0M\x1b]0;owned\x07no\0\0").unwrap_err().to_string();
    assert!(shown.contains("owned") && !shown.contains(char::is_control), "{shown:?}");
}

/// Speaks with a server in every way that there is.
fn speak(mut session: PostgresConnection) {
    let statement = session.prepare("s", "SELECT $1", &[8]);
    let _ = session.query("SELECT 1");
    if let Ok(statement) = statement {
        let _ = session.execute(&statement);
    }
    let (mut batch, mut answers) = (PostgresBatch::default(), PostgresAnswers::default());
    batch.execute("s", |values| {
        values.long(1);
    });
    let _ = session.exchange(&mut batch, &mut answers);
    for execution in 0..3 {
        for row in answers.rows(execution) {
            let _ = (row.integer(0), row.text(1), row.bytes(70));
        }
    }
    let _ = session.copy_in("COPY").and_then(CopyIn::finish);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_a_server_says_nothing_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        bodies in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)), 0..12),
        is_greeted in any::<bool>(),
        is_framed in any::<bool>(),
    ) {
        let mut said = if is_greeted { READY.to_vec() } else { Vec::new() };
        if is_framed {
            let letters = b"DCEZNSIRTG12";
            for (letter, body) in &bodies {
                let letter = letters[usize::from(*letter) % letters.len()];
                message(&mut said, letter, |to| to.extend(body));
            }
        } else {
            said.extend(&bytes);
        }
        if let Ok(session) = session(&said) {
            speak(session);
        }
    }
}
