//! Points in time and lengths of time for a reader.

/// `2026-11-21 09:02:33 UTC` from nanoseconds since 1970.
///
/// The day is found by counting in eras of 400 years that begin on the first of March, so that leap days come last
/// (H. Hinnant, "chrono-compatible low-level date algorithms").
pub(crate) fn show_utc(unix_ns: u64) -> String {
    let seconds = unix_ns / 1_000_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_days = day_of_era / 1460 + day_of_era / 146_096 - day_of_era / 36_524;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// A length of time in the two largest units that it has: `2 min 5 s`, `24 h`, `1.5 s`.
pub(crate) fn show_length(time_s: f64) -> String {
    if time_s < 59.95 {
        let shown = format!("{time_s:.1}");
        return format!("{} s", shown.strip_suffix(".0").unwrap_or(&shown));
    }
    let seconds = assay_model::number::count(time_s);
    let (large, large_unit, small, small_unit) = match seconds {
        ..3_600 => (seconds / 60, "min", seconds % 60, "s"),
        3_600..172_800 => (seconds / 3600, "h", seconds / 60 % 60, "min"),
        _ => (seconds / 86_400, "d", seconds / 3600 % 24, "h"),
    };
    if small == 0 {
        return format!("{large} {large_unit}");
    }
    format!("{large} {large_unit} {small} {small_unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_days_come_out() {
        let at = |seconds: u64| show_utc(seconds * 1_000_000_000);
        assert_eq!(at(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(at(951_782_399), "2000-02-28 23:59:59 UTC");
        assert_eq!(at(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(at(1_709_164_800), "2024-02-29 00:00:00 UTC");
        assert_eq!(at(1_790_000_000), "2026-09-21 14:13:20 UTC");
        assert_eq!(at(4_102_444_800), "2100-01-01 00:00:00 UTC");
    }

    #[test]
    fn lengths_keep_two_units() {
        assert_eq!(show_length(1.52), "1.5 s");
        assert_eq!(show_length(59.0), "59 s");
        assert_eq!(show_length(60.0), "1 min");
        assert_eq!(show_length(125.0), "2 min 5 s");
        assert_eq!(show_length(86_400.0), "24 h");
        assert_eq!(show_length(193_000.0), "2 d 5 h");
    }
}
