//! Studies, soaks, comparisons and locality as a user meets them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says where something is missing"
)]

#[path = "support/server.rs"]
mod server;
mod support;

use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use support::Place;

const DEVICE: &str = "sim:servers?count=4&service=1ms+device?size=1GiB";

fn study(changes: &[(&str, &str)]) -> String {
    let text = r#"format = 1
name = "small"
repeats = 2
capacity = "64MiB"
[phases]
measure = "1s"
[[factor]]
name = "sessions"
values = [1, 4]
[workload]
format = 1
name = "blocks"
duration = "1s"
interval = "50ms"
[[workload.stream]]
name = "blocks"
block_size = "8KiB"
arrival = { closed = { queue_depth = 1 } }
"#;
    let replaced = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    changes.iter().fold(text.to_owned(), replaced)
}

fn states(result: &Value) -> Vec<String> {
    let cells = result["study"]["cells"].as_array().unwrap();
    let state = |cell: &Value| cell["state"]["kind"].as_str().unwrap().to_owned();
    cells.iter().map(state).collect()
}

#[test]
fn every_study_that_ships_is_read_and_all_its_cells_can_be_made() {
    let place = Place::new();
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let studies = support::names(&directory);
    assert!(studies.len() >= 15, "{} studies", studies.len());
    for name in studies {
        let text = fs::read_to_string(directory.join(&name)).unwrap();
        // Nodes are those of an array.
        let has_nodes = text.contains("name = \"nodes\"");
        let target = if has_nodes { "array:exadata-x4-2" } else { "d --scale 1/1000" };
        let line = format!("study {}/{name} {target} --dry-run", directory.display());
        let ran = place.run(&line);
        ran.ends_with(0);
        assert!(!ran.stdout.contains("cannot be measured"), "{}", ran.stdout);
        assert!(ran.stdout.contains("in total"), "{}", ran.stdout);
    }
    assert!(place.run_ids().is_empty());
}

#[test]
fn a_study_measures_every_cell_and_joins_repeats() {
    let place = Place::new();
    place.write("s.toml", &study(&[]));
    let result = place.json(&format!("study s.toml {DEVICE}"), 0);
    assert_eq!(states(&result), ["measured"; 4]);
    let curve = &result["study"]["curves"][0];
    assert_eq!(
        (curve["factor"].as_str(), curve["quantity"].as_str()),
        (Some("sessions"), Some("iops"))
    );
    let iops = |at: usize| curve["points"][at]["estimate"]["value"].as_f64().unwrap();
    assert!((iops(0) / 1000.0 - 1.0).abs() < 0.1 && (iops(1) / 4000.0 - 1.0).abs() < 0.1);
    assert_eq!(curve["points"][0]["repeats"], 2);
    let one = place.json("report latest:3", 0);
    let runs = one["runs"].as_array().unwrap();
    assert_eq!((runs.len(), one.get("study")), (1, None), "{one}");
    let intervals = place.run("report latest:3 --csv intervals");
    assert!(intervals.stdout.contains(",00003-") && !intervals.stdout.contains(",00001-"));
    let unknown = place.run("report latest:9");
    unknown.ends_with(2);
    assert!(unknown.stderr.contains(":1, ") && unknown.stderr.contains(":4"), "{unknown:#?}");
    let compared = place.run("compare latest:00001 latest:00003");
    assert!(compared.stdout.contains("Measures side by side"), "{compared:#?}");
    let refused = place.run("compare latest:00001 latest:00002");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("sessions is 1 and 4"), "{}", refused.stderr);
}

#[test]
fn cells_that_fail_are_in_the_result_and_the_rest_goes_on() {
    let place = Place::new();
    let hook = "[phases]\nmeasure = \"1s\"\n[hooks]\nbefore = \"HOOK\"\ntime_limit = \"2s\"";
    for (hooks, reason) in [
        ("test $ASSAY_CELL != 2", "ended with code 1"),
        ("test $ASSAY_CELL != 2 || sleep 60", "did not end within 2 s"),
    ] {
        let phases = hook.replace("HOOK", hooks);
        place.write("s.toml", &study(&[("[phases]\nmeasure = \"1s\"", &phases)]));
        let result = place.json(&format!("study s.toml {DEVICE}"), 1);
        assert_eq!(states(&result), ["measured", "failed", "measured", "measured"]);
        let failed = &result["study"]["cells"][1]["state"]["reason"];
        assert!(failed.as_str().unwrap().contains(reason), "{failed}");
    }
    place.write("s.toml", &study(&[("values = [1, 4]", "values = [1, 99999]")]));
    let result = place.json(&format!("study s.toml {DEVICE}"), 1);
    assert_eq!(states(&result), ["measured", "failed", "measured", "failed"]);
}

