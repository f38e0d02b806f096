//! The machine itself: processors, hypervisor, clock, distribution.

use crate::root::Survey;
use assay_model::environment::Cpu;
use assay_model::number::count_of;
use std::collections::BTreeSet;

pub(super) fn fact(survey: &Survey, path: &str) -> Option<String> {
    survey.text(&survey.root().path(path))
}

pub(super) fn distribution(survey: &Survey) -> Option<String> {
    let text = fact(survey, "/etc/os-release")?;
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"').to_owned())
}

pub(super) fn clock_source(survey: &Survey) -> Option<String> {
    fact(survey, "/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

pub(super) fn cpu(survey: &Survey) -> Cpu {
    let text = fact(survey, "/proc/cpuinfo").unwrap_or_default();
    let listed = text.lines().filter(|line| line.starts_with("processor")).count();
    let online = fact(survey, "/sys/devices/system/cpu/online").and_then(|list| list_length(&list));
    let status = fact(survey, "/proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    Cpu {
        model: ["model name", "Model", "cpu model"].iter().find_map(|key| value_of(&text, key)),
        logical: online.unwrap_or(count_of(listed)),
        allowed: allowed.and_then(|list| list_length(list.trim())),
        governors: governors(survey),
        idle_exit_ns_max: idle_exit_ns_max(survey),
    }
}

/// The longest exit latency of the first CPU's idle states that are not disabled.
fn idle_exit_ns_max(survey: &Survey) -> Option<u64> {
    let place = survey.root().path("/sys/devices/system/cpu/cpu0/cpuidle");
    let exit_ns = |name: &String| {
        let state = place.join(name);
        let is_off = survey.flag(&state.join("disable")) == Some(true);
        let time_us: u64 = survey.value(&state.join("latency"))?;
        (!is_off).then(|| time_us.saturating_mul(1000))
    };
    survey.names(&place).iter().filter_map(exit_ns).max()
}

/// The text behind `key : ` in `/proc/cpuinfo`.
fn value_of(text: &str, key: &str) -> Option<String> {
    let is_key = |line: &&str| line.split(':').next().is_some_and(|name| name.trim() == key);
    let line = text.lines().find(is_key)?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// How many numbers a list such as `0-3,8` has.
pub(super) fn list_length(list: &str) -> Option<u64> {
    let length = |range: &str| -> Option<u64> {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
        Some(high.checked_sub(low)? + 1)
    };
    list.split(',').map(length).sum()
}

fn governors(survey: &Survey) -> Vec<String> {
    let place = survey.root().path("/sys/devices/system/cpu");
    let names = survey.names(&place);
    let governor = |name: &String| survey.text(&place.join(name).join("cpufreq/scaling_governor"));
    let each: BTreeSet<String> = names.iter().filter_map(governor).collect();
    each.into_iter().collect()
}

/// What the firmware, the hypervisor or the processor say of a virtual machine; `None` of a real
/// one, as far as anything shows it.
pub(super) fn virtualisation(survey: &Survey) -> Option<String> {
    let hypervisor = fact(survey, "/sys/hypervisor/type");
    let flags = fact(survey, "/proc/cpuinfo").and_then(|text| value_of(&text, "flags"));
    let flagged = flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let named = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| fact(survey, &format!("/sys/class/dmi/id/{name}")));
    let azure = fact(survey, "/sys/class/dmi/id/chassis_asset_tag");
    let azure = azure.filter(|tag| tag == AZURE_TAG).map(|_| "(Azure)".to_owned());
    let named = named.chain(azure).collect::<Vec<_>>().join(" ");
    let by_firmware = Some(named).filter(|name| !name.is_empty() && (flagged || is_virtual(name)));
    by_firmware.or(hypervisor).or_else(|| flagged.then(|| "an unnamed hypervisor".to_owned()))
}

/// The asset tag of every machine in Azure, by which it differs from other machines of Hyper-V.
const AZURE_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// Makers and products that are always virtual; processors other than x86 do not tell it by a flag.
fn is_virtual(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Xen",
        "Virtual Machine",
        "Amazon EC2",
        "Google Compute",
        "OpenStack",
    ];
    NAMES.iter().any(|known| name.contains(known))
}
