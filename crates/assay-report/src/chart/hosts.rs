//! Several hosts in one picture: their rates over time next to each other, as a map of hosts and
//! time, and when each began.

use super::axis::{Axis, horizontal, legend};
use super::heat::depth_legend;
use super::scale::AxisScale;
use super::scene::{Ink, Scene, SceneMark, ScenePoint, SceneSize, Stroke, TextAnchor};
use super::time_axis::time_axis;
use crate::format::{Formatter, tick};
use assay_model::Estimate;
use assay_model::number::{index, real, real_len};
use assay_model::verdict::Unit;

/// A host of the picture.
#[derive(Clone, Debug)]
pub(crate) struct HostLine {
    /// Its name.
    pub(crate) name: String,
    /// What is remarkable about it, in a word; may be empty.
    pub(crate) remark: &'static str,
    /// Its I/Os per second in equal parts of the common time.
    pub(crate) rates_iops: Vec<f64>,
    /// From the common start to its first worker, and what that may be off by, ns.
    pub(crate) start_ns: Option<(i64, u64)>,
}

/// Hosts and the time that they measured together, s.
#[derive(Clone, Debug)]
pub(crate) struct HostLines {
    /// The hosts, in their order.
    pub(crate) hosts: Vec<HostLine>,
    /// How long the common time is, s.
    pub(crate) elapsed_s: f64,
    /// How far apart hosts may begin, ns.
    pub(crate) limit_ns: Option<u64>,
}

/// Depths of colour.
const LEVELS: u8 = 8;
/// A map does not make more of a difference than this share of the highest rate.
const RANGE_MIN: f64 = 0.1;
/// Height of a panel, of its name above it, and of the room below it, pixels.
const PANEL: f64 = 64.0;
const NAME: f64 = 18.0;
const BELOW: f64 = 12.0;
/// Room between two panels, pixels.
const BETWEEN: f64 = 18.0;
/// Width of a letter, estimated, pixels.
const LETTER: f64 = 7.3;
/// Letters of a name next to a row, on a page and on a telephone.
const NAME_LETTERS: usize = 18;
const NAME_LETTERS_NARROW: usize = 10;
/// Height of a row of a map at least and at most, and of all rows together about, pixels.
const ROW_MIN: f64 = 3.0;
const ROW_MAX: f64 = 20.0;
const ROWS: f64 = 260.0;
/// Height of a row that has room for its name, pixels.
const ROW_NAMED: f64 = 12.0;
/// Height of a row of starts, pixels.
const START_ROW: f64 = 18.0;

/// The rate of each host over time, all on one scale, with the median of all of them behind it.
pub(crate) fn multiples(of: &HostLines, format: &Formatter, size: SceneSize) -> Scene {
    let divisor = format.divisor(Unit::IosPerS);
    let rates = || of.hosts.iter().flat_map(|host| host.rates_iops.iter());
    let highest = rates().fold(0.0, |most: f64, rate| most.max(*rate)) / divisor;
    let columns = if size == SceneSize::Full { 4 } else { 2 };
    let rows = of.hosts.len().div_ceil(columns);
    let pitch = NAME + PANEL + BELOW;
    let mut scene = Scene::new(size, 200.0, "Host rates over time");
    scene.height = scene.plot.top + pitch * real_len(rows);
    scene.plot.height = pitch * real_len(rows) - BELOW;
    let (left, all) = (scene.plot.left, scene.plot.width + BETWEEN);
    let width = all / real_len(columns) - BETWEEN;
    let median = medians(&of.hosts);
    scene.text(
        (4.0, 13.0),
        TextAnchor::Start,
        Ink::Label,
        format.axis_name("rate of a host", Unit::IosPerS),
    );
    for (place, host) in of.hosts.iter().enumerate() {
        let at = (
            left + (width + BETWEEN) * real_len(place % columns),
            scene.plot.top + pitch * real_len(place / columns) + NAME,
        );
        let y = AxisScale::from_zero(highest, 5).onto(at.1 + PANEL, at.1);
        let panel = Panel { at, width, y, divisor };
        if place % columns == 0 {
            for value in [0.0, y.high] {
                let text = tick(format, Unit::IosPerS, value);
                scene.text((left - 6.0, y.place(value) + 4.0), TextAnchor::End, Ink::Axis, text);
            }
        }
        panel.draw(&mut scene, host, &median);
    }
    scene.description = describe(of, format);
    scene
}