const HOOKS: &str = "[phases]\nmeasure = \"1s\"\n[hooks]\nbefore = \"BEFORE\"\nafter = \"true\"";

#[test]
fn a_dry_run_shows_the_hooks_and_does_not_run_them() {
    let place = Place::new();
    let phases = HOOKS.replace("BEFORE", "touch was-run");
    place.write("s.toml", &study(&[("[phases]\nmeasure = \"1s\"", &phases)]));
    let ran = place.run(&format!("study s.toml {DEVICE} --dry-run"));
    let shown = &ran.ends_with(0).stdout;
    assert!(shown.contains("before every cell, for 30s at most: touch was-run\n"), "{shown}");
    assert!(shown.contains("after every cell, for 30s at most: true\n"), "{shown}");
    let plan = place.json(&format!("study s.toml {DEVICE} --dry-run"), 0);
    assert_eq!(plan["hooks"]["before"], "touch was-run");
    assert!(!place.path("was-run").exists());
}

#[test]
fn hooks_get_the_environment_without_its_secrets() {
    let place = Place::new();
    let phases = HOOKS.replace("BEFORE", "env > seen; touch written");
    place.write("s.toml", &study(&[("[phases]\nmeasure = \"1s\"", &phases)]));
    let mut command = place.command(&format!("study s.toml {DEVICE}"));
    command.env("PGPASSWORD", "geheim-1").env("MYSQL_PWD", "geheim-2").env("ARRAY", "a1");
    command.output().unwrap();
    let seen = fs::read_to_string(place.path("seen")).unwrap();
    assert!(seen.contains("ARRAY=a1\n") && seen.contains("ASSAY_CELL="), "{seen}");
    assert!(!seen.contains("geheim"), "{seen}");
}

#[test]
fn stop_rules_leave_out_what_would_be_slower_still() {
    let place = Place::new();
    let stop = "[stop]\nlatency = \"10ms\"\n[[factor]]";
    let values = "values = [1, 4, 64, 128]";
    place.write("s.toml", &study(&[("[[factor]]", stop), ("values = [1, 4]", values)]));
    let result = place.json(&format!("study s.toml {DEVICE}"), 0);
    let round = ["measured", "measured", "measured", "left_out"];
    let again = ["measured", "measured", "measured", "left_out"];
    assert_eq!(states(&result), [round, again].concat());
}

#[test]
fn data_are_filled_and_a_target_too_small_is_refused() {
    let place = Place::new();
    let fill = "[phases]\nfill = \"50%\"\nprecondition_passes = 1\n";
    place.write("s.toml", &study(&[("[phases]\n", fill)]));
    let result = place.json("study s.toml d", 0);
    assert_eq!(states(&result), ["measured"; 4]);
    assert_eq!(result["study"]["cells"][0]["cell"]["restored"], true);
    place.write("s.toml", &study(&[("64MiB", "4GiB")]));
    let ran = place.run(&format!("study s.toml {DEVICE}"));
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("the target has 1GiB"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: reduce the study"), "{}", ran.stderr);
}

#[test]
fn every_volume_gets_a_file_of_its_own_and_their_directory_is_told_once() {
    let place = Place::new();
    let volumes = study(&[("\"sessions\"", "\"volumes\""), ("repeats = 2", "repeats = 1")]);
    place.write("s.toml", &volumes);
    let result = place.json("study s.toml d", 0);
    assert_eq!(states(&result), ["measured"; 2]);
    assert_eq!(result["target"], "d (4 test files)");
    assert!(place.test_files("d").is_empty());
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_is_touched() {
    let place = Place::new();
    for (from, to, complaint) in [
        ("sessions", "sesions", "there is no factor 'sesions'"),
        ("repeats = 2", "repeats = 0", "repeats = 0 measures nothing"),
        ("repeats = 2", "restore_every = 2", "restore_every has nothing to restore"),
        ("measure = \"1s\"", "measure = \"0s\"", "measures nothing"),
    ] {
        place.write("s.toml", &study(&[(from, to)]));
        let ran = place.run("study s.toml d");
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains("error: ") && ran.stderr.contains("hint: "));
        assert!(ran.stderr.contains(complaint), "{}", ran.stderr);
    }
    place.write("s.toml", &study(&[]));
    let model = include_str!("../../../arrays/competitor-afa.array.toml");
    for (from, to) in [("dies = 655", "dies = 0"), ("\"8KiB\"", "\"0B\""), ("\"random\"", "\"x\"")]
    {
        place.write("m.array.toml", &model.replace(from, to));
        for line in ["study s.toml array:m.array.toml", "study s.toml array:m.array.toml --dry-run"]
        {
            let ran = place.run(line);
            assert_eq!(ran.code, Some(2), "{ran:#?}");
            assert!(ran.stderr.contains("m.array.toml") && ran.stderr.contains("hint: "));
        }
    }
    for line in ["study nosuch.toml d", "study s.toml d --scale 3", "soak d --time 1ms"] {
        let ran = place.run(line);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains("hint: "), "{}", ran.stderr);
    }
    assert!(place.run_ids().is_empty());
}

