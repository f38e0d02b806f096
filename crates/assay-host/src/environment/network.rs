//! Network ports and iSCSI sessions, as sysfs lists them.

use crate::root::Survey;
use assay_model::environment::{IscsiSession, NetworkPort};
use std::path::Path;

/// Kernel numbers of Ethernet and `InfiniBand` (`ARPHRD_ETHER`, `ARPHRD_INFINIBAND`).
const LINK_TYPES: [u64; 2] = [1, 32];
const MEGABIT: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Physical ports and bonds of them; virtual interfaces carry no storage of their own.
pub(super) fn network_ports(survey: &Survey) -> Vec<NetworkPort> {
    let all = survey.root().path("/sys/class/net");
    let names = survey.names(&all).into_iter();
    names.filter_map(|name| network_port(survey, &all.join(&name), name)).collect()
}

fn network_port(survey: &Survey, place: &Path, name: String) -> Option<NetworkPort> {
    let is_bond = place.join("bonding").exists();
    let is_physical = place.join("device").exists();
    let link: u64 = survey.value(&place.join("type"))?;
    if !(is_bond || is_physical) || !LINK_TYPES.contains(&link) {
        return None;
    }
    let text = |attribute: &str| survey.text(&place.join(attribute));
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    // The kernel says -1 of a link whose speed it does not know.
    let megabits = text("speed").and_then(|speed| speed.parse::<u64>().ok());
    Some(NetworkPort {
        name,
        is_up: text("operstate").as_deref() == Some("up"),
        mtu_bytes: survey.value(&place.join("mtu")),
        bits_per_s: megabits.map(|megabits| megabits.saturating_mul(MEGABIT)),
        bond_mode: text("bonding/mode").and_then(|mode| words(mode).into_iter().next()),
        bond_members: text("bonding/slaves").map(words).unwrap_or_default(),
    })
}

/// Sessions of the iSCSI initiator of the kernel.
pub(super) fn iscsi_sessions(survey: &Survey) -> Vec<IscsiSession> {
    let all = survey.root().path("/sys/class/iscsi_session");
    let names = survey.names(&all).into_iter();
    names.filter_map(|name| iscsi_session(survey, &all.join(&name), name)).collect()
}

fn iscsi_session(survey: &Survey, place: &Path, name: String) -> Option<IscsiSession> {
    let text = |attribute: &str| survey.text(&place.join(attribute));
    // `off` means that I/Os wait without end.
    let seconds = text("recovery_tmo").and_then(|time| time.parse::<u64>().ok());
    Some(IscsiSession {
        name,
        target: text("targetname")?,
        state: text("state"),
        recovery_timeout_ns: seconds.map(|seconds| seconds.saturating_mul(SECOND_NS)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::SysRoot;
    use crate::testing::FakeSystem;

    fn system() -> FakeSystem {
        FakeSystem::new("network")
            .file("sys/class/net/eth0/type", "1\n")
            .file("sys/class/net/eth0/device/vendor", "0x8086\n")
            .file("sys/class/net/eth0/operstate", "up\n")
            .file("sys/class/net/eth0/mtu", "1500\n")
            .file("sys/class/net/eth0/speed", "10000\n")
            .file("sys/class/net/eth1/type", "1\n")
            .file("sys/class/net/eth1/device/vendor", "0x8086\n")
            .file("sys/class/net/eth1/operstate", "down\n")
            .file("sys/class/net/eth1/speed", "-1\n")
            .file("sys/class/net/bond0/type", "1\n")
            .file("sys/class/net/bond0/bonding/mode", "active-backup 1\n")
            .file("sys/class/net/bond0/bonding/slaves", "eth0 eth1\n")
            .file("sys/class/net/lo/type", "772\n")
            .file("sys/class/net/veth1/type", "1\n")
            .file("sys/class/iscsi_session/session3/targetname", "iqn.2001-05.com.x:vol1\n")
            .file("sys/class/iscsi_session/session3/state", "LOGGED_IN\n")
            .file("sys/class/iscsi_session/session3/recovery_tmo", "120\n")
            .file("sys/class/iscsi_session/session4/targetname", "iqn.2001-05.com.x:vol1\n")
            .file("sys/class/iscsi_session/session4/recovery_tmo", "off\n")
    }

    #[test]
    fn ports_and_bonds_are_read_and_virtual_interfaces_are_not() {
        let system = system();
        let root = SysRoot::under(system.path());
        let ports = network_ports(&Survey::new(&root));
        let names: Vec<_> = ports.iter().map(|port| port.name.as_str()).collect();
        assert_eq!(names, ["bond0", "eth0", "eth1"]);
        assert_eq!(ports[0].bond_mode.as_deref(), Some("active-backup"));
        assert_eq!(ports[0].bond_members, ["eth0", "eth1"]);
        assert_eq!((ports[1].is_up, ports[2].is_up), (true, false));
        assert_eq!((ports[1].mtu_bytes, ports[2].mtu_bytes), (Some(1500), None));
        assert_eq!((ports[1].bits_per_s, ports[2].bits_per_s), (Some(10_000_000_000), None));
    }

    #[test]
    fn sessions_are_read_with_their_target_and_timeout() {
        let system = system();
        let root = SysRoot::under(system.path());
        let sessions = iscsi_sessions(&Survey::new(&root));
        assert_eq!(sessions.len(), 2);
        assert_eq!(sessions[0].target, "iqn.2001-05.com.x:vol1");
        assert_eq!(sessions[0].recovery_timeout_ns, Some(120_000_000_000));
        assert_eq!((sessions[1].recovery_timeout_ns, sessions[1].state.as_ref()), (None, None));
    }
}