/// Where a host is drawn.
struct Panel {
    /// Its upper left corner.
    at: ScenePoint,
    width: f64,
    y: AxisScale,
    divisor: f64,
}

impl Panel {
    fn draw(&self, scene: &mut Scene, host: &HostLine, median: &[f64]) {
        let (left, top) = self.at;
        let right = left + self.width;
        scene.hair((left, top), (right, top), Ink::Grid);
        scene.hair((left, top + PANEL), (right, top + PANEL), Ink::Axis);
        let letters = index(self.width / LETTER);
        let name = match host.remark {
            "" => shortened(&host.name, letters),
            remark => shortened(&format!("{}: {remark}", host.name), letters),
        };
        scene.text((left, top - 5.0), TextAnchor::Start, Ink::Label, name);
        scene.line(self.points(median), Ink::Axis, Stroke::Dotted);
        let ink = if host.remark.is_empty() { Ink::Read } else { Ink::Limit };
        scene.line(self.points(&host.rates_iops), ink, Stroke::Solid);
    }

    /// The middles of equal parts of the time.
    fn points(&self, rates: &[f64]) -> Vec<ScenePoint> {
        let part = self.width / real_len(rates.len().max(1));
        let place = |(place, rate): (usize, &f64)| {
            (self.at.0 + part * (real_len(place) + 0.5), self.y.place(rate / self.divisor))
        };
        rates.iter().enumerate().map(place).collect()
    }
}

/// The median of all hosts in each part of the time that all of them have.
fn medians(hosts: &[HostLine]) -> Vec<f64> {
    let parts = hosts.iter().map(|host| host.rates_iops.len()).min().unwrap_or(0);
    let median = |part: usize| {
        let mut rates: Vec<f64> = hosts.iter().map(|host| host.rates_iops[part]).collect();
        rates.sort_by(f64::total_cmp);
        let middle = rates.len() / 2;
        if rates.len() % 2 == 1 {
            rates[middle]
        } else {
            f64::midpoint(rates[middle - 1], rates[middle])
        }
    };
    (0..parts).map(median).collect()
}

/// Hosts and time: the deeper the colour, the more a second.
pub(crate) fn map(of: &HostLines, format: &Formatter, size: SceneSize) -> Scene {
    let row = (ROWS / real_len(of.hosts.len().max(1))).clamp(ROW_MIN, ROW_MAX);
    let mut scene = Scene::unnamed(size, 100.0, "Heat map of host rates");
    let rows = row * real_len(of.hosts.len());
    scene.height += rows - scene.plot.height;
    scene.plot.height = rows;
    make_room(&mut scene, &names_of(&of.hosts), size);
    let x = time_axis(&mut scene, of.elapsed_s);
    names(&mut scene, &names_of(&of.hosts), row);
    let range = range(&of.hosts);
    for level in 1..=LEVELS {
        let mut rects = Vec::new();
        for (number, host) in of.hosts.iter().enumerate() {
            let top = scene.plot.top + row * real_len(number);
            rects.extend(runs(&host.rates_iops, level, range.0, range.1).map(|(from, to)| {
                let at = |part: usize| {
                    x.place(of.elapsed_s * real_len(part) / real_len(host.rates_iops.len()))
                };
                [at(from), top, at(to) - at(from), row - if row > ROW_NAMED { 1.0 } else { 0.0 }]
            }));
        }
        if !rects.is_empty() {
            scene.marks.push(SceneMark::Rects { rects, ink: Ink::Heat(level) });
        }
    }
    depth_legend(&mut scene, "higher rate");
    let words = |value: f64| format.value(Unit::IosPerS, value);
    scene.description = format!(
        "One row per host over time; a deeper colour means a higher rate, from {} to {}.",
        words(range.0),
        words(range.1)
    );
    scene
}