#[test]
fn a_killed_study_goes_on_where_it_was() {
    let place = Place::new();
    place.write("s.toml", &study(&[]));
    let mut started = place.start("study s.toml d --keep -q");
    let results = |place: &Place| {
        let run = place.run_ids().pop()?;
        let text = fs::read_to_string(place.path(format!("assay-runs/{run}/study.json"))).ok()?;
        Some(text.matches("\"number\"").count())
    };
    started.wait_until(|| results(&place).is_some_and(|cells| cells >= 1));
    started.signal(Signal::KILL);
    started.wait();
    let before = results(&place).unwrap();
    assert!(before < 4, "it was done already");
    let result = place.json("study --resume latest", 0);
    assert_eq!(states(&result), ["measured"; 4]);
    let again = place.run("study --resume latest");
    assert!(
        again.code == Some(2) && again.stderr.contains("a result for every cell"),
        "{again:#?}"
    );
}

#[test]
fn a_soak_tells_a_level_that_holds_from_one_that_falls() {
    let place = Place::new();
    place.write(
        "w.toml",
        "format = 1\nname = \"w\"\nduration = \"1s\"\n[[stream]]\nname = \"r\"\nblock_size = \
         \"8KiB\"\narrival = { closed = { queue_depth = 1 } }\n",
    );
    let flat =
        place.json("soak sim:servers?count=1&service=20ms --time 20min --workload w.toml", 0);
    assert_eq!(flat["soak"]["state"]["kind"], "steady");
    let device = "sim:bucket?rate=20/s&credits=9000+servers?count=1&service=20ms";
    let fall = place.json(&format!("soak {device} --time 40min --workload w.toml"), 1);
    let since_s = fall["soak"]["state"]["since_s"].as_f64().unwrap();
    // 9,000 credits at 50 less 20 a second last 300 s.
    assert!((since_s - 300.0).abs() < 30.0, "{since_s}");
    let short = place.json("soak sim:servers?count=1&service=20ms --time 20s --workload w.toml", 3);
    assert_eq!(short["soak"]["outcome"], "INCONCLUSIVE");
    let cycles = "soak sim:servers?count=1&service=20ms --time 30s --rest 60s --cycles 10 \
                  --final-rest 1h --workload w.toml";
    let rested = place.json(cycles, 0);
    assert!(rested["soak"]["rests"]["recovered_of_best"]["value"].as_f64().unwrap() > 0.9);
}

#[test]
fn locality_finds_a_tier() {
    let place = Place::new();
    let device = "sim:device?size=256MiB+tiers?sizes=6MiB&latencies=200us,4ms";
    let found = place.json(&format!("locality {device} --largest 32MiB --time 4s"), 0);
    let tiers = found["locality"]["tiers"].as_array().unwrap();
    assert_eq!(tiers.len(), 2, "{tiers:?}");
    let holds = tiers[0]["holds_bytes"].as_f64().unwrap() / f64::from(6 << 20);
    assert!((holds - 1.0).abs() < 0.1, "{holds}");
    let ran = place.run("locality sim:tiers?sizes=6MiB&latencies=1ms");
    assert!(ran.code == Some(2) && ran.stderr.contains("do not define tiers"), "{ran:#?}");
}

