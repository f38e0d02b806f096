//! Where something is served: an address on this machine, or a file in its place.

use assay_model::{Error, Result};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The address of a live page, which is reached from this machine only: a port, an address, or
/// both; port 0 is any free one.
///
/// # Errors
/// A usage error for anything else, and for an address that other machines reach.
pub fn live_address(text: &str) -> Result<SocketAddr> {
    let address = metrics_address(text).or_else(|| address_alone(text)).ok_or_else(|| {
        Error::usage(
            format!("--live={text}: this is not an address"),
            "write --live, --live=PORT or --live=127.0.0.1:PORT",
        )
    })?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(Error::usage(
        format!("--live={text}: the page would be open to other machines without a login"),
        "write --live=PORT, and reach it from elsewhere through ssh -L PORT:127.0.0.1:PORT",
    ))
}

/// The address that a text names: `PORT`, `ADDRESS:PORT` or `localhost:PORT`; none for the name of
/// a file.
pub fn metrics_address(text: &str) -> Option<SocketAddr> {
    if let Ok(port) = text.parse::<u16>() {
        return Some(SocketAddr::new(LOOPBACK, port));
    }
    match text.strip_prefix("localhost:") {
        Some(port) => port.parse().ok().map(|port| SocketAddr::new(LOOPBACK, port)),
        None => text.parse().ok(),
    }
}

fn address_alone(text: &str) -> Option<SocketAddr> {
    let ip = if text == "localhost" { Some(LOOPBACK) } else { text.parse().ok() };
    ip.map(|ip| SocketAddr::new(ip, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_are_taken_and_others_refused() {
        let shown = |text: &str| live_address(text).map(|address| address.to_string());
        assert_eq!(shown("127.0.0.1:0").unwrap(), "127.0.0.1:0");
        assert_eq!(shown("8080").unwrap(), "127.0.0.1:8080");
        assert_eq!(shown("localhost").unwrap(), "127.0.0.1:0");
        assert_eq!(shown("[::1]:80").unwrap(), "[::1]:80");
        for text in ["0.0.0.0:80", "10.0.0.1", "[::]:80"] {
            assert!(shown(text).unwrap_err().hint().contains("ssh -L"), "{text}");
        }
        for text in ["", "no", "1.2.3", "70000", "127.0.0.1:", "host:80"] {
            assert!(shown(text).unwrap_err().message().contains("not an address"), "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_a_file() {
        assert!(metrics_address("9464").is_some() && metrics_address("0.0.0.0:9464").is_some());
        assert!(
            metrics_address("metrics.prom").is_none()
                && metrics_address("/var/lib/x.prom").is_none()
        );
    }
}
