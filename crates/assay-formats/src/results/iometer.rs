//! `IOMeter`'s result file: one row per test, summed over managers.

use super::amount::NumberPlace;
use super::columns::HeaderColumns;
use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, total};
use super::numbers::whole;
use super::rows::{count, cut, word};
use assay_model::Result;
use assay_model::study::StudySetting;
use assay_model::units::Bytes;
use assay_model::verdict::NamedEstimate;
use std::collections::BTreeMap;

/// Versions up to 2006 call it `MBps`; from 1.1 on there are binary and decimal ones.
const MEBIBYTE: f64 = 1_048_576.0;

/// Whether a text is such a file.
pub fn is_result(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("'Target Type,Target Name,Access Specification Name"))
}

/// Reads a result file.
///
/// # Errors
/// A usage error where a line is cut off, or the file holds no result of all managers.
pub fn read(text: &str) -> Result<ImportedResult> {
    let mut file = ResultFile::default();
    for (number, line) in (1..).zip(text.lines()) {
        file.line(number, line.trim())?;
    }
    if file.rows.is_empty() {
        return Err(broken("IOMeter", "it has no line ALL: no test finished"));
    }
    let mut lacks = vec![Lack::Intervals, Lack::Quantiles, Lack::Environment, Lack::Duration];
    lacks.extend(file.columns.keep_apart(&mut file.rows, &[]));
    lacks.extend(file.rows.iter().any(|row| row.started_unix_ns.is_none()).then_some(Lack::Date));
    Ok(ImportedResult {
        program: format!("IOMeter {}", file.version).trim_end().to_owned(),
        name: if file.description.is_empty() { "results".to_owned() } else { file.description },
        content: ImportedContent::Rows(file.rows),
        lacks,
    })
}

/// The block of lines that a heading opens.
#[derive(Clone, Copy, Default)]
enum ResultBlock {
    #[default]
    Other,
    Description,
    Version,
    Time,
    SpecificationName,
    SpecificationLine,
    Results,
}

/// What one line of an access specification says.
#[derive(Clone, Copy)]
struct SpecificationLine {
    bytes: u64,
    of_size: f64,
    read_percent: f64,
    random_percent: f64,
}

#[derive(Default)]
struct ResultFile {
    block: ResultBlock,
    version: String,
    description: String,
    at_unix_ns: Option<u64>,
    specification: String,
    specifications: BTreeMap<String, Vec<SpecificationLine>>,
    names: Vec<String>,
    columns: HeaderColumns,
    rows: Vec<ImportedRow>,
}

impl ResultFile {
    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        if let Some(heading) = line.strip_prefix('\'') {
            self.heading(heading);
            return Ok(());
        }
        match self.block {
            ResultBlock::Description => {
                let text = line.split_once(',').map_or(line, |(_, text)| text);
                self.description = cut(text);
            }
            ResultBlock::Version => self.version = cut(line),
            ResultBlock::Time => self.at_unix_ns = dates::iso(line),
            ResultBlock::SpecificationName => {
                let name = line.rsplit_once(',').map_or(line, |(name, _)| name);
                name.clone_into(&mut self.specification);
                self.specifications.insert(name.to_owned(), Vec::new());
            }
            ResultBlock::SpecificationLine => {
                if let Some(lines) = self.specifications.get_mut(&self.specification) {
                    lines.extend(specification(line));
                }
            }
            ResultBlock::Results => return self.result(number, line),
            ResultBlock::Other => {}
        }
        Ok(())
    }

    fn heading(&mut self, heading: &str) {
        let is = |begin: &str| {
            heading.get(..begin.len()).is_some_and(|start| start.eq_ignore_ascii_case(begin))
        };
        self.block = if is("Test Type") {
            ResultBlock::Description
        } else if is("Version") {
            ResultBlock::Version
        } else if is("Time Stamp") {
            ResultBlock::Time
        } else if is("Access specification name") {
            ResultBlock::SpecificationName
        } else if is("size,") {
            ResultBlock::SpecificationLine
        } else if is("Target Type") {
            self.names = heading.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
            self.columns = known_columns(&self.names);
            ResultBlock::Results
        } else {
            ResultBlock::Other
        };
    }

    /// Lines of managers, workers and disks say the same in parts.
    fn result(&mut self, number: usize, line: &str) -> Result<()> {
        let cells: Vec<&str> = line.split(',').collect();
        if !cells[0].eq_ignore_ascii_case("ALL") {
            return Ok(());
        }
        if cells.len() < self.names.len() {
            return Err(broken("IOMeter", &format!("line {number} is cut off")));
        }
        let line = ResultLine { names: &self.names, cells: &cells, number };
        let row = ImportedRow {
            settings: self.settings(&line),
            started_unix_ns: self.at_unix_ns,
            elapsed_s: None,
            queue_depth_max: line.queue_depth_max(),
            measures: line.measures()?,
        };
        self.rows.push(row);
        Ok(())
    }

    fn settings(&self, line: &ResultLine<'_>) -> Vec<StudySetting> {
        let name = line.cell("access specification name").unwrap_or_default();
        let counts = [
            ("# managers", "hosts"),
            ("# workers", "workers"),
            ("# disks", "volumes"),
            ("queue depth", "queue_depth"),
        ];
        let counts = counts.into_iter().filter_map(|(column, factor)| {
            Some(count(factor, whole(line.cell(column)?).filter(|count| *count > 0)?))
        });
        let mut settings = vec![word("run", name)];
        settings.extend(counts);
        if let Some(lines) = self.specifications.get(name) {
            settings.extend(of_specification(lines));
        }
        settings
    }
}

