//! elbencho's csv: one row a phase, over all hosts and threads.

use super::amount::NumberPlace;
use super::columns::HeaderColumns;
use super::dates;
use super::imported::{ImportedContent, ImportedResult, ImportedRow, Lack, broken, refused, total};
use super::numbers::{number, whole};
use super::rows::{count, factor_name, word};
use assay_model::number::nanoseconds;
use assay_model::study::StudySetting;
use assay_model::units::Bytes;
use assay_model::verdict::NamedEstimate;
use assay_model::{Error, Result};

const MEBIBYTE: f64 = 1_048_576.0;
/// How columns of results begin; those of reads in a mix have words before that.
const RESULTS: [&str; 8] =
    ["iops", "mib/s", "time ms", "io lat us", "cpu%", "entries", "mib [", "ent lat us"];

/// Settings that have a name here; all others before the operation keep their own.
const FACTORS: [(&str, &str); 9] = [
    ("operation", "run"),
    ("hosts", "hosts"),
    ("io depth", "queue_depth"),
    ("block size", "block_size"),
    ("file size", "file_size"),
    ("direct io", "direct"),
    ("random", "random"),
    ("label", "label"),
    ("threads", "threads"),
];

/// Rows and columns at most: a comma takes a dozen times as much in memory.
const ROWS_MAX: usize = 16_384;
const COLUMNS_MAX: usize = 1024;

/// Whether a text has the header of such a file.
pub fn is_csv(text: &str) -> bool {
    text.lines().any(|line| line.contains("peration") && is_header(line))
}

/// Whether a text is what it prints on the screen.
pub fn is_screen(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("OPERATION") && line.contains("RESULT TYPE"))
}

/// The refusal of the screen's output, which has fewer numbers than the file.
pub fn refuse_screen() -> Error {
    let what = "only its csv is supported, and this is its screen output";
    refused("elbencho", what, "measure with --csvfile FILE, and import that file")
}

fn is_header(line: &str) -> bool {
    let names = fields(line);
    let has = |name: &str| names.iter().any(|known| known.trim().eq_ignore_ascii_case(name));
    has("operation") && names.iter().any(|name| name.to_ascii_lowercase().starts_with("iops"))
}

/// Reads the csv.
pub fn read(text: &str) -> Result<ImportedResult> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let header = lines.next().filter(|line| is_header(line));
    let names =
        fields(header.ok_or_else(|| broken("elbencho", "its first line is not its header"))?);
    let table = ElbenchoTable::new(&names);
    let cells: Vec<Vec<String>> = lines.by_ref().take(ROWS_MAX).map(fields).collect();
    if lines.next().is_some() {
        return Err(broken("elbencho", &format!("it has more than {ROWS_MAX} rows")));
    }
    let (mut rows, mut kept, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (number, cells) in (2..).zip(&cells) {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        // Files of several versions were appended to one another.
        if cells.iter().any(|cell| cell.eq_ignore_ascii_case("operation")) {
            let same = cells.iter().zip(&names).all(|(one, other)| one.eq_ignore_ascii_case(other));
            if same && cells.len() == names.len() {
                continue;
            }
            return Err(broken(
                "elbencho",
                &format!("line {number} is the header of another file"),
            ));
        }
        if cells.len() < names.len() {
            return Err(broken("elbencho", &format!("line {number} is cut off")));
        }
        table.check(number, &cells)?;
        let row = table.row(&cells);
        if row.measures.is_empty() {
            others.push(table.cell(&cells, "operation").unwrap_or_default().to_owned());
        } else {
            rows.push(row);
            kept.push(cells);
        }
    }
    if rows.is_empty() {
        return Err(broken("elbencho", "no row has IOPS or MiB/s"));
    }
    let mut lacks = vec![Lack::Intervals, Lack::Quantiles, Lack::Environment];
    lacks.extend(table.columns.keep_apart(&mut rows, &kept));
    others.sort();
    others.dedup();
    if !others.is_empty() {
        lacks.push(Lack::OperationsLeftOut(others));
    }
    if rows.iter().any(|row| row.started_unix_ns.is_none()) {
        lacks.push(Lack::Date);
    }
    Ok(ImportedResult {
        program: "elbencho".to_owned(),
        name: "phases".to_owned(),
        content: ImportedContent::Rows(rows),
        lacks,
    })
}

