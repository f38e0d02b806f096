//! A comparison as tables: every measure with its ratio, distributions by wall clock, parity,
//! scaling.

use super::comparison_headline::{different, digits, name, still_needed_s, variation};
use super::quantity_names::quantity;
use super::styles::STYLES;
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{CellLook, HeadingLevel, Terminal, ViewBlock, ViewCell, ViewSection, ViewTable};
use assay_model::Estimate;
use assay_model::comparison::{
    Bucket, Buckets, Comparison, ComparisonRefusal, Measure, Pair, Scaling, ScalingLaw, Side,
};
use assay_model::number::real;
use assay_model::units::{show_count, show_time_ns};

/// Places and headings of the sides that are compared with the base.
const PAIRS: [(&str, &str); 4] = [
    ("measures", "Measures side by side"),
    ("measures-2", "The second of the others"),
    ("measures-3", "The third of the others"),
    ("measures-more", "Another of the others"),
];

pub(super) fn sections<'a>(found: &Comparison, format: Formatter) -> Vec<ViewSection<'a>> {
    let pairs = found.pairs.iter().map(|pair| measures(found, pair, &format));
    let mut sections: Vec<ViewSection<'a>> = pairs.collect();
    sections.extend(super::overlay::sections(found, format));
    sections.extend(distributions(found));
    sections.extend(scalings(&found.scaling, "nodes", format));
    sections
}

fn measures<'a>(found: &Comparison, pair: &Pair, format: &Formatter) -> ViewSection<'a> {
    let (base, other) = (&found.sides[0], &found.sides[pair.other]);
    let elapsed_s = base.elapsed_s.min(other.elapsed_s);
    let parts = parts(pair).into_iter().map(|part| table(part, pair, elapsed_s, format));
    let others = [parity(pair), differences(found)];
    let sides = ViewBlock::Lead(vec![side("Base", base), side("Other", other)]);
    // A page has these sentences on its first screen.
    let lead = ViewBlock::Lead(vec![different(pair), variation(pair)]);
    let lead = [sides, ViewBlock::InTerminal(vec![lead])];
    let tables = parts.chain(others).map(|table| ViewBlock::captioned(HeadingLevel::Detail, table));
    let (id, title) = PAIRS[(pair.other - 1).min(PAIRS.len() - 1)];
    ViewSection { id, title: title.to_owned(), blocks: lead.into_iter().chain(tables).collect() }
}

/// The parts of the sides, by the beginning of the names of their measures, in the order in which
/// they come.
fn parts(pair: &Pair) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for part in pair.measures.iter().map(part) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// `calibration.read`, `load`; empty for the measures of a workload.
fn part(measure: &Measure) -> &str {
    let name = &measure.quantity;
    match name.split_once('.') {
        Some(("calibration", rest)) => {
            let mix = rest.split('.').next().unwrap_or_default();
            &name[.."calibration.".len() + mix.len()]
        }
        Some(("load", _)) => "load",
        _ => "",
    }
}

/// The measures of one part, by the rest of their names.
fn table(part: &str, pair: &Pair, elapsed_s: f64, format: &Formatter) -> ViewTable {
    let mine = pair.measures.iter().filter(|measure| self::part(measure) == part);
    let caption = match part {
        "calibration.read" => "Calibration: reads",
        "calibration.write" => "Calibration: writes",
        "calibration.mix" => "Calibration: reads and writes mixed",
        "load" => "The ladder of sessions",
        _ => "Every measure of both sides with its ratio",
    };
    let rows: Vec<ComparisonRow> = mine
        .map(|measure| ComparisonRow::new(label(part, measure), measure, elapsed_s, format))
        .collect();
    let has_outcome = rows.iter().any(|row| !row.outcome.is_empty());
    let has_note = rows.iter().any(|row| !row.note.is_empty());
    // The interval of the ratio says in a terminal how sure both are.
    let mut table = ViewTable::new(caption).look(CellLook::Dense).words("measure");
    // Phones show the first columns, so the ratio comes before what it is made of.
    for name in ["ratio", "95% interval"] {
        table = table.numbers(name);
    }
    for name in ["base", "other"] {
        table = table.numbers_as(name, Terminal::ValuesOnly);
    }
    for (name, is_shown) in [("outcome", has_outcome), ("note", has_note)] {
        table = if is_shown { table.words(name) } else { table };
    }
    for row in rows {
        table.row(row.cells(has_outcome, has_note));
    }
    table
}

