//! Dates as queries write them: `1995-03-15`.

use assay_model::calendar::date;

/// The first day of the month that is `months` months after January of a year.
pub(super) fn first_of(year: u64, months: u64) -> String {
    format!("{:04}-{:02}-01", year + months / 12, months % 12 + 1)
}

/// The day that is `days` days after 1 January 1970.
pub(super) fn day(days: u64) -> String {
    let (year, month, day) = date(i64::try_from(days).unwrap_or(i64::MAX));
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_days_are_counted_on() {
        assert_eq!(first_of(1993, 0), "1993-01-01");
        assert_eq!(first_of(1993, 57), "1997-10-01");
        assert_eq!(first_of(1993, 12), "1994-01-01");
        assert_eq!(day(10_561), "1998-12-01");
        assert_eq!(day(10_561 - 90), "1998-09-02");
    }
}
