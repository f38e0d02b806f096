//! Job files and results of other programs as a user brings them, and as they are broken.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

mod support;

use std::fs;
use support::{Place, names};

/// Reads of 4 KiB on a file of the user's.
const JOB: &str = "[global]\nfilename=/home/me/precious.db\nsize=16m\nioengine=libaio\ndirect=0\n\
                   time_based\nruntime=1\n[pages]\nrw=randread\nbs=4k\niodepth=4\n";

/// Two runs of two threads on a device of the user's.
const PARAMETERS: &str = "sd=sd1,lun=/dev/sdz,size=16m,threads=2\nwd=wd1,sd=sd1,xfersize=4k,\
                          rdpct=100\nrd=rd1,wd=wd1,iorate=max,elapsed=1,interval=1,forthreads=(1,\
                          2)\n";

#[test]
fn convert_says_where_every_line_comes_from_and_changes_nothing() {
    let place = Place::new();
    place.write("job.fio", JOB);
    let ran = place.run("run job.fio --print");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for words in ["job.fio:9 rw", "block_size = \"4KiB\"", "duration = \"1s\"", "# "] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    let document = place.json("run job.fio --print", 0);
    assert_eq!(document["program"], "fio");
    assert_eq!(document["targets"][0]["name"], "/home/me/precious.db");
    assert!(document["notes"].as_array().unwrap().iter().all(|note| note["treatment"] != ""));
    // What is printed is a workload that runs.
    place.write("out.toml", &ran.stdout);
    assert_eq!(place.run("run out.toml d --size 16MiB --time 200ms --buffered").code, Some(0));
    place.write("p.vdb", PARAMETERS);
    assert_eq!(place.run("run p.vdb --print --out d").code, Some(0));
    let kept = names(&place.path("d"));
    assert!(kept.len() == 1 && kept[0].ends_with(".study.toml"), "{kept:?}");
    let again = place.run("run p.vdb --print --out d");
    assert_eq!(again.code, Some(4), "an existing file is not overwritten: {again:?}");
}

#[test]
fn a_job_runs_where_the_user_says_and_nowhere_else() {
    let place = Place::new();
    let precious = place.random_file("precious.db", 16 << 20);
    let before = fs::read(&precious).unwrap();
    let job = JOB.replace("/home/me/precious.db", &precious.display().to_string());
    place.write("job.fio", &job.replace("randread", "randwrite"));
    // The file's own name chooses nothing.
    let refused = place.run("run job.fio");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.stderr.contains("precious.db") && refused.stderr.contains("--map"),
        "{refused:?}"
    );
    let named = place.run("run job.fio precious.db --time 200ms");
    assert_ne!(named.code, Some(0), "a file of the user's is not written: {named:?}");
    let ran = place.run("run job.fio d --time 200ms --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read(&precious).unwrap(), before);
    let wrong = place.run("run job.fio --map /other=d");
    assert!(wrong.stderr.contains("names no such file"), "{wrong:?}");
    let mapped = place
        .command("run job.fio --time 200ms --map")
        .arg(format!("{}=d", precious.display()))
        .output()
        .unwrap();
    assert!(mapped.status.success(), "{mapped:?}");
    assert_eq!(fs::read(&precious).unwrap(), before);
}

#[test]
fn parameters_run_as_a_study() {
    let place = Place::new();
    place.write("p.vdb", PARAMETERS);
    let ran = place.run("run p.vdb sim:servers?count=8&service=20us --time 1s");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = place.json("report latest", 0);
    assert_eq!(found["study"]["cells"].as_array().unwrap().len(), 2, "{found}");
}

