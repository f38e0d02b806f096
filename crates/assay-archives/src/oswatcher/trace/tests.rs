//! Tests of traces: made-up outputs of several versions of the tools.

use super::*;
use assay_model::watch::Moment;

const HOST: &str = "Linux 6.1.0 (db1) \t01/15/26 \t_x86_64_\t(4 CPU)\n\n";
const NEW_HEAD: &str = "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm \
                        w_await wareq-sz d/s dkB/s drqm/s %drqm d_await dareq-sz f/s f_await \
                        aqu-sz %util\n";
const OLD_HEAD: &str =
    "Device: rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util\n";

fn moments(text: &str) -> Vec<Moment> {
    read_trace(text).unwrap().moments
}

/// Reads a second and their mean time, ms, of the first device.
fn reads(moment: &Moment) -> (f64, f64) {
    let rates = moment.counters.devices[0].rates(moment.counters.time_ns);
    (rates.read_iops, rates.read_time_mean_ns.unwrap() / 1e6)
}

/// Reads and writes per second together, and their mean time, ms, of the first device.
fn joint(moment: &Moment) -> (f64, f64) {
    let rates = moment.counters.devices[0].rates(moment.counters.time_ns);
    (rates.joint_iops, rates.joint_time_mean_ns.unwrap() / 1e6)
}

/// pgbench-tools and `ts` put the time before every line.
#[test]
fn stamps_before_every_line_are_the_times_of_the_reports() {
    let report = |reads: u32| format!("{OLD_HEAD}sda 0 0 {reads} 100 1600 800 8 3 6.0 1 75.0\n");
    let stamped = |text: &str, second: u32| -> String {
        let stamp = |line| format!("2026-01-15 10:00:{second:02}.25{second}\t{line}\n");
        text.lines().map(stamp).collect()
    };
    let text = [stamped(HOST, 0), stamped(&report(7), 0), stamped(&report(200), 10)].concat();
    let found = moments(&text);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((reads(only), only.at_unix_ns), ((200.0, 6.0), 1_768_471_210_000_000_000));
    let rows = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n r  b   \
                swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n 1  0      0   \
                100    100    100    0    0    54   141    1    2  3  1 95  1  0\n";
    let row = rows.lines().last().unwrap();
    let text = [stamped(rows, 0), stamped(row, 10)].concat();
    let found = moments(&text);
    assert_eq!(found.last().unwrap().at_unix_ns, 1_768_471_210_000_000_000, "{found:?}");
}

#[test]
fn iostat_of_old_and_new_versions_is_read_by_interval() {
    let row = "sda 100.0 800.0 0 0 4.0 8 50.0 400.0 0 0 2.0 8 0 0 0 0 0 0 1.0 0.5 0.5 25.0\n";
    let report = |time: &str| {
        format!(
            "{time}\navg-cpu: %user %nice %system %iowait %steal %idle\n 10.0 0.0 5.0 5.0 0.0 \
             80.0\n\n{NEW_HEAD}{row}\n"
        )
    };
    for times in [
        ["01/15/2026 10:00:00 AM", "01/15/2026 10:00:10 AM", "01/15/2026 10:00:20 AM"],
        ["2026-01-15T10:00:00+0100", "2026-01-15T10:00:10+0100", "2026-01-15T10:00:20+0100"],
        ["01/15/26 10:00:00", "01/15/26 10:00:10", "01/15/26 10:00:20"],
        ["15.01.2026 10:00:00", "15.01.2026 10:00:10", "15.01.2026 10:00:20"],
        ["Time: 10:00:00 AM", "Time: 10:00:10 AM", "Time: 10:00:20 AM"],
    ] {
        let found = moments(&format!("{HOST}{}", times.map(report).concat()));
        let [first, last] = found.as_slice() else { panic!("{times:?}: {}", found.len()) };
        assert_eq!(first.at_unix_ns, 1_768_471_210_000_000_000, "{times:?}");
        assert_eq!((last.counters.time_ns, last.processors), (10_000_000_000, 4));
        assert_eq!(reads(last), (100.0, 4.0));
        assert!((last.counters.cpu.unwrap().busy_share() - 0.15).abs() < 1e-9);
    }
    let old = format!(
        "{HOST}{OLD_HEAD}sda 0 0 9 9 9 9 9 9 9 9 9\n\n{OLD_HEAD}sda 0 0 200 100 1600 800 8 3 6.0 \
         1 75.0\n"
    );
    let imported = read_trace(&old).unwrap();
    let [only] = imported.moments.as_slice() else { panic!("{imported:?}") };
    assert_eq!(reads(only), (200.0, 6.0));
    assert_eq!(only.counters.devices[0].counters.read_bytes, 1600 * 512);
    assert_eq!(imported.notes.len(), 3, "{:?}", imported.notes);
    assert!(imported.notes[2].contains("no times"), "{:?}", imported.notes);
}

