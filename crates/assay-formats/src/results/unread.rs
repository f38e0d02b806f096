//! Outputs and files of other benchmarks that are not read, so that they are called by their name.

/// Lines at the beginning in which a file shows what it is.
const LINES: usize = 200;
/// Fields of a line of bonnie++ at least.
const BONNIE_FIELDS: usize = 20;

/// A file that is known and not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedFile {
    /// What it is: `the output of ioping`.
    pub what: &'static str,
    /// What to specify instead.
    pub hint: &'static str,
}

/// How a file is recognised, and what it is.
struct Recognition {
    what: &'static str,
    is: fn(&str) -> bool,
}

const OTHERS: &str = "specify a result of fio, Vdbench, ORION, IOMeter, elbencho, pgbench, \
                      HammerDB or sysbench, or measure with `assay run`";
const VDBENCH: &str = "specify flatfile.html or summary.html of the same directory";
const SLOB: &str =
    "import the directory of its run with the AWR reports, or run `assay bench slob`";

const PROGRESS: &str = "run pgbench to its end, and specify its whole output, stdout and stderr";

/// Outputs of benchmarks that have other measures, or too few.
const OUTPUTS: [Recognition; 17] = [
    Recognition {
        what: "the output of ioping",
        is: |text| text.contains(" ioping statistics ---"),
    },
    Recognition { what: "a result of bonnie++", is: is_bonnie },
    Recognition {
        what: "the output of IOzone",
        is: |text| text.contains("Iozone: Performance Test of File I/O"),
    },
    Recognition { what: "the output of dd", is: |text| begin(text).any(is_dd) },
    Recognition {
        what: "a result of CrystalDiskMark",
        is: |text| text.contains("CrystalDiskMark "),
    },
    Recognition { what: "a result of DiskSpd", is: is_diskspd },
    Recognition {
        what: "the output of hdparm",
        is: |text| text.contains("Timing buffered disk reads:"),
    },
    Recognition { what: "the output of Filebench", is: |text| text.contains("IO Summary: ") },
    Recognition {
        what: "the output of IOR",
        is: |text| begin(text).any(|line| line.starts_with("IOR-")),
    },
    Recognition {
        what: "the output of mdtest",
        is: |text| begin(text).any(|line| line.contains("mdtest-") && line.contains("launched")),
    },
    Recognition {
        what: "the output of YCSB",
        is: |text| text.contains("[OVERALL], Throughput(ops/sec)"),
    },
    Recognition {
        what: "the output of mysqlslap",
        is: |text| text.contains("Average number of seconds to run all queries"),
    },
    Recognition {
        what: "the output of pg_test_fsync",
        is: |text| text.contains("Compare file sync methods using "),
    },
    Recognition {
        what: "the output of stress-ng",
        is: |text| begin(text).any(|line| line.starts_with("stress-ng: ")),
    },
    Recognition {
        what: "the output of tpcc-mysql",
        is: |text| text.contains("<TpmC>") && text.contains("[transaction percentage]"),
    },
    Recognition {
        what: "a result of Swingbench",
        is: |text| text.contains("<AverageTransactionsPerSecond>"),
    },
    Recognition {
        what: "a result of PostMark",
        is: |text| begin(text).any(|line| line.starts_with("PostMark v")),
    },
];

/// The file, if it is a known one that is not read.
pub fn unread_file(text: &str) -> Option<RefusedFile> {
    if is_slob_settings(text) {
        return Some(RefusedFile { what: "a configuration of SLOB", hint: SLOB });
    }
    if begin(text).any(|line| line.contains("<title>Vdbench ")) {
        return Some(RefusedFile {
            what: "a page of Vdbench without averages of runs",
            hint: VDBENCH,
        });
    }
    if is_progress(text) {
        return Some(RefusedFile {
            what: "progress of pgbench without its final report",
            hint: PROGRESS,
        });
    }
    let known = OUTPUTS.iter().find(|one| (one.is)(text))?;
    Some(RefusedFile { what: known.what, hint: OTHERS })
}

fn begin(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take(LINES).map(str::trim)
}

