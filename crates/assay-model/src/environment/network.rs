//! Network ports of a host and its sessions with iSCSI targets.

use serde::{Deserialize, Serialize};

/// An Ethernet or `InfiniBand` port, or a bond of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NetworkPort {
    /// The kernel's name, for example `eth0`.
    pub name: String,
    /// Whether its link is up.
    pub is_up: bool,
    /// Largest packet (MTU), bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
    /// Speed of the link, bits per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits_per_s: Option<u64>,
    /// Mode of a bond, for example `active-backup`; none of a single port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bond_mode: Option<String>,
    /// Ports of a bond.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bond_members: Vec<String>,
}

/// A session with an iSCSI target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct IscsiSession {
    /// The kernel's name, for example `session1`.
    pub name: String,
    /// Name of the target.
    pub target: String,
    /// State, for example `LOGGED_IN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Time after a lost connection until I/Os fail (`recovery_tmo`), ns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_timeout_ns: Option<u64>,
}
