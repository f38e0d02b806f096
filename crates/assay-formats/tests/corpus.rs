//! Real files of users, which lie next to the repository and not in it: each is converted or
//! refused with line and reason, and what twenty-five of them stand for was written by hand first.
//! Without the files the tests say so and pass.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails where what it needs is missing"
)]

use assay_formats::{Conversion, ConvertedDocument, Refused, Surroundings, convert};
use assay_model::units::Nanos;
use assay_model::workload::{Access, Arrival, Stream, SyncPolicy, Workload};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The folder of real files, where it is there.
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/compat");
    let path = std::env::var_os("ASSAY_COMPAT").map_or(beside, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: the real files of other programs are not next to the repository");
    None
}

fn read(corpus: &Path, name: &str) -> Result<Conversion, Refused> {
    let bytes = std::fs::read(corpus.join(name)).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let folder = corpus.join(name).parent().unwrap().to_owned();
    // Files are kept under the name of their owner.
    let owner = name.split(['/', '-']).nth(1).unwrap().to_owned();
    let file = |included: &str| {
        let path = folder.join(format!("{owner}--{included}"));
        std::fs::read_to_string(path)
            .map_err(|error| assay_model::Error::usage(error.to_string(), "specify it"))
    };
    convert(&text, name, &Surroundings { file: &file, variable: &|_| None })
}

fn all(corpus: &Path, folder: &str) -> Vec<String> {
    let names = std::fs::read_dir(corpus.join(folder)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    names.sort();
    names
}

fn access(access: Access) -> String {
    match access {
        Access::Uniform => "uniform".to_owned(),
        Access::Permutation => "permutation".to_owned(),
        Access::Zipf { theta } => format!("zipf/{theta}"),
        Access::HotBand { share, band, start } => format!("hot/{share}/{band}/{start}"),
        Access::MovingHotBand { .. } => "moving".to_owned(),
        Access::Sequential { streams } => format!("sequential/{streams}"),
        Access::Stride { step } => format!("stride/{step}"),
    }
}

fn arrival(arrival: Arrival) -> String {
    match arrival {
        Arrival::Closed { queue_depth, think_time } => {
            format!("closed/{queue_depth}/{}", time(think_time))
        }
        Arrival::Open { rate, process, queue_depth_max, .. } => {
            format!("open/{rate}/{process:?}/{queue_depth_max}")
        }
    }
}

fn stream(text: &mut String, stream: &Stream) {
    let rounded = |number: f64| (number * 1e6).round() / 1e6;
    let sizes: Vec<String> = match stream.block_size.parts.as_slice() {
        [one] => vec![one.size.to_string()],
        parts => {
            parts.iter().map(|part| format!("{}*{}", part.size, rounded(part.share.0))).collect()
        }
    };
    let sync = match stream.sync {
        SyncPolicy::None => "none".to_owned(),
        other => format!("{other:?}"),
    };
    let percent = rounded(stream.read_share.0 * 100.0);
    let _ = writeln!(
        text,
        "stream {} {percent}% {} {} {} x{} {sync} {}..{} {:?}",
        stream.name,
        sizes.join("+"),
        access(stream.access),
        arrival(stream.arrival),
        stream.workers,
        stream.span.from,
        stream.span.to,
        stream.targets,
    );
}

fn time(time: Nanos) -> String {
    if time.0 == 0 { "0s".to_owned() } else { time.to_string() }
}

fn outline(conversion: &Conversion) -> String {
    let mut text = String::new();
    for part in &conversion.parts {
        let workload: &Workload = part.document.workload().unwrap();
        let path = if workload.direct { "direct" } else { "buffered" };
        let capacity = |bytes: Option<assay_model::units::Bytes>| {
            bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string())
        };
        let _ = match &part.document {
            ConvertedDocument::Workload(one) => writeln!(
                text,
                "workload {} {} {} {path} {}",
                one.name,
                time(one.duration),
                time(one.warm_up),
                capacity(one.capacity)
            ),
            ConvertedDocument::Study(study) => {
                let factors = study.factors.iter().map(|factor| {
                    let values: Vec<String> =
                        factor.values.iter().map(ToString::to_string).collect();
                    format!("{}=[{}]", factor.name, values.join(" "))
                });
                writeln!(
                    text,
                    "study {} {} {} {path} {} {}",
                    study.name,
                    time(study.phases.measure),
                    time(study.phases.warm_up),
                    capacity(study.capacity),
                    factors.collect::<Vec<_>>().join(" ")
                )
            }
        };
        workload.streams.iter().for_each(|one| stream(&mut text, one));
    }
    text
}

#[test]
fn files_stand_for_what_was_written_by_hand() {
    let Some(corpus) = corpus() else { return };
    let expected = include_str!("expected.txt");
    let files = expected.split("\n= ").skip(1);
    let mut wrong = String::new();
    let mut count = 0;
    for file in files {
        let (name, expected) = file.split_once('\n').unwrap();
        let found = match read(&corpus, name) {
            Ok(conversion) => outline(&conversion),
            Err(refused) => refused.into_error().to_string(),
        };
        if found.trim() != expected.trim() {
            let _ = writeln!(wrong, "= {name}\n-- by hand\n{expected}\n-- found\n{found}");
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 20, "{count} files");
}

/// Files that fio 3.33 does not run on plain files, or that name devices with placeholders that
/// cannot be read.
const NOT_RUN_BY_FIO: [&str; 4] =
    ["wkettler--globals", "wkettler--os", "wkettler--web", "bose-abhishek"];

#[test]
fn every_job_file_is_carried_over_or_refused_by_line() {
    let Some(corpus) = corpus() else { return };
    let (mut carried, mut runnable) = (0, 0);
    for name in all(&corpus, "fio") {
        let by_fio = !NOT_RUN_BY_FIO.iter().any(|start| name.contains(start));
        runnable += u32::from(by_fio);
        match read(&corpus, &name) {
            Ok(conversion) => {
                println!("{name}: {} documents", conversion.parts.len());
                conversion.refused().for_each(|(note, reason)| {
                    println!("  {} = {}: {reason}", note.origin, note.value);
                });
                carried += u32::from(by_fio && conversion.refused().next().is_none());
            }
            Err(refused) => {
                println!("{name}: {}", refused.into_error());
            }
        }
    }
    println!("{carried} of {runnable}");
    assert!(carried * 100 >= runnable * 85, "{carried} of {runnable}");
}

#[test]
fn every_parameter_file_is_carried_over_or_refused_by_line() {
    let Some(corpus) = corpus() else { return };
    let (mut carried, mut raw) = (0, 0);
    for name in all(&corpus, "vdbench") {
        let text =
            String::from_utf8_lossy(&std::fs::read(corpus.join(&name)).unwrap()).into_owned();
        let has_line = |start: &str| text.lines().any(|line| line.trim_start().starts_with(start));
        let is_raw = has_line("rd=") && !has_line("fsd=");
        raw += u32::from(is_raw);
        match read(&corpus, &name) {
            Ok(conversion) => {
                println!("{name}: {} documents", conversion.parts.len());
                conversion.refused().for_each(|(note, reason)| {
                    println!("  {} = {}: {reason}", note.origin, note.value);
                });
                carried += u32::from(is_raw && conversion.refused().next().is_none());
            }
            Err(refused) => {
                println!("{name}: {}", refused.into_error());
                assert!(!is_raw, "{name}");
            }
        }
    }
    println!("{carried} of {raw}");
    assert!(carried * 100 >= raw * 80, "{carried} of {raw}");
}