/// The csv that begins with the versions of its form and of the program, or the table for people.
fn is_bonnie(text: &str) -> bool {
    let is_row = |line: &str| {
        let mut fields = line.split(',');
        let versions = [fields.next(), fields.next()];
        let is_version = |field: Option<&str>| {
            field.is_some_and(|field| {
                ["1.9", "2."].iter().any(|begin| field.starts_with(begin))
                    && field.parse::<f64>().is_ok()
            })
        };
        versions.into_iter().all(is_version) && fields.count() >= BONNIE_FIELDS
    };
    begin(text).any(is_row)
        || text.contains("Sequential Output") && text.contains("Sequential Input")
}

/// `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.5 s, 429 MB/s`, or that of BSD.
fn is_dd(line: &str) -> bool {
    let Some((bytes, rest)) = line.split_once(" bytes ") else { return false };
    let is_number = !bytes.is_empty() && bytes.bytes().all(|sign| sign.is_ascii_digit());
    let is_copy = rest.contains("copied, ") || rest.starts_with("transferred in ");
    is_number && is_copy && line.contains("/s")
}

/// `progress: 5.0 s, 13.0 tps, lat 1358.214 ms stddev 900.274`, which pgbench prints to stderr.
fn is_progress(text: &str) -> bool {
    let is_line = |line: &str| {
        let Some((_, rest)) = line.split_once("progress: ") else { return false };
        rest.contains(" s, ") && rest.contains(" tps, lat ")
    };
    begin(text).any(is_line) && !text.contains("tps = ")
}

/// Its text, or its XML.
fn is_diskspd(text: &str) -> bool {
    text.contains("Command Line: ") && text.contains("Input parameters:")
        || text.contains("<TestTimeSeconds>") && text.contains("<Results>")
}

/// The file of settings that SLOB's shell reads.
fn is_slob_settings(text: &str) -> bool {
    let has = |name: &str| {
        begin(text).any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
    };
    ["UPDATE_PCT", "SCALE"].iter().all(|name| has(name)) && (has("WORK_UNIT") || has("RUN_TIME"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_other_benchmarks_are_called_by_their_name() {
        let bonnie = format!("comment\n1.97,1.97,db1,1,{}\n", "5,".repeat(40));
        for (text, what) in [
            ("--- /dev/sda (block device 1 GiB) ioping statistics ---\n", "ioping"),
            (&bonnie, "bonnie++"),
            ("\tIozone: Performance Test of File I/O\n", "IOzone"),
            ("1+0 records in\n1024 bytes (1.0 kB) copied, 0.1 s, 10 kB/s\n", "dd"),
            ("CrystalDiskMark 8.0.4 x64 (C) 2007-2021\n", "CrystalDiskMark"),
            ("Command Line: diskspd -b8K x\n\nInput parameters:\n", "DiskSpd"),
            (" Timing buffered disk reads: 10 MB in 3.0 seconds\n", "hdparm"),
            ("[OVERALL], Throughput(ops/sec), 500\n", "YCSB"),
            ("Compare file sync methods using one 8kB write:\n", "pg_test_fsync"),
            ("UPDATE_PCT=25\nRUN_TIME=300\nSCALE=10G\n", "SLOB"),
            (
                "starting vacuum...end.\nprogress: 1.0 s, 7.0 tps, lat 4.3 ms stddev 1.2\n",
                "pgbench",
            ),
            ("<title>Vdbench output/histogram.html</title><pre>\n", "Vdbench"),
        ] {
            let found = unread_file(text).map_or("nothing", |file| file.what);
            assert!(found.contains(what), "{text}: {found}");
        }
        for text in ["", "hello\n", "1.97,1.97\n", "UPDATE_PCT=5\n", "5 bytes were copied\n"] {
            assert_eq!(unread_file(text), None, "{text}");
        }
        let slob = unread_file("UPDATE_PCT=25\nRUN_TIME=300\nSCALE=10G\n").unwrap();
        assert!(slob.hint.contains("AWR"), "{}", slob.hint);
    }
}
