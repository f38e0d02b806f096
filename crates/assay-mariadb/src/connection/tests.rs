//! Sessions with servers made of bytes: whatever they say, nothing panics.

use super::*;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// A packet of a server.
fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_le_bytes();
    [&[length[0], length[1], length[2], number], body].concat()
}

fn hello() -> Vec<u8> {
    let mut body =
        b"\x0a5.5.5-10.11.19-MariaDB\0\x05\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\x81\x15".to_vec();
    body.extend([0; 10]);
    body.extend(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &body)
}

const GOOD: &[u8] = b"\0\0\0\x02\0\0\0";

/// A session with a server that says this, whatever it hears.
fn session(said: &[u8]) -> Answer<MariadbConnection> {
    let (mut server, client) = UnixStream::pair().unwrap();
    server.write_all(said).unwrap();
    server.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = server;
    std::thread::spawn(move || {
        let _ = heard.read_to_end(&mut Vec::new());
    });
    let address = MariadbAddress::parse("mysql://me:pw@/x?socket=/s", |_| None).unwrap();
    MariadbConnection::over(ServerStream::from(client), &address)
}

fn column(kind: u8) -> Vec<u8> {
    let mut body = b"\x03def\0\0\0\x01c\0\x0c\x2d\0\x14\0\0\0".to_vec();
    body.extend([kind, 0, 0, 0, 0, 0]);
    body
}

const END: &[u8] = &[0xfe, 0, 0, 2, 0];

#[test]
fn a_login_a_query_and_an_execution() {
    let said = [
        hello(),
        packet(2, GOOD),
        packet(1, &[2]),
        packet(2, &column(253)),
        packet(3, &column(8)),
        packet(4, END),
        packet(5, b"\x02ab\xfb"),
        packet(6, END),
        // A prepared statement of one parameter and one column.
        packet(1, &[0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]),
        packet(2, &column(8)),
        packet(3, END),
        packet(4, &column(8)),
        packet(5, END),
        packet(1, &[1]),
        packet(2, &column(8)),
        packet(3, END),
        packet(4, &[0, 0, 64, 0, 0, 0, 0, 0, 0, 0]),
        packet(5, END),
        packet(1, b"\xff\x03\x04#HY000no"),
    ]
    .concat();
    let mut session = session(&said).unwrap();
    assert_eq!((session.facts().session, session.facts().release()), (5, (10, 11)));
    let row = session.one("SELECT").unwrap();
    assert_eq!((row.text(0), row.count(1)), ("ab", None));
    let statement = session.prepare("SELECT ?").unwrap();
    let count = session.execute(&statement, |values| {
        values.integer(1);
    });
    assert_eq!(count.unwrap().count(), 64);
    let failure = session.run("x").unwrap_err();
    assert_eq!(number(&failure), Some(1027));
    assert!(session.run("x").unwrap_err().is_lost());
}

