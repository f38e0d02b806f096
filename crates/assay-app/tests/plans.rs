//! Plans as documents and as cells of studies: every option of every load can be set by its name,
//! and comes back.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assay_app::calibrate::CalibrationRunPlan;
use assay_app::load::LoadPlan;
use assay_app::load::load_options::LoadOptions;
use assay_app::locality::LocalityPlan;
use assay_app::run::RunPlan;
use assay_app::soak::SoakPlan;
use assay_app::study::{StudyPlan, outline};
use assay_app::target_plan::TargetPlan;
use assay_model::study::{FactorValue, parse_study};

/// Values of options that are not their defaults, as a study writes them.
const TEXTS: &[(&str, &str)] = &[
    ("access", "stream"),
    ("answers", "/tmp/answers"),
    ("arrival", "constant"),
    ("bindir", "/opt/server/bin"),
    ("calls", "stmt"),
    ("compressible", "50%"),
    ("criteria", "oltp-default"),
    ("homes", "home"),
    ("hosts", "local:2"),
    ("hot_spot", "8MiB:16MiB:3"),
    ("io_method", "worker"),
    ("isolation", "serializable"),
    ("partial_data", "drop"),
    ("max_latency", "5ms"),
    ("mix", "write-heavy"),
    ("on_loss", "reconnect"),
    ("parallel", "1,4"),
    ("parameters", "validation"),
    ("query_limit", "1min"),
    ("ramp", "1s"),
    ("redo", "heavy"),
    ("scale", "64MiB"),
    ("scan_share", "10%"),
    ("scan_size", "2MiB"),
    ("schema", "assay_other"),
    ("server", "mariadb"),
    ("sessions", "2,4"),
    ("buffer_pool", "64MiB"),
    ("think", "10:100ms:500ms"),
    ("time", "3s"),
    ("warm_up", "1s"),
    ("work_mem", "8MiB"),
];
const WHOLES: &[(&str, u64)] = &[
    ("customers", 2000),
    ("hot_table", 3),
    ("loaders", 3),
    ("partitions", 4),
    ("rate", 200),
    ("repeats", 3),
    ("restore_every", 2),
    ("seed", 7),
    ("streams", 4),
    ("tables", 4),
    ("trade_days", 6),
    ("update_pct", 25),
    ("update_work_unit", 4),
    ("warehouses", 2),
    ("work", 100),
    ("work_unit", 32),
];
const REALS: &[(&str, f64)] = &[("customer_skew", 0.5), ("quantile", 0.95), ("security_skew", 0.7)];
const FLAGS: &[&str] = &["buffered", "find_knee", "keep", "no_power", "no_refresh", "verify"];

/// A value of an option that is not its default.
fn other_of_any(option: &str) -> FactorValue {
    let text = TEXTS.iter().find(|(name, _)| *name == option);
    let whole = WHOLES.iter().find(|(name, _)| *name == option);
    let real = REALS.iter().find(|(name, _)| *name == option);
    let found = text.map(|(_, value)| FactorValue::Text((*value).to_owned()));
    let found = found.or_else(|| whole.map(|(_, value)| FactorValue::Whole(*value)));
    let found = found.or_else(|| real.map(|(_, value)| FactorValue::Real(*value)));
    found.unwrap_or_else(|| {
        assert!(FLAGS.contains(&option), "no value for {option}");
        FactorValue::Flag(true)
    })
}

/// The same, also where a load means something else by the name.
fn other_value(kind: &str, option: &str) -> FactorValue {
    match (kind, option) {
        ("dss", "scale") => FactorValue::Real(0.5),
        ("oltp", "think") => FactorValue::Text("50%".to_owned()),
        ("brokerage", "think") => FactorValue::Text("10ms".to_owned()),
        _ => other_of_any(option),
    }
}

/// Options of a load as documents spell them.
fn options_of(kind: &str) -> Vec<String> {
    let load = LoadOptions::new(kind, "/tmp").unwrap();
    load.names().map(|name| name.replace('-', "_")).collect()
}

