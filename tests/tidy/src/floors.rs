//! The floors of the house: stairs lead down only, and rooms of one floor do not know each other.

use crate::Finding;
use crate::metadata::{Dependency, Package};

/// Each crate and its floor; a new crate is added here on purpose.
pub const FLOORS: &[(&str, u8)] = &[
    ("assay-model", 1),
    ("assay-stats", 2),
    ("assay-dbserver", 2),
    ("assay-files", 2),
    ("assay-catalog", 2),
    ("assay-live", 3),
    ("assay-cluster", 3),
    ("assay-integrity", 3),
    ("assay-ledger", 3),
    ("assay-engine", 4),
    ("assay-arrays", 4),
    ("assay-host", 4),
    ("assay-store", 4),
    ("assay-archives", 4),
    ("assay-formats", 4),
    ("assay-monitor", 4),
    ("assay-oracle", 4),
    ("assay-postgres", 4),
    ("assay-mariadb", 4),
    ("assay-loads", 4),
    ("assay-methods", 5),
    ("assay-predict", 5),
    ("assay-dbload", 5),
    ("assay-judge", 5),
    ("assay-report", 5),
    ("assay-sizing", 5),
    ("assay-app", 6),
    ("assay", 7),
    ("assay-rig", TESTS),
    ("assay-tidy", TESTS),
];

/// What the rooms of a floor have in common.
pub const FLOOR_NAMES: &[(u8, &str)] = &[
    (1, "nouns"),
    (2, "foundations"),
    (3, "observation"),
    (4, "knowledge"),
    (5, "questions"),
    (6, "application"),
    (7, "commands"),
];

/// Crates that only test: they stand outside the house, may see every floor, and are seen by tests
/// only.
const TESTS: u8 = 0;

/// Every dependency between the workspace's crates that does not lead down.
pub fn check(packages: &[Package], floors: &[(&str, u8)]) -> Vec<Finding> {
    packages.iter().flat_map(|package| check_package(package, floors)).collect()
}

fn check_package(package: &Package, floors: &[(&str, u8)]) -> Vec<Finding> {
    let Some(floor) = floor_of(&package.name, floors) else {
        let what = "the crate has no floor yet: choose one in tests/tidy/src/floors.rs";
        return vec![Finding::new(&package.name, what)];
    };
    let own = package.dependencies.iter().filter(|dependency| dependency.path.is_some());
    own.filter_map(|dependency| complaint(floor, dependency, floors))
        .map(|what| Finding::new(&package.name, what))
        .collect()
}

/// Why a crate of `floor` may not depend so, if it may not.
fn complaint(floor: u8, dependency: &Dependency, floors: &[(&str, u8)]) -> Option<String> {
    let name = &dependency.name;
    let below = floor_of(name, floors)?;
    if below == TESTS {
        let allowed = floor == TESTS || dependency.is_for_tests();
        return (!allowed).then(|| format!("depends on {name}, which is for tests only"));
    }
    if floor == TESTS || below < floor {
        return None;
    }
    let where_to = if below == floor { "next to it" } else { "above it" };
    Some(format!("of floor {floor} depends on {name} of floor {below}, {where_to}"))
}

fn floor_of(name: &str, floors: &[(&str, u8)]) -> Option<u8> {
    floors.iter().find(|(known, _)| *known == name).map(|(_, floor)| *floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::package;

    fn findings(name: &str, dependencies: &[(&str, Option<&str>, bool)]) -> String {
        crate::report(&check(&[package(name, dependencies)], FLOORS))
    }

    #[test]
    fn stairs_lead_down() {
        let own =
            [("assay-model", None, true), ("assay-stats", None, true), ("serde", None, false)];
        assert_eq!(findings("assay-methods", &own), "");
        assert_eq!(findings("assay-rig", &[("assay-engine", None, true)]), "");
    }

    #[test]
    fn not_up_and_not_sideways() {
        let up = "assay-model: of floor 1 depends on assay-stats of floor 2, above it";
        assert_eq!(findings("assay-model", &[("assay-stats", None, true)]), up);
        let beside = "assay-engine: of floor 4 depends on assay-host of floor 4, next to it";
        assert_eq!(findings("assay-engine", &[("assay-host", None, true)]), beside);
        assert_ne!(findings("assay-judge", &[("assay-report", None, true)]), "");
        assert_ne!(findings("assay-mariadb", &[("assay-postgres", None, true)]), "");
        assert_eq!(findings("assay-mariadb", &[("assay-dbserver", None, true)]), "");
        let above = "assay-dbserver: of floor 2 depends on assay-host of floor 4, above it";
        assert_eq!(findings("assay-dbserver", &[("assay-host", None, true)]), above);
    }

    #[test]
    fn tests_may_see_the_rig_and_still_no_sibling() {
        assert_eq!(findings("assay-engine", &[("assay-rig", Some("dev"), true)]), "");
        assert_ne!(findings("assay-engine", &[("assay-rig", None, true)]), "");
        assert_ne!(findings("assay-engine", &[("assay-host", Some("dev"), true)]), "");
    }

    #[test]
    fn a_new_crate_must_choose_its_floor() {
        assert!(findings("assay-new", &[]).contains("no floor yet"));
    }
}