/// A file, its text, and what the refusal says; all of them are refused with a hint.
const BROKEN: &[(&str, &str, &str)] = &[
    ("self.fio", "include self.fio\n[a]\nrw=read\nfilename=x\n", "includes itself"),
    ("missing.fio", "include nowhere.fio\n[a]\nrw=read\nfilename=x\n", "cannot be read"),
    ("large.fio", "[a]\nrw=read\nfilename=x\nsize=99999999999999t\n", "larger than any storage"),
    ("engine.fio", "[a]\nrw=read\nfilename=x\nioengine=warp\n", "ioengine"),
    ("forks.fio", "[a]\nrw=read\nfilename=x\nsize=1g\nnumjobs=10000\n", "4096"),
    ("value.fio", "[a]\nrw=sideways\nfilename=x\nsize=1g\n", "rw = sideways"),
    ("variable.fio", "[a]\nrw=read\nfilename=${NOT_SET_HERE}\nsize=1g\n", "NOT_SET_HERE"),
    ("empty.fio", "[global]\nrw=read\n", "no job"),
    ("option.fio", "[a]\nrw=read\nfilename=x\nsize=1g\niodepht=4\n", "iodepht"),
    (
        "host.vdb",
        "sd=sd1,lun=/dev/a\nwd=wd1,sd=sd9\nrd=r,wd=wd1,iorate=max,elapsed=5,interval=1\n",
        "sd9",
    ),
    ("self.vdb", "include=self.vdb\nsd=sd1,lun=/dev/a\n", "includes itself"),
    (
        "overflow.vdb",
        "sd=sd1,lun=/dev/a,size=999999999999999t\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max,elapsed=5,\
         interval=1\n",
        "larger than any storage",
    ),
    (
        "tiny.vdb",
        "sd=sd1,lun=/dev/a,size=1g\nwd=wd1,sd=sd1,xfersize=4\nrd=r,wd=wd1,iorate=max,elapsed=5,\
         interval=1,forthreads=(1,2)\n",
        "not a valid workload",
    ),
    (
        "files.vdb",
        "fsd=f1,anchor=/a,depth=1,width=1,files=9,size=1m\nfwd=w1,fsd=f1,operation=read\nrd=r,\
         fwd=w1,fwdrate=max,elapsed=5,interval=1\n",
        "files and directories",
    ),
];

#[test]
fn what_is_broken_is_refused_with_its_line_and_what_to_do() {
    let place = Place::new();
    for (name, text, words) in BROKEN {
        place.write(name, text);
        for target in [" d", " --print"] {
            let ran = place.run(&format!("run {name}{target}"));
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert!(said.contains(words), "{name}{target}: {words}\n{ran:?}");
            if target == " d" {
                assert_eq!(ran.code, Some(2), "{name}: {ran:?}");
                assert!(ran.stderr.contains("hint: "), "{name}: {ran:?}");
            }
        }
        assert!(names(&place.path("d")).is_empty(), "{name}");
    }
}

#[test]
fn commands_of_a_job_are_never_executed_and_that_is_said() {
    let place = Place::new();
    let mark = place.path("executed");
    let lines = format!("exec_prerun=touch {0}\nexec_postrun=touch {0}\n", mark.display());
    place.write("job.fio", &format!("{JOB}{lines}"));
    let ran = place.run("run job.fio d --time 200ms");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("commands in job files are never executed"), "{ran:?}");
    assert!(!mark.exists());
}

#[test]
fn paths_of_other_systems_are_names_and_nothing_else() {
    let place = Place::new();
    place.write(
        "job.fio",
        "[a]\nfilename=C\\:\\data\\test.dat\nsize=16m\nrw=randread\nbs=4k\nruntime=1\n",
    );
    let document = place.json("run job.fio --print", 0);
    assert!(document["targets"][0]["name"].as_str().unwrap().contains("test.dat"), "{document}");
    place.write(
        "p.vdb",
        "sd=sd1,lun=\\\\.\\PhysicalDrive1\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=max,elapsed=1,\
         interval=1\n",
    );
    let document = place.json("run p.vdb --print", 0);
    assert!(
        document["targets"][0]["name"].as_str().unwrap().contains("PhysicalDrive1"),
        "{document}"
    );
}