/// The name within its part; a step stands first, because it distinguishes the rows.
fn label(part: &str, measure: &Measure) -> String {
    let rest = measure.quantity.strip_prefix(part).and_then(|rest| rest.strip_prefix('.'));
    match (rest.filter(|_| !part.is_empty()), &measure.subject) {
        (Some(rest), Some(subject)) => format!("{subject}: {}", quantity(rest)),
        (Some(rest), None) => quantity(rest),
        (None, _) => name(measure),
    }
}

fn side(word: &str, side: &Side) -> String {
    let repeats = match side.repeats {
        0 | 1 => String::new(),
        several => format!(", {several} runs"),
    };
    let ids =
        if side.ids.is_empty() { String::new() } else { format!(" ({})", side.ids.join(", ")) };
    let (name, target) = (&side.name, &side.target);
    let on = if target.is_empty() { String::new() } else { format!(" on {target}") };
    // The result of another program may not say how long it measured.
    let length = Some(side.elapsed_s).filter(|length_s| *length_s > 0.0);
    let length = length.map_or_else(String::new, |length_s| format!(", {}", show_length(length_s)));
    format!("{word}: {} {name}{ids}{on}{length}{repeats}.", side.kind.name())
}

/// One measure of both sides; what no row has is not a column.
struct ComparisonRow {
    numbers: Vec<ViewCell>,
    outcome: String,
    note: String,
}

