//! Reports in: what `profile`, `run --for` and `check --for` print, refuse and keep.
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "a test fails where what it needs is missing"
)]

#[path = "support/awr.rs"]
mod awr;
mod support;

use awr::report;
use std::fs;
use support::Place;

fn place() -> Place {
    let place = Place::new();
    place.write("one.txt", &report(500, "8192.0"));
    place.write("two.lst", &report(900, "16384.0"));
    place.write("both.txt", &(report(500, "8192.0") + &report(700, "1.0")));
    place.write("note.md", "# no report\n");
    place
}

#[test]
fn one_report_becomes_a_profile() {
    let place = place();
    let text = place.run("profile one.txt").ends_with(0).stdout.clone();
    assert!(text.contains("SHOP/shop1") && text.contains("single-block reads"), "{text}");
    let profile = place.json("profile one.txt", 0);
    assert_eq!(profile["format"], 1);
    assert_eq!(profile["classes"][0]["rate_iops"]["value"], 600.0);
    assert_eq!(profile["verdict"]["user_io_share"], 0.5);
}

#[test]
fn many_reports_become_rows_and_what_is_none_is_told() {
    let place = place();
    let ran = place.run("profile one.txt note.md two.lst both.txt missing.txt");
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    assert_eq!(ran.stdout.lines().count(), 2 + 4, "{}", ran.stdout);
    assert!(ran.stdout.contains("both.txt#2"));
    assert!(ran.complaint.contains("error: note.md: no AWR or Statspack report in it"), "{ran:#?}");
    assert!(ran.complaint.contains("error: reading missing.txt"), "{ran:#?}");
    let ran = place.run("profile mysql://u@127.0.0.1:1/");
    assert_eq!(ran.code, Some(4), "{ran:#?}");
    assert!(ran.complaint.contains("error: connecting to mysql://"), "{ran:#?}");
    let rows = place.json("profile one.txt two.lst --table", 0);
    assert_eq!(rows["rows"][1]["read_iops"], 900.0);
    let csv = place.run("profile two.lst one.txt --csv").ends_with(0).stdout.clone();
    assert!(
        csv.lines()
            .nth(1)
            .is_some_and(|row| row.starts_with("two.lst,SHOP/shop1,inconclusive,1000,900,")),
        "{csv}"
    );
}

#[test]
fn pages_and_documents_are_written_once() {
    let place = place();
    place.run("profile one.txt two.lst --html series.html --output profiles").ends_with(0);
    let page = fs::read_to_string(place.path("series.html")).unwrap();
    assert!(page.contains("From report to report") && page.contains("<svg"));
    let document = fs::read_to_string(place.path("profiles/two.lst.profile.json")).unwrap();
    assert!(document.contains("\"single_block_read\""));
    let again = place.run("profile one.txt --html series.html");
    assert_eq!(again.code, Some(4));
    assert!(again.complaint.contains("File exists"), "{again:#?}");
}

#[test]
fn sizes_rank_tablespaces_and_must_have_units() {
    let place = place();
    place.write("sizes", "USERS,120\n");
    let ran = place.run("profile one.txt --capacity sizes");
    assert_eq!(ran.code, Some(2));
    assert!(ran.complaint.contains("error: sizes: line 1: '120' has no unit"), "{ran:#?}");
}

#[test]
fn markup_in_a_report_stays_text() {
    let place = Place::new();
    let odd = report(500, "1.0").replace("SHOP ", "<b>X ");
    place.write("odd.txt", &odd);
    place.run("profile odd.txt --html page.html").ends_with(0);
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("&lt;b&gt;X") && !page.contains("<b>X"));
}

#[test]
fn a_plan_runs_on_storage_and_is_judged_by_what_it_asks() {
    let place = place();
    place.run("profile one.txt --workload demand.toml").ends_with(0);
    let text = fs::read_to_string(place.path("demand.toml")).unwrap();
    assert!(text.contains("# rate: 500/s; Foreground Wait Events"), "{text}");
    let run = place.json("run demand.toml sim:servers?count=8&service=200us", 0);
    assert_eq!(run["verdict"]["outcome"], "PASS");
    assert_eq!(run["verdict"]["criteria"], "SHOP/shop1");
    // One server of 10 ms carries 100 a second, not 600.
    let slow = place.json("run demand.toml sim:servers?count=1&service=10ms", 1);
    assert_eq!(slow["verdict"]["outcome"], "FAIL");
}

