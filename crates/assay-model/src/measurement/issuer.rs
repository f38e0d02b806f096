//! Who issued the I/Os of a measurement, and by which clock they were stamped.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who carried out the I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// Not known: nothing was measured yet.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// The kernel's rings.
    Uring,
    /// Blocking calls.
    Posix,
    /// Nobody: the cost of the tool itself.
    Null,
    /// A simulated device.
    Simulated,
    /// A PostgreSQL server: what is counted are its statements.
    Postgresql,
    /// A MariaDB or MySQL server.
    Mariadb,
    /// fio, whose results were imported; `features` has its version and engine.
    Fio,
}

impl BackendKind {
    /// All that can carry out an I/O.
    pub const ALL: [Self; 6] =
        [Self::Uring, Self::Posix, Self::Null, Self::Simulated, Self::Postgresql, Self::Mariadb];

    /// Its name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Uring => "uring",
            Self::Posix => "posix",
            Self::Null => "null",
            Self::Simulated => "simulated",
            Self::Postgresql => "postgresql",
            Self::Mariadb => "mariadb",
            Self::Fio => "fio",
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The clock of all time stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// Not known: nothing was measured yet.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// The processor's counter, read without the kernel.
    Tsc,
    /// The kernel's monotonic clock.
    Monotonic,
    /// That of a simulation, on which nothing is ever late.
    Virtual,
    /// That of fio, whose results were imported.
    Fio,
}

impl ClockKind {
    /// All that can stamp an I/O.
    pub const ALL: [Self; 4] = [Self::Tsc, Self::Monotonic, Self::Virtual, Self::Fio];

    /// Its name in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Tsc => "tsc",
            Self::Monotonic => "monotonic",
            Self::Virtual => "virtual",
            Self::Fio => "fio",
        }
    }
}

impl fmt::Display for ClockKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_documents() {
        for backend in BackendKind::ALL.into_iter().chain([BackendKind::Unknown]) {
            let name = serde_json::to_string(&backend).unwrap();
            assert_eq!(name, format!("\"{backend}\""));
            assert_eq!(serde_json::from_str::<BackendKind>(&name).unwrap(), backend);
        }
        for clock in ClockKind::ALL.into_iter().chain([ClockKind::Unknown]) {
            let name = serde_json::to_string(&clock).unwrap();
            assert_eq!(name, format!("\"{clock}\""));
            assert_eq!(serde_json::from_str::<ClockKind>(&name).unwrap(), clock);
        }
        assert!(serde_json::from_str::<ClockKind>("\"sundial\"").is_err());
    }
}
