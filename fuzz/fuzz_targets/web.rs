//! No request makes the pages of a measurement fail: whatever is sent, the server answers or closes, and serves the next one.
#![no_main]

use assay_monitor::{LivePages, LiveServer, MetricsServer, Monitor};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

struct Servers {
    live: LiveServer,
    metrics: MetricsServer,
}

static SERVERS: LazyLock<Servers> = LazyLock::new(|| {
    let (monitor, any) = (Monitor::new("fuzz"), SocketAddr::from(([127, 0, 0, 1], 0)));
    let page = || Box::new(|_: &std::path::Path| None);
    let pages = LivePages { live: "<p>live</p>".to_owned(), so_far: page(), last: page() };
    Servers {
        live: LiveServer::begin(any, &monitor, pages).expect("a port"),
        metrics: MetricsServer::begin(any, &monitor).expect("a port"),
    }
});

/// Host with port, and path of an address.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.trim_start_matches("http://");
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let url = if first & 1 == 1 { SERVERS.live.url() } else { SERVERS.metrics.url() };
    let (host, path) = parts(url);
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(9))).expect("a time");
    let begin = match first & 6 {
        0 => String::new(),
        2 => format!("GET {path}"),
        4 => format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n"),
        _ => format!("GET {path} HTTP/1.1\r\nHost: "),
    };
    // One that was refused has closed by then.
    let _ = stream.write_all(&[begin.as_bytes(), rest].concat());
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = [0; 4096];
    while let Ok(1..) = stream.read(&mut answer) {}
});