#[test]
fn growth_multiplies_and_documents_are_plans_too() {
    let place = place();
    place.run("profile one.txt --output p").ends_with(0);
    let plan = place.run("profile p/one.txt.profile.json --workload - --growth 50% --headroom 30%");
    assert!(plan.ends_with(0).stdout.contains("rate = \"975/s\""), "{plan:#?}");
    let closed = place.run("profile one.txt --workload - --closed");
    assert_eq!(closed.code, Some(2), "{closed:#?}");
    assert!(closed.complaint.contains("has no latency of other I/O"), "{closed:#?}");
    let several = place.run("profile both.txt --workload -");
    assert!(several.complaint.contains("both.txt: 2 reports in one file"), "{several:#?}");
}

#[test]
fn a_check_asks_for_the_database_of_a_report() {
    let place = place();
    let checked = place.json("check sim:servers?count=8&service=200us --for one.txt --time 60s", 0);
    assert_eq!(checked["verdict"]["criteria"], "SHOP/shop1");
    // It ends with what the database would do there, or with why that cannot be said.
    assert_eq!(checked["projection"]["targets"][0]["name"], "sim:servers?count=8&service=200us");
    let shown = place.run("report latest --full").stdout;
    assert!(shown.contains("Projection for the database"), "{shown}");
    let file = place.random_file("data", 4 << 20);
    let refused = place.run(&format!("check {} --for one.txt", file.display()));
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.complaint.contains("these targets are read-only"), "{refused:#?}");
}

#[test]
fn a_file_of_any_size_or_kind_ends() {
    let place = place();
    // 100 MB of a report whose table never ends; above 128 MiB it is not a report.
    let row = "  padding of a statistic                        1            1.0          1.0\n";
    place.write("large.txt", &(report(500, "1.0") + &row.repeat(100_000_000 / row.len())));
    let large = place.json("profile large.txt", 0);
    assert_eq!(large["classes"][0]["rate_iops"]["value"], 600.0);
    fs::create_dir(place.path("empty")).unwrap();
    assert!(place.run("profile empty").complaint.contains("is a directory without reports"));
    let copied = place.run("profile /dev/null");
    assert_eq!(copied.code, Some(2), "{copied:#?}");
}

/// A gzip file whose data is stored, not deflated (RFC 1951, 3.2.4).
fn gzip(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    let stored = [length.to_le_bytes(), (!length).to_le_bytes()].concat();
    let end = [crc32fast::hash(text.as_bytes()).to_le_bytes(), u32::from(length).to_le_bytes()];
    [head.as_slice(), &stored, text.as_bytes(), &end.concat()].concat()
}

/// A zip archive of one stored file (APPNOTE 4.3).
fn zip(name: &str, text: &str) -> Vec<u8> {
    let size = u32::try_from(text.len()).unwrap().to_le_bytes();
    let length = u16::try_from(name.len()).unwrap().to_le_bytes();
    let sizes = [size, size].concat();
    let local = [b"PK\x03\x04".as_slice(), &[0; 14], &sizes, &length, &[0, 0], name.as_bytes()];
    let local = [local.concat(), text.as_bytes().to_vec()].concat();
    let crc32 = crc32fast::hash(text.as_bytes()).to_le_bytes();
    let entry = [b"PK\x01\x02".as_slice(), &[0; 12], &crc32, &sizes, &length, &[0; 16]].concat();
    let entry = [entry, name.as_bytes().to_vec()].concat();
    let at = u32::try_from(local.len()).unwrap().to_le_bytes();
    let end = [b"PK\x05\x06".as_slice(), &[0; 4], &[1, 0, 1, 0], &[0; 4], &at, &[0, 0]].concat();
    [local, entry, end].concat()
}

#[test]
fn packed_reports_and_folders_of_them_are_read() {
    let place = place();
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.txt.gz"), gzip(&report(500, "8192.0"))).unwrap();
    fs::write(folder.join("b.txt"), report(900, "8192.0")).unwrap();
    fs::write(folder.join("index.md"), "no report").unwrap();
    fs::write(place.path("all.zip"), zip("x/c.txt", &report(700, "8192.0"))).unwrap();
    let rows = place.json("profile folder all.zip --table", 0);
    let reads: Vec<f64> =
        (0..3).map(|row| rows["rows"][row]["read_iops"].as_f64().unwrap()).collect();
    assert_eq!(reads, [500.0, 900.0, 700.0]);
    assert_eq!(rows["rows"][2]["file"], "all.zip/x/c.txt");
    fs::write(place.path("cut.gz"), &gzip(&report(500, "8192.0"))[..200]).unwrap();
    let cut = place.run("profile cut.gz");
    assert_eq!(cut.code, Some(2), "{cut:#?}");
    assert!(cut.complaint.contains("cut.gz"), "{cut:#?}");
}