#[test]
fn what_a_trace_lacks_is_not_zero() {
    let short = format!(
        "{HOST}Device tps kB_read/s kB_wrtn/s\nsda 1 2 3\n\nDevice tps kB_read/s kB_wrtn/s\nsda 1 \
         2 3\n"
    );
    let error = read_trace(&short).unwrap_err();
    assert!(error.message().contains("Device tps kB_read/s kB_wrtn/s"), "{error}");
    let one = format!("{HOST}{OLD_HEAD}sda 0 0 9 9 9 9 9 9 9 9 9\n");
    assert!(read_trace(&one).unwrap_err().message().contains("since the host started"));
    let negative = format!("{HOST}{OLD_HEAD}sda 0 0 -9 9 9 9 9 9 9 9 9\n");
    assert!(read_trace(&negative.repeat(2)).is_err());
    for text in ["", "hello\n", "10:00:01 PID CPU\n10:00:02 1 2\n"] {
        assert!(read_trace(text).is_err(), "{text}");
    }
}

#[test]
fn rare_ios_are_counted_over_all_reports() {
    let head = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n";
    let report = |second: u32, read_ms: u32| {
        format!(
            "01/15/26 10:00:0{second}\n{head}sda 0.40 0.00 3.20 0.00 {read_ms}.00 0.00 0.01 1.00\n\n"
        )
    };
    let text: String =
        (0..=5).map(|second| report(second, if second < 4 { 1 } else { 5 })).collect();
    let found = moments(&format!("{HOST}{text}"));
    let ios: u64 = found.iter().map(|one| one.counters.devices[0].counters.read_ios).sum();
    let time_ns: u64 = found.iter().map(|one| one.counters.devices[0].counters.read_time_ns).sum();
    // Five seconds with 0.4 each, three of 1 ms and two of 5 ms.
    assert_eq!((ios, time_ns), (2, 5_200_000));
}

#[test]
fn vmstat_is_read_with_and_without_times() {
    let head = "procs ---memory--- cpu -----timestamp-----\n r b swpd free buff cache si so bi bo \
                in cs us sy id wa st UTC\n";
    let row = |clock: &str| format!(" 3 1 0 1 1 1 4 8 9 9 9 9 20 10 60 10 0 {clock}\n");
    let timed = [head.to_owned()]
        .into_iter()
        .chain(["00", "10", "20"].map(|second| row(&format!("2026-01-15 10:00:{second}"))));
    let found = moments(&timed.collect::<String>());
    assert_eq!((found.len(), found[1].counters.time_ns), (2, 10_000_000_000));
    assert_eq!(found[0].run_queue.unwrap().running, 3);
    assert_eq!(found[0].processors, 0, "the number is unknown");
    assert!((found[0].counters.cpu.unwrap().busy_share() - 0.3).abs() < 1e-9);
    let untimed = format!("{head}{}{}", row(""), row(""));
    let imported = read_trace(&untimed).unwrap();
    assert_eq!(imported.moments.len(), 1);
    assert!(imported.notes.iter().any(|note| note.contains("no times")), "{:?}", imported.notes);
}