/// A load with another value of one option, and with those that it requires.
fn changed(kind: &str, option: &str) -> LoadPlan {
    let mut load = LoadOptions::new(kind, "/tmp").unwrap();
    if option == "arrival" {
        load.set("rate", &FactorValue::Whole(200)).unwrap();
    }
    load.set(option, &other_value(kind, option)).unwrap();
    load.plan().unwrap()
}

#[test]
fn every_option_of_every_load_can_be_a_factor() {
    for default in LoadPlan::all() {
        let kind = default.load().kind().name();
        for option in options_of(kind) {
            let before = LoadPlan::named(kind, "/tmp").unwrap();
            let plan = changed(kind, &option);
            assert_ne!(plan, before, "{kind} {option}");
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<LoadPlan>(&text).unwrap(), plan, "{text}");
        }
    }
}

#[test]
fn what_shapes_data_is_told_from_what_does_not() {
    let shaping = |kind: &str| -> Vec<String> {
        let plan = LoadPlan::named(kind, "/tmp").unwrap();
        let changes = |option: &String| changed(kind, option).load().shape() != plan.load().shape();
        let mut shaping: Vec<String> = options_of(kind).into_iter().filter(changes).collect();
        shaping.sort();
        shaping
    };
    assert_eq!(
        shaping("brokerage"),
        ["customers", "schema", "security_skew", "seed", "trade_days"]
    );
    assert_eq!(shaping("oltp"), ["partitions", "schema", "seed", "warehouses"]);
    assert_eq!(shaping("slob"), ["compressible", "scale", "scan_size", "seed", "tables"]);
    assert_eq!(shaping("dss"), ["scale"]);
}

/// Larger data are larger, whatever the load.
#[test]
fn every_load_says_how_large_its_data_are() {
    for (kind, scale) in
        [("brokerage", "customers"), ("oltp", "warehouses"), ("dss", "scale"), ("slob", "tables")]
    {
        let bytes = |value: u64| {
            let mut load = LoadOptions::new(kind, "/tmp").unwrap();
            load.set(scale, &FactorValue::Whole(value)).unwrap();
            load.plan().unwrap().load().data_bytes().unwrap()
        };
        let (small, large) = (bytes(2000), bytes(4000));
        assert!(large > small && large <= 2 * small + 1, "{kind}: {small} and {large}");
    }
}

#[test]
fn every_load_is_outlined_with_a_factor_and_a_cache_by_its_data() {
    for (kind, factor) in
        [("brokerage", "customers"), ("oltp", "warehouses"), ("dss", "scale"), ("slob", "tables")]
    {
        let text = format!(
            "format = 1\nname = \"s\"\n[phases]\nmeasure = \"2s\"\n[[factor]]\nname = \
             \"{factor}\"\nvalues = [1000, 2000]\n[load]\nkind = \"{kind}\"\noptions = {{ \
             cache_ratio = \"1:4\" }}\n"
        );
        let study = parse_study(&text).unwrap();
        let shown = outline::text(&study, &[], &["postgresql://localhost/x".to_owned()]);
        assert!(!shown.contains("cannot be measured"), "{shown}");
        assert!(shown.contains(&format!("--{factor}=2000")), "{shown}");
        assert!(shown.contains("--buffer-pool="), "{shown}");
        assert_eq!(shown.contains("--time=2s"), kind != "dss", "{shown}");
    }
}

#[test]
fn what_contradicts_or_lies_outside_its_bounds_is_refused() {
    let refused = |kind: &str, options: &[(&str, u64)], flags: &[&str]| {
        let mut load = LoadOptions::new(kind, "/tmp").unwrap();
        for (option, value) in options {
            load.set(option, &FactorValue::Whole(*value)).unwrap();
        }
        for flag in flags {
            load.set(flag, &FactorValue::Flag(true)).unwrap();
        }
        let checked = load.plan().and_then(|plan| plan.load().check());
        checked.unwrap_err().message().to_owned()
    };
    let knee = refused("oltp", &[("sessions", 4)], &["find_knee"]);
    assert!(knee.contains("--find-knee") && knee.contains("cannot be used with"), "{knee}");
    assert!(refused("oltp", &[("repeats", 100)], &[]).contains("100 is not in 1..=99"));
    assert!(refused("slob", &[("work", 0)], &[]).contains("0 is not in 1..="));
    assert!(refused("dss", &[("streams", 0)], &["no_power"]).contains("nothing to measure"));
    assert!(refused("brokerage", &[("customers", 10)], &[]).contains("customers"));
}