impl ComparisonRow {
    fn new(label: String, measure: &Measure, elapsed_s: f64, format: &Formatter) -> Self {
        let value = |estimate| ViewCell::Estimate(format.estimated(measure.unit, estimate));
        let (ratio, interval) = match &measure.ratio {
            Some(ratio) if ratio.value < 9.995 => (format!("{:.3}", ratio.value), ends(ratio)),
            Some(ratio) => (digits(ratio.value), ends(ratio)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        let outcome = measure.outcome.filter(|_| measure.judged);
        Self {
            numbers: vec![
                ViewCell::Words(label),
                ViewCell::Number(ratio),
                ViewCell::Number(interval),
                value(&measure.base),
                value(&measure.other),
            ],
            outcome: outcome.map_or_else(String::new, |outcome| outcome.name().to_owned()),
            note: note(measure, elapsed_s),
        }
    }

    fn cells(self, has_outcome: bool, has_note: bool) -> Vec<ViewCell> {
        let mut cells = self.numbers;
        cells.extend(has_outcome.then_some(ViewCell::Words(self.outcome)));
        cells.extend(has_note.then_some(ViewCell::Words(self.note)));
        cells
    }
}

/// Why there is no ratio.
const fn unknown(measure: &Measure) -> &'static str {
    match measure.not_compared {
        Some(ComparisonRefusal::OtherRate) => "other rate",
        Some(ComparisonRefusal::Assumed) => "assumed",
        None if measure.base.value <= 0.0 && measure.other.value <= 0.0 => "none on both sides",
        None if measure.base.value <= 0.0 => "none on the base",
        None => "not known",
    }
}

/// The ends of a ratio.
fn ends(ratio: &Estimate) -> String {
    match ratio {
        exact if exact.high <= exact.low || !exact.has_interval() => "no interval".to_owned(),
        // Of two sides that are both known by their lower ends only.
        nothing if nothing.low <= 0.0 && nothing.is_at_least() => "not known".to_owned(),
        least if least.is_at_least() => format!("at least {:.3}", least.low),
        most if most.low <= 0.0 => format!("up to {:.3}", most.high),
        both => format!("{:.3} – {:.3}", both.low, both.high),
    }
}

/// What to know of one measure.
fn note(measure: &Measure, elapsed_s: f64) -> String {
    let needed = still_needed_s(measure, elapsed_s).filter(|_| measure.judged);
    let needed = needed.map(|needed_s| format!("{} more", show_length(needed_s)));
    let parts = [
        measure.ratio.is_none().then(|| unknown(measure).to_owned()),
        measure.primary.then(|| "primary".to_owned()),
        measure.different.then(|| "differs".to_owned()),
        needed,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn parity(pair: &Pair) -> ViewTable {
    let names = ["parity", "base", "other", "apart", "limit", "outcome"];
    let rows = pair.parity.iter().map(|check| {
        let apart = (check.other / check.base - 1.0) * 100.0;
        vec![
            check.what.clone(),
            five_digits(check.base),
            five_digits(check.other),
            format!("{apart:+.1}%"),
            format!("{:.0}%", check.limit * 100.0),
            check.outcome.name().to_owned(),
        ]
    });
    ViewTable::of_numbers("Parity", &names).with(rows)
}

/// A number of any size with about five digits that count.
fn five_digits(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.4}"),
        10.0..1000.0 => format!("{value:.2}"),
        _ => show_count(value),
    }
}

fn differences(found: &Comparison) -> ViewTable {
    let names = ["made differently", "base", "other"];
    let rows = found.differences.iter();
    let rows = rows.map(|one| vec![one.key.clone(), one.base.clone(), one.other.clone()]);
    ViewTable::of_numbers("Allowed differences", &names).with(rows)
}

/// Distributions by wall clock; a range with nothing on any side is left out.
fn distributions<'a>(found: &Comparison) -> Option<ViewSection<'a>> {
    let tables = found.pairs.iter().flat_map(|pair| pair.histograms.iter().map(buckets));
    let mut tables =
        tables.map(|table| ViewBlock::captioned(HeadingLevel::Detail, table)).peekable();
    tables.peek()?;
    let lead = "Each range shows its I/Os per second, and its mean outstanding I/Os: rate times \
                the midpoint of the range. This makes tails comparable with sessions and cores.";
    Some(ViewSection {
        id: "distributions",
        title: "Latency by wall clock".to_owned(),
        blocks: [ViewBlock::Lead(vec![lead.to_owned()])].into_iter().chain(tables).collect(),
    })
}

/// How much rarer or more frequent I/Os of a range are; from ten times on as a multiple.
fn frequency(base_iops: f64, other_iops: f64) -> String {
    match other_iops / base_iops {
        _ if base_iops <= 0.0 => "new".to_owned(),
        times if times >= 10.0 => format!("{}×", show_count(times)),
        times if (times - 1.0).abs() < 5e-4 => "same".to_owned(),
        times if times > 1.0 => format!("{:.1}% more", (times - 1.0) * 100.0),
        times => format!("{:.1}% fewer", (1.0 - times) * 100.0),
    }
}

fn buckets(one: &Buckets) -> ViewTable {
    let row = |bucket: &Bucket| {
        let range = bucket.high_ns.map_or_else(
            || format!("from {}", show_time_ns(real(bucket.low_ns))),
            |high_ns| format!("to {}", show_time_ns(real(high_ns))),
        );
        vec![
            range,
            format!("{}/s", show_count(bucket.base.iops)),
            format!("{}/s", show_count(bucket.other.iops)),
            format!("{:.2}%", bucket.base.share * 100.0),
            format!("{:.2}%", bucket.other.share * 100.0),
            format!("{:.2}", bucket.base.queue_depth),
            format!("{:.2}", bucket.other.queue_depth),
            frequency(bucket.base.iops, bucket.other.iops),
        ]
    };
    let seen = one.rows.iter().filter(|bucket| bucket.base.iops > 0.0 || bucket.other.iops > 0.0);
    let names = [
        one.what.as_str(),
        "base",
        "other",
        "share, base",
        "share, other",
        "in it, base",
        "in it, other",
        "change",
    ];
    ViewTable::of_numbers("I/Os by latency on both sides", &names).with(seen.map(row))
}

/// What more of them give, which are counted by `nodes`; nothing without any scaling.
pub(super) fn scalings<'a>(
    all: &[Scaling],
    nodes: &str,
    format: Formatter,
) -> Option<ViewSection<'a>> {
    let first = scaling_chart(all.first()?, nodes);
    Some(ViewSection {
        id: "scaling",
        title: "Scaling".to_owned(),
        blocks: vec![
            ViewBlock::Lead(all.iter().map(sentence).collect()),
            ViewBlock::Chart(first.chart(SceneSize::Full, format)),
            ViewBlock::captioned(HeadingLevel::Detail, scaling_table(all, nodes, &format)),
        ],
    })
}