fn is_result(name: &str) -> bool {
    let name = name.strip_prefix("rwmix read ").unwrap_or(name);
    RESULTS.iter().any(|begin| name.starts_with(begin))
}

/// The columns that say what the load was: the operation first, all that stand before it, and known
/// ones wherever they are.
fn setting_names(names: &[String]) -> impl Iterator<Item = &str> {
    let end = names.iter().position(|name| name == "operation").unwrap_or(0);
    let before = (0..).zip(names).filter(move |(place, name)| {
        let is_known = FACTORS.iter().any(|(column, _)| column == name);
        (*place < end || is_known) && !["operation", "iso date"].contains(&name.as_str())
    });
    std::iter::once("operation").chain(before.map(|(_, name)| name.as_str()))
}

/// The columns of the file.
struct ElbenchoTable {
    columns: HeaderColumns,
    names: Vec<String>,
}

impl ElbenchoTable {
    fn new(names: &[String]) -> Self {
        let mut columns = HeaderColumns::new(names.iter().map(String::as_str));
        let names: Vec<String> =
            names.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        // What the first thread had done when it ended is a part of the work; CPU and entries say
        // nothing of the load.
        columns.skip(|name| name.ends_with("[first]") || name.ends_with("first"));
        columns.skip(is_result);
        columns.skip(|name| ["iso date", "version", "command"].contains(&name));
        let settings: Vec<&str> = setting_names(&names).collect();
        columns.skip(|name| settings.contains(&name));
        Self { columns, names }
    }

    /// Refuses a result where a number is needed and something else stands.
    fn check(&self, line: usize, cells: &[&str]) -> Result<()> {
        let results = self.names.iter().zip(cells).filter(|(name, _)| is_result(name));
        for (what, cell) in results {
            NumberPlace { program: "elbencho", line, what }.amount(cell)?;
        }
        Ok(())
    }

