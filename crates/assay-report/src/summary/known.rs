//! Storage of known classes: what a random read takes and how many there are a second, each value
//! with its source.

use crate::chart::classes::{ClassRow, classes};
use crate::chart::scene::SceneSize;
use crate::format::Formatter;
use crate::view::{CellLook, Chart, ViewBlock, ViewTable};
use assay_model::verdict::Unit;

/// Both ends of what is known of a class; the same for a single number.
type Range = (f64, f64);

/// A kind of storage that people know, with published numbers.
struct Class {
    /// What it is, short enough for the narrow chart; `≈` marks an estimate of this program.
    name: &'static str,
    /// Time of one random read of 4 to 16 KiB with no other I/O, ns.
    read_time_ns: Range,
    /// Random reads per second; none where no source says so.
    reads_per_s: Option<Range>,
    /// Where the numbers are from.
    source: &'static str,
}

/// From the slowest to the fastest.
const CLASSES: [Class; 6] = [
    Class {
        name: "disk, 7,200 rpm ≈",
        read_time_ns: (12.4e6, 12.4e6),
        reads_per_s: Some((81.0, 81.0)),
        source: "Estimate: mean seek of 8.2 ms (HGST Ultrastar 7K4000 specification) and half a \
                 turn of 4.2 ms, one read at a time",
    },
    Class {
        name: "SAN, 14 disks ≈",
        read_time_ns: (5.4e6, 20e6),
        reads_per_s: Some((5000.0, 5000.0)),
        source: "Dell PS6010XV with 14 disks of 15,000 rpm: about 5,000 8 KiB reads/s below 20 ms \
                 (BP1003, 2013); the time of a single read is an estimate by seek and half a turn",
    },
    Class {
        name: "SAN, flash",
        read_time_ns: (1.04e6, 1.07e6),
        reads_per_s: Some((83_115.0, 85_409.0)),
        source: "EMC XtremIO, one X-Brick, 8 KiB reads of a database under load (H13174, 2014)",
    },
    Class {
        name: "cloud volume",
        read_time_ns: (0.5e6, 0.5e6),
        reads_per_s: Some((3000.0, 256_000.0)),
        source: "Amazon EBS documentation: io2 Block Express below 500 µs on average with 16 KiB; \
                 from 3,000 IOPS (gp3, included) to 256,000 (io2, most)",
    },
    Class {
        name: "SATA SSD ≈",
        read_time_ns: (140e3, 140e3),
        reads_per_s: Some((98_000.0, 98_000.0)),
        source: "Samsung PM883 data sheet, 4 KiB; its read latency is an estimate: at queue depth \
                 1 it delivers about 40% fewer reads than an NVMe SSD (AnandTech, 2018)",
    },
    Class {
        name: "NVMe SSD",
        read_time_ns: (85e3, 85e3),
        reads_per_s: Some((540_000.0, 540_000.0)),
        source: "Samsung PM983 3.84 TB data sheet (2018), 4 KiB",
    },
];

/// What was found here, to be held against the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FoundHere {
    /// Whose numbers they are: `this storage`, or the name of a side.
    pub(crate) name: String,
    /// Time of a random read with its interval, ns.
    pub(crate) read_time_ns: Option<Reach>,
    /// Random reads per second with their interval.
    pub(crate) reads_per_s: Option<Reach>,
}

/// A number and where it may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reach {
    /// The number.
    pub(crate) value: f64,
    /// Where it ends below.
    pub(crate) low: f64,
    /// Where it ends above.
    pub(crate) high: f64,
}