#[test]
fn activities_of_sar_are_joined_by_time_past_midnight() {
    let cpu = |clock: &str, idle: &str| format!("{clock} all 10.00 0.00 5.00 5.00 0.00 {idle}\n");
    let text = format!(
        "{HOST}11:59:40 PM CPU %user %nice %system %iowait %steal %idle\n{}{}Average: all 1 1 1 1 \
         1 1\n\n11:59:40 PM DEV tps rd_sec/s wr_sec/s avgrq-sz avgqu-sz await svctm \
         %util\n11:59:50 PM dev8-0 100.00 600.00 200.00 8.00 0.50 5.00 1.00 20.00\n12:00:00 AM \
         dev8-0 100.00 600.00 200.00 8.00 0.50 5.00 1.00 20.00\nAverage: dev8-0 1 1 1 1 1 1 1 \
         1\n\n11:59:40 PM proc/s cswch/s\n11:59:50 PM 1.00 9.00\n",
        cpu("11:59:50 PM", "80.00"),
        cpu("12:00:00 AM", "80.00"),
    );
    let imported = read_trace(&text).unwrap();
    let [first, last] = imported.moments.as_slice() else { panic!("{imported:?}") };
    assert_eq!(last.at_unix_ns - first.at_unix_ns, 10_000_000_000);
    let device = &last.counters.devices[0];
    assert_eq!((device.name.as_str(), joint(last)), ("dev8-0", (100.0, 5.0)));
    assert_eq!((device.counters.write_ios, device.counters.write_bytes), (0, 1_024_000));
    assert!((last.counters.cpu.unwrap().busy_share() - 0.15).abs() < 1e-9);
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("how many of them were reads is unknown")
            && notes.contains("proc/s cswch/s"),
        "{notes}"
    );
}

#[test]
fn tables_of_sadf_are_read_in_both_forms_of_time() {
    let cpu = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n";
    let disk =
        "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util\n";
    for time in ["2026-01-15 10:00:10 UTC", "1768471210"] {
        let text = format!(
            "db1;-1;2026-01-15 09:00:00 UTC;LINUX-RESTART (4 \
             CPU)\n{cpu}db1;10;{time};-1;10.00;0.00;5.00;5.00;0.00;80.00\n{disk}db1;10;{time};sda;\
             100.00;400.00;0.00;0.00;4.00;0.50;5.00;20.00\n"
        );
        let found = moments(&text);
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(only.at_unix_ns, 1_768_471_210_000_000_000);
        assert_eq!(joint(only), (100.0, 5.0));
        assert!((only.counters.cpu.unwrap().busy_share() - 0.15).abs() < 1e-9);
    }
}

#[test]
fn system_calls_of_other_vmstats_are_no_share_of_cpu_time() {
    for head in [
        "r b w avm fre flt re pi po fr sr ad0 da0 in sy cs us sy id",
        "r b w swap free re mf pi po fr de sr s0 in sy cs us sy id",
    ] {
        let columns = words(head).len();
        let row = |calls: &str| format!("{} 246 {calls} 336 22 15 63\n", "1 ".repeat(columns - 6));
        let found = moments(&format!(" procs memory cpu\n {head}\n{}{}", row("9"), row("1201")));
        let [only] = found.as_slice() else { panic!("{found:?}") };
        let cpu = only.counters.cpu.unwrap();
        assert!((cpu.busy_share() - 0.37).abs() < 1e-9, "{cpu:?}");
        assert_eq!(cpu.system_ns, 150_000_000);
    }
}

#[test]
fn devices_behind_their_numbers_and_numbers_with_units_are_read() {
    let head = "r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util Device\n";
    let row = "100.00 2.5M 4.00 50.00 400.0k 2.00 0.50 25.0% nvme0n1\n";
    let found = moments(&format!("{HOST}{head}{row}\n{head}{row}"));
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(reads(only), (100.0, 4.0));
    let device = &only.counters.devices[0];
    assert_eq!(device.name, "nvme0n1");
    assert_eq!((device.counters.read_bytes, device.counters.write_bytes), (2_621_440, 409_600));
    assert_eq!(device.counters.busy_time_ns, 250_000_000);
}