/// The lowest and the highest rate, at least a tenth apart.
fn range(hosts: &[HostLine]) -> (f64, f64) {
    let rates = || hosts.iter().flat_map(|host| host.rates_iops.iter().copied());
    let high = rates().fold(0.0, f64::max);
    (rates().fold(high, f64::min).min(high * (1.0 - RANGE_MIN)), high)
}

/// Neighbouring parts of one depth of colour, from the first of them to the one behind the last.
fn runs(rates: &[f64], level: u8, low: f64, high: f64) -> impl Iterator<Item = (usize, usize)> {
    let depth = move |rate: f64| {
        let share = if high > low { (rate - low) / (high - low) } else { 1.0 };
        u8::try_from(index(share.clamp(0.0, 1.0) * f64::from(LEVELS - 1) + 0.5))
            .map_or(1, |depth| depth + 1)
    };
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (part, _) in rates.iter().enumerate().filter(|(_, rate)| depth(**rate) == level) {
        match found.last_mut() {
            Some(run) if run.1 == part => run.1 = part + 1,
            _ => found.push((part, part + 1)),
        }
    }
    found.into_iter()
}

/// Start time of each host, with what that may be off by; nothing where none said so.
pub(crate) fn starts(of: &HostLines, size: SceneSize) -> Option<Scene> {
    let begun: Vec<HostLine> =
        of.hosts.iter().filter(|host| host.start_ns.is_some()).cloned().collect();
    let ends = |host: &HostLine| {
        let (start_ns, doubt_ns) = host.start_ns.unwrap_or_default();
        let start = signed(start_ns);
        [start - real(doubt_ns), start, start + real(doubt_ns)]
    };
    let low = begun.iter().map(|host| ends(host)[0]).reduce(f64::min)?.min(0.0);
    let high = begun.iter().map(|host| ends(host)[2]).reduce(f64::max)?;
    let first = begun.iter().map(|host| ends(host)[1]).reduce(f64::min)?;
    let limit = of.limit_ns.map(|limit_ns| first + real(limit_ns));
    // A limit that is far off would leave no room for what there is.
    let limit = limit.filter(|limit| *limit < low + 3.0 * (high - low));
    let mut scene = Scene::new(size, 100.0, "Start time of each host");
    let rows = START_ROW * real_len(begun.len());
    scene.height += rows - scene.plot.height;
    scene.plot.height = rows;
    make_room(&mut scene, &names_of(&begun), size);
    let scale = AxisScale::linear(low, limit.map_or(high, |limit| limit.max(high) * 1.02));
    let x = scale.onto(scene.plot.left, scene.plot.right());
    let wanted = if size == SceneSize::Narrow { 4 } else { 6 };
    let name = "after the common start".to_owned();
    // How well hosts meet says nothing of the storage, and is never hidden.
    let format = Formatter::default();
    horizontal(&mut scene, &format, &Axis { scale: x, unit: Unit::Ns, name, wanted });
    names(&mut scene, &names_of(&begun), START_ROW);
    for (number, host) in begun.iter().enumerate() {
        let y = scene.plot.top + START_ROW * (real_len(number) + 0.5);
        let [from, at, to] = ends(host).map(|at| x.place(at));
        scene.whisker_across((from, to), y, Ink::Read);
        scene.dot(
            (at, y),
            Ink::Read,
            format!("{}: {}", host.name, format.value(Unit::Ns, ends(host)[1])),
        );
    }
    if let Some(limit) = limit {
        let place = x.place(limit);
        let ends = vec![(place, scene.plot.top), (place, scene.plot.bottom())];
        scene.line(ends, Ink::Limit, Stroke::Dashed);
        scene.text((place, scene.plot.top - 6.0), TextAnchor::End, Ink::Limit, "limit");
    }
    scene.description = format!(
        "Start of the first worker of each host relative to the common start, from {} to {}.",
        format.value(Unit::Ns, first),
        format.value(Unit::Ns, begun.iter().map(|host| ends(host)[1]).fold(first, f64::max))
    );
    Some(scene)
}