/// All columns are known up to the counts of times in ranges.
fn known_columns(names: &[String]) -> HeaderColumns {
    const KNOWN: [&str; 24] = [
        "target ",
        "access ",
        "# ",
        "iops",
        "read ",
        "write ",
        "mbps",
        "mibps",
        "transactions ",
        "connections",
        "average ",
        "maximum ",
        "errors",
        "bytes ",
        "total raw",
        "starting ",
        "queue ",
        "% ",
        "processor ",
        "interrupts ",
        "cpu ",
        "packet",
        "segments ",
        ">=",
    ];
    let mut columns = HeaderColumns::new(names.iter().map(String::as_str));
    columns.skip(|name| KNOWN.iter().any(|begin| name.starts_with(begin)) || name.contains(" to "));
    columns
}

/// `4096,100,67,100,0,1,0,0`.
fn specification(line: &str) -> Option<SpecificationLine> {
    let cells: Vec<Option<f64>> = line.split(',').map(super::numbers::number).collect();
    let at = |place: usize| cells.get(place).copied().flatten();
    Some(SpecificationLine {
        bytes: assay_model::number::count(at(0)?),
        of_size: at(1)?,
        read_percent: at(2)?,
        random_percent: at(3)?,
    })
}

/// Sizes, reads and random places, by the shares of the lines.
fn of_specification(lines: &[SpecificationLine]) -> Vec<StudySetting> {
    let all: f64 = lines.iter().map(|line| line.of_size).sum();
    let share = |of: fn(&SpecificationLine) -> f64| {
        let sum: f64 = lines.iter().map(|line| of(line) * line.of_size).sum();
        format!("{}%", (sum / all * 100.0).round() / 100.0)
    };
    let size = |line: &SpecificationLine| Bytes(line.bytes).to_string();
    let sizes = match lines {
        [] => return Vec::new(),
        [one] => size(one),
        lines => lines
            .iter()
            .map(|line| format!("{} {}%", size(line), line.of_size))
            .collect::<Vec<_>>()
            .join(" "),
    };
    vec![
        word("block_size", &sizes),
        word("read_share", &share(|line| line.read_percent)),
        word("random_share", &share(|line| line.random_percent)),
    ]
}

/// One line of results by the names of its columns.
struct ResultLine<'a> {
    names: &'a [String],
    cells: &'a [&'a str],
    number: usize,
}