/// The eight hours of the EMC paper with every process of the array 480 times faster.
fn sustained(place: &Place, array: &str) -> Value {
    let study = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/emc-sustained.toml");
    let result = place.json(&format!("study {study} array:{array}?hasten=480"), 0);
    assert_eq!(states(&result), ["measured"]);
    result["study"]["cells"][0]["course"].clone()
}

#[test]
fn the_competitors_array_falls_and_the_other_does_not() {
    let place = Place::new();
    let falls = sustained(&place, "competitor-afa");
    let levels = falls["courses"][0]["levels"].as_array().unwrap();
    let value = |level: &Value| level["value"]["value"].as_f64().unwrap();
    let fell_s = levels[0]["to_s"].as_f64().unwrap();
    assert!((fell_s / 7200.0 - 1.0).abs() < 0.25, "{fell_s}");
    let depth = value(levels.last().unwrap()) / value(&levels[0]);
    assert!((depth - 0.5).abs() < 0.08, "{depth}");
    // A new steady state around five hours (Fig. 15), and nothing lost on the other array.
    assert_eq!(falls["state"]["kind"], "steady", "{}", falls["state"]);
    let since_s = falls["state"]["since_s"].as_f64().unwrap();
    assert!((since_s / 18_000.0 - 1.0).abs() < 0.25, "{since_s}");
    assert_eq!(falls["outcome"], "FAIL");
    let holds = sustained(&place, "xtremio-1");
    assert_eq!((&holds["state"]["since_s"], &holds["outcome"]), (&0.0.into(), &"PASS".into()));
    let level = value(&holds["courses"][0]["levels"][0]);
    assert!(level > 90_000.0, "{level}");
    let ids = place.run_ids();
    let compared = place.run(&format!("compare {} {} --json", ids[0], ids[1]));
    let pairs: Value = serde_json::from_str(&compared.stdout).unwrap();
    let measures = pairs["pairs"][0]["measures"].as_array().unwrap();
    let reads = measures.iter().find(|one| one["quantity"] == "read.iops").unwrap();
    // 33% more reads in eight hours (Fig. 13 and 14).
    let ratio = reads["ratio"]["value"].as_f64().unwrap();
    assert!((ratio / 1.332 - 1.0).abs() < 0.06, "{ratio}");
}

#[test]
fn factors_of_an_array_and_of_its_sessions_reach_them() {
    let place = Place::new();
    let nodes = study(&[("\"sessions\"", "\"nodes\""), ("queue_depth = 1", "queue_depth = 256")]);
    place.write("s.toml", &nodes);
    let result = place.json("study s.toml array:exadata-x4-2", 0);
    let points = result["study"]["curves"][0]["points"].as_array().unwrap().clone();
    let iops = |at: usize| points[at]["estimate"]["value"].as_f64().unwrap();
    assert!(iops(1) > 2.0 * iops(0), "{points:?}");
    place.write("s.toml", &study(&[("\"sessions\"", "\"nodes\"")]));
    // No cell of it can be made elsewhere, so nothing is begun.
    let runs = place.run_ids().len();
    let ran = place.run(&format!("study s.toml {DEVICE}"));
    assert!(ran.code == Some(2) && ran.stderr.contains("'nodes'"), "{ran:#?}");
    assert_eq!(place.run_ids().len(), runs);
}

#[test]
fn a_study_of_a_load_is_planned_as_the_commands_that_it_runs() {
    let place = Place::new();
    let load = "[load]\nkind = \"slob\"\noptions = { scale = \"64MiB\" }\n[workload]";
    let text =
        study(&[("[workload]", load), ("\"sessions\"", "\"memory\""), ("[1, 4]", "[\"8MiB\"]")]);
    place.write("s.toml", &text);
    let plan = place.run("study s.toml postgresql://localhost/x --dry-run");
    let command =
        "assay bench slob postgresql://localhost/x --time=1s --scale=64MiB --buffer-pool=8MiB";
    assert!(plan.stdout.contains(command), "{}", plan.stdout);
    place.write("s.toml", &text.replace("slob", "slab"));
    let refused = place.run("study s.toml postgresql://localhost/x");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("there is no load 'slab'"), "{}", refused.stderr);
    assert!(place.run_ids().is_empty());
}

