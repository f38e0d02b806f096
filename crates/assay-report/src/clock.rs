//! Lengths of time for a reader.

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
    fn lengths_keep_two_units() {
        assert_eq!(show_length(1.52), "1.5 s");
        assert_eq!(show_length(59.0), "59 s");
        assert_eq!(show_length(60.0), "1 min");
        assert_eq!(show_length(125.0), "2 min 5 s");
        assert_eq!(show_length(86_400.0), "24 h");
        assert_eq!(show_length(193_000.0), "2 d 5 h");
    }
}
