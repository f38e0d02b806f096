//! Whether faster storage would help: the one place that decides, so that no bullet contradicts the
//! headline.

use super::activity;
use super::devices;
use super::events::{is_idle, name_of_class, of_sessions};
use crate::check;
use crate::knowledge::{self, WRITE_BEHIND};
use crate::report::{OracleReport, ReportEvent, ReportKind, ShareOf};
use crate::section::OracleSection;
use assay_model::profile::{
    Bottleneck, DeviceFinding, DeviceGrade, HostActivity, IoPath, ReportScope, StorageMedium,
    TimeModel, TimeVerdict,
};

/// Fewer sessions active than this on average are idleness: one statement a minute is most of it.
const IDLE_SESSIONS: f64 = 0.05;
/// From this share of its time on a machine makes processes wait for its CPUs.
const HOST_BUSY: f64 = 0.85;
/// More than this share of DB time missing or counted twice is reported.
const TOLD_SHARE: f64 = 0.05;
/// More than DB time by more than rounding: no time on a CPU and no sum of waits can be that.
const CONTRADICTS: f64 = 1.05;
/// Printed shares and times that differ by more than this are not of one table.
const SHARE_SLACK: f64 = 0.05;
/// From this share of DB time on a wait that has a cause of its own is named.
const NAMED_SHARE: f64 = 0.01;
/// Waits that end when another session's commit is durable.
const HANGING_ON_COMMITS: &[&str] = &["enq: TX - row lock contention", "enq: TX - contention"];

/// The verdict of a report; `devices` are judged by themselves before, by the limits of `medium`.
pub(super) fn verdict(
    report: &OracleReport,
    time: &TimeModel,
    host: &HostActivity,
    devices: Vec<DeviceFinding>,
    medium: Option<StorageMedium>,
) -> TimeVerdict {
    let judged = match unjudged(report, time) {
        Some(reason) => TimeVerdict { reason, ..TimeVerdict::default() },
        None => by_time(report, time, host, &devices),
    };
    let mut notes = judged.notes.clone();
    notes.extend(devices::were_it_flash(&devices, medium));
    notes.extend(scope(report));
    TimeVerdict { medium, devices, notes, ..judged }
}

/// Why nothing can be concluded, where nothing can.
fn unjudged(report: &OracleReport, time: &TimeModel) -> Option<String> {
    if let Some(banner) = &report.invalid {
        return Some(format!("the report states: {banner}"));
    }
    if let Some((wrong, all)) = check::contradicted(report) {
        return Some(format!(
            "{wrong} of {all} counters contradict their own rates, so its numbers cannot be \
             trusted"
        ));
    }
    if let Some(misplaced) = check::misplaced(report) {
        return Some(format!(
            "{misplaced} or more numbers and headings are misaligned: the layout of this copy was \
             changed, so a verdict is not possible"
        ));
    }
    if let Some(event) = unread_wait(report) {
        return Some(format!("the time of {event} is unreadable, and its wait class is unknown"));
    }
    let db_time_s = time.db_time_s.as_ref().map(|time| time.value).filter(|time_s| *time_s > 0.0);
    match db_time_s {
        None => Some("the report has no DB time".to_owned()),
        Some(db_time_s) => other_share_printed(report, db_time_s),
    }
}

/// A wait of sessions whose time stands in the report, cannot be read, and is in no sum that can.
fn unread_wait(report: &OracleReport) -> Option<String> {
    let lists =
        [OracleSection::TopEvents, OracleSection::ForegroundEvents, OracleSection::AllEvents];
    if !report.wait_classes.is_empty() || !lists.into_iter().any(|list| report.has_unread(list)) {
        return None;
    }
    let sessions = of_sessions(report);
    let unread = |event: &&ReportEvent| {
        event.waits.is_some_and(|waits| waits.value > 0.0)
            && event.time.is_none()
            && (event.share.is_none() || event.share_of != ShareOf::DbTime)
            && !is_idle(event)
    };
    sessions.iter().find(unread).map(|event| event.name.clone())
}