#[test]
fn a_folder_is_a_table_with_its_verdicts_and_the_table_of_rac_stats() {
    let place = place();
    let folder = place.path("series");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("awr_rac.txt.16"), report(500, "8192.0")).unwrap();
    fs::write(folder.join("packed.zip"), zip("awr.txt", &report(900, "8192.0"))).unwrap();
    let table = place.run("profile series").ends_with(0).stdout.clone();
    assert_eq!(table.lines().count(), 2 + 2, "{table}");
    assert!(table.contains("bound by") && table.contains("inconclusive"), "{table}");
    let csv = place.run("profile series --csv").ends_with(0).stdout.clone();
    assert!(
        csv.lines()
            .next()
            .unwrap()
            .ends_with("contention_percent,other_waits_percent,speedup_limit")
    );
    let script = place.run("profile series --as rac_stats").ends_with(0).stdout.clone();
    let lines: Vec<&str> = script.lines().collect();
    assert_eq!(lines[0], "FILE|Total IO|Reads|Read Latency|Writes|Redo MB/s|");
    assert!(lines[1].starts_with("series/awr_rac.txt.16||") && lines.len() == 3, "{script}");
}

#[test]
fn the_folder_of_a_slob_run_is_one_row_of_its_reports_and_settings() {
    let place = place();
    let folder = place.path("slob");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("awr.txt"), report(500, "8192.0")).unwrap();
    fs::write(folder.join("awr_copy.txt"), report(500, "8192.0")).unwrap();
    fs::write(folder.join("slob.conf"), "UPDATE_PCT=20\nWORK_UNIT=256\n").unwrap();
    let head = "Device r/s w/s rkB/s wkB/s r_await w_await aqu-sz %util\n";
    let device = |reads: u32| format!("{head}sda {reads} 0 80 0 1 0 0.1 90\n\n").repeat(3);
    fs::write(folder.join("iostat.out"), device(2)).unwrap();
    let trace = "Linux 6.1.0 (db1) 01/15/26 _x86_64_ (2 CPU)\n\n10:00:01 CPU %usr %irq %idle\n";
    fs::write(folder.join("mpstat.out"), trace).unwrap();
    let run = place.run("runs import slob");
    let (shown, noted) = (&run.ends_with(0).stdout, &run.stderr);
    for words in ["updates 20%", "work unit 256", "busiest device of iostat.out"] {
        assert!(shown.contains(words), "{words} is not in {shown}");
    }
    assert!(!shown.contains("device sda") && !shown.contains("rows"), "{shown}");
    for words in ["awr.txt agrees with slob/awr_copy.txt", "reads: mpstat.out"] {
        assert!(noted.contains(words), "{words} is not in {noted}");
    }
    fs::write(folder.join("awr_copy.txt"), report(900, "8192.0")).unwrap();
    fs::write(folder.join("iostat.out"), device(480)).unwrap();
    let shown = place.run("runs import slob").ends_with(0).stdout.clone();
    assert!(shown.contains("device sda") && shown.contains("differ:"), "{shown}");
}

#[test]
fn the_table_of_rac_stats_is_imported_as_rows() {
    let place = Place::new();
    let header = "FILE|Total IO|Reads|Read Latency|Writes|Redo MB/s|";
    let rows = "awr_rac.txt.16|3000|2000|0.75|1000|12|\nawr_rac.txt.32|3600|2400|1.25|1200|14|\n";
    place.write("table.txt", &format!("{header}\n{rows}"));
    place.write("other.txt", "FILE|Total IO\n");
    let shown = place.run("runs import table.txt").ends_with(0).stdout.clone();
    assert!(shown.contains("rac_stats.sh") && shown.contains("awr_rac.txt.32"), "{shown}");
    assert_eq!(place.run("runs import other.txt").code, Some(2));
}
