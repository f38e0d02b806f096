//! How old a price is, and what that means.

use assay_model::calendar::Day;

/// Older prices are a doubt.
const DOUBTED_DAYS: i64 = 180;
/// Older prices are refused: two years.
const REFUSED_DAYS: i64 = 730;

/// Age beyond which limits of volumes and machines are doubtful, days: clouds often raise them.
const LIMITS_DOUBTED_DAYS: i64 = 365;

/// What the age of a price means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceAge {
    /// It may still hold.
    Fresh,
    /// It may have changed.
    Doubted,
    /// Nothing is decided by it unless somebody accepts it.
    Refused,
}

/// What the age of a price means on a day.
pub const fn price_age(as_of: Day, today: Day) -> PriceAge {
    let days = today.days_since(as_of);
    if days <= DOUBTED_DAYS {
        PriceAge::Fresh
    } else if days <= REFUSED_DAYS {
        PriceAge::Doubted
    } else {
        PriceAge::Refused
    }
}

/// Whether limits of a cloud are so old on a day that they are doubtful.
pub const fn are_limits_old(as_of: Day, today: Day) -> bool {
    today.days_since(as_of) > LIMITS_DOUBTED_DAYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_year_is_a_doubt_and_two_years_are_too_much() {
        let today: Day = "2026-11-24".parse().unwrap();
        let age = |text: &str| price_age(text.parse().unwrap(), today);
        assert_eq!(age("2026-05-28"), PriceAge::Fresh);
        assert_eq!(age("2026-05-27"), PriceAge::Doubted);
        assert_eq!(age("2024-11-24"), PriceAge::Doubted);
        assert_eq!(age("2024-11-23"), PriceAge::Refused);
        assert_eq!(age("2027-01-01"), PriceAge::Fresh);
        let are_old = |text: &str| are_limits_old(text.parse().unwrap(), today);
        assert_eq!(["2025-11-24", "2025-11-23"].map(are_old), [false, true]);
    }
}