#[test]
fn every_start_of_a_tool_begins_with_a_mean_since_the_host_started() {
    let report = |time: &str, reads: u32| {
        format!(
            "{time}\nDevice r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util\nsda {reads} 8 1 0 0 \
             0 1 1\n\n"
        )
    };
    let start = |minute: u32| {
        let first = report(&format!("01/15/26 10:{minute:02}:00"), 9000);
        format!("{HOST}{first}{}", report(&format!("01/15/26 10:{minute:02}:02"), 100))
    };
    let found = moments(&format!("{}{}", start(0), start(1)));
    assert_eq!(found.len(), 2, "{found:?}");
    for moment in &found {
        assert_eq!((reads(moment).0, moment.counters.time_ns), (100.0, 2_000_000_000));
    }
    let head = "CPU %usr %nice %sys %iowait %irq %soft %steal %idle";
    let since_start = format!("{HOST}10:00:00 {head}\n10:00:00 all 40 0 2 1 0 0 0 57\n");
    let error = read_trace(&since_start).unwrap_err();
    assert!(error.message().contains("since the host started"), "{error}");
}

#[test]
fn the_time_between_two_starts_of_a_host_is_not_measured() {
    let head = "CPU %user %nice %system %iowait %steal %idle";
    let row = |clock: &str| format!("{clock} all 10.00 0.00 5.00 5.00 0.00 80.00\n");
    let text = format!(
        "{HOST}10:00:00 {head}\n{}{}\n10:20:00 LINUX RESTART (4 CPU)\n\n10:30:00 {head}\n{}",
        row("10:00:10"),
        row("10:00:20"),
        row("10:30:30")
    );
    let lengths = |text: &str| -> Vec<u64> {
        moments(text).iter().map(|moment| moment.counters.time_ns / 1_000_000_000).collect()
    };
    assert_eq!(lengths(&text), [10, 10, 30]);
    let head = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n";
    let row = |clock: &str, length: &str| {
        format!("db1;{length};2026-01-15 {clock} UTC;-1;10.00;0.00;5.00;5.00;0.00;80.00\n")
    };
    let table = [row("10:00:10", "10"), row("10:00:20", "15"), row("10:30:30", "30")].concat();
    assert_eq!(lengths(&format!("{head}{table}")), [10, 10, 30]);
}

#[test]
fn forms_that_are_not_read_are_named() {
    for (text, form) in [
        ("<?xml version=\"1.0\"?>\n<sysstat\nxmlns=\"x\">\n", "sadf -x"),
        ("# hostname;interval;timestamp;CPU;%usr;%idle[...]\nh;1;1768471210;-1;1;2\n", "sadf -dh"),
        ("h\t10\t2026-01-15 10:00:10 UTC\tall\t%usr\t2.15\n", "sadf -p"),
        ("SunOS db1 5.11 11.1 sun4v 07/24/2026\n\n11:42:23 device %busy\n", "another system"),
        ("   extended device statistics\n  device r/s w/s kr/s\n  sd1 1 2 3\n", "another system"),
        ("disk- ------------reads------------ ---writes---\nsda 1 2 3 4\n", "vmstat -d"),
    ] {
        let error = read_trace(text).unwrap_err();
        assert!(error.message().contains(form), "{error}");
    }
}

#[test]
fn chinese_dates_and_times_are_read() {
    let text = "Linux 6.1.0 (db1) \t2026年01月15日 \t_x86_64_\t(4 CPU)\n\n10时00分00秒 DEV tps \
                rd_sec/s wr_sec/s avgrq-sz avgqu-sz await svctm %util\n10时00分10秒 sda 100.00 \
                600.00 200.00 8.00 0.50 5.00 1.00 20.00\n\n平均时间: sda 1 1 1 1 1 1 1 1\n";
    let found = moments(text);
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(only.at_unix_ns, 1_768_471_210_000_000_000);
    assert_eq!(joint(only), (100.0, 5.0));
}

