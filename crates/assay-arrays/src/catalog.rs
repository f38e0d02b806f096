//! The models that the program carries, and how a target names one:
//! `array:NAME?capacity=2TB&seed=1`.

use crate::ArraySpec;
use assay_model::array::{ArrayModel, parse_array};
use assay_model::document::nearest;
use assay_model::units::Bytes;
use assay_model::{Error, Result};

/// Every document of `arrays/`, by its name.
macro_rules! models {
    ($($name:literal),* $(,)?) => {
        const MODELS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../arrays/", $name, ".array.toml")))),*
        ];
    };
}

models! {
    "xtremio-1",
    "xtremio-2",
    "xtremio-4",
    "competitor-afa",
    "ps6010xv",
    "ps6010s",
    "ps6110xs",
    "exadata-x2-2",
    "exadata-x3-2",
    "exadata-x4-2",
    "raid0-8",
    "sx350-3200",
    "ramsan-300",
    "disks-90",
    "nexstor-24",
}

/// What a target may say of a model.
const KEYS: [&str; 9] = [
    "capacity",
    "seed",
    "nodes",
    "volumes",
    "hasten",
    "pace",
    "cache_lost",
    "controller_lost",
    "stale_member",
];

/// Names of all models.
pub fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// The document of a model by its name.
pub fn text(name: &str) -> Option<&'static str> {
    MODELS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The model of a name.
///
/// # Errors
/// A usage error with the nearest name, or what is wrong with the document.
pub fn find(name: &str) -> Result<ArrayModel> {
    let found = MODELS.iter().find(|(known, _)| *known == name);
    let Some((_, text)) = found else {
        let known: Vec<String> = names().map(str::to_owned).collect();
        let near = nearest(name, &known)
            .map(|near| format!("did you mean '{near}'? "))
            .unwrap_or_default();
        return Err(Error::usage(
            format!("there is no array '{name}'"),
            format!("{near}`assay list arrays` lists them; a file ends with .array.toml"),
        ));
    };
    parse_array(text).map_err(|error| error.context(format!("array '{name}'")))
}

impl ArraySpec {
    /// Reads `capacity=2TB&seed=1&…` on top of a model.
    ///
    /// # Errors
    /// A usage error that names the key and the known ones.
    pub fn with_query(mut self, query: &str) -> Result<Self> {
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            self = self.with(key, value).map_err(|error| error.context(format!("array?{key}")))?;
        }
        self.failures.check(&self.model).map_err(|error| error.context("array"))?;
        Ok(self)
    }

    fn with(mut self, key: &str, value: &str) -> Result<Self> {
        match key {
            "capacity" => self.capacity_bytes = value.parse::<Bytes>()?.0,
            "seed" => self.seed = whole(value)?,
            "nodes" => return Ok(self.with_nodes(small(value)?)),
            "volumes" => return Ok(self.with_volumes(small(value)?)),
            "hasten" => self.hasten_times = times(value)?,
            "pace" => self.real_pace = pace(value)?,
            _ => match self.failures.with(key, value)? {
                Some(failures) => self.failures = failures,
                None => {
                    return Err(Error::usage(
                        format!("an array has no key '{key}'"),
                        format!("its keys are {}", KEYS.join(", ")),
                    ));
                }
            },
        }
        if self.capacity_bytes < 1 << 20 {
            return Err(Error::usage(
                "a capacity below 1MiB is too small",
                "write for example capacity=2TB",
            ));
        }
        Ok(self)
    }
}

fn whole(text: &str) -> Result<u64> {
    text.parse()
        .map_err(|_| Error::usage(format!("'{text}' is not a whole number"), "write for example 8"))
}

fn small(text: &str) -> Result<u32> {
    let number = u32::try_from(whole(text)?).unwrap_or(u32::MAX);
    if (1..=1024).contains(&number) {
        return Ok(number);
    }
    Err(Error::usage(
        format!("{text} of them cannot be simulated"),
        "write a number from 1 to 1024",
    ))
}

fn times(text: &str) -> Result<u64> {
    let value = whole(text)?;
    if (1..=1_000_000).contains(&value) {
        return Ok(value);
    }
    Err(Error::usage(
        format!("'{text}' is not a valid acceleration"),
        "write a number from 1 to 1000000",
    ))
}

fn pace(text: &str) -> Result<bool> {
    match text {
        "real" => Ok(true),
        "fast" => Ok(false),
        _ => Err(Error::usage(format!("there is no pace '{text}'"), "write real or fast")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_read_and_built() {
        for name in names() {
            let model = find(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(model.name, name);
            assert!(ArraySpec::new(model).build().next_event_ns().is_none());
        }
    }

    #[test]
    fn a_target_says_capacity_seed_and_nodes() {
        let model = find("xtremio-1").unwrap();
        let spec = ArraySpec::new(model).with_query("capacity=2TB&seed=7&nodes=2").unwrap();
        assert_eq!((spec.capacity_bytes, spec.seed), (2_000_000_000_000, 7));
        for (query, expected) in [
            ("capcity=1TB", "no key 'capcity'"),
            ("seed=x", "not a whole number"),
            ("nodes=0", "cannot be simulated"),
            ("capacity=1KiB", "too small"),
            ("hasten=0", "'0' is not a valid acceleration"),
            ("pace=slow", "no pace 'slow'"),
        ] {
            let error = spec.clone().with_query(query).unwrap_err().to_string();
            assert!(error.contains(expected), "{query}: {error}");
        }
        let error = find("xtremo-1").unwrap_err().to_string();
        assert!(error.contains("did you mean 'xtremio-1'?"), "{error}");
    }
}