/// How far from linear, in words.
fn sentence(scaling: &Scaling) -> String {
    let Some(last) = scaling.points.last() else {
        return String::new();
    };
    let interval = if last.of_linear.high > last.of_linear.low {
        format!(" ({})", share_interval(&last.of_linear))
    } else {
        String::new()
    };
    let law = scaling.law.as_ref().map_or_else(
        || " A scaling law needs at least four points.".to_owned(),
        |law| format!(" {}", law_in_words(law)),
    );
    format!(
        "{} at {}: {:.1}% of linear{interval}.{law}",
        capital_words(&quantity(&scaling.quantity)),
        last.nodes,
        last.of_linear.value * 100.0
    )
}

/// The interval of a share; one that nothing bounds above where the smallest side may as well have
/// been nothing.
fn share_interval(share: &Estimate) -> String {
    let low = share.low * 100.0;
    if share.high.is_finite() {
        format!("{low:.1} – {:.1}%", share.high * 100.0)
    } else {
        format!("{low:.1}% or more")
    }
}

fn law_in_words(law: &ScalingLaw) -> String {
    let peak = law
        .peak_nodes
        .map_or_else(|| "no maximum found".to_owned(), |nodes| format!("maximum at {nodes:.0}"));
    format!(
        "Universal Scalability Law: σ {:.4} ({:.4} – {:.4}), κ {:.6} ({:.6} – {:.6}), {peak}.",
        law.contention.value,
        law.contention.low,
        law.contention.high,
        law.coherency.value,
        law.coherency.low,
        law.coherency.high
    )
}

fn scaling_table(all: &[Scaling], nodes: &str, format: &Formatter) -> ViewTable {
    let rows = all.iter().flat_map(|scaling| {
        scaling.points.iter().map(|point| {
            vec![
                scaling.quantity.clone(),
                format!("{}", point.nodes),
                format.value(scaling.unit, point.value.value),
                format!("{:.1}%", point.of_linear.value * 100.0),
                share_interval(&point.of_linear),
            ]
        })
    });
    let names = ["measure", nodes, "value", "of linear", "95% interval"];
    ViewTable::of_numbers("Scaling efficiency", &names).with(rows)
}

/// What was seen, what linear growth would be, and the law.
fn scaling_chart(scaling: &Scaling, nodes: &str) -> ChartLines {
    let exact = |value: f64| Estimate::exact(value, 1);
    let first = scaling.points.first();
    let alone = first.map_or(0.0, |point| point.value.value / point.nodes);
    let line = |name: &str, style: usize, value: &dyn Fn(f64) -> Estimate| ChartLine {
        name: name.to_owned(),
        ink: STYLES[style].0,
        stroke: STYLES[style].1,
        dots: false,
        band: false,
        points: scaling.points.iter().map(|point| (point.nodes, value(point.nodes))).collect(),
    };
    let mut lines = vec![ChartLine {
        name: "seen".to_owned(),
        ink: Ink::Read,
        stroke: Stroke::Solid,
        dots: true,
        band: false,
        points: scaling.points.iter().map(|point| (point.nodes, point.value)).collect(),
    }];
    lines.push(line("linear", 5, &|at| exact(alone * at)));
    if let Some(law) = &scaling.law {
        lines.push(line("law", 1, &|at| exact(law.at(at))));
    }
    ChartLines {
        title: format!("Scaling efficiency: {}", scaling.quantity),
        across: Across::Linear,
        across_name: nodes.to_owned(),
        name: scaling.quantity.clone(),
        unit: scaling.unit,
        log: false,
        curves: lines,
        marks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_nothing_bounds_above_says_so() {
        let bounded = Estimate { low: 0.4, high: 0.6, ..Estimate::exact(0.5, 3) };
        assert_eq!(share_interval(&bounded), "40.0 – 60.0%");
        let open = Estimate { high: f64::INFINITY, ..bounded };
        assert_eq!(share_interval(&open), "40.0% or more");
    }

    #[test]
    fn numbers_of_any_size_have_the_digits_that_count() {
        let shown = [0.826_458, 44.131_9, 8276.556, 1e6].map(five_digits);
        assert_eq!(shown, ["0.8265", "44.13", "8,277", "1,000,000"]);
        let frequencies = [(2.0, 1.0), (1.0, 1.5), (1.0, 38_616.2), (0.0, 1.0)];
        let frequencies = frequencies.map(|(base, other)| frequency(base, other));
        assert_eq!(frequencies, ["50.0% fewer", "50.0% more", "38,616×", "new"]);
    }
}
