//! Rules on storage that is reached over a network. Sources: Dell, Sizing and Best Practices for
//! OLTP (2017), sections 7.1 to 7.3; the README of open-iscsi on multipath.

use super::rule::FindingRule;
use assay_model::environment::Severity::{Notice, Warning};
use assay_model::environment::{Environment, Finding, Host, IscsiSession, NetworkPort};
use assay_model::number::real;
use assay_model::stack::LayerKind;
use assay_model::units::{show_bytes, show_time_ns};
use std::collections::BTreeMap;

const JUMBO_FRAMES: FindingRule = FindingRule::new(
    "jumbo_frames",
    Notice,
    "packets of this size cost more CPU time per byte of storage traffic; which ports carry it is \
     not visible here",
    "on ports, switches and array alike: ip link set PORT mtu 9000; check flow control with \
     ethtool -a PORT",
);
const BONDED_PORTS: FindingRule = FindingRule::new(
    "bonded_ports",
    Notice,
    "a bond sends each connection over one port; multipath over separate ports uses all of them \
     and detects failed paths",
    "use bonds for clients, and one iSCSI session per port for storage",
);
const ONE_SESSION: FindingRule = FindingRule::new(
    "iscsi_sessions",
    Warning,
    "one session is one path: one port's bandwidth, and no redundancy",
    "log in over every port (iscsiadm -m iface), and combine the paths with multipath",
);
const ISCSI_TIMEOUT: FindingRule = FindingRule::new(
    "iscsi_timeout",
    Notice,
    "I/Os of a lost path wait this long before multipath sends them over another one",
    "set node.session.timeo.replacement_timeout = 5 in iscsid.conf, and log in again",
);
const SESSION_STATE: FindingRule = FindingRule::new(
    "iscsi_session_state",
    Warning,
    "the session is not logged in: its path carries no I/O",
    "check the network and iscsiadm -m session -P 1",
);

pub(super) const RULES: &[&FindingRule] =
    &[&JUMBO_FRAMES, &BONDED_PORTS, &ONE_SESSION, &ISCSI_TIMEOUT, &SESSION_STATE];

const JUMBO_BYTES: u64 = 9000;
const FAST_BITS_PER_S: u64 = 10_000_000_000;
const RECOVERY_NS_MAX: u64 = 15_000_000_000;

pub(super) fn find(environment: &Environment, findings: &mut Vec<Finding>) {
    let host = &environment.host;
    if !host.iscsi_sessions.is_empty() || has_network_file_system(environment) {
        findings.extend(host.network_ports.iter().filter_map(small_frames));
    }
    if host.iscsi_sessions.is_empty() {
        return;
    }
    findings.extend(host.network_ports.iter().filter_map(bond));
    findings.extend(single_sessions(host));
    findings.extend(host.iscsi_sessions.iter().filter_map(not_logged_in));
    if has_multipath(environment) {
        findings.extend(host.iscsi_sessions.iter().filter_map(slow_recovery));
    }
}

fn has_network_file_system(environment: &Environment) -> bool {
    let mut mounts = environment.storage.iter().filter_map(|storage| storage.stack.mount.as_ref());
    mounts.any(|mount| mount.file_system.starts_with("nfs"))
}

fn has_multipath(environment: &Environment) -> bool {
    let mut layers = environment.storage.iter().flat_map(|storage| &storage.stack.layers);
    layers.any(|layer| layer.kind == LayerKind::Multipath)
}

fn small_frames(port: &NetworkPort) -> Option<Finding> {
    let is_fast = port.bits_per_s.is_some_and(|speed| speed >= FAST_BITS_PER_S);
    let bytes = port.mtu_bytes.filter(|bytes| port.is_up && is_fast && *bytes < JUMBO_BYTES)?;
    let found = JUMBO_FRAMES.found(format!("{}: MTU", port.name), show_bytes(real(bytes)));
    Some(Finding { remedy: found.remedy.replace("PORT", &port.name), ..found })
}

fn bond(port: &NetworkPort) -> Option<Finding> {
    let mode = port.bond_mode.as_ref()?;
    let value = format!("{mode} of {}", port.bond_members.join(", "));
    Some(BONDED_PORTS.found(format!("{}: bond", port.name), value))
}

/// Targets with a single session.
fn single_sessions(host: &Host) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for session in &host.iscsi_sessions {
        *counts.entry(&session.target).or_default() += 1;
    }
    let alone = counts.into_iter().filter(|(_, count)| *count == 1);
    alone.map(|(target, _)| ONE_SESSION.found(format!("{target}: sessions"), "1")).collect()
}

fn slow_recovery(session: &IscsiSession) -> Option<Finding> {
    let time_ns = session.recovery_timeout_ns.filter(|time_ns| *time_ns > RECOVERY_NS_MAX)?;
    let what = format!("{}: recovery timeout", session.name);
    Some(ISCSI_TIMEOUT.found(what, show_time_ns(real(time_ns))))
}

fn not_logged_in(session: &IscsiSession) -> Option<Finding> {
    let state = session.state.as_ref().filter(|state| *state != "LOGGED_IN")?;
    Some(SESSION_STATE.found(format!("{}: state", session.name), state.clone()))
}