/// An event whose printed share of DB time is another than its time says: one of the two was read
/// from another column, or the copy mixes reports.
fn other_share_printed(report: &OracleReport, db_time_s: f64) -> Option<String> {
    let lists = [&report.top_events, &report.foreground_events];
    let events = lists.into_iter().flatten().filter(|event| event.share_of == ShareOf::DbTime);
    let shares = events.filter_map(|event| Some((event, event.share?.value, event.time?)));
    let mut wrong = shares.filter(|(_, share, time)| {
        let of_time = time.value / db_time_s;
        let slack = SHARE_SLACK + time.rounding_width / db_time_s;
        (of_time - share).abs() > slack + 0.1 * share.max(of_time)
    });
    wrong.next().map(|(event, share, time)| {
        format!(
            "{} is {:.1}% of DB time as printed and {:.1}% by its time ({}): its numbers \
             contradict each other",
            event.name,
            share * 100.0,
            time.value / db_time_s * 100.0,
            time.section.title()
        )
    })
}

fn by_time(
    report: &OracleReport,
    time: &TimeModel,
    host: &HostActivity,
    devices: &[DeviceFinding],
) -> TimeVerdict {
    let shares = with_cpu_queue(shares(report, time), host);
    let slow_log = devices
        .iter()
        .any(|device| device.path == IoPath::RedoWrite && device.grade >= DeviceGrade::Slow);
    let mut verdict = shares.concluded();
    unaccounted(&mut verdict);
    idle(&mut verdict, time);
    verdict.cause = cause(report, &verdict);
    let hanging = if slow_log { hanging_share(report, time) } else { 0.0 };
    if hanging >= TOLD_SHARE {
        verdict.suspected_cause = Some("log file parallel write".to_owned());
    }
    verdict.notes.extend(notes(&verdict, hanging));
    verdict.notes.extend(own_causes(report, time));
    verdict
}

/// Shares of DB time, so what a top list leaves out lowers none of them.
fn shares(report: &OracleReport, time: &TimeModel) -> TimeVerdict {
    let db_time_s = time.db_time_s.as_ref().map_or(1.0, |time| time.value);
    let of_classes = |classes: &[&str]| {
        let waits = time.waits.iter().filter(|wait| classes.contains(&wait.class.as_str()));
        waits.map(|wait| wait.time_s.value).fold(0.0, |sum, time_s| sum + time_s) / db_time_s
    };
    let is_known = !time.waits.is_empty() || is_listed(report);
    let behind = seconds(report, WRITE_BEHIND) / db_time_s;
    let locks = locks_of_no_class(report, time) / db_time_s;
    let contention = (of_classes(knowledge::CONTENTION) - behind).max(0.0) + locks;
    TimeVerdict {
        user_io_share: is_known.then(|| of_classes(STORAGE)),
        write_behind_share: is_known.then_some(behind),
        commit_share: is_known.then(|| of_classes(&["Commit"])),
        cpu_share: time.db_cpu_s.as_ref().map(|cpu| cpu.value / db_time_s),
        contention_share: is_known.then_some(contention),
        other_share: is_known.then(|| (of_classes(OTHER) - locks).max(0.0)),
        unaccounted_share: is_listed(report)
            .then_some(time.unaccounted_s.as_ref())
            .flatten()
            .map(|rest| rest.value / db_time_s),
        ..TimeVerdict::default()
    }
}

/// Whether all waits of sessions are printed: what a top list leaves out is not unaccounted.
fn is_listed(report: &OracleReport) -> bool {
    let lists = [&report.wait_classes, &report.foreground_events];
    let together = report.kind != ReportKind::AwrGlobal && !report.all_events.is_empty();
    lists.into_iter().any(|list| !list.is_empty()) || together
}