#[test]
fn a_killed_soak_goes_on_where_it_was() {
    let place = Place::new();
    let line = "soak d --time 2s --rest 1s --cycles 3 --workload oltp-read --size 32MiB --keep -q";
    let mut started = place.start(line);
    let cycles = |place: &Place| {
        let run = place.run_ids().pop()?;
        let cells = fs::read_dir(place.path(format!("assay-runs/{run}/cells"))).ok()?;
        Some(cells.count())
    };
    started.wait_until(|| cells_at_least(cycles(&place), 2));
    started.signal(Signal::KILL);
    started.wait();
    let result = place.json("soak --resume latest", 3);
    let worked_s = result["soak"]["worked_s"].as_f64().unwrap();
    assert!((5.0..7.0).contains(&worked_s), "{worked_s}");
    let device = place.run(&format!("soak {DEVICE} --time 5s --workload oltp-read"));
    assert!(device.code.is_some());
    let again = place.run("soak --resume latest");
    assert!(again.code == Some(2) && again.stderr.contains("virtual time"), "{again:#?}");
}

fn cells_at_least(cells: Option<usize>, least: usize) -> bool {
    cells.is_some_and(|cells| cells >= least)
}

#[test]
fn a_place_that_follows_late_is_told_as_such() {
    let place = Place::new();
    let device = "sim:device?size=2GiB+tiers?sizes=24MiB&latencies=100us,2ms&follow=20s";
    let found = place.json(&format!("locality {device} --largest 512MiB --time 8s"), 0);
    assert_eq!(found["locality"]["tiers"], Value::Array(Vec::new()));
    assert!(found["locality"]["doubts"][0].as_str().unwrap().contains("--warm-up"));
}

#[test]
fn a_study_of_memory_loads_its_data_once_and_goes_back_to_them() {
    let Some(place) = server::Place::new("memory") else {
        return;
    };
    let text = "format = 1\nname = \"memory\"\nrepeats = 2\norder = \
                \"interleaved\"\nrestore_every = 2\n[phases]\nmeasure = \"2s\"\n[[factor]]\nname \
                = \"cache_ratio\"\nvalues = [\"1:1\", \"1:4\"]\n[load]\nkind = \"oltp\"\noptions \
                = { warehouses = 1, users = 2, warm_up = \"0s\", verify = true }\n";
    fs::write(place.0.join("s.toml"), text).unwrap();
    let result = server::json(&place.run("study s.toml d --json"));
    assert_eq!(states(&result), ["measured"; 4]);
    let cells = result["study"]["cells"].as_array().unwrap();
    let loads: Vec<Value> = cells.iter().map(|cell| load_of(&place, cell)).collect();
    // Loaded in the first cell only; every second one goes back to what was loaded, and finds it
    // right.
    let is_loaded: Vec<bool> = loads.iter().map(|load| load["filled"].is_object()).collect();
    assert_eq!(is_loaded, [true, false, false, false]);
    let goes_back = |load: &Value| load["plan"].to_string().contains("before every step");
    assert_eq!(loads.iter().map(goes_back).collect::<Vec<_>>(), [true, false, true, false]);
    assert!(loads[2]["checks"].to_string().contains("before the first step"));
    assert!(place.left().is_empty(), "{:?}", place.left());
    let curve = &result["study"]["curves"][0];
    assert_eq!(curve["quantity"], "new_orders");
    assert_eq!(curve["points"][0]["value"], "1:4");
    let runs = support::names(&place.0.join("assay-runs"));
    let study = runs.iter().find(|run| run.contains("-study-")).unwrap();
    let ran = place.run(&format!("report {study} --relative"));
    let relative = String::from_utf8_lossy(&ran.stdout);
    assert!(relative.contains("100%") && !relative.contains("MB/s"), "{relative}");
}

