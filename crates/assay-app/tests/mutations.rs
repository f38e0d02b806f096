//! Files of every reader, damaged in every way that mails, shells and editors know: no reader
//! panics, and none takes long.
#![allow(clippy::unwrap_used, reason = "a test stops where something is missing")]

#[path = "../../assay-oracle/tests/made_up/mod.rs"]
mod made_up;

use assay_archives::oswatcher::read_trace;
use assay_formats::results::{NamedText, import_files};
use assay_formats::{Surroundings, convert};
use assay_oracle::{profile, read_listing, read_reports};
use assay_stats::random::Random;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Changed files of each kind; `ASSAY_MUTATIONS` sets another number.
const MUTATIONS: u64 = 200_000;
/// No file of some kilobytes takes more time on a CPU.
const LONGEST: Duration = Duration::from_secs(5);

const TRACES: [(&str, &str); 5] = [
    (
        "iostat",
        "Linux 6.1.0 (db1) \t01/15/26 \t_x86_64_\t(4 CPU)\n\n01/15/26 10:00:00\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.50    0.00    0.75    0.25    0.00   97.50\n\nDevice            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util\nsda            100.00   50.00    800.00    400.00    4.00    2.00   0.50  25.00\n\n01/15/26 10:00:10\navg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.50    0.00    0.75    0.25    0.00   97.50\n\nDevice            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util\nsda            100.00   50.00    800.00    400.00    4.00    2.00   0.50  25.00\n",
    ),
    (
        "old iostat",
        "Time: 10:00:00 AM\nDevice:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\nsda 0.0 0.0 9.0 9.0 72.0 72.0 8.0 0.1 6.0 1.0 10.0\n\nTime: 10:00:10 AM\nDevice:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util\nsda 0.0 0.0 9.0 9.0 72.0 72.0 8.0 0.1 6.0 1.0 10.0\n",
    ),
    (
        "vmstat",
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----\n r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC\n 2  0      0 100 100 100    0    0     1     3   29   57  0  0 99  0  0 2026-01-15 10:00:00\n 3  1      0 100 100 100    4    8     1     3   29   57 20 10 60 10  0 2026-01-15 10:00:10\n",
    ),
    (
        "sar",
        "Linux 6.1.0 (db1) \t01/15/26 \t_x86_64_\t(4 CPU)\n\n11:59:40 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n11:59:50 PM     all     10.00      0.00      5.00      5.00      0.00     80.00\n12:00:00 AM     all     10.00      0.00      5.00      5.00      0.00     80.00\n\n11:59:40 PM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util\n11:59:50 PM       sda    100.00    600.00    200.00      8.00      0.50      5.00     20.00\nAverage:          sda    100.00    600.00    200.00      8.00      0.50      5.00     20.00\n",
    ),
    (
        "sadf",
        "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;areq-sz;aqu-sz;await;%util\ndb1;10;2026-01-15 10:00:10 UTC;sda;100.00;400.00;0.00;4.00;0.50;5.00;20.00\n",
    ),
];

/// The samples of all readers, with their names.
fn samples() -> Vec<(String, Vec<u8>)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders =
        ["assay-formats/tests/fio", "assay-formats/tests/results", "assay-formats/tests/jobs"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(tests.join(folder)).unwrap());
    let paths = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut samples: Vec<(String, Vec<u8>)> = paths
        .map(|path| (path.file_name().unwrap().display().to_string(), fs::read(&path).unwrap()))
        .collect();
    samples.extend(TRACES.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())));
    samples.push(("awr.txt".to_owned(), made_up::sample().into_bytes()));
    samples.sort();
    samples.retain(|(_, bytes)| bytes.len() < 200_000);
    samples
}

/// A random place below a length.
fn below(random: &mut Random, length: usize) -> usize {
    usize::try_from(random.below(u64::try_from(length.max(1)).unwrap())).unwrap()
}

