//! What a machine did, as other tools recorded it: an archive of `OSWatcher`, or one trace of
//! `iostat`, `vmstat`, `mpstat` or `sar`, as text or as JSON.

use assay_archives::oswatcher::{Imported, read, read_trace};
use assay_methods::files::read_foreign;
use assay_model::Result;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::path::Path;

/// Reads an archive by its directory, or a trace by its file.
///
/// # Errors
/// A usage error when nothing in it says what devices or processors did.
pub fn read_machine(path: &Path) -> Result<Imported> {
    if path.is_dir() {
        return read(path);
    }
    let text = read_foreign(path, "trace")?;
    read_trace(&printed(&text).unwrap_or(text)).map_err(|error| error.context(path.display()))
}

/// A trace in JSON as the same tool prints it.
fn printed(text: &str) -> Option<String> {
    let document: Value =
        serde_json::from_str(text.trim_start().strip_prefix('{').map(|_| text)?).ok()?;
    let mut printed = String::new();
    for host in document.get("sysstat")?.get("hosts")?.as_array()? {
        let processors = host.get("number-of-cpus").and_then(Value::as_u64).unwrap_or(0);
        let date = host.get("date").map_or_else(String::new, cell);
        let _ = writeln!(printed, "Linux (host) {date} ({processors} CPU)");
        let moments = host.get("statistics")?.as_array()?;
        for moment in moments {
            let moment = moment.as_object()?;
            match moment.get("timestamp") {
                Some(Value::Object(stamp)) => print_sadf(&mut printed, moment, stamp),
                _ if moment.contains_key("cpu-load") => {
                    print_mpstat(&mut printed, moment, &date, moments.len() == 1);
                }
                stamp => print_iostat(&mut printed, moment, stamp),
            }
        }
    }
    Some(printed)
}

/// A moment of `sadf -j` as tables of `sadf -d`.
fn print_sadf(printed: &mut String, moment: &Map<String, Value>, stamp: &Map<String, Value>) {
    let word = |name: &str| stamp.get(name).map_or_else(String::new, cell);
    let zone =
        if stamp.get("utc") == Some(&Value::from(1)) { "UTC".to_owned() } else { word("tz") };
    let time = format!("{};{} {} {zone}", word("interval"), word("date"), word("time"));
    for (name, activity) in moment.iter().filter(|(name, _)| *name != "timestamp") {
        let alone = std::slice::from_ref(activity);
        for row in
            activity.as_array().map_or(alone, Vec::as_slice).iter().filter_map(Value::as_object)
        {
            let columns = row.keys().map(|key| column(key)).collect::<Vec<_>>().join(";");
            let cells = row.values().map(cell).collect::<Vec<_>>().join(";");
            let columns = if name == "swap-pages" {
                columns.replace("pswpin", "pswpin/s").replace("pswpout", "pswpout/s")
            } else {
                columns
            };
            let _ =
                writeln!(printed, "# hostname;interval;timestamp;{columns}\nhost;{time};{cells}");
        }
    }
}

/// A moment of `mpstat -o JSON` as tables of `sadf -d`; the only one as its text, where it is the
/// mean since the host started.
fn print_mpstat(printed: &mut String, moment: &Map<String, Value>, date: &str, is_only: bool) {
    let time = moment.get("timestamp").map_or_else(String::new, cell);
    let (before_head, before, gap) = if is_only {
        (format!("\n{time} "), format!("{time} "), " ")
    } else {
        ("# hostname;interval;timestamp;".to_owned(), format!("host;;{date} {time};"), ";")
    };
    let rows = moment.get("cpu-load").and_then(Value::as_array).into_iter().flatten();
    for row in rows.filter_map(Value::as_object) {
        let names = row.keys().map(|key| column(key)).collect::<Vec<_>>().join(gap);
        let cells = row.values().map(cell).collect::<Vec<_>>().join(gap);
        let _ = writeln!(printed, "{before_head}{names}\n{before}{cells}");
    }
}

/// A moment of `iostat -o JSON` as its report.
fn print_iostat(printed: &mut String, moment: &Map<String, Value>, stamp: Option<&Value>) {
    let _ = writeln!(printed, "{}", stamp.map_or_else(String::new, cell));
    if let Some(shares) = moment.get("avg-cpu").and_then(Value::as_object) {
        let names = shares.keys().map(|key| format!("%{key}")).collect::<Vec<_>>().join(" ");
        let cells = shares.values().map(cell).collect::<Vec<_>>().join(" ");
        let _ = writeln!(printed, "avg-cpu: {names}\n{cells}\n");
    }
    let devices = moment.get("disk").and_then(Value::as_array).into_iter().flatten();
    for (number, row) in devices.filter_map(Value::as_object).enumerate() {
        let name = row.get("disk_device").map_or_else(String::new, cell);
        let numbers = || row.iter().filter(|(key, _)| *key != "disk_device");
        if number == 0 {
            let names = numbers().map(|(key, _)| column(key)).collect::<Vec<_>>().join(" ");
            let _ = writeln!(printed, "Device {names}");
        }
        let cells = numbers().map(|(_, value)| cell(value)).collect::<Vec<_>>().join(" ");
        let _ = writeln!(printed, "{name} {cells}");
    }
}

