//! The columns of Vdbench's summary by the two lines of its heading, which differ by version.

use super::vdbench_flatfile::MEGABYTE;

/// What a column of a summary has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SummaryColumn {
    /// Operations a second; of a load on files those that were requested.
    Rate,
    /// Throughput, in megabytes.
    Megabytes,
    /// Bytes of an operation.
    Size,
    /// Percentage of reads.
    ReadPercent,
    /// A time of an operation, ms: the side (empty for all) and the statistic.
    Time(String, &'static str),
    /// Rate of one operation.
    RateOf(String),
    /// Throughput of one side, in megabytes.
    MegabytesOf(String),
    /// Outstanding operations.
    Depth,
    /// Busy share of the processors, percent.
    Cpu,
    /// A part of another column.
    Part,
    /// A column that no version is known to have.
    Unknown(String),
}

/// The columns behind the number of the interval.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SummaryColumns {
    /// In the order of the file.
    pub columns: Vec<SummaryColumn>,
    /// Bytes of a megabyte.
    pub megabyte_bytes: f64,
    /// Whether it is of a load on file systems.
    pub is_of_files: bool,
}

/// The columns of 50406, whose heading may be missing in an excerpt.
impl Default for SummaryColumns {
    fn default() -> Self {
        let above = "interval i/o MB/sec bytes read resp read write resp resp queue cpu% cpu%";
        let below = "rate 1024**2 i/o pct time resp resp max stddev depth sys+u sys";
        Self::of_blocks(above, below)
    }
}

impl SummaryColumns {
    /// Whether a line is the first of a heading.
    pub fn is_heading(line: &str) -> bool {
        line.contains("nterval") && (line.contains("i/o") || line.contains("ReqstdOps"))
    }

    /// The columns below the two lines of a heading.
    pub fn new(above: &str, below: &str) -> Self {
        if above.contains("ReqstdOps") {
            Self::of_files(above)
        } else if below.split_whitespace().next() == Some("rate") {
            Self::of_blocks(above, below)
        } else {
            Self::default()
        }
    }

    /// `i/o` above `rate`, `read` above `max`.
    fn of_blocks(above: &str, below: &str) -> Self {
        let above = above.split_once("nterval").map_or(above, |(_, rest)| rest);
        let columns = above.split_whitespace().zip(below.split_whitespace());
        let megabyte_bytes = if below.contains("1000**2") { 1e6 } else { MEGABYTE };
        Self {
            columns: columns.map(|(above, below)| block_column(above, below)).collect(),
            megabyte_bytes,
            is_of_files: false,
        }
    }

    /// Behind thirteen columns that all versions have stand a rate and a time of each operation.
    fn of_files(above: &str) -> Self {
        use SummaryColumn::{Cpu, Megabytes, MegabytesOf, Part, Rate, RateOf, ReadPercent, Size};
        let [read, write] = ["read", "write"].map(str::to_owned);
        let mut columns = vec![Rate, mean(""), Cpu, Part, ReadPercent];
        columns.extend([RateOf(read.clone()), mean("read"), RateOf(write.clone()), mean("write")]);
        columns.extend([MegabytesOf(read), MegabytesOf(write), Megabytes, Size]);
        let names = above.split_whitespace().map(|name| name.trim_matches('.'));
        for name in names.skip_while(|name| *name != "xfer").skip(1) {
            columns.extend([RateOf(name.to_lowercase()), mean(name)]);
        }
        Self { columns, megabyte_bytes: MEGABYTE, is_of_files: true }
    }

    /// Columns that no version is known to have.
    pub fn unknown(&self) -> impl Iterator<Item = &String> {
        self.columns.iter().filter_map(|column| match column {
            SummaryColumn::Unknown(name) => Some(name),
            _ => None,
        })
    }
}

fn mean(side: &str) -> SummaryColumn {
    SummaryColumn::Time(side.to_lowercase(), "mean")
}

fn block_column(above: &str, below: &str) -> SummaryColumn {
    let of_side = |side: &str, statistic| SummaryColumn::Time(side.to_owned(), statistic);
    match (above, below) {
        ("i/o", "rate") => SummaryColumn::Rate,
        ("MB/sec", _) => SummaryColumn::Megabytes,
        ("bytes", "i/o") => SummaryColumn::Size,
        ("read", "pct") => SummaryColumn::ReadPercent,
        ("resp", "time") => of_side("", "mean"),
        ("resp", "max") => of_side("", "max"),
        ("resp", "stddev") => of_side("", "stddev"),
        ("read" | "write", "resp") => of_side(above, "mean"),
        ("read" | "write", "max") => of_side(above, "max"),
        ("read" | "write", "stddev") => of_side(above, "stddev"),
        ("queue", "depth") => SummaryColumn::Depth,
        ("cpu%", "sys") => SummaryColumn::Part,
        ("cpu%", _) => SummaryColumn::Cpu,
        _ => SummaryColumn::Unknown(format!("{above} {below}")),
    }
}

#[cfg(test)]
mod tests {
    use super::SummaryColumn::{
        Cpu, Depth, Megabytes, Part, Rate, RateOf, ReadPercent, Size, Unknown,
    };
    use super::*;

    fn time(side: &str, statistic: &'static str) -> SummaryColumn {
        SummaryColumn::Time(side.to_owned(), statistic)
    }

    #[test]
    fn columns_are_those_of_the_heading() {
        let above = "Jul 08, 2011  interval   i/o   MB/sec   bytes   read     resp     resp     resp    cpu%  cpu%";
        let below = "rate  1024**2     i/o    pct     time      max   stddev sys+usr   sys";
        let of_5_02 = SummaryColumns::new(above, below);
        let times = [time("", "mean"), time("", "max"), time("", "stddev")];
        let expected =
            [&[Rate, Megabytes, Size, ReadPercent][..], &times[..], &[Cpu, Part][..]].concat();
        assert_eq!(of_5_02.columns, expected);
        let newer = SummaryColumns::new(
            &above.replace("cpu%  cpu%", "queue wait"),
            &below.replace("sys+usr   sys", "depth q"),
        );
        assert_eq!(newer.columns[7..], [Depth, Unknown("wait q".to_owned())]);
        assert_eq!(newer.unknown().count(), 1);
        assert_eq!(SummaryColumns::new(above, "09:58:56.048 31"), SummaryColumns::default());
    }

    #[test]
    fn operations_on_files_have_a_rate_and_a_time_each() {
        let above = "Feb 15, 2019 ..Interval.. .ReqstdOps... ...cpu%... read ....read..... ....write.... ..mb/sec... mb/sec .xfer.. ...mkdir.... ..getattr..";
        let columns = SummaryColumns::new(above, "rate resp total sys pct").columns;
        assert_eq!((columns.len(), &columns[12]), (17, &Size));
        let [mkdir, getattr] = ["mkdir", "getattr"].map(|name| RateOf(name.to_owned()));
        assert_eq!(columns[13..], [mkdir, time("mkdir", "mean"), getattr, time("getattr", "mean")]);
    }
}
