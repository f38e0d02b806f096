//! HTTP/1.1 as far as a page needs it that is only looked at: requests without a body, one for each
//! connection (RFC 9112).

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The longest head of a request, bytes.
const HEAD_MAX: usize = 8192;
/// Most fields of a head.
const FIELDS_MAX: usize = 64;
/// Whoever sends a head more slowly than this is not waited for.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// A reader that takes nothing for this long has gone.
const SEND_TIME: Duration = Duration::from_secs(5);

/// A request that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The path without what follows a question mark.
    pub(crate) path: String,
    /// The host that the client believes to speak to.
    pub(crate) host: Option<String>,
    /// Whether only the head of the answer is wanted.
    pub(crate) is_head: bool,
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HttpStatus {
    Ok,
    BadRequest,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    HeadTooLarge,
    Unavailable,
}

impl HttpStatus {
    const fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

/// Reads the head of a request.
///
/// # Errors
/// How to answer it instead; nothing where nobody is there to be answered.
pub(crate) fn read(stream: &mut TcpStream) -> Result<Request, Option<HttpStatus>> {
    let begun = Instant::now();
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    loop {
        let left = HEAD_TIME.saturating_sub(begun.elapsed());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(None);
        }
        let length = stream.read(&mut part).map_err(|_| None)?;
        if length == 0 {
            return Err(None);
        }
        head.extend_from_slice(&part[..length]);
        if let Some(request) = parse(&head)? {
            return Ok(request);
        }
        if head.len() >= HEAD_MAX {
            return Err(Some(HttpStatus::HeadTooLarge));
        }
    }
}

/// The request of a head; none while it is incomplete.
fn parse(head: &[u8]) -> Result<Option<Request>, Option<HttpStatus>> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Err(Some(HttpStatus::HeadTooLarge)),
        Err(_) => return Err(Some(HttpStatus::BadRequest)),
    }
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Some(HttpStatus::MethodNotAllowed)),
    };
    let mut hosts = request.headers.iter().filter(|field| field.name.eq_ignore_ascii_case("host"));
    let host = hosts.next().map(|field| String::from_utf8_lossy(field.value).into_owned());
    // A head with two hosts is read in two ways by two programs.
    if hosts.next().is_some() {
        return Err(Some(HttpStatus::BadRequest));
    }
    let target = request.path.unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default().to_owned();
    Ok(Some(Request { path, host, is_head }))
}

/// Whether the client means this server: a page of another site that has its name point here names
/// itself.
pub(crate) fn is_own_host(host: Option<&str>, address: SocketAddr) -> bool {
    let Some(host) = host else { return false };
    let (port, ip) = (address.port(), address.ip());
    let names = match ip {
        std::net::IpAddr::V4(ip) => [ip.to_string(), "localhost".to_owned()],
        std::net::IpAddr::V6(ip) => [format!("[{ip}]"), "localhost".to_owned()],
    };
    names.iter().any(|name| {
        let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name));
        let port_text = host.get(name.len()..).unwrap_or_default();
        rest.is_some() && (port_text == format!(":{port}") || port == 80 && port_text.is_empty())
    })
}

/// Fields of every answer: nothing is kept, guessed, framed by others, or passed on.
const ALWAYS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: \
                      nosniff\r\nX-Frame-Options: SAMEORIGIN\r\nReferrer-Policy: \
                      no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nConnection: \
                      close\r\n";

/// Sends the head of an answer whose length is known or not.
pub(crate) fn send_head(
    stream: &mut TcpStream,
    status: HttpStatus,
    media_type: &str,
    length: Option<usize>,
) -> io::Result<()> {
    stream.set_write_timeout(Some(SEND_TIME))?;
    let mut head = format!("HTTP/1.1 {}\r\nContent-Type: {media_type}\r\n{ALWAYS}", status.line());
    if let Some(length) = length {
        _ = write!(head, "Content-Length: {length}\r\n");
    }
    if status == HttpStatus::MethodNotAllowed {
        head.push_str("Allow: GET, HEAD\r\n");
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())
}

/// Sends a whole answer.
pub(crate) fn send(
    stream: &mut TcpStream,
    request: &Request,
    media_type: &str,
    body: &[u8],
) -> io::Result<()> {
    send_head(stream, HttpStatus::Ok, media_type, Some(body.len()))?;
    if request.is_head { Ok(()) } else { stream.write_all(body) }
}

/// Sends a refusal in words.
pub(crate) fn refuse(stream: &mut TcpStream, status: HttpStatus) -> io::Result<()> {
    let words = format!("{}\n", status.line());
    send_head(stream, status, "text/plain; charset=utf-8", Some(words.len()))?;
    stream.write_all(words.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(head: &str) -> Result<Option<Request>, Option<HttpStatus>> {
        parse(head.as_bytes())
    }

    #[test]
    fn a_request_is_read_when_its_head_is_complete() {
        let head = "GET /abc/page?x=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept: */*\r\n\r\n";
        for length in 0..head.len() {
            assert_eq!(parsed(&head[..length]), Ok(None), "{length}");
        }
        let request = parsed(head).unwrap().unwrap();
        assert_eq!((request.path.as_str(), request.is_head), ("/abc/page", false));
        assert_eq!(request.host.as_deref(), Some("127.0.0.1:80"));
    }

    #[test]
    fn what_would_change_something_or_is_no_http_is_refused() {
        let refused = |head: &str| parsed(head).unwrap_err().unwrap();
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"] {
            let head = format!("{method} / HTTP/1.1\r\nHost: a\r\n\r\n");
            assert_eq!(refused(&head), HttpStatus::MethodNotAllowed);
        }
        assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), HttpStatus::BadRequest);
        assert_eq!(refused("\u{16}\u{3}\u{1}\u{2}"), HttpStatus::BadRequest);
        let many = "A: b\r\n".repeat(100);
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\n{many}\r\n")), HttpStatus::HeadTooLarge);
    }

    #[test]
    fn only_names_of_this_machine_are_own() {
        let address: SocketAddr = "127.0.0.1:8123".parse().unwrap();
        for host in ["127.0.0.1:8123", "localhost:8123", "LocalHost:8123"] {
            assert!(is_own_host(Some(host), address), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8123",
            "127.0.0.1",
            "localhost:81",
            "localhost.evil:8123",
            "127.0.0.1:8123.evil.example",
            "",
            "localhost",
            "[::1]:8123",
        ] {
            assert!(!is_own_host(Some(host), address), "{host}");
        }
        assert!(!is_own_host(None, address));
        assert!(is_own_host(Some("[::1]:9"), "[::1]:9".parse().unwrap()));
        assert!(is_own_host(Some("localhost"), "127.0.0.1:80".parse().unwrap()));
    }
}
