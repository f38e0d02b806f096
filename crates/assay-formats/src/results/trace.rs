//! What traces of a host's counters look like, so that they are called by their name.

/// Lines at the beginning in which a trace shows what it is.
const LINES: usize = 40;

/// The program of `sysstat` or `procps` that wrote a trace.
pub fn program(text: &str) -> Option<&'static str> {
    let begin: Vec<&str> = text.lines().take(LINES).collect();
    let any = |is: fn(&str) -> bool| begin.iter().any(|line| is(line));
    if any(|line| line.trim_start().starts_with("r ") && line.contains(" b ") && has(line, "si")) {
        return Some("vmstat");
    }
    if any(|line| line.starts_with("Device") && (has(line, "r/s") || has(line, "tps"))) {
        return Some("iostat");
    }
    let is_json = any(|line| line.contains("\"sysstat\""));
    let is_table = any(|line| line.starts_with("# hostname;interval;timestamp"));
    if is_table || is_json && any(|line| line.contains("\"file-date\"")) {
        return Some("sadf");
    }
    if is_json {
        return Some("iostat");
    }
    if any(|line| ["SunOS ", "AIX ", "HP-UX "].iter().any(|name| line.starts_with(name))) {
        return any(|line| line.contains("%busy") || line.contains("/s"))
            .then_some("sar of another system");
    }
    if !any(|line| line.starts_with("Linux ") && line.ends_with("CPU)")) {
        return None;
    }
    let is_sar = |line: &&&str| ["DEV", "%idle", "CPU", "IFACE"].iter().any(|name| has(line, name));
    let head = begin.iter().find(is_sar)?;
    let of_interrupts = ["%irq", "%guest", "%idle"].iter().all(|name| has(head, name));
    Some(match () {
        () if has(head, "PID") => "pidstat",
        () if of_interrupts => "mpstat",
        () => "sar",
    })
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
        assert_eq!(of("10:00:01 AM CPU %usr %irq %guest %idle\n"), Some("mpstat"));
        assert_eq!(of("10:00:01 AM UID PID %usr CPU Command\n"), Some("pidstat"));
        assert_eq!(
            program("SunOS db1 5.10\n10:00:00 device %busy r+w/s\n"),
            Some("sar of another system")
        );
        assert_eq!(
            program("procs ---memory---\n r  b   swpd   free si so bi bo\n"),
            Some("vmstat")
        );
        assert_eq!(program("{\"sysstat\": {\n\"file-date\": \"2026-01-15\",\n"), Some("sadf"));
        assert_eq!(program("# hostname;interval;timestamp;DEV;tps\n"), Some("sadf"));
        assert_eq!(program("{\"sysstat\": {\"hosts\": [\n"), Some("iostat"));
        assert_eq!(program("Device for r/s in words\n".trim_start_matches("Device")), None);
        assert_eq!(of("nothing else\n"), None);
    }
}