impl ResultLine<'_> {
    fn cell(&self, name: &str) -> Option<&str> {
        let place = self.names.iter().position(|known| known == name)?;
        self.cells.get(place).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    }

    /// Workers have their outstanding I/Os on each of their disks.
    fn queue_depth_max(&self) -> Option<f64> {
        let [depth, disks, workers] = ["queue depth", "# disks", "# workers"]
            .map(|name| self.cell(name).and_then(super::numbers::number).filter(|one| *one > 0.0));
        Some(depth? * disks? * workers?)
    }

    fn amount(&self, name: &str) -> Result<Option<f64>> {
        let place = NumberPlace { program: "IOMeter", line: self.number, what: name };
        self.cell(name).map_or(Ok(None), |cell| place.amount(cell))
    }

    /// Bytes a second of `read `, `write ` or both: the decimal number where there is one.
    fn throughput(&self, side: &str) -> Result<Option<f64>> {
        let units = [("mbps (decimal)", 1e6), ("mibps (binary)", MEBIBYTE), ("mbps", MEBIBYTE)];
        for (name, unit) in units {
            if let Some(value) = self.amount(&format!("{side}{name}"))? {
                return Ok(Some(value * unit));
            }
        }
        Ok(None)
    }

    fn measures(&self) -> Result<Vec<NamedEstimate>> {
        let mut measures = Vec::new();
        let mut add = |quantity: String, value: Option<f64>| {
            measures.extend(value.map(|value| total(&quantity, value)));
        };
        add("iops".to_owned(), self.amount("iops")?);
        add("throughput".to_owned(), self.throughput("")?);
        for side in ["read", "write"] {
            let rate = self.amount(&format!("{side} iops"))?.filter(|rate| *rate > 0.0);
            if rate.is_none() {
                continue;
            }
            let time = |what: &str| self.amount(&format!("{what} {side} response time"));
            add(format!("{side}.iops"), rate);
            add(format!("{side}.throughput"), self.throughput(&format!("{side} "))?);
            add(format!("{side}.service_time.mean"), time("average")?.map(|ms| ms * 1e6));
            add(format!("{side}.service_time.max"), time("maximum")?.map(|ms| ms * 1e6));
        }
        add("errors".to_owned(), self.amount("errors")?);
        Ok(measures)
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    const NEW: &str = "'Test Type,Test Description\n0,array of four\n'Version\n1.1.0 \n'Time Stamp\n2025-01-15 \
         10:30:00:123\n'Access specifications\n'Access specification name,default \
         assignment\nOLTP,0\n'size,% of size,% reads,% \
         random,delay,burst,align,reply\n8192,80,70,100,0,1,0,0\n16384,20,70,100,0,1,0,0\n'End \
         access specifications\n'Results\n'Target Type,Target Name,Access Specification Name,# \
         Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MiBps (Binary),Read MiBps \
         (Binary),Write MiBps (Binary),MBps (Decimal),Read MBps (Decimal),Write MBps \
         (Decimal),Average Response Time,Average Read Response Time,Average Write Response \
         Time,Maximum Read Response Time,Maximum Write Response Time,Errors,Queue Depth,0 to 50 \
         uS, >= 10 s\nALL,All,OLTP,1,4,4,1000.0,700.0,300.0,9.0,6.0,3.0,9.6,6.5,3.1,4.000000,5.0,\
         1.5,90.0,80.0,0,16,5,0\nMANAGER,HOST,OLTP,,4,4,1000.0,700.0,300.0,9.0,6.0,3.0,9.6,6.5,3.\
         1,4.0,5.0,1.5,90.0,80.0,0,16,5,0\n'Time Stamp\n2025-01-15 10:35:00:123\n";

    #[test]
    fn a_test_is_a_row_with_its_specification() {
        let found = read(NEW).unwrap();
        assert_eq!(
            (found.program.as_str(), found.name.as_str()),
            ("IOMeter 1.1.0", "array of four")
        );
        assert!(
            !found.lacks.iter().any(|lack| matches!(lack, Lack::NotUnderstood(_))),
            "{:?}",
            found.lacks
        );
        let found = rows(found);
        assert_eq!(found.len(), 1);
        let row = &found[0];
        let measures = [
            "iops",
            "throughput",
            "read.iops",
            "read.service_time.mean",
            "write.service_time.max",
            "errors",
        ];
        assert_eq!(measures.map(|one| value(row, one)), [1000.0, 9.6e6, 700.0, 5e6, 80e6, 0.0]);
        let shown = [
            "run",
            "hosts",
            "workers",
            "volumes",
            "queue_depth",
            "block_size",
            "read_share",
            "random_share",
        ];
        assert_eq!(
            shown.map(|one| setting(row, one)),
            ["OLTP", "1", "4", "4", "16", "8KiB 80% 16KiB 20%", "70%", "100%"]
        );
        assert_eq!(row.started_unix_ns, Some(1_736_937_000_000_000_000));
    }

    #[test]
    fn throughput_of_2006_is_binary() {
        let old = "'Version\n2006.07.27\n'Results\n'Target Type,Target Name,Access Specification \
                   Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps,Read \
                   MBps,Write MBps,Errors\nALL,All,4K,1,1,1,100.0,100.0,0.0,2.0,2.0,0.0,0\n";
        let row = &rows(read(old).unwrap())[0];
        assert_eq!(value(row, "read.throughput"), 2.0 * MEBIBYTE);
        assert!(value(row, "write.iops").is_nan());
    }

    #[test]
    fn what_is_cut_off_or_impossible_is_refused() {
        let end = NEW.find(",16,5,0\nMANAGER").unwrap();
        assert!(read(&NEW[..end]).unwrap_err().message().contains("line 16 is cut off"));
        assert!(
            read(&NEW[..NEW.find("ALL,").unwrap()]).unwrap_err().message().contains("no line ALL")
        );
        assert!(read(&NEW.replacen("1000.0", "-1", 1)).is_err());
    }
}
