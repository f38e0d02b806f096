//! Whatever a PostgreSQL server says, a session neither panics nor hangs, and needs bounded room.
#![no_main]

use assay_dbserver::ServerStream;
use assay_postgres::address::PostgresAddress;
use assay_postgres::connection::{CopyIn, PostgresAnswers, PostgresBatch, PostgresConnection};
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// Authenticated, a version, ready.
const READY: &[u8] = b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\015.4\0Z\0\0\0\x05I";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (Some((first, rest)), Ok((mut server, client))) = (bytes.split_first(), UnixStream::pair())
    else {
        return;
    };
    // Every other input begins behind the login.
    let begin = if first % 2 == 0 { READY } else { &[] };
    if server.write_all(&[begin, rest].concat()).is_err()
        || server.shutdown(Shutdown::Write).is_err()
    {
        return;
    }
    let Ok(address) = PostgresAddress::parse("postgresql://me:pw@/x?host=/s", |_| None) else {
        return;
    };
    let Ok(mut session) = PostgresConnection::over(ServerStream::from(client), &address, "fuzz")
    else {
        return;
    };
    if first & 2 == 0 {
        let _ = session.query("SELECT 1");
    }
    if let Ok(statement) = session.prepare("s", "SELECT $1", &[8]) {
        let _ = session.execute(&statement);
    }
    let (mut batch, mut answers) = (PostgresBatch::default(), PostgresAnswers::default());
    batch.execute("s", |values| {
        values.long(1);
    });
    let _ = session.exchange(&mut batch, &mut answers);
    for row in answers.rows(0) {
        let _ = (row.integer(0), row.text(1), row.bytes(70));
    }
    let _ = session.copy_in("COPY").and_then(CopyIn::finish);
});
