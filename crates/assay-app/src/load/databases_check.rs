//! Which databases a load can be on at once and hosts can reach, and how many sessions they have at
//! least.

use super::server_plan::ServerPlan;
use crate::cluster::HostNames;
use assay_dbserver::redacted;
use assay_model::load::Dialect;
use assay_model::number::count_of;
use assay_model::{Error, Result};

/// The databases of a load as its options name them.
pub(super) struct Databases<'a> {
    pub(super) target: &'a str,
    pub(super) others: &'a [String],
    pub(super) hosts: Option<&'a HostNames>,
    pub(super) server: &'a ServerPlan,
    /// Numbers of sessions, where somebody said them.
    pub(super) sessions: Option<&'a [u32]>,
}

/// All targets of a load.
pub(super) fn targets(target: &str, others: &[String]) -> Vec<String> {
    std::iter::once(target.to_owned()).chain(others.iter().cloned()).collect()
}

/// Numbers of sessions where nobody says them: as many on each database.
pub(super) fn usual_sessions(each: &[u32], others: &[String]) -> Vec<u32> {
    let databases = u32::try_from(others.len()).unwrap_or(u32::MAX).saturating_add(1);
    each.iter().map(|sessions| sessions.saturating_mul(databases)).collect()
}

impl Databases<'_> {
    /// Refuses databases that no host could have, that are of different products, or that would get
    /// no session.
    ///
    /// # Errors
    /// A usage error that names them.
    pub(super) fn check(&self) -> Result<()> {
        check_hosts(self.hosts, self.target)?;
        if self.others.is_empty() {
            return Ok(());
        }
        self.check_names()?;
        let databases = self.others.len() + 1;
        let hosts = self.hosts.map_or(0, |hosts| hosts.names().len());
        if hosts < databases {
            return Err(Error::usage(
                format!("{databases} databases need as many hosts, but only {hosts} are named"),
                format!(
                    "specify them with --hosts; local:{databases} are processes of this machine"
                ),
            ));
        }
        let fewest = self.sessions.and_then(|sessions| sessions.iter().min());
        match fewest {
            Some(fewest) if u64::from(*fewest) < count_of(databases) => Err(Error::usage(
                format!("--sessions {fewest} is too few for {databases} databases"),
                format!("--sessions is the total over all databases: use {databases} or more"),
            )),
            _ => Ok(()),
        }
    }

    fn check_names(&self) -> Result<()> {
        let dialect = self.server.dialect(self.target)?;
        for (number, other) in self.others.iter().enumerate() {
            check_hosts(self.hosts, other)?;
            if other == self.target || self.others[..number].contains(other) {
                return Err(Error::usage(
                    format!("the database {} is specified twice", redacted(other)),
                    "specify each once; hosts are assigned in turn",
                ));
            }
            if self.server.dialect(other)? != dialect {
                return Err(Error::usage(
                    "the databases are of different products, so their rates cannot be added",
                    "specify servers of one product, or start one load for each",
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a managed server for hosts that could not reach it: it listens at a socket of this
/// machine alone.
///
/// # Errors
/// A usage error that names both.
fn check_hosts(hosts: Option<&HostNames>, target: &str) -> Result<()> {
    match hosts {
        Some(HostNames::Named(_) | HostNames::Reached { .. })
            if Dialect::of_address(target).is_none() =>
        {
            Err(Error::usage(
                format!(
                    "a server in {target} listens only on this machine, but --hosts lists others"
                ),
                "specify the address of a server that all hosts reach, or use --hosts local:N",
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(others: &[&str], hosts: Option<u32>, sessions: &[u32]) -> Option<String> {
        let (server, others) =
            (ServerPlan::default(), others.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        let hosts = hosts.map(HostNames::Local);
        let asked = Databases {
            target: "a",
            others: &others,
            hosts: hosts.as_ref(),
            server: &server,
            sessions: (!sessions.is_empty()).then_some(sessions),
        };
        asked.check().err().map(|error| error.message().to_owned())
    }

    #[test]
    fn every_database_has_a_host_and_a_session() {
        assert_eq!(refused(&[], None, &[1]), None);
        assert_eq!(refused(&["b"], Some(2), &[]), None);
        assert_eq!(refused(&["b"], Some(3), &[2, 4]), None);
        let said =
            |others: &[&str], hosts, sessions: &[u32]| refused(others, hosts, sessions).unwrap();
        assert_eq!(said(&["b"], None, &[]), "2 databases need as many hosts, but only 0 are named");
        assert_eq!(
            said(&["b", "c"], Some(2), &[]),
            "3 databases need as many hosts, but only 2 are named"
        );
        assert!(said(&["b"], Some(2), &[4, 1]).contains("--sessions 1 is too few"));
        assert_eq!(said(&["b", "b"], Some(3), &[]), "the database b is specified twice");
        assert_eq!(said(&["a"], Some(3), &[]), "the database a is specified twice");
        assert!(said(&["mysql://u@h/"], Some(2), &[]).contains("different products"));
    }

    #[test]
    fn nobody_says_how_many_means_as_many_on_each() {
        assert_eq!(usual_sessions(&[1, 4], &[]), [1, 4]);
        assert_eq!(usual_sessions(&[1, 4], &["b".to_owned(), "c".to_owned()]), [3, 12]);
    }
}