/// One damage of a file; `other` is another file.
fn damaged(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let place = below(random, bytes.len());
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let line = below(random, lines.len());
    let mut changed = bytes.to_vec();
    match random.below(12) {
        0 => changed.truncate(place),
        1 => drop(changed.drain(..place)),
        2 => changed[place] ^= 1 << (random.below(8)),
        3 => changed.insert(place, u8::try_from(random.below(256)).unwrap()),
        4 => drop(changed.remove(place)),
        5 => changed = [&lines[..line], &lines[line + 1..]].concat().concat(),
        6 => changed = [&lines[..=line], &lines[line..]].concat().concat(),
        7 => changed = [bytes, other].concat(),
        8 => changed = [&bytes[..place], &other[place.min(other.len())..]].concat(),
        9 => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            changed = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        }
        10 => {
            let number = [&b"1e308"[..], b"-1", b"nan", b"18446744073709551616", b"0", b""];
            let number = number[below(random, number.len())];
            let end = bytes[place..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
            changed.splice(place..place + end, number.iter().copied());
        }
        _ => {
            let text = String::from_utf8_lossy(bytes);
            changed = text.replace(' ', "\t").replace('\n', "\r\n").into_bytes();
        }
    }
    changed
}

/// Time this thread has spent on a CPU: a busy machine does not add to it.
fn cpu_time() -> Duration {
    let found = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(found.split(' ').next().unwrap().parse().unwrap())
}

/// Gives a file to every reader.
fn read_by_all(name: &str, bytes: &[u8]) -> bool {
    let mut is_read = false;
    if let Some(text) = assay_model::encoding::text_of(bytes.to_vec()) {
        let file = NamedText { name, text: &text };
        is_read |= import_files(&[file]).is_ok();
        is_read |= import_files(&[file, file]).is_ok();
        is_read |= read_trace(&text).is_ok();
        is_read |= convert(&text, name, &Surroundings::none()).is_ok();
    }
    is_read |= read_listing(bytes).is_some();
    for report in read_reports(bytes).into_iter().flatten() {
        is_read = true;
        drop(profile(&report));
    }
    is_read
}

/// What one thread has done.
#[derive(Default)]
struct Course {
    read: u64,
    cpu: Duration,
    longest: Duration,
}

/// Damages files and gives each to every reader.
fn course(samples: &[(String, Vec<u8>)], mutations: u64, seed: u64) -> Course {
    let mut random = Random::new(seed);
    let mut course = Course::default();
    for _ in 0..mutations {
        let (name, bytes) = &samples[below(&mut random, samples.len())];
        let other = &samples[below(&mut random, samples.len())].1;
        let mut changed = damaged(bytes, other, &mut random);
        if random.below(4) == 0 && !changed.is_empty() {
            changed = damaged(&changed, other, &mut random);
        }
        let start = cpu_time();
        course.read += u64::from(read_by_all(name, &changed));
        let took = cpu_time().saturating_sub(start);
        assert!(took < LONGEST, "{name}: {took:?}");
        course.longest = course.longest.max(took);
    }
    course.cpu = cpu_time();
    course
}

#[test]
#[ignore = "takes minutes; run it by its name after a change of a reader"]
fn no_damage_of_a_file_stops_a_reader() {
    let mutations = std::env::var("ASSAY_MUTATIONS").ok().and_then(|count| count.parse().ok());
    let mutations: u64 = mutations.unwrap_or(MUTATIONS);
    let threads =
        thread::available_parallelism().map_or(1, |count| u64::try_from(count.get()).unwrap());
    let samples = samples();
    let courses: Vec<Course> = thread::scope(|scope| {
        let started: Vec<_> = (0..threads)
            .map(|number| {
                let share = mutations / threads + u64::from(number < mutations % threads);
                let samples = &samples;
                scope.spawn(move || course(samples, share, 34 + number))
            })
            .collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let read: u64 = courses.iter().map(|course| course.read).sum();
    let cpu: Duration = courses.iter().map(|course| course.cpu).sum();
    let longest = courses.iter().map(|course| course.longest).max().unwrap();
    println!(
        "{mutations} of {} samples, {read} still read, {cpu:?} on {threads} CPUs, longest {longest:?}",
        samples.len()
    );
    assert!(read > 0 && read < mutations);
}