#[test]
fn devices_without_times_are_named() {
    let row = |name: &str, times: &str| format!("{name} 0 0 0.00 100.00 0 800 16 {times}\n");
    let table = [row("sda", "0.5 4.0 1 40.0"), row("md0", "0.00 0.00 0.00 0.00")].concat();
    let imported = read_trace(&format!("{HOST}{OLD_HEAD}{table}\n{OLD_HEAD}{table}")).unwrap();
    let note = imported.notes.iter().find(|note| note.contains("md0")).unwrap();
    assert!(!note.contains("sda"), "{note}");
}

#[test]
fn what_a_copy_put_before_each_line_is_no_part_of_it() {
    let table = format!("{OLD_HEAD}sda 0 0 200 100 1600 800 8 3 6.0 1 75.0\n");
    let text = format!("{HOST}{table}\n{table}");
    for margin in [" ", "db1: "] {
        let lines = text.lines().map(|line| format!("{margin}{line}\n"));
        let found = moments(&lines.collect::<String>());
        assert_eq!(found.iter().map(reads).collect::<Vec<_>>(), [(200.0, 6.0)], "{margin}");
    }
}

/// The first row below a heading of a new call is the mean since the host started.
#[test]
fn calls_of_vmstat_in_one_file_each_leave_out_their_first_report() {
    let head = "procs ---memory---\n r b swpd free buff cache si so bi bo in cs us sy id wa st\n";
    let row = |user: u32| format!(" 0 0 0 1 1 1 0 0 0 0 9 9 {user} 0 {} 0 0\n", 100 - user);
    let call = format!("Wed Jan 15 10:00:00 UTC 2025\n{head}{}{}{}", row(90), row(20), row(30));
    assert_eq!(moments(&format!("{call}\n{call}")).len(), 4);
    // Within a call the heading is repeated.
    assert_eq!(moments(&format!("{head}{}{}{head}{}", row(90), row(20), row(30))).len(), 2);
}

#[test]
fn rows_of_one_device_below_one_heading_are_reports() {
    let row = |reads: u32| {
        format!("md0 {reads} 800.0 0 0 4.0 8 50.0 400.0 0 0 2.0 8 0 0 0 0 0 0 1.0 0.5 0.5 25.0\n")
    };
    let found = moments(&format!("{NEW_HEAD}{}{}{}", row(9000), row(100), row(200)));
    let reads: Vec<f64> = found.iter().map(|one| reads(one).0).collect();
    assert_eq!(reads, [100.0, 200.0]);
}

#[test]
fn impossible_queues_and_wrapped_rows_are_named() {
    let report = |rest: &str| format!("{OLD_HEAD}sda 0 0 10.0 5.0 80 40 8 {rest}\n\n");
    let found = read_trace(&report("42949672.96 4.0 2.0 100.00").repeat(2)).unwrap();
    let device = &found.moments[0].counters.devices[0].counters;
    assert_eq!((device.outstanding_time_ns, device.busy_time_ns), (0, 0));
    assert!(
        found.notes.iter().any(|note| note.starts_with("impossible queue")),
        "{:?}",
        found.notes
    );
    let processors = "avg-cpu: %user %nice %sys %idle\n 9.0 0.5 9.5 81.0\n\n";
    let wrapped = format!("{processors}{}", report("\n0.5 4.0 2.0 9.00")).repeat(2);
    let notes = read_trace(&wrapped).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("do not match their heading")), "{notes:?}");
}

#[test]
fn other_tables_of_the_same_names_are_named() {
    for (text, form) in [
        (" 253528 K total memory\n 150060 K used memory\n", "`vmstat -s`"),
        (
            "extended device statistics\n r/s w/s kr/s kw/s wait actv %w %b device\n",
            "another system",
        ),
    ] {
        let error = read_trace(text).unwrap_err();
        assert!(error.message().contains(form), "{error}");
    }
}