/// What a host gives with all others idle, and what it gives while they do the same.
#[derive(Clone, Debug)]
pub(crate) struct AloneAndTogether {
    /// The host.
    pub(crate) name: String,
    /// I/Os per second alone.
    pub(crate) alone: Estimate,
    /// I/Os per second with all others, where known.
    pub(crate) together: Option<Estimate>,
}

/// A row for each host, with a point for what it gives alone and one for what it gives with all
/// others.
pub(crate) fn alone(of: &[AloneAndTogether], format: &Formatter, size: SceneSize) -> Scene {
    let divisor = format.divisor(Unit::IosPerS);
    let both = |host: &AloneAndTogether| [Some(host.alone), host.together];
    let ends = |estimate: &Estimate| estimate.high.min(2.0 * estimate.value).max(estimate.value);
    let highest =
        of.iter().flat_map(both).flatten().map(|one| ends(&one) / divisor).fold(0.0, f64::max);
    let mut scene = Scene::new(size, 100.0, "Each host alone, and with all others");
    let rows = START_ROW * real_len(of.len());
    scene.height += rows - scene.plot.height;
    scene.plot.height = rows;
    let hosts: Vec<&str> = of.iter().map(|host| host.name.as_str()).collect();
    make_room(&mut scene, &hosts, size);
    let wanted = if size == SceneSize::Narrow { 3 } else { 6 };
    let x = AxisScale::from_zero(highest, wanted).onto(scene.plot.left, scene.plot.right());
    horizontal(&mut scene, format, &Axis::new(format, "rate of a host", Unit::IosPerS, x, wanted));
    names(&mut scene, &hosts, START_ROW);
    for (number, host) in of.iter().enumerate() {
        let y = scene.plot.top + START_ROW * (real_len(number) + 0.5);
        for (estimate, ink) in both(host).iter().zip([Ink::Write, Ink::Read]) {
            let Some(estimate) = estimate else { continue };
            let place = |value: f64| x.place(value / divisor);
            scene.whisker_across((place(estimate.low.max(0.0)), place(ends(estimate))), y, ink);
            let says = format!("{}: {}", host.name, format.value(Unit::IosPerS, estimate.value));
            scene.dot((place(estimate.value), y), ink, says);
        }
    }
    let entries = [("alone", Ink::Write), ("with all others", Ink::Read)];
    let entries = entries.map(|(name, ink)| (name.to_owned(), ink, Stroke::Solid));
    legend(&mut scene, &entries);
    scene.description = alone_in_words(of, format);
    scene
}

fn alone_in_words(of: &[AloneAndTogether], format: &Formatter) -> String {
    let sum = |all: &mut dyn Iterator<Item = f64>| format.value(Unit::IosPerS, all.sum::<f64>());
    format!(
        "All hosts together: {} where each is alone, {} with all others.",
        sum(&mut of.iter().map(|host| host.alone.value)),
        sum(&mut of.iter().filter_map(|host| host.together).map(|one| one.value))
    )
}

fn signed(time_ns: i64) -> f64 {
    let size = real(time_ns.unsigned_abs());
    if time_ns < 0 { -size } else { size }
}

fn names_of(hosts: &[HostLine]) -> Vec<&str> {
    hosts.iter().map(|host| host.name.as_str()).collect()
}

/// Makes the room at the left as wide as the longest name.
fn make_room(scene: &mut Scene, names: &[&str], size: SceneSize) {
    let most = if size == SceneSize::Narrow { NAME_LETTERS_NARROW } else { NAME_LETTERS };
    let letters = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(most);
    let more = (LETTER * real_len(letters) + 14.0 - scene.plot.left).max(0.0);
    scene.plot.left += more;
    scene.plot.width -= more;
}

