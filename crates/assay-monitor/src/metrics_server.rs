//! `OpenMetrics` text on an address, for a scraper that comes by.

use crate::exposition::{MEDIA_TYPE, exposition};
use crate::http::{self, HttpStatus, Request};
use crate::listener::Listener;
use crate::monitor::Monitor;
use assay_model::{Error, Result};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

/// The server; it ends when this is dropped.
pub struct MetricsServer {
    url: String,
    _listener: Listener,
}

impl MetricsServer {
    /// Serves on an address, which other machines may reach: scrapers do.
    ///
    /// # Errors
    /// An environment error when the address is in use or not of this machine.
    pub fn begin(address: SocketAddr, monitor: &Monitor) -> Result<Self> {
        let socket = Listener::bind(address, "--openmetrics")?;
        let failed = |error: std::io::Error| {
            Error::environment(format!("--openmetrics: {error}"), "specify a file instead")
                .because(&error)
        };
        let address = socket.local_addr().map_err(failed)?;
        let (monitor, notes) = (monitor.clone(), monitor.clone());
        let answer = move |stream: &mut TcpStream, request: &Request| {
            answer(stream, request, address, &monitor)
        };
        let complain = Box::new(move |what: &str| notes.note(what));
        let listener = Listener::begin(socket, Arc::new(answer), complain).map_err(failed)?;
        Ok(Self { url: format!("http://{address}/metrics"), _listener: listener })
    }

    /// Where the text is found.
    pub fn url(&self) -> &str {
        &self.url
    }
}

fn answer(
    stream: &mut TcpStream,
    request: &Request,
    address: SocketAddr,
    monitor: &Monitor,
) -> std::io::Result<()> {
    // On an address for this machine alone a page of another site may not ask; elsewhere machines
    // have many names.
    if address.ip().is_loopback() && !http::is_own_host(request.host.as_deref(), address) {
        return http::refuse(stream, HttpStatus::Forbidden);
    }
    if request.path != "/metrics" {
        return http::refuse(stream, HttpStatus::NotFound);
    }
    monitor.at_cost(|| {
        let text = monitor.look(|state| exposition(state, monitor.cost_s()));
        http::send(stream, request, MEDIA_TYPE, text.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_scraper_gets_text_and_others_get_nothing() {
        let monitor = Monitor::new("assay");
        let server = MetricsServer::begin("127.0.0.1:0".parse().unwrap(), &monitor).unwrap();
        let host = server.url().strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
        let get = |path: &str, named: &str| {
            let mut stream = TcpStream::connect(host).unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: {named}\r\n\r\n");
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let text = get("/metrics", host);
        assert!(text.contains(MEDIA_TYPE) && text.ends_with("# EOF\n"), "{text}");
        assert!(get("/", host).starts_with("HTTP/1.1 404"));
        assert!(get("/metrics", "evil.example").starts_with("HTTP/1.1 403"));
        let taken = MetricsServer::begin(host.parse().unwrap(), &monitor).err().unwrap();
        assert!(taken.hint().contains("another port after --openmetrics"), "{taken}");
    }
}
