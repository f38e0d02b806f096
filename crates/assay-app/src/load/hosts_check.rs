//! Which servers hosts can have sessions on.

use crate::cluster::HostNames;
use assay_model::{Error, Result};

/// Whether a target is the address of a server and not a directory.
pub(super) fn is_server(target: &str) -> bool {
    assay_postgres::address::is_address(target) || assay_mariadb::address::is_address(target)
}

/// Refuses a managed server for hosts that could not reach it: it listens at a socket of this machine alone.
///
/// # Errors
/// A usage error that names both.
pub(super) fn check_hosts(hosts: Option<&HostNames>, target: &str) -> Result<()> {
    match hosts {
        Some(HostNames::Named(_) | HostNames::Reached(_)) if !is_server(target) => {
            Err(Error::usage(
                format!(
                    "a server in {target} listens on this machine alone, and --hosts names others"
                ),
                "name the address of a server that all hosts reach, or use --hosts local:N",
            ))
        }
        _ => Ok(()),
    }
}
