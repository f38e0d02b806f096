//! From a study to a smaller one of the same form, and the time that it takes.

use super::{Factor, FactorValue, Study};
use crate::error::{Error, Result};
use crate::number::{count, real};
use crate::read_from_command_line;
use crate::spelling::Spelling;
use crate::units::{Bytes, Nanos, Share};
use std::str::FromStr;

/// A measured phase is not made shorter than this.
const MEASURE_MIN: Nanos = Nanos(2_000_000_000);
/// A table of a load is not made smaller than this.
const TABLE_MIN: u64 = 8 << 20;
/// The tables of a load of decision support are not made smaller than this factor.
const FACTOR_MIN: f64 = 0.01;
/// The cache of a load's server is not made smaller than this.
const CACHE_MIN: u64 = 8 << 20;
/// The warm-up of a load is not made shorter than this: a cache must be filled again for every
/// cell.
const WARM_UP_MIN: Nanos = Nanos(20_000_000_000);
/// Memory for a sort or a hash is not made smaller than this.
const WORK_MIN: u64 = 1 << 20;
/// Data are not made smaller than this.
const CAPACITY_MIN: u64 = 64 << 20;

/// How much smaller a study is made: `1/1000`, `0.01` or `5%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);

impl Spelling for Scale {}

read_from_command_line!(Scale);

impl FromStr for Scale {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let value = match (text.split_once('/'), text.strip_suffix('%')) {
            (Some((above, below)), _) => {
                number(above).zip(number(below)).map(|(above, below)| above / below)
            }
            (None, Some(percent)) => number(percent).map(|percent| percent / 100.0),
            (None, None) => number(text),
        };
        match value.filter(|value| *value > 0.0 && *value <= 1.0) {
            Some(value) => Ok(Self(value)),
            None => Err(Error::usage(
                format!("'{text}' is not a scale"),
                "write a share above 0 and up to 1, for example 1/1000",
            )),
        }
    }
}

impl Study {
    /// The same study with data and times that many times smaller; factors stay what they are.
    ///
    /// Measured times are not made shorter than 2 s, data not smaller than 64 MiB; what a load has
    /// of its own not below tables of 8 MiB, one warehouse, 100 customers, a cache of 8 MiB, and a warm-up of
    /// 20 s.
    pub fn scaled(&self, scale: Scale) -> Self {
        let mut small = self.clone();
        let shorter = |time: Nanos| Nanos(count(real(time.0) * scale.0));
        small.capacity = self.capacity.map(|size| smaller(size, scale));
        if let Some(sessions) = &mut small.sessions {
            let bytes = count(real(sessions.active.0) * scale.0).max(CAPACITY_MIN);
            sessions.active = Bytes(bytes.min(sessions.active.0));
        }
        let options = small.load.iter_mut().flat_map(|load| load.options.iter_mut());
        options.for_each(|(name, value)| scale_option(name, value, scale));
        let has_load = small.load.is_some();
        small.factors.iter_mut().for_each(|factor| factor.scale(scale, has_load));
        let phases = &mut small.phases;
        phases.settle = shorter(phases.settle);
        phases.warm_up = shorter(phases.warm_up);
        phases.rest = shorter(phases.rest);
        phases.final_rest = shorter(phases.final_rest);
        phases.measure = Nanos(shorter(phases.measure).0.max(MEASURE_MIN.0.min(phases.measure.0)));
        small
    }

    /// Where a scale ends at the least that is measured: what [`Study::scaled`] does not make as
    /// small as the scale says.
    pub fn floors(&self, scale: Scale) -> Vec<String> {
        let measure = Nanos(count(real(self.phases.measure.0) * scale.0));
        let data = self.capacity.map(|size| Bytes(count(real(size.0) * scale.0)));
        let small = self.scaled(scale);
        let mut floors = Vec::new();
        if small.phases.measure > measure {
            floors.push(format!(
                "Every cell is measured for {}, the minimum: at this scale it would be {measure}.",
                small.phases.measure
            ));
        }
        if let Some((least, data)) = small.capacity.zip(data).filter(|(least, data)| least > data) {
            floors.push(format!(
                "The data size is {least}, the minimum: at this scale it would be {data}."
            ));
        }
        floors
    }

    /// Time of all cells without filling and preconditioning, s.
    pub fn cells_s(&self, cells: usize) -> f64 {
        self.cell_s() * crate::number::real_len(cells) + self.phases.final_rest.seconds()
    }

