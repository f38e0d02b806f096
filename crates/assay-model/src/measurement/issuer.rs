//! I/O backend and clock of a measurement.

use serde::{Deserialize, Serialize};
use std::fmt;

/// I/O backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BackendKind {
    /// Unknown; nothing measured yet.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// Linux `io_uring`.
    Uring,
    /// Blocking POSIX calls.
    Posix,
    /// Null device, which measures the cost of the tool itself.
    Null,
    /// Simulated device.
    Simulated,
    /// PostgreSQL server; its statements are counted as I/Os.
    Postgresql,
    /// A MariaDB or MySQL server.
    Mariadb,
    /// Imported fio results; `features` has the version and engine of fio.
    Fio,
}

impl BackendKind {
    /// All backends except `Unknown`.
    pub const ALL: [Self; 6] =
        [Self::Uring, Self::Posix, Self::Null, Self::Simulated, Self::Postgresql, Self::Mariadb];

    /// Name in documents and tables.
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

/// Clock of all time stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ClockKind {
    /// Unknown; nothing measured yet.
    #[default]
    #[serde(rename = "")]
    Unknown,
    /// Time stamp counter of the CPU, read without a system call.
    Tsc,
    /// The kernel's monotonic clock.
    Monotonic,
    /// Clock of a simulation, in which nothing is late.
    Virtual,
    /// Clock of fio, for imported results.
    Fio,
}

impl ClockKind {
    /// All clocks except `Unknown`.
    pub const ALL: [Self; 4] = [Self::Tsc, Self::Monotonic, Self::Virtual, Self::Fio];

    /// Name in documents and tables.
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
