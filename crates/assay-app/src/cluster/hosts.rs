//! The hosts of a run, as they are named: several processes of this machine, or hosts of a Ray
//! cluster.

use super::host_list;
use assay_cluster::division::Outstanding;
use assay_model::cluster::Transport;
use assay_model::spelling::Spelling;
use assay_model::{Error, Result, read_from_command_line};
use clap::builder::{BoolValueParser, TypedValueParser};
use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Processes of one machine at most: each has its own threads, rings and test file.
const LOCAL_MAX: u32 = 64;
/// Hosts of a cluster at most; beyond, a driver would need others below it.
const NAMED_MAX: usize = 1000;

/// What stands for a host in a command.
pub(super) const HOST: &str = "{host}";

/// The hosts of a run, and what they share of its workload.
#[derive(Clone, Debug, PartialEq, Eq, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsPlan {
    /// Hosts that measure together, each on its own view of the targets: local:N (processes here),
    /// ssh:A,B,
    /// 'command:… {host} … A,B', or names in a Ray cluster: A,B
    // Without hosts there is no plan of them.
    #[arg(long, value_name = "HOSTS", required = false)]
    pub hosts: HostNames,
    /// Divide the workload's queue depth among the hosts instead of using all of it on each
    #[arg(
        id = "total",
        long = "total",
        requires = "hosts",
        action = ArgAction::SetTrue,
        value_parser = total()
    )]
    #[serde(default)]
    pub queue_depth: Outstanding,
}

fn total() -> impl TypedValueParser<Value = Outstanding> {
    let of = |is_total| if is_total { Outstanding::Total } else { Outstanding::PerHost };
    BoolValueParser::new().map(of)
}

impl HostsPlan {
    /// Hosts that have as many outstanding I/Os each.
    pub(crate) const fn of_each(hosts: HostNames) -> Self {
        Self { hosts, queue_depth: Outstanding::PerHost }
    }

    /// Hosts that share outstanding I/Os.
    pub(crate) const fn sharing(hosts: HostNames) -> Self {
        Self { hosts, queue_depth: Outstanding::Total }
    }

    /// Who they are, where there is a plan.
    pub fn names(plan: Option<&Self>) -> Option<&HostNames> {
        plan.map(|plan| &plan.hosts)
    }

    /// Refuses to go on with what several hosts began; what is to be done instead comes with it.
    ///
    /// # Errors
    /// A usage error where there are hosts.
    pub(crate) fn check_resumable(plan: Option<&Self>, instead: &str) -> Result<()> {
        let Some(_) = plan else { return Ok(()) };
        Err(Error::usage(
            "a run on several hosts cannot be resumed: its hosts would not have started together",
            instead,
        ))
    }
}

/// Who takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostNames {
    /// A number of processes of this machine: `local:4`.
    Local(u32),
    /// Hosts of a Ray cluster by their label, name or address: `hA,hB`.
    Named(Vec<String>),
    /// Hosts that `ssh` reaches, as it calls them: `ssh:hA,hB`; or a command in which `{host}`
    /// stands for each: `command:kubectl exec -i {host} -- hA,hB`. No document holds the command,
    /// because those of others would be carried out.
    Reached {
        /// Who they are.
        names: Vec<String>,
        /// The command.
        command: Option<String>,
    },
}

impl HostNames {
    /// How many they are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.names().len()).unwrap_or(u32::MAX)
    }

    /// A name for each.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Local(count) => (1..=*count).map(|number| format!("local-{number}")).collect(),
            Self::Named(names) | Self::Reached { names, .. } => names.clone(),
        }
    }

    /// Whether they are other machines.
    pub const fn are_elsewhere(&self) -> bool {
        !matches!(self, Self::Local(_))
    }

    /// Refuses paths that would be another place on every host.
    ///
    /// # Errors
    /// A usage error that names the path.
    pub(crate) fn check_paths(&self, paths: &[String]) -> Result<()> {
        match paths.iter().find(|path| self.are_elsewhere() && !path.starts_with('/')) {
            None => Ok(()),
            Some(path) => Err(Error::usage(
                format!("{path} is a relative path, but each host has its own working directory"),
                "use an absolute path that is valid on every host",
            )),
        }
    }

    /// How lines reach them.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Local(_) => Transport::Local,
            Self::Named(_) => Transport::Ray,
            Self::Reached { .. } => Transport::Ssh,
        }
    }
}

read_from_command_line!(HostNames);

impl Spelling for HostNames {}

impl FromStr for HostNames {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(rest) = text.strip_prefix("command:") {
            return of_command(rest);
        }
        match text.strip_prefix("ssh:") {
            Some(list) => Self::of_names(&format!("ssh:{}", host_list::read(list)?)),
            None => Self::of_names(&host_list::read(text)?),
        }
    }
}

/// A command and, behind its last blank, a list of hosts.
fn of_command(text: &str) -> Result<HostNames> {
    let (command, list) = text.trim().rsplit_once(char::is_whitespace).unwrap_or((text, ""));
    if !command.contains(HOST) {
        return Err(Error::usage(
            format!("the command {text} does not contain {HOST}"),
            format!("write for example 'command:kubectl exec -i {HOST} -- podA,podB'"),
        ));
    }
    match HostNames::of_names(&format!("ssh:{}", host_list::read(list)?))? {
        HostNames::Reached { names, .. } => {
            Ok(HostNames::Reached { names, command: Some(command.trim().to_owned()) })
        }
        other => Ok(other),
    }
}

