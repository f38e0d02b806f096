//! What an address, the environment and the usual files demand of the way to a server, as libpq
//! reads them.
//!
//! Source: PostgreSQL documentation, "Parameter Key Words" and "SSL Client File Usage".

use super::{Binding, ConnectionOptions};
use assay_dbserver::tls::{Mode, Roots, Security};
use assay_model::{Error, Result};
use std::path::{Path, PathBuf};

/// Reads a setting from the address, else from this variable.
type KnownTerm<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

pub(super) fn read(
    known: KnownTerm<'_>,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<ConnectionOptions> {
    let home = environment("HOME").map(|home| Path::new(&home).join(".postgresql"));
    let usual = |name: &str| home.as_ref().map(|home| home.join(name)).filter(|path| path.exists());
    if known("sslnegotiation", "PGSSLNEGOTIATION").is_some_and(|way| way != "postgres") {
        return Err(Error::usage(
            "sslnegotiation: only 'postgres' is supported",
            "omit it: servers with a direct handshake also accept the usual one",
        ));
    }
    if known("gssencmode", "PGGSSENCMODE").is_some_and(|mode| mode == "require") {
        return Err(Error::usage(
            "gssencmode=require: GSSAPI encryption is not supported",
            "use TLS instead: sslmode=verify-full",
        ));
    }
    let security = Security {
        mode: mode_of(known("sslmode", "PGSSLMODE"))?,
        roots: roots_of(known("sslrootcert", "PGSSLROOTCERT"), &usual),
        certificate: certificate_of(known, &usual)?,
    };
    Ok(ConnectionOptions {
        security: checked(security, known("sslmode", "PGSSLMODE").is_some())?,
        binding: binding_of(known("channel_binding", "PGCHANNELBINDING").as_deref())?,
        peer: known("requirepeer", "PGREQUIREPEER"),
        options: known("options", "PGOPTIONS"),
        ..ConnectionOptions::default()
    })
}

fn mode_of(name: Option<String>) -> Result<Mode> {
    let mode = name.map_or(Some(Mode::default()), |name| Mode::of(&name));
    mode.ok_or_else(|| {
        Error::usage("sslmode has an unknown value", format!("known are {}", Mode::KNOWN))
    })
}

fn roots_of(named: Option<String>, usual: &dyn Fn(&str) -> Option<PathBuf>) -> Roots {
    match named {
        Some(name) if name == "system" => Roots::System,
        Some(file) => Roots::File(file.into()),
        None => usual("root.crt").map_or(Roots::Unnamed, Roots::File),
    }
}

/// Anybody may have a certificate of an authority that everybody trusts: it proves something for
/// the host's name only.
fn checked(mut security: Security, is_mode_named: bool) -> Result<Security> {
    let refused = |what: &str, hint: &str| Err(Error::usage(what, hint));
    match (security.mode, &security.roots) {
        (mode, Roots::System) if mode < Mode::VerifyFull && is_mode_named => refused(
            "sslrootcert=system is useless without host name verification",
            "write sslmode=verify-full",
        ),
        (_, Roots::System) => {
            security.mode = Mode::VerifyFull;
            Ok(security)
        }
        (Mode::VerifyCa, Roots::Unnamed) => refused(
            "sslmode=verify-ca needs a certificate authority",
            "specify its file with sslrootcert=FILE, or use sslmode=verify-full for the \
             authorities that this system trusts",
        ),
        _ => Ok(security),
    }
}

fn certificate_of(
    known: KnownTerm<'_>,
    usual: &dyn Fn(&str) -> Option<PathBuf>,
) -> Result<Option<(PathBuf, PathBuf)>> {
    let named = |name: &str, variable: &str, file: &str| {
        known(name, variable).map(PathBuf::from).or_else(|| usual(file))
    };
    let certificate = named("sslcert", "PGSSLCERT", "postgresql.crt");
    match (certificate, named("sslkey", "PGSSLKEY", "postgresql.key")) {
        (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
        (Some(_), None) => {
            Err(Error::usage("sslcert without its key", "specify it with sslkey=FILE"))
        }
        (None, _) => Ok(None),
    }
}

fn binding_of(name: Option<&str>) -> Result<Binding> {
    match name {
        None | Some("prefer") => Ok(Binding::Prefer),
        Some("disable") => Ok(Binding::Disable),
        Some("require") => Ok(Binding::Require),
        Some(_) => Err(Error::usage(
            "channel_binding has an unknown value",
            "known are disable, prefer, require",
        )),
    }
}