impl Reach {
    /// A number without an interval.
    pub(crate) const fn exactly(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// A number with its interval.
    pub(crate) const fn of(estimate: &assay_model::Estimate) -> Self {
        Self { value: estimate.value, low: estimate.low, high: estimate.high }
    }
}

/// The part of the page; nothing where no number of a read was found.
pub(crate) fn blocks<'a>(found: &[FoundHere], what: &str, format: Formatter) -> Vec<ViewBlock<'a>> {
    let mut charts = Vec::new();
    let times = places(found, |one| one.read_time_ns, |class| Some(class.read_time_ns));
    charts.extend(chart(
        times,
        "read-time-among-classes",
        "Time of a random read",
        Unit::Ns,
        format,
    ));
    let rates = places(found, |one| one.reads_per_s, |class| class.reads_per_s);
    charts.extend(chart(
        rates,
        "reads-among-classes",
        "Random reads per second",
        Unit::IosPerS,
        format,
    ));
    if charts.is_empty() {
        return Vec::new();
    }
    let first = found.iter().find_map(|one| Some((one, one.read_time_ns?)));
    let sentence = first.map(|(one, time)| between(&one.name, time.value, &format));
    let sentence = sentence.map(|words| ViewBlock::Paragraph(format!("{words}{what}")));
    let sources = ViewBlock::folded("Sources of the known storage values", vec![sources()]);
    let parts = sentence.into_iter().chain([ViewBlock::SideBySide(charts), sources]);
    vec![ViewBlock::part("Compared with known storage", parts.collect())]
}

/// A row for each thing that was found and for each class that has such a number; nothing without
/// the former.
fn places(
    found: &[FoundHere],
    own: fn(&FoundHere) -> Option<Reach>,
    known: fn(&Class) -> Option<Range>,
) -> Vec<ClassRow> {
    let here = found.iter().filter_map(|one| {
        let reach = own(one).filter(|reach| reach.value > 0.0)?;
        let value = Some(reach.value);
        Some(ClassRow { name: short(&one.name), value, low: reach.low, high: reach.high })
    });
    let here: Vec<ClassRow> = here.collect();
    if here.is_empty() {
        return here;
    }
    let classes = CLASSES.iter().filter_map(|class| {
        let (low, high) = known(class)?;
        Some(ClassRow { name: class.name.to_owned(), value: None, low, high })
    });
    here.into_iter().chain(classes).collect()
}

/// Letters that fit next to a chart.
const NAME_MAX: usize = 17;

fn short(name: &str) -> String {
    if name.chars().count() <= NAME_MAX {
        return name.to_owned();
    }
    // Runs begin with their day and differ at their end.
    let letters = name.chars().count();
    std::iter::once('…').chain(name.chars().skip(letters + 1 - NAME_MAX)).collect()
}

fn chart<'a>(
    places: Vec<ClassRow>,
    file: &str,
    title: &'static str,
    unit: Unit,
    format: Formatter,
) -> Option<ViewBlock<'a>> {
    (!places.is_empty()).then(|| {
        let draw = move |size| classes(title, title, unit, &places, &format, size);
        ViewBlock::Chart(Chart::new(file, SceneSize::Half, "", draw))
    })
}

/// Between which two classes a time of a read lies.
fn between(name: &str, time_ns: f64, format: &Formatter) -> String {
    let time = format.value(Unit::Ns, time_ns);
    let named = |class: &Class| {
        let at = format.value(Unit::Ns, class.read_time_ns.0);
        format!("{} ({at})", class.name.trim_end_matches(" ≈"))
    };
    let slower = CLASSES.iter().rfind(|class| class.read_time_ns.0 > time_ns);
    let faster = CLASSES.iter().find(|class| class.read_time_ns.0 <= time_ns);
    let stands = match (faster, slower) {
        (None, Some(slower)) => {
            format!("faster than all of these classes, including {}", named(slower))
        }
        (Some(faster), None) => {
            format!("slower than all of these classes, including {}", named(faster))
        }
        (Some(faster), Some(slower)) => {
            format!("slower than {}, faster than {}", named(faster), named(slower))
        }
        (None, None) => "outside the known classes".to_owned(),
    };
    format!("A random read of {name} takes {time}: {stands}.")
}

fn sources() -> ViewBlock<'static> {
    let table = ViewTable::new("Values of known storage and their sources").look(CellLook::Dense);
    let table = table.words("class").numbers("one random read").numbers("random reads/s");
    let format = Formatter::default();
    let range = |unit, (low, high): Range| {
        let (low, high) = (format.value(unit, low), format.value(unit, high));
        if low == high { low } else { format!("{low} – {high}") }
    };
    let rows = CLASSES.iter().map(|class| {
        let rate = class.reads_per_s;
        vec![
            class.name.to_owned(),
            range(Unit::Ns, class.read_time_ns),
            rate.map_or_else(|| "–".to_owned(), |rate| range(Unit::IosPerS, rate)),
            class.source.to_owned(),
        ]
    });
    ViewBlock::Table(table.words("source; ≈ marks an estimate").with(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_stands_between_its_neighbours() {
        let said = between("this storage", 300e3, &Formatter::default());
        assert!(said.contains("slower than SATA SSD (140 µs)"), "{said}");
        assert!(said.contains("faster than cloud volume (500 µs)"), "{said}");
        assert!(between("it", 1e3, &Formatter::default()).contains("faster than all"));
        assert!(between("it", 1e9, &Formatter::default()).contains("slower than all"));
    }

    #[test]
    fn classes_are_ordered_and_an_estimate_is_marked_and_sourced() {
        assert!(CLASSES.windows(2).all(|pair| pair[0].read_time_ns.0 > pair[1].read_time_ns.0));
        for class in &CLASSES {
            let says_so = class.source.to_lowercase().contains("estimate");
            assert_eq!(class.name.ends_with('≈'), says_so, "{}", class.name);
            assert!(class.name.chars().count() <= NAME_MAX, "{}", class.name);
        }
    }

    #[test]
    fn nothing_found_is_no_part() {
        assert!(blocks(&[FoundHere::default()], "", Formatter::default()).is_empty());
    }
}
