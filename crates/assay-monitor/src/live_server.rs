//! The page of a run while it is measured: read only, on this machine only, for whoever has its
//! address with the token.

use crate::events;
use crate::http::{self, HttpStatus, Request};
use crate::listener::Listener;
use crate::monitor::Monitor;
use assay_model::{Error, Result};
use std::fmt::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the token: what nobody can guess.
const TOKEN_BYTES: usize = 16;
/// In the place of a page that cannot be made yet.
const NOTHING_YET: &str = "<!DOCTYPE html><html lang=\"en\"><title>Nothing yet</title></html>\n";
const HTML: &str = "text/html; charset=utf-8";
/// The page so far is made again no sooner than this.
const MADE_AGAIN: Duration = Duration::from_secs(5);
/// And no sooner than this many times as long as it took: 0.2% of a core.
const MADE_AGAIN_TIMES: u32 = 500;

/// Makes the page of the run in a directory, where it can be made.
pub type PageText = Box<dyn Fn(&Path) -> Option<String> + Send + Sync>;

/// What is served.
pub struct LivePages {
    /// The live page, which reads events.
    pub live: String,
    /// The page of the run in this directory as far as it has come, where it can be made.
    pub so_far: PageText,
    /// The page of the run in this directory once it has ended.
    pub last: PageText,
}

/// The server; it sends its readers the last page and ends when this is dropped.
pub struct LiveServer {
    url: String,
    monitor: Monitor,
    // Dropped after the monitor says that the run has ended.
    _listener: Listener,
}

impl LiveServer {
    /// Serves on an address of this machine.
    ///
    /// # Errors
    /// An environment error when the address is in use.
    pub fn begin(address: SocketAddr, monitor: &Monitor, pages: LivePages) -> Result<Self> {
        let socket = Listener::bind(address, "--live")?;
        let failed = |error: std::io::Error| {
            Error::environment(format!("--live: {error}"), "run without --live").because(&error)
        };
        let address = socket.local_addr().map_err(failed)?;
        let token = token()?;
        let url = format!("http://{address}/{token}/");
        let site =
            Site { address, token, monitor: monitor.clone(), pages, so_far: Mutex::default() };
        let answer = move |stream: &mut TcpStream, request: &Request| site.answer(stream, request);
        let answer = Arc::new(answer);
        let notes = monitor.clone();
        let complain = Box::new(move |what: &str| notes.note(what));
        let listener = Listener::begin(socket, answer, complain).map_err(failed)?;
        Ok(Self { url, monitor: monitor.clone(), _listener: listener })
    }

    /// Where the page is found.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.monitor.end();
    }
}

/// What a connection is answered from.
struct Site {
    address: SocketAddr,
    token: String,
    monitor: Monitor,
    pages: LivePages,
    so_far: Mutex<Option<MadePage>>,
}

/// A page that was made from a run that goes on.
#[derive(Clone)]
struct MadePage {
    text: Arc<str>,
    at: Instant,
    took: Duration,
}

impl Site {
    fn answer(&self, stream: &mut TcpStream, request: &Request) -> std::io::Result<()> {
        if !http::is_own_host(request.host.as_deref(), self.address) {
            return http::refuse(stream, HttpStatus::Forbidden);
        }
        match self.place(&request.path) {
            Some("") => self
                .monitor
                .at_cost(|| http::send(stream, request, HTML, self.pages.live.as_bytes())),
            Some("page") => match self.monitor.at_cost(|| self.page_so_far()) {
                Some(page) => http::send(stream, request, HTML, page.as_bytes()),
                // A browser would complain of a refusal.
                None => http::send(stream, request, HTML, NOTHING_YET.as_bytes()),
            },
            Some("events") => {
                http::send_head(stream, HttpStatus::Ok, "text/event-stream; charset=utf-8", None)?;
                if request.is_head {
                    return Ok(());
                }
                events::send(stream, &self.monitor, &|| self.last_page())
            }
            _ => http::refuse(stream, HttpStatus::NotFound),
        }
    }

    /// What follows the token in a path; none without it.
    fn place<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (token, place) = path.strip_prefix('/')?.split_once('/')?;
        is_same(token.as_bytes(), self.token.as_bytes()).then_some(place)
    }

    fn page_so_far(&self) -> Option<Arc<str>> {
        let directory = self.monitor.directory()?;
        let mut made = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref().filter(|made| made.is_recent()) {
            return Some(Arc::clone(&made.text));
        }
        let begun = Instant::now();
        let text: Arc<str> = (self.pages.so_far)(&directory)?.into();
        let page = MadePage { text: Arc::clone(&text), at: Instant::now(), took: begun.elapsed() };
        *made = Some(page);
        Some(text)
    }

    fn last_page(&self) -> Option<String> {
        (self.pages.last)(&self.monitor.directory()?)
    }
}