    /// Time of one cell without filling and preconditioning, s.
    pub fn cell_s(&self) -> f64 {
        let phases = &self.phases;
        let of_load = self.load.as_ref().and_then(|load| load.options.get("warm_up"));
        let of_load = of_load.and_then(|time| time.to_string().parse().ok()).unwrap_or(Nanos(0));
        let all = [phases.settle, phases.warm_up, of_load, phases.measure, phases.rest];
        all.iter().map(|time| time.seconds()).sum()
    }
}

impl Factor {
    /// Data in use are made smaller as the data are; other values stay what they are.
    fn scale(&mut self, scale: Scale, has_load: bool) {
        if has_load {
            self.values.iter_mut().for_each(|value| scale_option(&self.name, value, scale));
        }
        if self.name != "capacity" {
            return;
        }
        for value in &mut self.values {
            if let Ok(size) = value.to_string().parse::<Bytes>() {
                *value = FactorValue::Text(smaller(size, scale).to_string());
            }
        }
    }
}

/// Customers of a brokerage come in hundreds.
fn customers(number: f64) -> u64 {
    count((number / 100.0).round()).max(1) * 100
}

/// An option of a load made smaller where it says how large its data or its memory are; times of
/// its own are shorter.
fn scale_option(name: &str, value: &mut FactorValue, scale: Scale) {
    let part = |whole: f64| whole * scale.0;
    *value = match (name, &*value) {
        ("warehouses", FactorValue::Whole(whole)) => {
            FactorValue::Whole(count(part(real(*whole))).max(1))
        }
        ("customers", FactorValue::Whole(whole)) => {
            FactorValue::Whole(customers(part(real(*whole))))
        }
        ("scale", FactorValue::Text(size)) => sized(size, scale, TABLE_MIN),
        ("scale", number) => match number.number() {
            Some(factor) => FactorValue::Real(part(factor).max(FACTOR_MIN).min(factor)),
            None => return,
        },
        ("memory" | "buffer_pool" | "shared_buffers", FactorValue::Text(size)) => {
            sized(size, scale, CACHE_MIN)
        }
        ("work_mem", FactorValue::Text(size)) => sized(size, scale, WORK_MIN),
        ("memory_share", FactorValue::Text(share)) => match share.parse::<Share>() {
            Ok(share) => FactorValue::Text(format!("{}%", real(count(part(share.0) * 1e8)) / 1e6)),
            Err(_) => return,
        },
        ("warm_up" | "ramp", FactorValue::Text(time)) => match time.parse::<Nanos>() {
            Ok(time) => {
                let shorter = count(part(real(time.0))).max(WARM_UP_MIN.0.min(time.0));
                FactorValue::Text(Nanos(shorter).to_string())
            }
            Err(_) => return,
        },
        _ => return,
    };
}

/// A size in whole mebibytes made smaller, but not below the least.
fn sized(text: &str, scale: Scale, least: u64) -> FactorValue {
    let Ok(size) = text.parse::<Bytes>() else {
        return FactorValue::Text(text.to_owned());
    };
    let smaller = (count(real(size.0) * scale.0) >> 20 << 20).max(least);
    FactorValue::Text(Bytes(smaller.min(size.0)).to_string())
}