/// The heading of what JSON calls by this key.
fn column(key: &str) -> String {
    match key {
        "cpu" => "CPU".to_owned(),
        "disk-device" => "DEV".to_owned(),
        "user" | "usr" | "nice" | "system" | "sys" | "iowait" | "steal" | "irq" | "soft"
        | "guest" | "gnice" | "idle" | "util" => format!("%{key}"),
        "util-percent" => "%util".to_owned(),
        "rd_sec" | "wr_sec" | "rkB" | "wkB" => format!("{key}/s"),
        _ => cell(&Value::from(key)),
    }
}

/// A value as one cell.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace([';', '\n', '\r'], " "),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::watch::Moment;

    fn moments(json: &Value) -> Vec<Moment> {
        read_trace(&printed(&json.to_string()).unwrap()).unwrap().moments
    }

    fn check(moment: &Moment, iops: (f64, f64, f64)) {
        let rates = moment.counters.devices[0].rates(moment.counters.time_ns);
        assert_eq!((rates.read_iops, rates.write_iops, rates.joint_iops), iops);
        assert_eq!(rates.read_time_mean_ns.or(rates.joint_time_mean_ns), Some(5e6));
        assert!((moment.counters.cpu.unwrap().busy_share() - 0.15).abs() < 1e-9);
        assert_eq!((moment.at_unix_ns, moment.processors), (1_768_471_210_000_000_000, 4));
    }

    #[test]
    fn traces_in_json_are_read_as_their_text() {
        let cpu = serde_json::json!({"cpu": "all", "user": 10.0, "nice": 0.0, "system": 5.0, "iowait": 5.0, "steal": 0.0, "idle": 80.0});
        let sadf = serde_json::json!({"sysstat": {"hosts": [{"number-of-cpus": 4, "file-date": "2026-01-15", "statistics": [{
            "timestamp": {"date": "2026-01-15", "time": "10:00:10", "utc": 1, "interval": 10},
            "cpu-load": [cpu],
            "disk": [{"disk-device": "sda", "tps": 100.0, "rd_sec": 600.0, "wr_sec": 200.0, "avgqu-sz": 0.5, "await": 5.0, "util-percent": 20.0}],
        }]}]}});
        check(&moments(&sadf)[0], (0.0, 0.0, 100.0));
        let report = |time: &str| {
            serde_json::json!({
                "timestamp": time,
                "avg-cpu": {"user": 10.0, "nice": 0.0, "system": 5.0, "iowait": 5.0, "steal": 0.0, "idle": 80.0},
                "disk": [{"disk_device": "sda", "r/s": 75.0, "w/s": 25.0, "rkB/s": 300.0, "wkB/s": 100.0, "r_await": 5.0, "w_await": 5.0, "aqu-sz": 0.5, "util": 20.0}],
            })
        };
        let iostat = serde_json::json!({"sysstat": {"hosts": [{"number-of-cpus": 4, "date": "01/15/26",
            "statistics": [report("01/15/26 10:00:00"), report("01/15/26 10:00:10")]}]}});
        check(&moments(&iostat)[0], (75.0, 25.0, 0.0));
        let load = |time: &str| {
            serde_json::json!({"timestamp": time, "cpu-load": [
                {"cpu": "all", "usr": 10.0, "nice": 0.0, "sys": 5.0, "iowait": 5.0, "irq": 0.0, "soft": 0.0, "steal": 0.0, "guest": 0.0, "gnice": 0.0, "idle": 80.0},
                {"cpu": "3", "usr": 99.0, "nice": 0.0, "sys": 0.0, "iowait": 0.0, "irq": 0.0, "soft": 0.0, "steal": 0.0, "guest": 0.0, "gnice": 0.0, "idle": 1.0},
            ]})
        };
        let mpstat = serde_json::json!({"sysstat": {"hosts": [{"number-of-cpus": 4, "date": "01/15/26",
            "statistics": [load("10:00:10"), load("10:00:20")]}]}});
        let found = moments(&mpstat);
        let busy = found.iter().map(|one| one.counters.cpu.unwrap().busy_share());
        assert!(busy.clone().count() == 2 && busy.sum::<f64>() < 0.301, "{found:?}");
        let only = serde_json::json!({"sysstat": {"hosts": [{"number-of-cpus": 4, "date": "01/15/26", "statistics": [load("10:00:10")]}]}});
        let error = read_trace(&printed(&only.to_string()).unwrap()).unwrap_err();
        assert!(error.message().contains("only one report"), "{error}");
        assert_eq!((found[0].processors, found[1].counters.time_ns), (4, 10_000_000_000));
        assert_eq!(printed("{\"jobs\": []}"), None);
        assert_eq!(printed("Linux 6.1"), None);
    }
}
