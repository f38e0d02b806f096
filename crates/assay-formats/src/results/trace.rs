//! What traces of a host's counters look like, so that they are called by their name.

use assay_model::line_stamp::stamped_lines;

/// Lines at the beginning in which a trace shows what it is.
const LINES: usize = 40;

/// The program of `sysstat` or `procps` that wrote a trace.
pub fn program(text: &str) -> Option<&'static str> {
    let stamped = stamped_lines(text);
    let lines: Vec<&str> = match &stamped {
        Some(lines) => lines.iter().map(|line| line.line).collect(),
        None => text.lines().take(LINES).collect(),
    };
    let begin: Vec<&str> = lines.into_iter().take(LINES).map(str::trim_start).collect();
    let any = |is: fn(&str) -> bool| begin.iter().any(|line| is(line));
    if any(is_vmstat) {
        return Some("vmstat");
    }
    if any(|line| is_table_of(line, "Device") && (has(line, "r/s") || has(line, "tps"))) {
        return Some("iostat");
    }
    if any(is_sadf) {
        return Some("sadf");
    }
    if any(|line| line.contains("\"sysstat\"")) {
        return Some(of_json(&begin));
    }
    if any(|line| has(line, "device") && has(line, "r/s") && has(line, "%b")) {
        return Some("iostat of another system");
    }
    if any(|line| ["SunOS ", "AIX ", "HP-UX "].iter().any(|name| line.starts_with(name))) {
        return any(|line| line.contains("%busy") || line.contains("/s"))
            .then_some("sar of another system");
    }
    let host =
        begin.iter().position(|line| line.starts_with("Linux ") && line.ends_with("CPU)"))?;
    begin[host + 1..].iter().find_map(|line| of_head(line))
}

/// `vmstat` of every system begins with the run queue and ends with shares of CPU time.
fn is_vmstat(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.starts_with(&["r", "b"]) && words.contains(&"id") || line.starts_with("disk- ---")
}

/// The tables, the XML and the list of `sadf`.
fn is_sadf(line: &str) -> bool {
    let mut cells = line.split('\t').skip(1);
    let is_listed = cells.next().is_some_and(|seconds| seconds.parse::<i64>().is_ok())
        && cells.next().is_some_and(|time| time.ends_with("UTC"));
    line.starts_with("# hostname;interval;timestamp") || line.starts_with("<sysstat") || is_listed
}

fn of_json(begin: &[&str]) -> &'static str {
    let any = |key: &str| begin.iter().any(|line| line.contains(key));
    match () {
        () if any("\"file-date\"") => "sadf",
        () if any("\"cpu-load\"") => "mpstat",
        () => "iostat",
    }
}

/// The program by the columns of its first table, below the line of the host.
fn of_head(line: &str) -> Option<&'static str> {
    let place = |name: &str| line.split_whitespace().position(|word| word == name);
    let mut words = line.split_whitespace();
    let is_timed = line.starts_with(|letter: char| letter.is_ascii_digit())
        && words.next().is_some_and(|word| word.contains([':', '分']))
        && words.any(|word| !["AM", "PM"].contains(&word));
    match () {
        () if line.starts_with("avg-cpu") => Some("iostat"),
        () if line.starts_with("Filesystem") => Some("cifsiostat"),
        () if line.starts_with("Tape:") => Some("tapestat"),
        () if !is_timed || has(line, "RESTART") => None,
        () if place("PID").or(place("TGID")).is_some() => Some("pidstat"),
        // `sar` names the time stolen before interrupts; `mpstat` after them.
        () if place("%irq").is_some_and(|irq| place("%steal").is_none_or(|steal| irq < steal)) => {
            Some("mpstat")
        }
        () if place("CPU").is_some() && place("intr/s").is_some() => Some("mpstat"),
        () => Some("sar"),
    }
}

/// Whether a line names the columns of a table whose rows begin or end with this.
fn is_table_of(line: &str, name: &str) -> bool {
    line.starts_with(name) || line.split_whitespace().next_back() == Some(name)
}

fn has(line: &str, word: &str) -> bool {
    line.split_whitespace().any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn traces_are_known_by_their_columns() {
        let host = "Linux 6.1.0 (db1) \t01/15/26 \t_x86_64_\t(2 CPU)\n\n";
        let of = |rest: &str| program(&format!("{host}{rest}"));
        assert_eq!(of("avg-cpu: %user\n\nDevice: rrqm/s r/s w/s await\n"), Some("iostat"));
        assert_eq!(of("Device tps kB_read/s\n"), Some("iostat"));
        assert_eq!(of("10:00:01 AM DEV tps rkB/s\n"), Some("sar"));
        assert_eq!(of("10:00:01 AM CPU %usr %irq %soft %steal %guest %idle\n"), Some("mpstat"));
        assert_eq!(of("10:00:01 AM CPU %usr %steal %irq %soft %guest %idle\n"), Some("sar"));
        assert_eq!(of("10:00:01 AM CPU intr/s\n"), Some("mpstat"));
        assert_eq!(of("10:00:01 LINUX RESTART (2 CPU)\n\n10:00:09 MBfsfree\n"), Some("sar"));
        assert_eq!(of("10:00:01\navg-cpu: %user\n"), Some("iostat"));
        assert_eq!(program(" Linux 6.1.0 (db1) (4 CPU)\n \n Device: tps\n"), Some("iostat"));
        assert_eq!(of("10时00分01秒 DEV tps rkB/s\n"), Some("sar"));
        assert_eq!(
            program(" extended device statistics\ndevice r/s w/s kr/s kw/s %w %b\n"),
            Some("iostat of another system")
        );
        assert_eq!(of("r/s rkB/s %util Device\n"), Some("iostat"));
        assert_eq!(
            program(
                "extended device statistics\n r/s w/s kr/s kw/s wait actv asvc_t %w %b device\n"
            ),
            Some("iostat of another system")
        );
        assert_eq!(of("Tape: r/s w/s\n"), Some("tapestat"));
        assert_eq!(of("10:00:01 UID TGID TID %usr CPU Command\n"), Some("pidstat"));
        assert_eq!(of("10:00:01 AM UID PID %usr CPU Command\n"), Some("pidstat"));
        assert_eq!(
            program("SunOS db1 5.10\n10:00:00 device %busy r+w/s\n"),
            Some("sar of another system")
        );
        assert_eq!(
            program("procs ---memory---\n r  b   swpd   free si so bi bo us sy id\n"),
            Some("vmstat")
        );
        assert_eq!(program(" procs memory\n r b w avm fre in sy cs us sy id\n"), Some("vmstat"));
        assert_eq!(program("<sysstat\nxmlns=\"x\">\n"), Some("sadf"));
        assert_eq!(program("db1\t10\t2026-01-15 10:00:10 UTC\tall\t%usr\t1\n"), Some("sadf"));
        assert_eq!(program("{\"sysstat\": {\n\"cpu-load\": [\n"), Some("mpstat"));
        assert_eq!(program("{\"sysstat\": {\n\"file-date\": \"2026-01-15\",\n"), Some("sadf"));
        assert_eq!(program("# hostname;interval;timestamp;DEV;tps\n"), Some("sadf"));
        assert_eq!(program("{\"sysstat\": {\"hosts\": [\n"), Some("iostat"));
        assert_eq!(program("Device for r/s in words\n".trim_start_matches("Device")), None);
        assert_eq!(of("nothing else\n"), None);
    }
}
