//! The least that a client of a thread a session does for a prepared statement: a write and a read.
//! What it costs is the floor of every such client, and what it reaches is the server's limit.
//!
//! `bare_client SOCKET TABLE ROWS SESSIONS SECONDS` prints statements a second and client CPU, µs a
//! statement.
#![allow(clippy::print_stdout, reason = "an example's output is its purpose")]

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The settings with which the statement is planned by its index, as the load does.
const PLAN: &str = "-c enable_bitmapscan=off -c enable_seqscan=off -c enable_indexonlyscan=off -c \
                    plan_cache_mode=force_generic_plan -c jit=off -c \
                    max_parallel_workers_per_gather=0 -c track_io_timing=on";
/// Object identifier of `int4`.
const INT4: u32 = 23;
/// The last message of an answer outside a transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [socket, table, rows, sessions, seconds] = &words[..] else {
        return Err(io::Error::other("bare_client SOCKET TABLE ROWS SESSIONS SECONDS"));
    };
    let rows: i32 = rows.parse().map_err(io::Error::other)?;
    let sessions: usize = sessions.parse().map_err(io::Error::other)?;
    let time = Duration::from_secs_f64(seconds.parse().map_err(io::Error::other)?);
    let opened: Vec<_> = (0..sessions).map(|_| open(socket, table)).collect::<io::Result<_>>()?;
    let (cpu_before, started) = (cpu(), Instant::now());
    let threads: Vec<_> = (1..)
        .zip(opened)
        .map(|(seed, stream)| std::thread::spawn(move || drive(stream, rows, seed, time)))
        .collect();
    let mut statements = 0;
    for thread in threads {
        statements += thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    }
    let (elapsed, used) = (started.elapsed(), cpu().saturating_sub(cpu_before));
    let count = f64::from(u32::try_from(statements).map_err(io::Error::other)?);
    let (rate, cpu_us) = (count / elapsed.as_secs_f64(), used.as_secs_f64() * 1e6 / count);
    println!(r#"{{"rate": {rate:.1}, "cpu_us": {cpu_us:.3}, "statements": {statements}}}"#);
    Ok(())
}

/// User and system time of this process.
fn cpu() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or(0))
}

/// Logs in without a password and prepares the statement.
fn open(socket: &str, table: &str) -> io::Result<UnixStream> {
    let (mut stream, mut packet) = (UnixStream::connect(socket)?, BytesMut::new());
    let facts = [("user", "postgres"), ("database", "postgres"), ("options", PLAN)];
    frontend::startup_message(facts, &mut packet)?;
    stream.write_all(&packet)?;
    until_ready(&mut stream)?;
    packet.clear();
    let sql = format!("SELECT count(c2) FROM {table} WHERE custid BETWEEN $1 AND $2");
    frontend::parse("s", &sql, [INT4, INT4], &mut packet)?;
    frontend::sync(&mut packet);
    stream.write_all(&packet)?;
    until_ready(&mut stream)?;
    Ok(stream)
}

/// Reads answers until the server is ready; a refusal is an error.
fn until_ready(stream: &mut UnixStream) -> io::Result<()> {
    let (mut held, mut room) = (Vec::new(), [0; 8192]);
    while !held.ends_with(READY) {
        let count = stream.read(&mut room)?;
        held.extend_from_slice(&room[..count]);
        if count == 0 || held.starts_with(b"E") {
            return Err(io::Error::other(String::from_utf8_lossy(&held).into_owned()));
        }
    }
    Ok(())
}

/// Statements until the time is over: one write, one read, no look at the answer but at its last
/// message.
fn drive(mut stream: UnixStream, rows: i32, seed: u64, time: Duration) -> io::Result<u64> {
    let (started, mut statements, mut room, mut random) = (Instant::now(), 0, [0; 8192], seed);
    let mut packet = BytesMut::new();
    while started.elapsed() < time {
        // Knuth's multiplier; that rows are drawn well is of no account here.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let row = i32::try_from(random >> 33).unwrap_or(0) % rows + 1;
        packet.clear();
        execution(row, &mut packet)?;
        stream.write_all(&packet)?;
        let count = stream.read(&mut room)?;
        assert!(room[..count].ends_with(READY), "an answer that came in pieces or says no");
        statements += 1;
    }
    Ok(statements)
}

/// Bind, execute and sync in one packet.
fn execution(row: i32, packet: &mut BytesMut) -> io::Result<()> {
    let put = |value: i32, packet: &mut BytesMut| {
        packet.extend_from_slice(&value.to_be_bytes());
        Ok(IsNull::No)
    };
    frontend::bind("", "s", [1], [row, row], put, [1], packet)
        .map_err(|_| io::Error::other("parameters that do not fit"))?;
    frontend::execute("", 0, packet)?;
    frontend::sync(packet);
    Ok(())
}
