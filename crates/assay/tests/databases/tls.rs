//! Servers that are reached over TLS alone, and those who play one: what is checked is checked, and
//! who cannot be trusted gets no password.

mod given;

use crate::server::words;
use given::{Given, Product, SECRET};
use std::io::{Read, Write};
use std::net::TcpListener;

/// What each product calls what is asked of its encryption.
struct Terms {
    /// Authorities, a certificate of the client, its key.
    files: [&'static str; 3],
    /// The mode, and the word for all checks, for the authority alone, for none, and for no
    /// encryption.
    mode: &'static str,
    modes: [&'static str; 4],
}

const POSTGRES: Terms = Terms {
    files: ["sslrootcert", "sslcert", "sslkey"],
    mode: "sslmode",
    modes: ["verify-full", "verify-ca", "require", "disable"],
};
const MARIADB: Terms = Terms {
    files: ["ssl-ca", "ssl-cert", "ssl-key"],
    mode: "ssl-mode",
    modes: ["VERIFY_IDENTITY", "VERIFY_CA", "REQUIRED", "DISABLED"],
};

impl Terms {
    const fn of(product: Product) -> &'static Self {
        match product {
            Product::Postgres => &POSTGRES,
            Product::Mariadb => &MARIADB,
        }
    }

    /// A mode, trusting this authority.
    fn trusting(&self, mode: usize, given: &Given, authority: &str) -> String {
        format!("{}={}&{}={}", self.mode, self.modes[mode], self.files[0], given.path(authority))
    }

    /// The same with a certificate of the client.
    fn showing(&self, given: &Given, client: &str) -> String {
        let [_, certificate, key] = self.files;
        let (at, terms) = (given.path(client), self.trusting(0, given, "ca.pem"));
        format!("{terms}&{certificate}={at}.pem&{key}={at}.key")
    }
}

/// Loaded with all checks, profiled with each that the server meets, refused where a check fails.
fn over_tls_alone(product: Product) {
    let Some(mut given) = Given::new(product, "server") else { return };
    let terms = Terms::of(product);
    let full = |given: &Given| given.at("localhost", &terms.trusting(0, given, "ca.pem"));
    given.start("server", &[]);
    let binding = if product == Product::Postgres { "&channel_binding=require" } else { "" };
    given.loaded(&(full(&given) + binding));
    given.profiled(&given.at("127.0.0.1", &terms.trusting(0, &given, "ca.pem")));
    // Every mode that may encrypt does, because the server wants it.
    for more in ["", "sslmode=allow", "sslmode=prefer", "sslmode=require"] {
        given.lets_in(&given.at("localhost", more));
    }
    let unencrypted = if product == Product::Postgres { "no encryption" } else { "Access denied" };
    given.refused(
        &given.at("localhost", &format!("{}={}", terms.mode, terms.modes[3])),
        unencrypted,
    );
    for mode in 0..3 {
        given.refused(
            &given.at("localhost", &terms.trusting(mode, &given, "other.pem")),
            "authority",
        );
    }
    given.refused(&given.at("localhost", "sslmode=verify-full"), "trust");
    let denied = if product == Product::Postgres {
        "password authentication failed"
    } else {
        "Access denied"
    };
    given.refused(&given.address("wrong", "localhost", "sslmode=require"), denied);
    given.start("elsewhere", &[]);
    given.refused(&full(&given), "is not for localhost but for db.example");
    given.lets_in(&given.at("localhost", &terms.trusting(1, &given, "ca.pem")));
    given.start("itself", &[]);
    for mode in 0..3 {
        given.lets_in(&given.at("localhost", &terms.trusting(mode, &given, "itself.pem")));
    }
    given.refused(&given.at("127.0.0.1", &terms.trusting(0, &given, "itself.pem")), "is not for");
    given.refused(&full(&given), "signs itself and is not in the named file");
    given.start("expired", &[]);
    for mode in [0, 1] {
        given.refused(
            &given.at("localhost", &terms.trusting(mode, &given, "ca.pem")),
            "has expired",
        );
    }
}

#[test]
fn postgresql_over_tls_alone_is_loaded_and_profiled_and_what_is_wrong_is_refused() {
    over_tls_alone(Product::Postgres);
}

#[test]
fn mariadb_over_tls_alone_is_loaded_and_profiled_and_what_is_wrong_is_refused() {
    over_tls_alone(Product::Mariadb);
}

/// Whoever shows a certificate of the server's authority comes in; who shows none, or one of
/// another authority, does not.
fn wanting_certificates(product: Product, unshown: &str) {
    let Some(mut given) = Given::new(product, "clients") else { return };
    let terms = Terms::of(product);
    given.start_wanting_certificates();
    given.loaded(&given.at("localhost", &terms.showing(&given, "client")));
    given.refused(&given.at("localhost", &terms.trusting(0, &given, "ca.pem")), unshown);
    given.refused(&given.at("localhost", &terms.showing(&given, "stranger")), "unknown ca");
}

#[test]
fn postgresql_that_wants_certificates_of_clients_is_shown_one() {
    wanting_certificates(Product::Postgres, "valid client certificate");
}

#[test]
fn mariadb_that_wants_certificates_of_clients_is_shown_one() {
    wanting_certificates(Product::Mariadb, "Access denied");
}

/// Who plays a server: says this to the first that it hears, on every connection.
fn played(say: &'static [u8], times: usize) -> (u16, std::thread::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let mut heard = Vec::new();
        for _ in 0..times {
            let (mut way, _) = listener.accept().unwrap();
            let mut room = [0; 4096];
            let got = way.read(&mut room).unwrap_or(0);
            heard.extend(&room[..got]);
            let _ = way.write_all(say);
            let _ = way.read(&mut room).map(|got| heard.extend(&room[..got]));
        }
        heard
    });
    (port, server)
}

#[test]
fn who_plays_a_server_gets_no_password_and_no_session() {
    let given = Given::without_server("played");
    let address =
        |port: u16, more: &str| format!("postgresql://me:{SECRET}@127.0.0.1:{port}/x?{more}");
    // It strips the encryption.
    let (port, server) = played(b"N", 1);
    given.refused(&address(port, "sslmode=require"), "does not support encryption");
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains(SECRET));
    // It puts something behind its consent.
    let (port, server) = played(b"SE\0\0\0\x08hi\0", 1);
    given.refused(&address(port, "sslmode=require"), "unencrypted");
    server.join().unwrap();
    // It speaks no TLS after its consent.
    let (port, server) = played(b"S", 1);
    let output = given.profile(&address(port, "sslmode=require"));
    assert_eq!(output.status.code(), Some(4), "{}", words(&output));
    assert!(!String::from_utf8_lossy(&server.join().unwrap()).contains(SECRET));
    // It asks for the password in clear, or as MD5, without encryption.
    for say in [&b"R\0\0\0\x08\0\0\0\x03"[..], b"R\0\0\0\x0c\0\0\0\x05abcd"] {
        let (port, server) = played(say, 1);
        given.refused(&address(port, "sslmode=disable"), "not sent over an unprotected connection");
        let heard = server.join().unwrap();
        assert!(!String::from_utf8_lossy(&heard).contains(SECRET));
        assert!(!heard.windows(3).any(|three| three == b"md5"));
    }
}