/// Data of another size are other data: a server that holds the first ones is not asked for the
/// second.
#[test]
fn a_study_of_customers_loads_their_data_and_compares_trade_results() {
    let Some(place) = server::Place::new("customers") else {
        return;
    };
    let text = "format = 1\nname = \"customers\"\n[phases]\nmeasure = \"2s\"\n[[factor]]\nname = \
                \"customers\"\nvalues = [100, 200]\n[load]\nkind = \"brokerage\"\noptions = { \
                trade_days = 1, users = 2, warm_up = \"0s\" }\n";
    fs::write(place.0.join("s.toml"), text).unwrap();
    let result = server::json(&place.run("study s.toml d --json"));
    assert_eq!(states(&result), ["measured"; 2], "{}", result["study"]["cells"]);
    let cells = result["study"]["cells"].as_array().unwrap();
    for (cell, customers) in cells.iter().zip(["100", "200"]) {
        let load = load_of(&place, cell);
        assert!(load["filled"].is_object(), "{}", load["filled"]);
        assert_eq!(load["plan"][0]["value"], customers);
        let plan = plan_of(&place, cell);
        assert_eq!(plan["plan"]["brokerage"]["customers"].to_string(), customers);
    }
    assert_eq!(result["study"]["curves"][0]["quantity"], "trade_results");
    assert!(place.left().is_empty(), "{:?}", place.left());
}

/// The plan of the load that measured a cell.
fn plan_of(place: &server::Place, cell: &Value) -> Value {
    let run = cell["run"].as_str().unwrap();
    let path = place.0.join(format!("assay-runs/{run}/plan.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The document of the load that measured a cell.
fn load_of(place: &server::Place, cell: &Value) -> Value {
    let run = cell["run"].as_str().unwrap();
    let path = place.0.join(format!("assay-runs/{run}/load.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Two calibrations of known devices: one server and two, so that every capacity doubles.
#[test]
fn calibrations_are_compared_with_their_curves() {
    let place = Place::new();
    for servers in [1, 2] {
        let ran = place.run(&format!(
            "calibrate sim:servers?count={servers}&service=500us --time 10s --max-latency 5ms"
        ));
        assert!(!ran.stdout.is_empty(), "{ran:#?}");
    }
    let ids = place.run_ids();
    let said = place.run(&format!("compare {} {}", ids[0], ids[1]));
    let first = said.stdout.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(said.code == Some(0) && first.contains("× the read IOPS (95% CI "), "{said:#?}");
    assert!(first.contains("latency at depth 1"), "{first}");
    place.run(&format!("runs rename {} first", ids[0]));
    let itself = place.run("compare first first");
    assert!(
        itself.code == Some(2) && itself.stderr.contains("first is specified twice"),
        "{itself:#?}"
    );
    let itself = place.run(&format!("compare first {}", ids[0]));
    assert!(itself.code == Some(2) && itself.stderr.contains("are the same run"), "{itself:#?}");
    let compared = place.run(&format!("compare {} {} --html c.html --json", ids[0], ids[1]));
    let found: Value = serde_json::from_str(&compared.stdout).unwrap();
    let measures = found["pairs"][0]["measures"].as_array().unwrap();
    let most = measures.iter().find(|one| one["quantity"] == "calibration.read.iops_max").unwrap();
    let end = |end: &str| most["ratio"][end].as_f64().unwrap();
    assert!((end("low")..=end("high")).contains(&2.0), "{most}");
    assert!((end("value") - 2.0).abs() < 0.2, "{most}");
    assert!(!found["overlays"].as_array().unwrap().is_empty());
    let page = fs::read_to_string(place.path("c.html")).unwrap();
    assert!(page.contains("Overlaid curves") && page.matches("<svg").count() >= 6);
    let name = |id: &str, label: &str| {
        assert_eq!(place.run(&format!("runs rename {id} {label}")).code, Some(0));
    };
    name(&ids[0], "old");
    name(&ids[1], "new");
    let sides = || {
        let compared = place.run(&format!("compare {} {} --json", ids[0], ids[1]));
        let found: Value = serde_json::from_str(&compared.stdout).unwrap();
        found["sides"].as_array().unwrap().clone()
    };
    assert_eq!([&sides()[0]["name"], &sides()[1]["name"]], ["old", "new"]);
    assert_eq!(sides()[0]["ids"][0], ids[0].as_str());
    name(&ids[1], "old");
    assert_eq!([&sides()[0]["name"], &sides()[1]["name"]], [&ids[0], &ids[1]]);
    let refused = place.run(&format!("calibrate {DEVICE} --time 10s --max-latency 1ms"));
    assert!(!refused.stdout.is_empty());
    let other = &place.run_ids()[2];
    let refused = place.run(&format!("compare {} {other}", ids[0]));
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("calibration.max_latency_ns is 5000000 and 1000000"));
}