    /// What a column holds; nothing where it is empty.
    fn cell<'a>(&self, cells: &[&'a str], name: &str) -> Option<&'a str> {
        let place = self.names.iter().position(|known| known == name)?;
        cells.get(place).copied().filter(|cell| !cell.is_empty())
    }

    /// A number of all threads: that of the last one that ended.
    fn number(&self, cells: &[&str], name: &str) -> Option<f64> {
        let forms = [format!("{name} [last]"), format!("{name} last"), name.to_owned()];
        forms.iter().find_map(|name| self.cell(cells, name)).and_then(number)
    }

    fn row(&self, cells: &[&str]) -> ImportedRow {
        let elapsed_ms = self.number(cells, "time ms");
        ImportedRow {
            settings: self.settings(cells),
            started_unix_ns: self.started_unix_ns(cells),
            elapsed_s: elapsed_ms.map(|time_ms| time_ms / 1e3),
            queue_depth_max: self.queue_depth_max(cells),
            measures: self.measures(cells),
        }
    }

    /// The date is that of the row, which is written at the end of its phase.
    fn started_unix_ns(&self, cells: &[&str]) -> Option<u64> {
        let ended_ns = self.cell(cells, "iso date").and_then(dates::iso)?;
        let elapsed_ms = self.number(cells, "time ms")?;
        Some(ended_ns.saturating_sub(nanoseconds(elapsed_ms / 1e3)))
    }

    /// Every thread of every host has as many as its depth.
    fn queue_depth_max(&self, cells: &[&str]) -> Option<f64> {
        let of = |name: &str| self.cell(cells, name).and_then(number);
        Some(of("threads")? * of("io depth")?.max(1.0) * of("hosts").unwrap_or(1.0).max(1.0))
    }

    /// Every column up to the operation, which is the first; threads are those of each host.
    fn settings(&self, cells: &[&str]) -> Vec<StudySetting> {
        let mut settings = Vec::new();
        for name in setting_names(&self.names) {
            let Some(cell) = self.cell(cells, name) else { continue };
            let known = FACTORS.iter().find(|(column, _)| *column == name);
            let factor =
                known.map_or_else(|| factor_name(name), |(_, factor)| (*factor).to_owned());
            settings.push(setting(&factor, cell));
        }
        let of = |name: &str| self.cell(cells, name).and_then(whole);
        if let Some(threads) = of("threads") {
            let hosts = of("hosts").unwrap_or(1).max(1);
            settings.push(count("workers", threads.saturating_mul(hosts)));
        }
        settings
    }

    fn measures(&self, cells: &[&str]) -> Vec<NamedEstimate> {
        let operation = self.cell(cells, "operation").unwrap_or_default().to_ascii_uppercase();
        let is_mix = operation.starts_with("RWMIX");
        let side = match operation.as_str() {
            "READ" | "RANDREAD" => "read",
            "WRITE" | "RANDWRITE" => "write",
            _ if is_mix => "write",
            // Any other operation counts entries instead of I/Os.
            _ => return Vec::new(),
        };
        let mut measures = self.of_side(cells, side, "");
        if is_mix {
            measures.extend(self.of_side(cells, "read", "rwmix read "));
        }
        measures
    }

    /// Rate, throughput and mean time of one operation.
    fn of_side(&self, cells: &[&str], side: &str, prefix: &str) -> Vec<NamedEstimate> {
        let number = |name: &str| self.number(cells, &format!("{prefix}{name}"));
        let exact = |name: &str| {
            let forms =
                [format!("{prefix}io lat us [{name}]"), format!("{prefix}io lat us {name}")];
            let cell = forms.iter().find_map(|name| self.cell(cells, name));
            cell.and_then(super::numbers::number)
        };
        let measures = [
            number("iops").map(|rate| total(&format!("{side}.iops"), rate)),
            number("mib/s").map(|rate| total(&format!("{side}.throughput"), rate * MEBIBYTE)),
            exact("avg").map(|us| total(&format!("{side}.service_time.mean"), us * 1e3)),
            exact("min").map(|us| total(&format!("{side}.service_time.min"), us * 1e3)),
            exact("max").map(|us| total(&format!("{side}.service_time.max"), us * 1e3)),
        ];
        measures.into_iter().flatten().collect()
    }
}

fn setting(factor: &str, cell: &str) -> StudySetting {
    match (factor, whole(cell)) {
        ("block_size" | "file_size", Some(bytes)) => word(factor, &Bytes(bytes).to_string()),
        (_, Some(number)) => count(factor, number),
        (_, None) => word(factor, cell),
    }
}

/// The fields of a line; quotes may hold commas.
fn fields(line: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.trim_end().chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted && found.len() == COLUMNS_MAX => break,
            ',' if !is_quoted => found.push(String::new()),
            letter => found.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "numbers of files and formulas are compared to the digit")]
mod tests {
    use super::super::rows::testing::{rows, setting, value};
    use super::*;

    /// The columns of version 3.1, which are those of 2.1 and two more.
    const HEADER: &str = "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct \
         IO,random,random aligned,IO depth,shared paths,truncate,operation,time ms [first],time \
         ms [last],entries/s [first],entries/s [last],IOPS [first],IOPS [last],MiB/s \
         [first],MiB/s [last],CPU% [first],CPU% [last],entries [first],entries [last],MiB \
         [first],MiB [last],Ent lat us [min],Ent lat us [avg],Ent lat us [max],IO lat us [min],IO \
         lat us [avg],IO lat us [max],rwmix read IOPS [first],rwmix read IOPS [last],rwmix read \
         MiB/s [last],rwmix read IO lat us [avg],version,command\n";