#[test]
fn options_of_orion_are_carried_over_and_its_luns_are_not_written() {
    let place = Place::new();
    let ran = place.run(
        "calibrate sim:servers?count=8&service=200us --time 5s --as orion -run simple -testname \
         mytest -num_disks 2",
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // Small I/Os alone up to 10 outstanding, large ones alone up to 4, each combined with none.
    assert!(ran.stderr.contains("cell 7 of 7"), "{ran:?}");
    let files = place.run("report latest --as orion --out .");
    assert!(files.stdout.contains("Test: mytest"), "{files:?}");
    let iops = fs::read_to_string(place.path("mytest_iops.csv")).unwrap();
    assert_eq!(iops.lines().count(), 5, "{iops}");
    assert!(iops.starts_with("Large/Small,      1,      2,      5,     10\n      0, "), "{iops}");
    // What ORION's words leave open holds as it stands before them.
    let target = "calibrate sim:servers?count=8&service=200us --dry-run --time 7s --block-size 4k";
    for (words, time, block_size) in [
        ("-run simple", "7s", "4KiB"),
        ("-run simple -duration 9", "9s", "4KiB"),
        ("-run simple -size_small 16", "7s", "16KiB"),
    ] {
        let summary = place.run(&format!("{target} --as orion {words}")).stdout;
        assert!(summary.contains(time) && summary.contains(block_size), "{words}: {summary}");
    }
    let device = place.random_file("device", 1 << 20);
    let before = fs::read(&device).unwrap();
    place.write("mytest.lun", &format!("{}\n", device.display()));
    let writing = place.run("calibrate --as orion -run advanced -write 50 -testname mytest");
    assert_eq!(writing.code, Some(2), "{writing:?}");
    assert!(writing.stderr.contains("would overwrite"), "{writing:?}");
    assert_eq!(fs::read(&device).unwrap(), before);
    let missing = place.run("calibrate --as orion -run simple -testname nowhere");
    assert!(missing.code == Some(2) && missing.stderr.contains("nowhere.lun"), "{missing:?}");
    let unknown = place.run("calibrate sim:servers?count=8&service=200us --as orion -run sideways");
    assert!(unknown.code == Some(2) && unknown.stderr.contains("sideways"), "{unknown:?}");
}

#[test]
fn a_run_comes_back_from_the_form_of_another_program() {
    let place = Place::new();
    let ran = place.json("run randread sim:servers?count=8&service=200us --time 2s", 0);
    let iops = ran["runs"][0]["measurement"]["streams"][0]["operations"]["read"]["ios"].as_u64();
    let text = place.run("report latest --as fio-json").stdout;
    place.write("fio.json", &text);
    assert_eq!(place.run("runs import fio.json").code, Some(0));
    let back = place.json("report latest", 0);
    let found = back["runs"][0]["measurement"]["streams"][0]["operations"]["read"]["ios"].as_u64();
    assert_eq!((found, iops.is_some()), (iops, true));
    // The same file is one result.
    let again = place.run("runs import fio.json");
    assert!(again.code == Some(2) && again.stderr.contains("was already imported"), "{again:?}");
    assert_eq!(place.run("runs import fio.json --again").code, Some(0));
    // Cut off in the middle it is refused at any place.
    for share in 1..20 {
        let end = text.len() * share / 20;
        place.write("cut.json", &text[..end]);
        let cut = place.run("runs import cut.json");
        assert_eq!(cut.code, Some(2), "{share}: {cut:?}");
        assert!(cut.stderr.contains("hint: "), "{share}: {cut:?}");
    }
    let none = place.run("report latest --as orion");
    assert!(none.code == Some(2) && none.stderr.contains("no calibration or matrix"), "{none:?}");
}

#[test]
fn a_calibration_comes_back_from_the_form_of_orion() {
    let place = Place::new();
    let device = "sim:servers?count=8&service=200us";
    let ran = place.json(&format!("calibrate {device} --time 5s --read-share 100%"), 0);
    let mix = &ran["calibration"]["mixes"][0];
    fs::create_dir(place.path("o")).unwrap();
    let summary = place.run("report latest --as orion --out o");
    assert_eq!(summary.code, Some(0), "{summary:?}");
    for (file, curve, key, unit) in [
        ("assay_iops.csv", "curve", "iops", 1.0),
        ("assay_mbps.csv", "large_curve", "throughput_bytes_per_s", 1e6),
    ] {
        assert_eq!(place.run(&format!("runs import o/{file}")).code, Some(0), "{file}");
        let back = place.json("report latest", 0);
        let cells = back["study"]["cells"].as_array().unwrap();
        let points = mix[curve].as_array().unwrap();
        assert_eq!(cells.len(), points.len(), "{file}");
        for (cell, point) in cells.iter().zip(points) {
            let found = cell["measures"][0]["estimate"]["value"].as_f64().unwrap();
            let written = point[key]["value"].as_f64().unwrap();
            // ORION prints whole I/Os, and hundredths of a megabyte.
            assert!((found - written).abs() <= 0.5 * unit, "{file}: {found} {written}");
        }
    }
    assert_eq!(place.run("runs import o/assay_summary.txt").code, Some(0));
    let back = place.json("report latest", 0);
    let most = mix["curve"].as_array().unwrap().iter();
    let most = most.map(|point| point["iops"]["value"].as_f64().unwrap()).fold(0.0, f64::max);
    let cells = back["study"]["cells"].as_array().unwrap().iter();
    let measures = cells.flat_map(|cell| cell["measures"].as_array().unwrap());
    let iops = measures.filter(|one| one["quantity"] == "iops");
    let found = iops.map(|one| one["estimate"]["value"].as_f64().unwrap()).fold(0.0, f64::max);
    assert!((found - most).abs() <= 0.5, "{found} {most}");
}

#[test]
fn a_command_line_of_fio_means_what_the_same_job_file_means() {
    let place = Place::new();
    let options = "rw=randrw rwmixread=75 bs=8k ioengine=libaio iodepth=4 numjobs=4 rate_iops=750 \
                   size=8m fsync=0 direct=1 runtime=2 hipri=0";
    let file = format!("[randrw]\nfilename=d\n{}\n", options.replace(' ', "\n"));
    place.write("job.fio", &file);
    let words = options.split(' ').map(|word| format!("--{word}")).collect::<Vec<_>>().join(" ");
    let printed = |line: &str| {
        let ran = place.run(line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        // What follows a hash says where a line is from.
        let lines = ran.stdout.lines().map(|line| line.split('#').next().unwrap_or_default());
        lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    let of_words = printed(&format!("run {words} --filename=d --print"));
    assert_eq!(of_words, printed("run job.fio --print"));
    assert!(of_words.contains("4000/s") && of_words.contains("permutation"), "{of_words}");
}

#[test]
fn logs_of_fio_are_rows_that_say_what_they_lack() {
    let place = Place::new();
    let line = |second: u32| format!("{}, {}, 0, 0, 0", second * 1000, 4000 + second);
    let lines: Vec<String> = (1..=30).map(line).collect();
    place.write("job_bw.1.log", &(lines.join("\n") + "\n"));
    let ran = place.run("runs import job_bw.1.log");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = place.json("report latest", 0);
    let measure = &found["study"]["cells"][0]["measures"][0];
    assert_eq!(measure["quantity"], "throughput", "{found}");
    assert!(found["study"]["notes"].to_string().contains("does not describe its host"), "{found}");
    place.write("other.txt", "1, 2, 3\nhello\n");
    let unknown = place.run("runs import other.txt");
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("not a known result"),
        "{unknown:?}"
    );
}

/// A log of pgbench: transactions of some clients at a rate, each as long as the last.
fn pgbench_log(first_client: u32, clients: u32, per_s: u32, time_us: u32) -> String {
    let line = |index: u32| {
        let at_us = u64::from(index + 1) * 1_000_000 / u64::from(per_s);
        let (second, us) = (1_700_000_000 + at_us / 1_000_000, at_us % 1_000_000);
        let time_us = time_us + index % 7;
        let client = first_client + index % clients;
        format!("{client} {} {time_us} 0 {second} {us}\n", index / clients + 1)
    };
    (0..per_s * 30).map(line).collect()
}

#[test]
fn logs_of_threads_are_one_run_that_can_be_compared_and_judged() {
    let place = Place::new();
    for (run, per_s) in [("a.11", 200), ("b.12", 100)] {
        place.write(run, &pgbench_log(0, 2, per_s, 5000));
        place.write(&format!("{run}.1"), &pgbench_log(2, 2, per_s, 5000));
        let ran = place.run(&format!("runs import {run} {run}.1 --json"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    let runs = place.run("runs").stdout;
    let ids: Vec<&str> = runs.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(ids.len(), 2, "{runs}");
    let (slow, fast) = (ids[0], ids[1]);
    let text = place.run(&format!("report {fast}")).stdout;
    assert!(text.contains("400/s") && text.contains("2023-11-14"), "{text}");
    for cell in ["", ":1", ":00001"] {
        let found = place.run(&format!("compare {fast}{cell} {slow}{cell}"));
        assert_eq!(found.code, Some(0), "{found:?}");
        assert!(found.stdout.contains("0.50× the transactions"), "{found:?}");
        assert!(found.stdout.contains("measure each side three times"), "{found:?}");
    }
    let missing = place.run(&format!("compare {fast}:9 {slow}:1"));
    assert!(
        missing.code == Some(2) && missing.stderr.contains("has no measured cell 9"),
        "{missing:?}"
    );
    for (limit, code) in [("300/s", 0), ("500/s", 1)] {
        place.write(
            "c.toml",
            &format!(
                "format = 1\nname = \"c\"\n[[criterion]]\nquantity = \"transactions\"\nat_least = \
                 \"{limit}\"\n"
            ),
        );
        let judged = place.run(&format!("report {fast} --criteria c.toml"));
        assert_eq!(judged.code, Some(code), "{judged:?}");
    }
}

#[test]
fn a_result_without_intervals_decides_nothing_and_shows_its_numbers() {
    let place = Place::new();
    for orders in [120_000, 118_000] {
        place.write(
            &format!("r{orders}.log"),
            &format!(
                "2025-01-15 10:30:00\nVuser 1:8 Active Virtual Users configured\nVuser 1:TEST \
                 RESULT : System achieved {orders} NOPM from 276000 PostgreSQL TPM\n"
            ),
        );
        let ran = place.run(&format!("runs import r{orders}.log --name of-{orders}"));
        assert!(ran.code == Some(0) && ran.stdout.contains("/s"), "{ran:?}");
    }
    assert!(place.run("report of-118000").stdout.contains("1,967/s"));
    let runs = place.run("runs").stdout;
    let ids: Vec<&str> = runs.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    let compared = place.run(&format!("compare {} {}", ids[1], ids[0]));
    assert_eq!(compared.code, Some(0), "{compared:?}");
    assert!(compared.stdout.contains("0.983"), "{compared:?}");
    let itself = place.run(&format!("compare {0} {0}", ids[1]));
    assert!(itself.code == Some(2) && itself.stderr.contains("is specified twice"), "{itself:?}");
    let text = place.run(&format!("report {}", ids[1])).stdout;
    for shown in ["2,000/s", "4,600/s", "sessions 8", "2025-01-15 10:30:00", "unknown"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    place.write(
        "c.toml",
        "format = 1\nname = \"c\"\n[[criterion]]\nquantity = \"load.new_orders\"\nat_least = \
         \"1000/min\"\n",
    );
    let judged = place.run(&format!("report {} --criteria c.toml", ids[1]));
    assert_eq!(judged.code, Some(3), "{judged:?}");
}

#[test]
fn a_configuration_of_iometer_is_converted_and_run() {
    let place = Place::new();
    place.write(
        "t.icf",
        "Version 1.1.0\n'TEST SETUP ==\n'Test Description\n\tarray\n'Run Time\n'\thours      \
         minutes    seconds\n\t0          0          2\n'Ramp Up Time (s)\n\t0\n'Test \
         Type\n\tNORMAL\n'END test setup\n'ACCESS SPECIFICATIONS ==\n'Access specification \
         name,default assignment\n\tOLTP,NONE\n'size,% of size,% reads,% \
         random,delay,burst,align,reply\n\t8192,100,100,100,0,1,8192,0\n'END access \
         specifications\n'MANAGER LIST ==\n'Manager ID, manager name\n\t1,HOST\n'Worker\n\tWorker \
         1\n'Worker type\n\tDISK\n'Number of outstanding IOs,test connection rate,transactions \
         per connection\n\t4,DISABLED,1\n'Disk maximum size,starting sector\n\t0,0\n'Assigned \
         access specs\n\tOLTP\n'End assigned access specs\n'Target\n\tD:\n'Target \
         type\n\tDISK\n'End target\n'End worker\n'End manager\n'END manager list\n",
    );
    let document = place.json("run t.icf --print", 0);
    assert_eq!(
        (&document["program"], &document["targets"][0]["name"]),
        (&"iometer".into(), &"D:".into())
    );
    let ran = place.json("run t.icf sim:servers?count=8&service=200us", 0);
    let stream = &ran["runs"][0]["measurement"]["streams"][0];
    assert!(stream["operations"]["read"]["ios"].as_u64().unwrap() > 10_000, "{stream}");
}

#[test]
fn words_and_findings_are_explained() {
    let place = Place::new();
    let ran = place.run("help service time");
    assert!(ran.code == Some(0) && ran.stdout.starts_with("Service time: "), "{ran:?}");
    let rule = place.run("help scheduler");
    assert!(rule.stdout.contains("remedy: "), "{rule:?}");
    let unknown = place.run("help quantil");
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("did you mean 'quantile'?"),
        "{unknown:?}"
    );
}

/// Read, shown with its load, and kept nowhere.
#[test]
fn the_result_of_another_program_is_shown_without_being_stored() {
    let place = Place::new();
    let job = |name: &str, ms: u32| {
        format!(
            r#"{{"jobname": "{name}", "job options": {{"rw": "randread",
                "bs": "8k", "iodepth": "4"}},
                "read": {{"io_bytes": 81920000, "total_ios": 10000, "runtime": {ms},
                "clat_ns": {{"min": 5000, "max": 9000, "mean": 7000.0,
                "bins": {{"5000": 5000, "9000": 5000}}}}}}}}"#
        )
    };
    let jobs = [job("a", 10_000), job("b", 9_970)].join(",");
    place.write("fio.json", &format!(r#"{{"fio version": "fio-3.33", "jobs": [{jobs}]}}"#));
    let shown = place.run("report fio.json --full");
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    // 10,000 in 9.97 s.
    assert!(shown.stdout.contains("1,003/s"), "{}", shown.stdout);
    let flat = shown.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // psync has one I/O outstanding, whatever its iodepth.
    assert!(flat.contains("2 jobs of random 8KiB reads, queue depth 1, engine psync"), "{flat}");
    assert!(place.run_ids().is_empty() && !shown.stdout.contains("assay-report-"), "{shown:#?}");
    for (name, text, what) in [
        ("x.txt", "--- /dev/sda (block device 1 GiB) ioping statistics ---\n", "output of ioping"),
        ("slob.conf", "UPDATE_PCT=25\nRUN_TIME=300\nSCALE=10G\n", "configuration of SLOB"),
    ] {
        place.write(name, text);
        for command in ["report", "runs import", "run"] {
            let ran = place.run(&format!("{command} ./{name}"));
            assert!(ran.code == Some(2) && ran.stderr.contains(what), "{command}: {ran:#?}");
        }
    }
}