#[test]
fn of_a_call_the_last_rows_are_what_it_gives_out() {
    const MORE: &[u8] = &[0xfe, 0, 0, 8, 0];
    // MySQL says before the rows that they are given out, and behind them nothing.
    const GIVEN_OUT: &[u8] = &[0xfe, 0, 0, 8, 0x10];
    let said = [
        hello(),
        packet(2, GOOD),
        packet(1, &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        // Two rows of a text, one row of a number given out, and the end of the call.
        packet(1, &[1]),
        packet(2, &column(253)),
        packet(3, END),
        packet(4, b"\0\0\x02ab"),
        packet(5, b"\0\0\x02cd"),
        packet(6, MORE),
        packet(7, &[1]),
        packet(8, &column(8)),
        packet(9, GIVEN_OUT),
        packet(10, &[0, 0, 64, 0, 0, 0, 0, 0, 0, 0]),
        packet(11, END),
        packet(12, &[0, 3, 7, 2, 0, 0, 0]),
        // A call that is refused after its rows.
        packet(1, &[1]),
        packet(2, &column(8)),
        packet(3, END),
        packet(4, MORE),
        packet(5, b"\xff\xbd\x04#40001Deadlock found"),
    ]
    .concat();
    let mut session = session(&said).unwrap();
    let call = session.prepare("CALL p(?)").unwrap();
    let answers = session.execute(&call, |_| ()).unwrap();
    assert_eq!((answers.rows().len(), answers.count()), (1, 64));
    assert_eq!((answers.touched(), answers.numbered()), (3, 7));
    let failure = session.execute(&call, |_| ()).unwrap_err();
    assert_eq!(failure.meaning(), Some(crate::failure::Refusal::Deadlock));
}

#[test]
fn answers_to_executions_that_travel_together_stand_in_their_places_also_behind_a_refused_one() {
    let prepared = packet(1, &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let row = |count: u8| {
        let body = [0, 0, count, 0, 0, 0, 0, 0, 0, 0];
        let parts = [(1, vec![1]), (2, column(8)), (3, END.to_vec()), (4, body.to_vec())];
        let parts = parts.map(|(number, body)| packet(number, &body)).concat();
        [parts, packet(5, END)].concat()
    };
    let refused = packet(1, b"\xff\xbd\x04#40001Deadlock found");
    let said = [
        hello(),
        packet(2, GOOD),
        prepared,
        row(7),
        refused.clone(),
        packet(1, &[0, 3, 0, 2, 0, 0, 0]),
        refused,
        row(8),
    ]
    .concat();
    let mut session = session(&said).unwrap();
    let statement = session.prepare("SELECT").unwrap();
    let mut batch = MariadbBatch::default();
    for _ in 0..4 {
        batch.execute(statement, |_| ());
    }
    let failure = session.exchange(&mut batch).unwrap_err();
    assert_eq!(failure.meaning(), Some(crate::failure::Refusal::Deadlock));
    let counts = [0, 1, 2, 3, 4].map(|place| batch.answers(place).map(MariadbAnswers::count));
    assert_eq!(counts, [Some(7), Some(0), Some(3), Some(0), None]);
    // What was added and forgotten is not sent, and a batch may be used again.
    batch.execute(statement, |_| ());
    batch.clear();
    batch.execute(statement, |_| ());
    session.exchange(&mut batch).unwrap();
    assert_eq!(batch.answers(0).map(MariadbAnswers::count), Some(8));
    assert!(batch.answers(1).is_none());
    batch.execute(statement, |_| ());
    assert!(session.exchange(&mut batch).unwrap_err().is_lost());
}

#[test]
fn a_server_may_ask_for_another_proof_and_for_more_of_one() {
    let said = [
        hello(),
        packet(2, b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0"),
        packet(4, &[1, 4]),
        packet(6, GOOD),
    ]
    .concat();
    session(&said).unwrap();
    let unknown = [hello(), packet(2, b"\xfeclient_ed25519\0abc")].concat();
    assert!(session(&unknown).unwrap_err().to_string().contains("client_ed25519"));
    let refused = [hello(), packet(2, b"\xff\x15\x04#28000Access denied")].concat();
    let failure = session(&refused).unwrap_err();
    assert_eq!(failure.meaning(), Some(crate::failure::Refusal::Denied));
}

#[test]
fn a_file_that_was_not_offered_is_not_given() {
    let said = [hello(), packet(2, GOOD), packet(1, b"\xfb/etc/passwd")].concat();
    let failure = session(&said).unwrap().run("SELECT 1").unwrap_err();
    assert!(failure.is_lost(), "{failure}");
}

#[test]
fn rows_without_end_end() {
    let rows: Vec<u8> =
        (0..60_000_u32).flat_map(|number| packet(number.to_le_bytes()[0], b"\xfb")).collect();
    let begin = [packet(1, &[1]), packet(2, &column(253)), packet(3, END)].concat();
    let (mut server, client) = UnixStream::pair().unwrap();
    std::thread::spawn(move || {
        let mut said = server.write_all(&[hello(), packet(2, GOOD), begin].concat());
        while said.is_ok() {
            said = server.write_all(&rows);
        }
    });
    let address = MariadbAddress::parse("mysql://me:pw@/x?socket=/s", |_| None).unwrap();
    let mut session = MariadbConnection::over(ServerStream::from(client), &address).unwrap();
    let failure = session.query("SELECT 1").unwrap_err();
    assert!(failure.is_lost() && failure.to_string().contains("too long"), "{failure}");
}

#[test]
fn words_of_a_server_hold_no_control_characters() {
    let said = [hello(), packet(2, b"\xff\x15\x04#28000\x1b]0;owned\x07no")].concat();
    let shown = session(&said).unwrap_err().to_string();
    assert!(shown.contains("owned") && !shown.contains(char::is_control), "{shown:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_a_server_says_nothing_panics(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
        is_greeted in any::<bool>(),
        is_framed in any::<bool>(),
        kind in any::<u8>(),
    ) {
        let mut said = if is_greeted { [hello(), packet(2, GOOD)].concat() } else { Vec::new() };
        if is_framed {
            said.extend(packet(1, &[1]));
            said.extend(packet(2, &column(kind)));
            said.extend(packet(3, END));
            said.extend(bodies.iter().flat_map(|body| packet(1, body)));
        } else {
            said.extend(&bytes);
        }
        if let Ok(mut session) = session(&said) {
            let statement = session.prepare("SELECT ?");
            let _ = session.query("SELECT 1");
            if let Ok(statement) = statement {
                let _ = session.execute(&statement, |values| { values.integer(1); }).map(MariadbAnswers::count);
            }
            let _ = session.bulk("t", "").and_then(Bulk::finish);
        }
        prop_assert_eq!(MariadbAnswers::default().count(), 0);
    }

    #[test]
    fn a_row_of_any_types_and_bytes_gives_cells_or_nothing(
        types in prop::collection::vec(any::<u8>(), 0..20),
        body in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        prepared::try_all_cells(&types, &body);
    }
}