/// Names of rows at the left, of as many as there is room for.
fn names(scene: &mut Scene, names: &[&str], row: f64) {
    let every = index((ROW_NAMED / row).ceil()).max(1);
    let letters = index((scene.plot.left - 10.0) / LETTER);
    for (number, name) in names.iter().enumerate().step_by(every) {
        let y = scene.plot.top + row * (real_len(number) + 0.5) + 4.0;
        let at = (scene.plot.left - 8.0, y);
        scene.text(at, TextAnchor::End, Ink::Axis, shortened(name, letters));
    }
}

/// As much of a name as there is room for.
fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters.saturating_sub(1)).chain(['…']).collect()
}

/// The mean of each of the slowest and the fastest host in words.
fn describe(of: &HostLines, format: &Formatter) -> String {
    let mean = |host: &HostLine| {
        host.rates_iops.iter().sum::<f64>() / real_len(host.rates_iops.len().max(1))
    };
    let by_mean = |one: &&HostLine, other: &&HostLine| mean(one).total_cmp(&mean(other));
    let ends = of.hosts.iter().min_by(by_mean).zip(of.hosts.iter().max_by(by_mean));
    let said = |host: &HostLine| {
        format!("{} with {} on average", host.name, format.value(Unit::IosPerS, mean(host)))
    };
    ends.map_or_else(String::new, |(slowest, fastest)| {
        format!("Slowest: {}. Fastest: {}.", said(slowest), said(fastest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(rates: &[&[f64]]) -> HostLines {
        let host = |(number, rates): (usize, &&[f64])| HostLine {
            name: format!("host-{number}"),
            remark: "",
            rates_iops: rates.to_vec(),
            start_ns: Some((i64::try_from(number).unwrap() * 1_000_000 - 500_000, 100_000)),
        };
        HostLines {
            hosts: rates.iter().enumerate().map(host).collect(),
            elapsed_s: 3.0,
            limit_ns: Some(5_000_000),
        }
    }

    #[test]
    fn neighbouring_parts_of_one_depth_are_one_piece_and_together_cover_all() {
        let rates = [100.0, 100.0, 50.0, 75.0, 100.0];
        let deepest: Vec<_> = runs(&rates, LEVELS, 50.0, 100.0).collect();
        assert_eq!(deepest, [(0, 2), (4, 5)]);
        let all: usize = (1..=LEVELS)
            .flat_map(|level| runs(&rates, level, 50.0, 100.0).map(|(from, to)| to - from))
            .sum();
        assert_eq!(all, rates.len());
    }

    #[test]
    fn small_differences_are_not_made_large() {
        let (low, high) = range(&hosts(&[&[99.0, 100.0], &[98.0, 100.0]]).hosts);
        assert!((low - 90.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        assert_eq!(medians(&hosts(&[&[1.0], &[3.0], &[8.0], &[4.0]]).hosts), [3.5]);
    }

    #[test]
    fn every_host_has_its_panel_its_row_and_its_start() {
        let of = hosts(&[&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0], &[0.0, 0.0, 0.0]]);
        for size in [SceneSize::Full, SceneSize::Half, SceneSize::Narrow] {
            let format = Formatter::default();
            for scene in
                [multiples(&of, &format, size), map(&of, &format, size), starts(&of, size).unwrap()]
            {
                let texts: Vec<&str> = scene
                    .marks
                    .iter()
                    .filter_map(|mark| match mark {
                        SceneMark::Text { text, .. } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                for name in ["host-0", "host-1", "host-2"] {
                    assert!(texts.contains(&name), "{}: {texts:?}", scene.title);
                }
                assert!(scene.plot.bottom() <= scene.height && scene.plot.right() <= scene.width);
            }
        }
        let mut unknown = of;
        unknown.hosts.iter_mut().for_each(|host| host.start_ns = None);
        assert!(starts(&unknown, SceneSize::Full).is_none());
    }

    #[test]
    fn a_name_without_room_is_cut() {
        assert_eq!(shortened("db-node-0017", 8), "db-node…");
        assert_eq!(shortened("hA", 8), "hA");
    }
}