/// Seconds in locks and latches that the report files under `Other`: whatever their class, who
/// waits for one waits for another session. Never more than the class itself holds.
fn locks_of_no_class(report: &OracleReport, time: &TimeModel) -> f64 {
    let sessions = of_sessions(report);
    let locks = sessions
        .iter()
        .filter(|event| knowledge::is_lock(&event.name) && class_of(report, event) == "Other");
    let locks = locks.filter_map(|event| event.time).map(|time| time.value);
    let class = time.waits.iter().filter(|wait| wait.class == "Other");
    let class: f64 = class.map(|wait| wait.time_s.value).sum();
    locks.sum::<f64>().min(class)
}

/// Classes of I/O that sessions wait for.
const STORAGE: &[&str] = &["User I/O", "System I/O"];
/// Classes of no other part.
const OTHER: &[&str] = &["Other", "Network", "Scheduler", "Administrative", "Queueing"];

/// Time of sessions in these events, seconds.
fn seconds(report: &OracleReport, names: &[&str]) -> f64 {
    let sessions = of_sessions(report);
    let events = sessions.iter().filter(|event| knowledge::is_any(&event.name, names));
    events.filter_map(|event| event.time).map(|time| time.value).fold(0.0, |sum, one| sum + one)
}

fn hanging_share(report: &OracleReport, time: &TimeModel) -> f64 {
    let db_time_s = time.db_time_s.as_ref().map_or(1.0, |time| time.value);
    seconds(report, HANGING_ON_COMMITS) / db_time_s
}

/// Says why nothing leads where too much is in no event. DB CPU a little above DB time is all of
/// it: the two are taken at different instants.
fn unaccounted(verdict: &mut TimeVerdict) {
    if verdict.bottleneck == Bottleneck::Unknown && verdict.unaccounted_share.is_some() {
        let reason = &verdict.reason;
        verdict.reason =
            format!("the largest part of DB time is neither in an event nor on a CPU: {reason}");
    } else if let Some(cpu) = verdict.cpu_share.filter(|share| (1.0..=CONTRADICTS).contains(share))
        && cpu > 1.0
    {
        verdict.notes.push(format!(
            "DB CPU is {:.1}% of DB time as printed; it is treated as all of it.",
            cpu * 100.0
        ));
        verdict.cpu_share = Some(1.0);
        verdict.unaccounted_share = verdict.unaccounted_share.map(|rest| rest + cpu - 1.0);
        let notes = std::mem::take(&mut verdict.notes);
        *verdict = TimeVerdict { notes, ..std::mem::take(verdict).concluded() };
    }
}

/// Time that no event accounts for is waiting for a CPU where the machine has none to spare.
fn with_cpu_queue(mut shares: TimeVerdict, host: &HostActivity) -> TimeVerdict {
    let busy = host.busy_share.as_ref().map_or(0.0, |busy| busy.value);
    let queued = shares.unaccounted_share.filter(|share| *share > 0.0 && busy >= HOST_BUSY);
    let Some(queued) = queued else { return shares };
    shares.cpu_queue_share = Some(queued);
    shares.unaccounted_share = None;
    shares.notes.push(format!(
        "{:.1}% of DB time is not in any event, and the machine was {:.0}% busy: sessions waited \
         for a CPU.",
        queued * 100.0,
        busy * 100.0
    ));
    shares
}

fn idle(verdict: &mut TimeVerdict, time: &TimeModel) {
    let active = time.average_active_sessions.as_ref().map(|active| active.value);
    if let Some(active) = active.filter(|active| *active < IDLE_SESSIONS) {
        verdict.bottleneck = Bottleneck::Idle;
        let active = if active < 0.005 { "almost no".to_owned() } else { format!("{active:.2}") };
        verdict.reason =
            format!("{active} sessions were active on average, too few to draw conclusions");
        verdict.speedup_limit = None;
        verdict.storage_speedup_limit = None;
    }
}