    fn line(hosts: u32, depth: u32, operation: &str, reads: &str) -> String {
        format!(
            "2025-01-15T10:30:00,,file,1,{hosts},8,,,107374182400,4096,1,1,1,{depth},1,0,\
             {operation},60000,62000,,,5000,4900,20,19,10,9,,,1,1,,,,900,13060,90000,{reads},3.\
             1-1,\"elbencho -w, -r\"\n"
        )
    }

    #[test]
    fn hosts_and_depths_keep_loads_apart() {
        let text = format!(
            "{HEADER}{}{}{}",
            line(4, 4, "WRITE", ",,,"),
            line(2, 4, "WRITE", ",,,"),
            line(2, 64, "WRITE", ",,,")
        );
        let found = read(&text).unwrap();
        assert_eq!(found.lacks, [Lack::Intervals, Lack::Quantiles, Lack::Environment]);
        let found = rows(found);
        let shown = |row: &ImportedRow| {
            ["run", "hosts", "workers", "queue_depth", "block_size", "random", "direct"]
                .map(|one| setting(row, one))
                .join(" ")
        };
        assert_eq!(
            found.iter().map(shown).collect::<Vec<_>>(),
            ["WRITE 4 32 4 4KiB 1 1", "WRITE 2 16 4 4KiB 1 1", "WRITE 2 16 64 4KiB 1 1"]
        );
        let row = &found[0];
        assert_eq!(
            (value(row, "write.iops"), value(row, "write.service_time.mean")),
            (4900.0, 13_060_000.0)
        );
        assert_eq!(
            (row.elapsed_s, row.started_unix_ns),
            (Some(62.0), Some(1_736_936_938_000_000_000))
        );
    }

    #[test]
    fn a_mix_has_its_reads() {
        let row =
            &rows(read(&format!("{HEADER}{}", line(1, 1, "RWMIX70", "6000,6900,27,250"))).unwrap())
                [0];
        assert_eq!(
            [
                value(row, "write.iops"),
                value(row, "read.iops"),
                value(row, "read.service_time.mean")
            ],
            [4900.0, 6900.0, 250_000.0]
        );
    }

    #[test]
    fn operations_without_io_are_left_out_by_name() {
        let found =
            read(&format!("{HEADER}{}{}", line(1, 1, "MKDIRS", ",,,"), line(1, 1, "READ", ",,,")))
                .unwrap();
        assert!(found.lacks.contains(&Lack::OperationsLeftOut(vec!["MKDIRS".to_owned()])));
        assert_eq!(rows(found).len(), 1);
    }

    #[test]
    fn what_nobody_knows_keeps_rows_apart_and_what_is_cut_is_refused() {
        let known = "operation,threads,iops last,mib/s last,IO lat us \
                     [avg],stripes\nREAD,4,1000,3.9,250,1\nREAD,4,1000,3.9,250,8\n";
        let found = read(known).unwrap();
        assert!(found.lacks.contains(&Lack::NotUnderstood(vec!["stripes".to_owned()])));
        assert_eq!(
            rows(found).iter().map(|row| setting(row, "stripes")).collect::<Vec<_>>(),
            ["1", "8"]
        );
        assert!(read("operation,iops last\nREAD\n").is_err());
        assert!(read("operation,iops last\nREAD,inf\n").is_err());
    }

    #[test]
    fn commas_do_not_fill_the_memory() {
        assert_eq!(fields(&",".repeat(1_000_000)).len(), COLUMNS_MAX);
        let whole = |rows: usize| read(&(HEADER.to_owned() + &"a,\n".repeat(rows)));
        assert!(whole(ROWS_MAX).unwrap_err().message().contains("cut off"));
        assert!(whole(ROWS_MAX + 1).unwrap_err().message().contains("rows"));
    }

    #[test]
    fn the_screen_is_refused_with_the_option_that_writes_the_file() {
        let screen = "OPERATION   RESULT TYPE        FIRST DONE   LAST DONE\n=========== ====\n";
        assert!(is_screen(screen) && !is_csv(screen));
        assert!(refuse_screen().hint().contains("--csvfile"));
    }
}
