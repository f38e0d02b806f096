//! Reads golden values, which the scripts next to them compute with independent libraries.

use serde_json::Value;

/// The values computed elsewhere.
pub(crate) struct Golden(Value);

impl Golden {
    pub(crate) fn read() -> Self {
        Self(serde_json::from_str(include_str!("golden.json")).unwrap())
    }

    pub(crate) fn read_long_run() -> Self {
        Self(serde_json::from_str(include_str!("long_run.json")).unwrap())
    }

    /// The rows of a table: arguments first, then results.
    pub(crate) fn rows<const N: usize>(&self, table: &str) -> Vec<[f64; N]> {
        self.cases(table).iter().map(|row| numbers(row).try_into().unwrap()).collect()
    }

    /// The described cases of a table.
    pub(crate) fn cases(&self, table: &str) -> &[Value] {
        self.0[table].as_array().unwrap()
    }
}

/// A list of numbers.
pub(crate) fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Equal up to `relative` of the larger one, or both below the smallest normal number.
#[track_caller]
pub(crate) fn assert_near(seen: f64, expected: f64, relative: f64, what: &str) {
    let allowed = relative * seen.abs().max(expected.abs()) + f64::MIN_POSITIVE;
    assert!((seen - expected).abs() <= allowed, "{what}: {seen:e} instead of {expected:e}");
}