/// The event that leads the leading part.
fn cause(report: &OracleReport, verdict: &TimeVerdict) -> Option<String> {
    let classes: Vec<&str> = match verdict.bottleneck {
        Bottleneck::Storage => [STORAGE, &["Commit", "Configuration", "Application"]].concat(),
        Bottleneck::Commit => vec!["Commit"],
        Bottleneck::Contention => knowledge::CONTENTION.to_vec(),
        Bottleneck::Other => OTHER.to_vec(),
        Bottleneck::Cpu => return Some("DB CPU".to_owned()),
        Bottleneck::Idle | Bottleneck::Mixed | Bottleneck::Unknown => return None,
    };
    let sessions = of_sessions(report);
    let counts = |event: &&ReportEvent| {
        let class = class_of(report, event);
        let storage = verdict.bottleneck == Bottleneck::Storage;
        let of_storage = class != "Application" && class != "Configuration"
            || knowledge::is_any(&event.name, WRITE_BEHIND);
        let lock = class == "Other" && knowledge::is_lock(&event.name);
        let of_class = match verdict.bottleneck {
            Bottleneck::Contention => lock || classes.contains(&class.as_str()),
            _ => !lock && classes.contains(&class.as_str()),
        };
        !is_idle(event) && of_class && (!storage || of_storage)
    };
    let time = |event: &&ReportEvent| event.time.map_or(0.0, |time| time.value);
    let events = sessions.iter().filter(counts);
    events.max_by(|left, right| time(left).total_cmp(&time(right))).map(|event| event.name.clone())
}

/// The class of an event: its own column, else the top list's, else by its name.
fn class_of(report: &OracleReport, event: &ReportEvent) -> String {
    let printed =
        report.top_events.iter().find(|top| top.name == event.name && top.class.is_some());
    name_of_class(if event.class.is_some() { event } else { printed.unwrap_or(event) })
}

fn notes(verdict: &TimeVerdict, hanging: f64) -> Vec<String> {
    let mut notes = Vec::new();
    if hanging >= TOLD_SHARE {
        notes.push(format!(
            "Row locks ({:.1}% of DB time) are held until the commit returns, and the log device \
             is slow, so it may be the cause. Fix it first, then measure again.",
            hanging * 100.0
        ));
    }
    // CPU time or waits that alone exceed DB time overlap nothing: they cannot be.
    let cpu_share = verdict.cpu_share.unwrap_or(0.0);
    let is_twice = |share: &f64| *share < -TOLD_SHARE && cpu_share <= 1.0 && cpu_share >= -share;
    if let Some(share) = verdict.unaccounted_share.filter(is_twice) {
        notes.push(format!(
            "{:.1}% of DB time was counted twice: as a wait and as time on a CPU.",
            -share * 100.0
        ));
    }
    notes
}

/// Waits whose cause is known by their name, with how much of DB time they were.
fn own_causes(report: &OracleReport, time: &TimeModel) -> Vec<String> {
    let db_time_s = time.db_time_s.as_ref().map_or(1.0, |time| time.value);
    let sessions = of_sessions(report);
    let named = sessions.iter().filter_map(|event| {
        let share = event.time?.value / db_time_s;
        let cause = knowledge::own_cause(&event.name).filter(|_| share >= NAMED_SHARE)?;
        let count = event.waits.map_or_else(String::new, |waits| format!("{} × ", waits.value));
        Some(format!("{} ({count}{:.1}% of DB time): {cause}.", event.name, share * 100.0))
    });
    named.collect()
}

/// A part of a database says a part of what its storage carries.
fn scope(report: &OracleReport) -> Option<String> {
    let of = match activity::scope(report) {
        ReportScope::Database => return None,
        ReportScope::Instance => "one instance of a cluster",
        ReportScope::PluggableDatabase => "one pluggable database of a container",
    };
    Some(format!("This is {of}: only a part of the storage's load."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shares_that_can_be_are_counted_twice() {
        let is_noted = |cpu_share: f64, unaccounted_share: f64| {
            let verdict = TimeVerdict {
                cpu_share: Some(cpu_share),
                unaccounted_share: Some(unaccounted_share),
                ..TimeVerdict::default()
            };
            !notes(&verdict, 0.0).is_empty()
        };
        assert!(is_noted(0.78, -0.18), "waits of 40% and CPU time of 78%");
        assert!(!is_noted(1.92, -0.94), "CPU time of 192%");
        assert!(!is_noted(0.02, -0.1), "waits of 108%");
    }
}