impl MadePage {
    fn is_recent(&self) -> bool {
        self.at.elapsed() < MADE_AGAIN.max(self.took * MADE_AGAIN_TIMES)
    }
}

/// Compares in a time that does not tell where the first difference is.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).fold(0, |seen, (one, other)| seen | (one ^ other)) == 0
}

/// Random bytes of the kernel as hexadecimal digits.
fn token() -> Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(
        |error| {
            Error::environment(
                format!("--live: cannot read random numbers: {error}"),
                "run without --live",
            )
        },
    )?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    fn server(monitor: &Monitor) -> LiveServer {
        let pages = LivePages {
            live: "<title>live</title>".to_owned(),
            so_far: Box::new(|directory| Some(format!("so far {}", directory.display()))),
            last: Box::new(|directory| Some(format!("last {}", directory.display()))),
        };
        LiveServer::begin("127.0.0.1:0".parse().unwrap(), monitor, pages).unwrap()
    }

    /// Host and path of an address.
    fn parts(server: &LiveServer) -> (String, String) {
        let rest = server.url().strip_prefix("http://").unwrap();
        let (host, path) = rest.split_once('/').unwrap();
        (host.to_owned(), format!("/{path}"))
    }

    fn ask(address: &str, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        drop(stream.read_to_string(&mut answer));
        answer
    }

    fn get(server: &LiveServer, path: &str, host: &str) -> String {
        ask(&parts(server).0, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"))
    }

    #[test]
    fn the_page_is_for_those_who_have_its_address_and_mean_this_machine() {
        let monitor = Monitor::new("assay");
        monitor.begin(Path::new("/runs/a"), "run");
        let server = server(&monitor);
        let (host, path) = parts(&server);
        assert!(get(&server, &path, &host).ends_with("<title>live</title>"));
        assert!(get(&server, &format!("{path}page"), &host).ends_with("so far /runs/a"));
        for hostile in ["evil.example", &format!("evil.example:{}", host.len()), ""] {
            assert!(get(&server, &path, hostile).starts_with("HTTP/1.1 403"), "{hostile}");
        }
        let wrong = format!("/{}/", "0".repeat(32));
        for other in ["/", "/page", "/events", &wrong, path.trim_end_matches('/'), "/../etc/passwd"]
        {
            let answer = get(&server, other, &host);
            assert!(
                answer.starts_with("HTTP/1.1 404") && !answer.contains("live"),
                "{other}: {answer}"
            );
        }
        assert!(
            get(&server, &format!("{path}../../etc/passwd"), &host).starts_with("HTTP/1.1 404")
        );
        let post = format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n");
        assert!(ask(&host, &post).starts_with("HTTP/1.1 405"));
        let head = ask(&host, &format!("HEAD {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(head.contains("no-referrer") && head.contains("no-store"));
    }

    #[test]
    fn readers_get_the_last_page_and_then_the_server_is_gone() {
        let monitor = Monitor::new("assay");
        monitor.begin(Path::new("/runs/a"), "run");
        let server = server(&monitor);
        let (host, path) = parts(&server);
        let request = format!("GET {path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut stream = TcpStream::connect(&host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut first = [0; 16];
        stream.read_exact(&mut first).unwrap();
        drop(server);
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with("event: page\ndata: \"last /runs/a\"\n\n"), "{rest}");
        assert!(TcpStream::connect(&host).is_err());
    }

    #[test]
    fn an_address_in_use_is_refused_with_what_to_do() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let pages =
            LivePages { live: String::new(), so_far: Box::new(|_| None), last: Box::new(|_| None) };
        let error = LiveServer::begin(taken.local_addr().unwrap(), &Monitor::new("assay"), pages)
            .err()
            .unwrap();
        assert!(error.hint().contains("another port after --live"), "{error}");
    }

    #[test]
    fn tokens_differ_and_are_compared_as_a_whole() {
        let (one, other) = (token().unwrap(), token().unwrap());
        assert!(one.len() == 32 && one != other);
        assert!(
            is_same(one.as_bytes(), one.as_bytes()) && !is_same(one.as_bytes(), other.as_bytes())
        );
        assert!(!is_same(b"a", b""));
    }
}