impl HostNames {
    /// Names without a file or a command, as documents have them.
    fn of_names(text: &str) -> Result<Self> {
        if let Some(count) = text.strip_prefix("local:").or((text == "local").then_some("")) {
            let count = count.parse().ok().filter(|count| (1..=LOCAL_MAX).contains(count));
            return count.map(Self::Local).ok_or_else(|| no_hosts(text));
        }
        let (is_reached, text) = match text.strip_prefix("ssh:") {
            Some(names) => (true, names),
            None => (false, text),
        };
        let names = host_list::names(text);
        if names.len() > NAMED_MAX || !names.iter().all(|name| is_name(name)) {
            return Err(no_hosts(text));
        }
        let twice = (1..names.len()).find(|place| names[..*place].contains(&names[*place]));
        match twice {
            Some(place) => Err(Error::usage(
                format!("the host {} is specified twice", names[place]),
                "specify every host once",
            )),
            None if is_reached => Ok(Self::Reached { names, command: None }),
            None => Ok(Self::Named(names)),
        }
    }
}

/// Letters, digits and what stands in names and addresses of hosts.
fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
    name.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && name.chars().all(fits)
}

fn no_hosts(text: &str) -> Error {
    Error::usage(
        format!("{text} names no hosts"),
        format!(
            "write local:N for N processes of this machine, N from 1 to {LOCAL_MAX}, ssh:A,B for \
             hosts that ssh reaches, 'command:… {HOST} … A,B' for any other command, or names of \
             hosts of a Ray cluster; A,B may be a range such as n[01-16] or @FILE"
        ),
    )
}

impl TryFrom<String> for HostNames {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        Self::of_names(&text).map_err(|error: Error| error.message().to_owned())
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
            Self::Named(names) => formatter.write_str(&names.join(",")),
            Self::Reached { names, .. } => write!(formatter, "ssh:{}", names.join(",")),
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
        for text in [
            "local:0", "local:65", "local:", "local", "", "local:x", "local:-1", "hA,", "h A", "-x",
        ] {
            let error = text.parse::<HostNames>().unwrap_err();
            assert!(error.message().contains("names no hosts"), "{text}: {error}");
        }
    }

    #[test]
    fn hosts_of_a_cluster_are_named_once() {
        let hosts: HostNames = "hA, hB,10.0.0.7".parse().unwrap();
        assert_eq!(hosts.names(), ["hA", "hB", "10.0.0.7"]);
        assert_eq!(
            (hosts.to_string().as_str(), hosts.transport()),
            ("hA,hB,10.0.0.7", Transport::Ray)
        );
        let reached: HostNames = "ssh:hA,hB".parse().unwrap();
        assert_eq!((reached.names().len(), reached.transport()), (2, Transport::Ssh));
        assert_eq!(reached.to_string(), "ssh:hA,hB");
        let error = "ssh:@/nowhere".parse::<HostNames>().unwrap_err();
        assert!(error.message().contains("/nowhere"), "{error}");
        let error = "hA,hB,hA".parse::<HostNames>().unwrap_err();
        assert_eq!(error.message(), "the host hA is specified twice");
    }

    #[test]
    fn a_path_on_other_hosts_begins_at_the_root() {
        let check = |hosts: &str, path: &str| {
            hosts.parse::<HostNames>().unwrap().check_paths(&["/mnt/a".to_owned(), path.to_owned()])
        };
        assert!(check("local:2", "d").is_ok() && check("hA,hB", "/mnt/b").is_ok());
        for hosts in ["hA,hB", "ssh:hA,hB"] {
            let error = check(hosts, "./d").unwrap_err();
            assert!(error.message().starts_with("./d is a relative path"), "{error}");
        }
    }

    #[test]
    fn a_command_reaches_hosts_and_stays_out_of_documents() {
        let text = "command:kubectl exec -i {host} -- pod-[1-2],other";
        let pods: HostNames = text.parse().unwrap();
        let HostNames::Reached { names, command } = &pods else { panic!("{pods:?}") };
        assert_eq!(names.as_slice(), ["pod-1", "pod-2", "other"]);
        assert_eq!(command.as_deref(), Some("kubectl exec -i {host} --"));
        assert_eq!(serde_json::to_string(&pods).unwrap(), r#""ssh:pod-1,pod-2,other""#);
        let error = "command:srun -w hA".parse::<HostNames>().unwrap_err();
        assert!(error.message().contains("does not contain {host}"), "{error}");
        for (hostile, why) in
            [(r#""command:touch {host} hA""#, "names no hosts"), (r#""@/etc/passwd""#, "no hosts")]
        {
            let error = serde_json::from_str::<HostNames>(hostile).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        }
    }

    #[test]
    fn a_plan_of_hosts_survives_its_document() {
        let plan = HostsPlan { hosts: HostNames::Local(2), queue_depth: Outstanding::Total };
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(text, r#"{"hosts":"local:2","queue_depth":"total"}"#);
        assert_eq!(serde_json::from_str::<HostsPlan>(&text).unwrap(), plan);
    }
}
