//! Vdbench's flatfile: a header line of names, a line an interval, and one of averages.

use super::OutputRun;
use assay_model::number::{rate, real, share};
use assay_model::run::{IntervalSummary, OperationSummary};
use assay_model::workload::Workload;
use std::fmt::Write;

const HEADER: &str = "tod timestamp Run Interval reqrate rate MB/sec bytes/io read% resp read_resp write_resp resp_max read_max write_max resp_std read_std write_std xfersize threads rdpct rhpct whpct seekpct lunsize version compratio dedupratio queue_depth cpu_used cpu_user cpu_kernel cpu_wait cpu_idle";

/// The runs as a flatfile; what Vdbench knows and Assay does not is `n/a`.
pub fn flatfile(runs: &[OutputRun<'_>]) -> String {
    let mut text = format!("* Written by Assay in the form of Vdbench's flatfile.\n{HEADER}\n");
    for run in runs {
        for interval in run.intervals {
            line(&mut text, run, &(interval.index + 1).to_string(), interval);
        }
        if let Some(whole) = whole(run) {
            let last = run.intervals.len();
            line(&mut text, run, &format!("avg_1-{last}"), &whole);
        }
    }
    text
}

/// The whole time as one interval; its times are those of the whole histograms.
fn whole(run: &OutputRun<'_>) -> Option<IntervalSummary> {
    let operations = run.measurement.operations();
    (operations.ios() > 0).then(|| {
        IntervalSummary {
            end_ns: run.measurement.elapsed_ns,
            outstanding_mean: run.measurement.conduct.outstanding_mean,
            ..IntervalSummary::default()
        }
        .with_operations(&operations)
    })
}

fn line(text: &mut String, run: &OutputRun<'_>, name: &str, interval: &IntervalSummary) {
    let at_ns = run.measurement.started_unix_ns.saturating_add(interval.end_ns);
    let second = at_ns / 1_000_000_000 % 86_400;
    let clock = format!(
        "{:02}:{:02}:{:02}.{:03}",
        second / 3600,
        second / 60 % 60,
        second % 60,
        at_ns / 1_000_000 % 1000
    );
    let [read, write] = [interval.read.as_ref(), interval.write.as_ref()];
    let elapsed_s = interval.elapsed_s();
    let (ios, bytes) = (interval.ios(), interval.bytes());
    let mean = |one: Option<&OperationSummary>| one.map_or(0.0, |one| one.response().mean_ns / 1e6);
    let most =
        |one: Option<&OperationSummary>| one.map_or(0.0, |one| real(one.response().max_ns) / 1e6);
    let reads = read.map_or(0, |read| read.ios);
    let weighted = (mean(read) * real(reads) + mean(write) * real(ios - reads)) / real(ios.max(1));
    let asked = Asked::of(run.workload);
    let _ = writeln!(
        text,
        "{clock} {} {} {name} {} {:.4} {:.4} {} {:.4} {weighted:.4} {:.4} {:.4} {:.4} {:.4} {:.4} n/a n/a n/a {} {} {} n/a n/a {} n/a assay n/a n/a {:.2} n/a n/a n/a n/a n/a",
        at_ns / 1_000_000_000,
        one_word(&run.measurement.workload),
        asked.rate,
        rate(ios, elapsed_s),
        rate(bytes, elapsed_s) / 1_048_576.0,
        bytes / ios.max(1),
        share(reads, ios) * 100.0,
        mean(read),
        mean(write),
        most(read).max(most(write)),
        most(read),
        most(write),
        asked.transfer,
        asked.threads,
        asked.read_percent,
        asked.seek,
        interval.outstanding_mean,
    );
}

/// A name without blanks, which separate columns.
fn one_word(name: &str) -> String {
    let name = name.replace(char::is_whitespace, "_");
    if name.is_empty() { "run".to_owned() } else { name }
}

/// What was asked for, of one stream; with several there is none.
struct Asked {
    rate: String,
    transfer: String,
    threads: String,
    read_percent: String,
    seek: String,
}

impl Asked {
    fn of(workload: Option<&Workload>) -> Self {
        use assay_model::workload::{Access, Arrival};
        let unknown = || "n/a".to_owned();
        let [stream] = workload.map_or(&[][..], |workload| workload.streams.as_slice()) else {
            return Self {
                rate: unknown(),
                transfer: unknown(),
                threads: unknown(),
                read_percent: unknown(),
                seek: unknown(),
            };
        };
        Self {
            rate: match stream.arrival {
                Arrival::Closed { .. } => "max".to_owned(),
                Arrival::Open { rate, .. } => rate.0.to_string(),
            },
            transfer: stream.transfer.max_bytes().to_string(),
            threads: stream.arrival.outstanding().to_string(),
            read_percent: (stream.read_share.0 * 100.0).to_string(),
            seek: if matches!(stream.access, Access::Sequential { .. }) { "0" } else { "100" }
                .to_owned(),
        }
    }
}