#[test]
fn no_password_and_nothing_that_may_be_destroyed_is_kept() {
    let secret = "postgresql://me:s3cret@localhost/x";
    for default in LoadPlan::all() {
        let mut plan = LoadPlan::named(default.load().kind().name(), secret).unwrap();
        // It is still there for the load itself.
        assert_eq!(plan.load_mut().parts().target, secret);
        if let Some(others) = plan.load_mut().parts().other_targets {
            others.push(secret.to_owned());
            assert_eq!(plan.targets(), [secret, secret]);
        }
        assert!(!serde_json::to_string(&plan).unwrap().contains("s3cret"));
    }
    let target = TargetPlan {
        targets: vec![secret.to_owned()],
        destroy: vec!["SERIAL".to_owned()],
        wipe: vec!["ext4".to_owned()],
        ..TargetPlan::default()
    };
    let text = serde_json::to_string(&target).unwrap();
    assert!(!text.contains("s3cret") && !text.contains("SERIAL") && !text.contains("ext4"));
}

/// A plan of today that says nothing reads as the defaults do; so old plans read when an option is
/// added.
#[test]
fn plans_without_a_field_take_its_default() {
    assert_eq!(
        serde_json::from_str::<CalibrationRunPlan>("{}").unwrap(),
        CalibrationRunPlan::default()
    );
    assert_eq!(serde_json::from_str::<LocalityPlan>("{}").unwrap(), LocalityPlan::default());
    for default in LoadPlan::all() {
        let text = format!("{{\"{}\": {{}}}}", default.load().kind().name());
        assert_eq!(serde_json::from_str::<LoadPlan>(&text).unwrap(), default);
    }
    let unknown = serde_json::from_str::<LoadPlan>("{\"slob\": {\"sesions\": [1]}}");
    assert!(unknown.unwrap_err().to_string().contains("sesions"));
}

/// The plan that a former version kept, in the names of this one, and what this one makes of it.
fn reread<P: serde::de::DeserializeOwned + serde::Serialize>(name: &str) -> [serde_json::Value; 2] {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/former_plans");
    let text = std::fs::read_to_string(folder.join(format!("{name}.plan.json"))).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    let plan: P = serde_json::from_value(kept["plan"].clone()).unwrap();
    let renamed = kept["plan"].to_string();
    let renamed = renamed.replace("\"transfer\"", "\"block_size\"");
    let renamed = renamed.replace("\"outstanding\"", "\"queue_depth\"");
    [serde_json::from_str(&renamed).unwrap(), serde_json::to_value(&plan).unwrap()]
}

#[test]
fn plans_of_runs_that_a_former_version_began_can_go_on() {
    for [former, now] in
        [reread::<RunPlan>("run"), reread::<SoakPlan>("soak"), reread::<StudyPlan>("study")]
    {
        for (name, value) in former.as_object().unwrap() {
            assert_eq!(&now[name], value, "{name}");
        }
    }
}

#[test]
fn plans_with_former_names_of_options_mean_the_same() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/former_plans");
    for default in LoadPlan::all() {
        let name = default.load().kind().name();
        let path = folder.join(format!("{name}.plan.json"));
        let kept: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut plan: LoadPlan = serde_json::from_value(kept["plan"].clone()).unwrap();
        let former = kept["plan"][name].get("shared").unwrap_or(&kept["plan"][name]);
        let now = serde_json::to_value(&plan).unwrap();
        let now = now[name].get("shared").unwrap_or(&now[name]);
        assert_eq!(plan.load_mut().parts().target, "data");
        assert_eq!(now["buffer_pool"], former["shared_buffers"]);
        let resumed = if former["left"] == "finish" { "resume" } else { "drop" };
        assert_eq!(now["partial_data"], resumed);
        if let Some(users) = former.get("users") {
            assert_eq!(&now["sessions"], users);
        }
        assert!(["shared_buffers", "left", "users"].iter().all(|name| now.get(name).is_none()));
    }
}
