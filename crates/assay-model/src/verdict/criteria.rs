//! Criteria document: the storage requirements in TOML.

use crate::document::parse_toml;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// Named set of criteria.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Criteria {
    /// Version of the document format: 1.
    pub format: u32,
    /// Short name, printed with the verdict.
    pub name: String,
    /// Description, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The criteria, at least one.
    #[serde(rename = "criterion", default)]
    pub criteria: Vec<Criterion>,
}

/// Maximum or minimum for one quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Name of the quantity, for example `read.service_time.q0.99`.
    pub quantity: String,
    /// Stream, target or mix to judge; all of them if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// The maximum, with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Bound>,
    /// The minimum, with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Bound>,
    /// Whether it is left out of the verdict if there is no measurement for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub optional: bool,
    /// Reason for the criterion.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Source of the limit.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
}

/// Limit text with its unit; its interpretation depends on the quantity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Bound(pub String);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Reads a criteria document and checks its form; what the quantities mean is checked where they
/// are known.
///
/// # Errors
/// A usage error that names the line or the criterion, and what would be accepted.
pub fn parse_criteria(text: &str) -> Result<Criteria> {
    let criteria: Criteria = parse_toml(text, "criteria")?;
    criteria.check()?;
    Ok(criteria)
}

impl Criteria {
    /// Refuses another format, no criterion at all, and criteria without exactly one limit.
    ///
    /// # Errors
    /// A usage error that names the criterion.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            let message = format!("format {} is not known", self.format);
            return Err(Error::usage(message, "this version reads format = 1"));
        }
        if self.criteria.is_empty() {
            let hint = "add a [[criterion]] with quantity and at_most or at_least";
            return Err(Error::usage("the document has no criteria", hint));
        }
        self.criteria.iter().try_for_each(Criterion::check)
    }
}

impl Criterion {
    fn check(&self) -> Result<()> {
        let trouble = match (&self.at_most, &self.at_least) {
            (Some(_), None) | (None, Some(_)) => return Ok(()),
            (None, None) => "has no limit",
            (Some(_), Some(_)) => "has two limits",
        };
        Err(Error::usage(
            format!("criterion '{}' {trouble}", self.quantity),
            "write either at_most or at_least; a range is two criteria",
        ))
    }
}

impl<'de> Deserialize<'de> for Bound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(BoundVisitor)
    }
}

struct BoundVisitor;

impl de::Visitor<'_> for BoundVisitor {
    type Value = Bound;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a limit with its unit, such as \"20ms\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Bound, E> {
        Ok(Bound(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Bound, E> {
        Ok(Bound(number.to_string()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Bound, E> {
        Ok(Bound(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Bound, E> {
        Ok(Bound(number.to_string()))
    }
}
