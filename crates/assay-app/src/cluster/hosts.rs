//! The hosts of a run, as they are named: several processes of this machine.

use assay_cluster::division::Outstanding;
use assay_model::cluster::Transport;
use assay_model::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Processes of one machine at most: each has its own threads, rings and test file.
const LOCAL_MAX: u32 = 64;

/// The hosts of a run, and what they share of its workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsPlan {
    /// Who they are.
    pub hosts: HostNames,
    /// What the outstanding I/Os of the workload stand for.
    #[serde(default)]
    pub outstanding: Outstanding,
}

/// Who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostNames {
    /// A number of processes of this machine: `local:4`.
    Local(u32),
}

impl HostNames {
    /// A name for each.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Local(count) => (1..=*count).map(|number| format!("local-{number}")).collect(),
        }
    }

    /// How lines reach them.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Local(_) => Transport::Local,
        }
    }
}

impl FromStr for HostNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let count = text.strip_prefix("local:").and_then(|count| count.parse::<u32>().ok());
        match count {
            Some(count) if (1..=LOCAL_MAX).contains(&count) => Ok(Self::Local(count)),
            _ => Err(Error::usage(
                format!("{text} names no hosts"),
                format!("write local:N for N processes of this machine, N from 1 to {LOCAL_MAX}"),
            )),
        }
    }
}

impl TryFrom<String> for HostNames {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse().map_err(|error: Error| error.message().to_owned())
    }
}

impl From<HostNames> for String {
    fn from(names: HostNames) -> Self {
        names.to_string()
    }
}

impl fmt::Display for HostNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(count) => write!(formatter, "local:{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_this_machine_are_counted() {
        let four: HostNames = "local:4".parse().unwrap();
        assert_eq!(four.names(), ["local-1", "local-2", "local-3", "local-4"]);
        assert_eq!((four.to_string().as_str(), four.transport()), ("local:4", Transport::Local));
        for text in ["local:0", "local:65", "local:", "local", "", "local:x", "local:-1"] {
            let error = text.parse::<HostNames>().unwrap_err();
            assert!(error.message().contains("names no hosts"), "{text}: {error}");
        }
    }

    #[test]
    fn a_plan_of_hosts_survives_its_document() {
        let plan = HostsPlan { hosts: HostNames::Local(2), outstanding: Outstanding::Total };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(text, r#"{"hosts":"local:2","outstanding":"total"}"#);
        assert_eq!(serde_json::from_str::<HostsPlan>(&text).unwrap(), plan);
    }
}
