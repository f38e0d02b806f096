//! Whatever a MariaDB or MySQL server says, a session neither panics nor hangs, needs bounded room, and gives no file.
#![no_main]

use assay_dbserver::ServerStream;
use assay_mariadb::address::MariadbAddress;
use assay_mariadb::connection::{Bulk, MariadbConnection};
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

/// A greeting, and that the proof is good.
const READY: &[u8] = b"\x54\0\0\0\x0a10.11.19-MariaDB\0\x05\0\0\0abcdefgh\0\xff\xff\x2d\x02\0\xff\x81\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0mysql_native_password\0\x07\0\0\x02\0\0\0\x02\0\0\0";

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (Some((first, rest)), Ok((mut server, client))) = (bytes.split_first(), UnixStream::pair())
    else {
        return;
    };
    let begin = if first % 2 == 0 { READY } else { &[] };
    if server.write_all(&[begin, rest].concat()).is_err()
        || server.shutdown(Shutdown::Write).is_err()
    {
        return;
    }
    let Ok(address) = MariadbAddress::parse("mysql://me:pw@/x?socket=/s", |_| None) else { return };
    let Ok(mut session) = MariadbConnection::over(ServerStream::from(client), &address) else {
        return;
    };
    if first & 2 == 0 {
        let _ = session.query("SELECT 1");
    }
    if let Ok(statement) = session.prepare("SELECT ?") {
        if let Ok(answers) = session.execute(&statement, |values| {
            values.integer(1);
        }) {
            for row in answers.rows() {
                let _ = (row.integer(0), row.text(1), row.bytes(70));
            }
        }
    }
    let _ = session.bulk("t", "").and_then(Bulk::finish);
});
