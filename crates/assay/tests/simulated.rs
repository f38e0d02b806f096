//! Simulated devices: the same seed gives the same result to the last byte, and mistakes are
//! answered in kind.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use serde_json::Value;
use support::{Place, all_ios, all_refused, measurement};

const DEVICE: &str = "sim:servers?count=8&service=200us+device?size=1GiB&seed=3";

/// Takes away what belongs to the moment: ids, times of day, CPU time of this machine.
fn timeless(mut value: Value) -> Value {
    const PASSING: [&str; 5] = [
        "created_unix_ns",
        "started_unix_ns",
        "cpu_user_s",
        "cpu_system_s",
        "worker_busy_share_max",
    ];
    match &mut value {
        Value::Object(members) => {
            members.retain(|name, _| !PASSING.contains(&name.as_str()));
            for member in members.values_mut() {
                *member = timeless(member.take());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = timeless(item.take())),
        _ => {}
    }
    value
}

/// The hint of every mistake in a part.
const PARTS: &str = "the parts are servers, constant, bandwidth, bucket, cliff, tiers, stall; for \
                     example sim:servers?count=8&service=200us";

#[test]
fn equal_seeds_give_equal_results() {
    let place = Place::new();
    let line =
        format!("run mixed.toml {DEVICE} --time 20s --interval 1s --criteria no-errors.toml");
    let once = place.json(&line, 0);
    assert!(all_ios(measurement(&once)) > 10_000);
    let again = place.json(&line, 0);
    assert_eq!(timeless(once.clone()), timeless(again));
    let other = timeless(place.json(&format!("{line} --seed 4"), 0));
    assert_ne!(measurement(&timeless(once))["streams"], measurement(&other)["streams"]);
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let page = include_str!("../../../README.md");
    let (_, example) = page.split_once("$ assay ").unwrap();
    let (line, printed) = example.split_once('\n').unwrap();
    let (printed, _) = printed.split_once("```").unwrap();
    let ran = Place::new().run(&line.replace('\'', ""));
    let shown = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for quoted in printed.split("[…]").flat_map(str::lines).filter(|line| !line.trim().is_empty())
    {
        let quoted = quoted.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&quoted), "README.md quotes {quoted:?}: {}", ran.stdout);
    }
}

#[test]
fn a_calibration_is_repeated_exactly() {
    let place = Place::new();
    let line = format!("calibrate {DEVICE} --time 20s --read-share 100%");
    let code = place.run(&line).code.unwrap();
    let once = place.json(&line, code);
    assert_eq!(timeless(once), timeless(place.json(&line, code)));
}

#[test]
fn what_was_measured_is_what_the_device_is() {
    let place = Place::new();
    // One server, constant service, one outstanding: a rate without any chance in it.
    let one = support::READS.replace("queue_depth = 4", "queue_depth = 1");
    place.write("one.toml", &one);
    let line = "run one.toml sim:constant?count=1&service=1ms --time 10s --interval 1s --criteria \
                no-errors.toml";
    let run = place.json(line, 0);
    let read = &measurement(&run)["streams"][0]["operations"]["read"];
    assert_eq!(read["ios"], 10_000);
    assert_eq!(read["service"]["min_ns"], 1_000_000);
    assert_eq!(read["service"]["max_ns"], 1_000_000);
    let conduct = &measurement(&run)["conduct"];
    assert_eq!(conduct["backend"], "simulated");
    assert_eq!(conduct["clock"], "virtual");
}

/// A minute of reads with a rate that is required of 8 servers, which give 10,000/s to 4
/// outstanding I/Os.
fn required(place: &Place, rate: u32) {
    let workload = support::READS.replace("duration = ", "duration = \"60s\"\n# was ");
    place.write("minute.toml", &workload);
    let criteria = format!(
        "format = 1\nname = \"rate\"\n[[criterion]]\nquantity = \"iops\"\nat_least = \
         \"{rate}/s\"\n"
    );
    place.write("rate.toml", &criteria);
}

#[test]
fn a_run_ends_when_its_verdict_is_certain_unless_a_time_is_given() {
    let place = Place::new();
    let line = "run minute.toml sim:servers?count=8&service=400us --interval 1s --criteria \
                rate.toml";
    for (rate, code, look_s) in [(1_000, 0, 40.0), (40_000, 1, 20.0)] {
        required(&place, rate);
        let run = place.json(line, code);
        let early = &measurement(&run)["conduct"]["early_end"];
        assert_eq!(early["look_s"], look_s, "{rate}: {early}");
        assert_eq!(early["decisions"][0]["quantity"], "iops");
        assert_eq!(measurement(&run)["finish"]["outcome"], "complete");
        let whole = place.json(&format!("{line} --time 60s"), code);
        assert!(measurement(&whole)["conduct"].get("early_end").is_none());
        assert_eq!(measurement(&whole)["elapsed_ns"], 60_000_000_000_u64);
    }
    required(&place, 10_000);
    let near = place.run(line);
    assert!(!near.stdout.contains("ecided after"), "{near:?}");
    required(&place, 1_000);
    let passed = place.run(line);
    let text = passed.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Decided after 40 s of 60 s: PASS for the first 40 s"), "{text}");
    assert!(text.contains("a reserve that lasts longer is not excluded"), "{text}");
    assert!(passed.stderr.contains("provisional after 5 s"), "{passed:?}");
}