fn smaller(size: Bytes, scale: Scale) -> Bytes {
    if scale.0 >= 1.0 {
        return size;
    }
    let bytes = count(real(size.0) * scale.0).max(CAPACITY_MIN.min(size.0));
    // Whole mebibytes, so that every transfer fits.
    Bytes((bytes >> 20).max(1) << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::parse_study;

    const TEXT: &str = r#"
        format = 1
        name = "ladder"
        preset = "oltp-read"
        repeats = 2
        capacity = "1TiB"
        [phases]
        measure = "60s"
        warm_up = "10s"
        [[factor]]
        name = "read_share"
        values = ["100%", "70%"]
        [[factor]]
        name = "sessions"
        values = [1, 8]
    "#;

    fn study(changes: &[(&str, &str)]) -> Result<Study> {
        let text = changes.iter().fold(TEXT.to_owned(), |text, (from, to)| text.replace(from, to));
        parse_study(&text)
    }

    #[test]
    fn a_scaled_study_is_smaller_and_shorter() {
        let small = study(&[]).unwrap().scaled("1/1000".parse().unwrap());
        assert_eq!(small.capacity, Some(Bytes(1048 << 20)));
        assert_eq!((small.phases.measure, small.phases.warm_up), (MEASURE_MIN, Nanos(10_000_000)));
        let floors = study(&[]).unwrap().floors("1/1000".parse().unwrap());
        assert_eq!(
            floors,
            ["Every cell is measured for 2s, the minimum: at this scale it would be 60ms."]
        );
        let floors = study(&[]).unwrap().floors("1/100000".parse().unwrap());
        assert!(floors[1].starts_with("The data size is 64MiB, the minimum"), "{floors:?}");
        assert!(study(&[]).unwrap().floors("1/10".parse().unwrap()).is_empty());
        for text in ["2", "0", "x", "1/0", "-1"] {
            assert!(text.parse::<Scale>().unwrap_err().hint().contains("1/1000"), "{text}");
        }
    }

    #[test]
    fn a_load_is_scaled_by_its_data_and_its_memory() {
        let text = "format = 1\nname = \"x\"\n[phases]\nmeasure = \"60s\"\n[[factor]]\nname = \
                    \"memory_share\"\nvalues = [\"40%\"]\n[[factor]]\nname = \"scale\"\nvalues = \
                    [300.0, 0.02]\n[load]\nkind = \"oltp\"\noptions = { warehouses = 1000, users \
                    = 64, memory = \"16GiB\", work_mem = \"4GiB\", warm_up = \"10min\", ramp = \
                    \"5s\" }\n";
        let small = parse_study(text).unwrap().scaled("1/100".parse().unwrap());
        let options = &small.load.as_ref().unwrap().options;
        let shown = |name: &str| options[name].to_string();
        let all = ["warehouses", "users", "memory", "work_mem", "warm_up", "ramp"].map(shown);
        assert_eq!(all, ["10", "64", "163MiB", "40MiB", "20s", "5s"]);
        assert_eq!(small.factors[0].values[0].to_string(), "0.4%");
        // The warm-up of a load is an option of its own, and takes its time in every cell.
        assert!((small.cell_s() - 22.0).abs() < 1e-9, "{}", small.cell_s());
        assert_eq!(small.factors[1].values, [FactorValue::Real(3.0), FactorValue::Real(0.01)]);
    }

    #[test]
    fn customers_of_a_brokerage_are_scaled_in_hundreds() {
        let text = "format = 1\nname = \"x\"\n[phases]\nmeasure = \"60s\"\n[load]\nkind = \
                    \"brokerage\"\noptions = { customers = 74000, trade_days = 300 }\n";
        let study = parse_study(text).unwrap();
        for (scale, expected) in [("1/100", "700"), ("1/10000", "100"), ("1", "74000")] {
            let small = study.scaled(scale.parse().unwrap());
            let options = small.load.unwrap().options;
            assert_eq!(options["customers"].to_string(), expected, "{scale}");
            assert_eq!(options["trade_days"].to_string(), "300");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_a_way_out() {
        for (from, to, message, hint) in [
            ("sessions", "sesions", "no factor 'sesions'", "did you mean 'sessions'"),
            ("repeats = 2", "repeats = 0", "repeats = 0", "repeats = 1"),
            ("repeats = 2", "restore_every = 3", "nothing to restore", "fill"),
            ("measure = \"60s\"", "measure = \"0s\"", "measures nothing", "measure"),
            ("\"1TiB\"", "\"0B\"", "capacity = 0B", "leave it out"),
            ("[phases]", "[hooks]\ntime_limit = \"0s\"\n[phases]", "time_limit = 0s", "30s"),
            ("values = [1, 8]", "values = []", "has no values", "values = [1, 2, 4]"),
            ("sessions", "read_share", "occurs twice", "join"),
            ("preset = \"oltp-read\"", "", "one workload", "preset"),
            ("warm_up", "warmup", "unknown name 'warmup'", "did you mean 'warm_up'"),
        ] {
            let error = study(&[(from, to)]).unwrap_err();
            assert!(error.message().contains(message), "{error}");
            assert!(error.hint().contains(hint), "{error}");
        }
        let both = [("measure = ", "fill = \"80%\"\nmeasure = "), ("sessions", "fill")];
        assert!(study(&both).unwrap_err().message().contains("a factor and a phase"));
    }
}
