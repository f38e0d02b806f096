//! The picture of the house, drawn from the crates' own dependencies: one row a floor, one line a
//! dependency.

use crate::Finding;
use crate::floors::{FLOOR_NAMES, FLOORS};
use crate::metadata::Package;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where the picture is kept.
pub const PATH: &str = "docs/architecture.svg";

const WIDTH: usize = 1000;
const ROW_HEIGHT: usize = 96;
const ROOM_HEIGHT: usize = 40;
const LABEL_WIDTH: usize = 120;
const GAP: usize = 12;

/// A room's place: its left edge, its width and its top edge.
#[derive(Clone, Copy)]
struct Place {
    left: usize,
    width: usize,
    top: usize,
}

/// Finds a picture that is not what the crates say.
pub fn check(picture: &str, packages: &[Package]) -> Vec<Finding> {
    if picture == draw(packages) {
        return Vec::new();
    }
    let what = "is not what the crates depend on: ASSAY_WRITE_DOCS=1 cargo test --workspace \
                --test repository draws it";
    vec![Finding::new(PATH, what)]
}

/// The picture as SVG: rooms on their floors, the highest floor on top, and what each depends on
/// outside of tests.
pub fn draw(packages: &[Package]) -> String {
    let places = places();
    let height = ROW_HEIGHT * rows().len() + GAP;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"14\" role=\"img\">\n<title>The crates on their \
         floors; every line is a dependency and leads down</title>\n{STYLE}<rect class=\"paper\" \
         width=\"{WIDTH}\" height=\"{height}\"/>\n"
    );
    for (row, (floor, name)) in rows().iter().enumerate() {
        let top = GAP + row * ROW_HEIGHT;
        let middle = top + ROOM_HEIGHT / 2 + 5;
        _ = writeln!(svg, "<text class=\"small\" x=\"{GAP}\" y=\"{middle}\">{floor} {name}</text>");
    }
    for (from, to) in dependencies(packages) {
        draw_line(&mut svg, (&from, places[from.as_str()]), (&to, places[to.as_str()]));
    }
    for (name, place) in &places {
        draw_room(&mut svg, name, *place);
    }
    svg + "</svg>\n"
}

const STYLE: &str = "<style>\n.paper { fill: #ffffff } .room { fill: #f3f5f7; stroke: #4a6a8a \
                     }\ntext { fill: #1f2a36 } .small { font-size: 12px; fill: #4b5763 }\n.line { \
                     stroke: #4a6a8a; stroke-opacity: 0.45; fill: none }\n</style>\n";

/// The floors that have rooms, the highest first.
fn rows() -> Vec<(u8, &'static str)> {
    let lived_in = |floor: &u8| FLOORS.iter().any(|(_, of)| of == floor);
    let rows = FLOOR_NAMES.iter().rev().filter(|(floor, _)| lived_in(floor));
    rows.copied().collect()
}

fn places() -> BTreeMap<&'static str, Place> {
    let mut places = BTreeMap::new();
    for (row, (floor, _)) in rows().iter().enumerate() {
        let rooms: Vec<&str> =
            FLOORS.iter().filter(|(_, of)| of == floor).map(|(name, _)| *name).collect();
        let each = (WIDTH - LABEL_WIDTH - GAP) / rooms.len();
        for (column, name) in rooms.iter().enumerate() {
            let left = LABEL_WIDTH + column * each;
            let place = Place { left, width: each - GAP, top: GAP + row * ROW_HEIGHT };
            places.insert(*name, place);
        }
    }
    places
}

/// What rooms of the house need of each other in the shipped program.
fn dependencies(packages: &[Package]) -> Vec<(String, String)> {
    let stands = |name: &str| rows().iter().any(|(floor, _)| FLOORS.contains(&(name, *floor)));
    let mut lines = Vec::new();
    for package in packages.iter().filter(|package| stands(&package.name)) {
        let own = package.dependencies.iter();
        let own = own.filter(|one| one.path.is_some() && !one.is_for_tests() && stands(&one.name));
        lines.extend(own.map(|one| (package.name.clone(), one.name.clone())));
    }
    lines.sort();
    lines
}

fn draw_line(svg: &mut String, (from, above): (&str, Place), (to, below): (&str, Place)) {
    let (x0, y0) = (above.left + above.width / 2, above.top + ROOM_HEIGHT);
    let (x1, y1) = (below.left + below.width / 2, below.top);
    let (bend0, bend1) = (y0 + 30, y1.saturating_sub(30));
    _ = writeln!(
        svg,
        "<path class=\"line\" d=\"M{x0} {y0} C{x0} {bend0} {x1} {bend1} {x1} {y1}\"><title>{from} \
         needs {to}</title></path>"
    );
}

fn draw_room(svg: &mut String, name: &str, place: Place) {
    let Place { left, width, top } = place;
    let (middle, baseline) = (left + width / 2, top + ROOM_HEIGHT / 2 + 5);
    let short = name.strip_prefix("assay-").unwrap_or(name);
    _ = writeln!(
        svg,
        "<rect class=\"room\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{ROOM_HEIGHT}\" \
         rx=\"4\"/><text x=\"{middle}\" y=\"{baseline}\" text-anchor=\"middle\">{short}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::package;

    #[test]
    fn a_dependency_more_makes_another_picture() {
        let few = [package("assay-judge", &[("assay-model", None, true)])];
        let more =
            [package("assay-judge", &[("assay-model", None, true), ("assay-stats", None, true)])];
        assert!(check(&draw(&few), &few).is_empty());
        assert_eq!(check(&draw(&few), &more).len(), 1);
        assert!(draw(&more).contains("assay-judge needs assay-stats"));
    }

    #[test]
    fn what_only_tests_need_is_not_drawn() {
        let tests = [package("assay-judge", &[("assay-stats", Some("dev"), true)])];
        assert!(!draw(&tests).contains("needs"));
    }
}