#[test]
fn a_check_ends_after_the_mix_that_certainly_fails() {
    let place = Place::new();
    let line = "check sim:servers?count=4&service=4ms";
    let run = place.json(line, 1);
    let early = &run["calibration"]["early_end"];
    assert_eq!((&early["outcome"], &early["planned_s"]), (&"FAIL".into(), &100.0.into()));
    assert_eq!(run["calibration"]["mixes"].as_array().unwrap().len(), 1);
    let whole = place.json(&format!("{line} --time 100s"), 1);
    assert_eq!(whole["calibration"]["mixes"].as_array().unwrap().len(), 3);
}

#[test]
fn mistakes_in_a_device_name_what_there_is() {
    let place = Place::new();
    let lacks = format!(
        "error: simulated device 'servers': 'servers' needs the key 'count'\nhint: {PARTS}"
    );
    let unknown = format!(
        "error: simulated device 'server?count=8': there is no part 'server'\nhint: did you mean \
         'servers'? {PARTS}"
    );
    let empty = format!("error: simulated device '': there is no part ''\nhint: {PARTS}");
    let cases: [(&str, i32, &str); 7] = [
        ("run reads.toml sim:servers", 2, &lacks),
        ("run reads.toml sim:server?count=8", 2, &unknown),
        ("run reads.toml sim:", 2, &empty),
        (
            "run reads.toml sim:servers?count=8&service=200",
            2,
            "error: simulated device 'servers?count=8&service=200': servers?service: '200' has no \
             unit\nhint: write for example 1ms; the units are ns, us, µs, ms, min, s, h, d",
        ),
        (
            "run reads.toml sim:servers?count=many&service=1ms",
            2,
            "error: simulated device 'servers?count=many&service=1ms': 'many' is not a whole \
             number\nhint: write for example 8",
        ),
        (
            "run reads.toml sim:servers?count=8&servce=1ms",
            2,
            "error: simulated device 'servers?count=8&servce=1ms': 'servers' has no key \
             'servce'\nhint: 'servers' has count, service",
        ),
        (
            "calibrate sim:bandwidth?rate=1000",
            2,
            "error: simulated device 'bandwidth?rate=1000': bandwidth?rate: '1000' has no \
             unit\nhint: write for example 400MB/s",
        ),
    ];
    all_refused(&place, &cases);
    assert_eq!(place.run_ids(), [""; 0]);
}

#[test]
fn a_device_in_virtual_time_does_not_go_on() {
    let place = Place::new();
    let mut run = place.start(&format!("run mixed.toml {DEVICE} --time 365d"));
    run.wait_until(|| place.kept_intervals() > 2);
    run.signal(rustix::process::Signal::INT);
    assert_eq!(run.wait().code, Some(130));
    let ran = place.run("run --resume latest");
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.complaint.starts_with(
            "error: the run RUN is of a simulated device\nhint: a device in virtual time cannot \
             be resumed; run it again: "
        ),
        "{}",
        ran.complaint
    );
}

/// Writes into a cache of 160 MB at 1 ms each: a thousand a second until it is full, then as fast
/// as it drains.
const FILLED: &str = "sim:cliff?cache=160MB&drain=3MB/s+servers?count=1&service=1ms+device?seed=5";

/// One write outstanding for that many seconds, and a limit between the means of the two levels.
fn writes(place: &Place, seconds: u32) -> support::Ran {
    let stream = "[[stream]]\nname = \"w\"\nread_share = 0.0\nblock_size = \"8KiB\"\narrival = { \
                  closed = { queue_depth = 1 } }\n";
    let workload = format!("format = 1\nname = \"w\"\nduration = \"{seconds}s\"\n{stream}");
    place.write("w.toml", &workload);
    let asked = "format = 1\nname = \"asked\"\n[[criterion]]\nquantity = \
                 \"write.service_time.mean\"\nat_most = \"2.6ms\"\n";
    place.write("asked.toml", asked);
    place.run(&format!("run w.toml {FILLED} --criteria asked.toml"))
}

#[test]
fn a_fall_in_mid_run_is_told_and_the_sustained_level_is_judged() {
    let place = Place::new();
    let ran = writes(&place, 200);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let text = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in
        ["IOPS sustained, after a burst of", "The level fell", "since. Intervals, criteria"]
    {
        assert!(text.contains(words), "{words}: {}", ran.stdout);
    }
    let run = place.path("assay-runs").join(&place.run_ids()[0]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("The level fell") && page.contains("the level fell from"));
    // The same criterion on a run that ends soon after the fall: two levels, and no verdict of
    // their mixture.
    let short = writes(&place, 40);
    assert_eq!(short.code, Some(3), "{short:?}");
    let text = short.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("none held for the last quarter"), "{}", short.stdout);
}
