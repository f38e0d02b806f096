//! What a database would do on other storage: the answer, its time before and after, its curve, its
//! budget, what stands against it.

use super::headline::Headline;
use super::styles::STYLES;
use crate::chart::bars::{Bar, BarKind, Bars};
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{Fact, HeadingLevel, ViewBlock, ViewFinding, ViewSection, ViewTable};
use assay_model::Estimate;
use assay_model::environment::Severity;
use assay_model::projection::{
    Effect, InputKind, Objection, Population, ProjectedState, ProjectedTarget, Projection,
    ProjectionAnswer, SessionPoint, TimeParts, WorkUnit,
};
use assay_model::units::{show_count, show_time_ns};
use assay_model::verdict::{Outcome, Unit};

/// The answer in a sentence: of the target that gains most, with its interval and what limits then.
pub(super) fn headline(found: &Projection) -> Headline {
    let judged = found.targets.iter().filter_map(|target| target.budget);
    let outcome = judged.map(|budget| budget.outcome).max_by_key(|outcome| match outcome {
        Outcome::Pass => 0,
        Outcome::Inconclusive => 1,
        Outcome::Fail => 2,
    });
    let answered = found.targets.iter().filter(|target| !target.states.is_empty());
    let best = answered.max_by(|left, right| gain(left, found).total_cmp(&gain(right, found)));
    let words = best.map_or_else(
        || refusal(found),
        |target| target_sentences(target, found).into_iter().next().unwrap_or_default(),
    );
    Headline { outcome, words }
}

/// Throughput over the measured one, of the last population.
fn gain(target: &ProjectedTarget, found: &Projection) -> f64 {
    let last = target.states.last().map_or(0.0, |state| state.throughput_per_s.value);
    last / found.base.throughput_per_s.value
}

fn refusal(found: &Projection) -> String {
    let of_targets = found.targets.iter().flat_map(|target| &target.objections);
    let all = found.objections.iter().chain(of_targets);
    let first = all.max_by_key(|one| one.effect);
    first.map_or_else(
        || "No target was specified.".to_owned(),
        |one| format!("No prediction: {}. {}.", one.finding, capital_words(&one.remedy)),
    )
}

/// The answer for one target, most wanted first.
fn target_sentences(target: &ProjectedTarget, found: &Projection) -> Vec<String> {
    let same = target.state(|population| matches!(population, Population::SameWork));
    let closed = target.state(|population| matches!(population, Population::Closed { .. }));
    let (name, unit) = (&target.name, found.unit.name());
    let prefix = if target.answer == ProjectionAnswer::Bounds { "between bounds: " } else { "" };
    let shorter = same.map(|state| {
        format!(
            "{prefix}one {unit} would take {} instead of {} (95% CI {})",
            seconds(state.response_s.value),
            seconds(found.base.response_s.value),
            span(&state.response_s, seconds)
        )
    });
    let least = |state: &ProjectedState| {
        let rising = target.objections.iter().any(|one| one.effect == Effect::AtLeast);
        if rising && state.throughput_per_s.value > 0.0 { "at least " } else { "" }
    };
    let overload = target.overload_per_s.filter(|_| same.is_none()).map(|asked_per_s| {
        format!("the same work, {} {unit}s/s, exceeds its capacity", rate(asked_per_s))
    });
    let more = closed.map(|state| {
        format!(
            "{}sessions without think time would do {}{} {unit}s/s instead of {} (95% CI {})",
            if same.is_some() { "" } else { prefix },
            least(state),
            rate(state.throughput_per_s.value),
            rate(found.base.throughput_per_s.value),
            span(&state.throughput_per_s, rate)
        )
    });
    let said = shorter.into_iter().chain(overload).chain(more);
    let mut sentences: Vec<String> = said.map(|words| format!("On {name}, {words}.")).collect();
    sentences.extend(limit_sentence(target));
    sentences
}

fn limit_sentence(target: &ProjectedTarget) -> Option<String> {
    target.next_limit().map(|bound| {
        let more = if bound.at_least { " or more" } else { "" };
        format!(
            "The next bottleneck is {}, at {}/s{more}.",
            bound.limit.name(),
            rate(bound.most_per_s)
        )
    })
}

pub(super) fn span(estimate: &Estimate, show: fn(f64) -> String) -> String {
    format!("{} – {}", show(estimate.low), show(estimate.high))
}

pub(super) fn seconds(time_s: f64) -> String {
    let time_ns = time_s * 1e9;
    // Less than that is what rounding leaves of nothing.
    show_time_ns(if time_ns.abs() < 0.5 { 0.0 } else { time_ns })
}

/// Rates below a hundred keep their digits.
pub(super) fn rate(per_s: f64) -> String {
    if per_s < 100.0 { format!("{per_s:.2}") } else { show_count(per_s) }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// All sections of a projection.
pub(super) fn sections(found: &Projection, format: Formatter) -> Vec<ViewSection<'_>> {
    let section = |id, title: &str, blocks| ViewSection { id, title: title.to_owned(), blocks };
    vec![
        section("candidates", "Projected work", candidates(found)),
        section("time", "Projected DB time", time(found, format)),
        section("users", "Throughput and response by sessions", curves(found, format)),
        section("budget", "Read latency budget", budget(found, format)),
        section("doubts", "Caveats", doubts(found)),
        section("sensitivity", "Sensitivity", sensitivity(found)),
        section("inputs", "Model inputs", inputs(found)),
    ]
}

/// What a check ends with: the answer in a sentence, its numbers, and what stands against it.
pub(super) fn ending(found: &Projection) -> ViewSection<'_> {
    let mut blocks = vec![
        ViewBlock::Lead(vec![headline(found).words]),
        ViewBlock::captioned(HeadingLevel::Detail, states_table(found)),
    ];
    blocks.extend(doubts(found));
    let title = "Projection for the database".to_owned();
    ViewSection { id: "projection", title, blocks }
}

/// The same of a check that issued the database's own I/O: what that took comes first, then the
/// model.
pub(super) fn ending_of_check<'a>(found: &Projection, own: Vec<ViewBlock<'a>>) -> ViewSection<'a> {
    let mut blocks = own;
    blocks.push(ViewBlock::captioned(HeadingLevel::Detail, states_table(found)));
    blocks.extend(doubts(found));
    let title = "Projection for the database".to_owned();
    ViewSection { id: "projection", title, blocks }
}

fn population(state: &ProjectedState) -> String {
    match state.population {
        Population::SameWork => "same work".to_owned(),
        Population::Users { sessions, think_time_s } => {
            format!("{} users, think {}", show_count(sessions), seconds(think_time_s))
        }
        Population::Closed { sessions } => format!("{sessions:.1} sessions, no think time"),
    }
}

fn candidates<'a>(found: &Projection) -> Vec<ViewBlock<'a>> {
    let lead = format!(
        "One unit of work is one {}. Same work: the measured number per second. Without think \
         time, every session starts the next one immediately. An application with users lies \
         between the two; set --users.",
        found.unit.name()
    );
    let answered = found.targets.iter().filter(|target| !target.states.is_empty());
    let further = answered.flat_map(|target| target_sentences(target, found).into_iter().skip(1));
    vec![
        ViewBlock::Lead(further.chain([lead]).collect()),
        ViewBlock::captioned(HeadingLevel::Detail, states_table(found)),
        ViewBlock::captioned(HeadingLevel::Detail, limits_table(found)),
    ]
}

/// Columns of the table of states.
const STATE_COLUMNS: [&str; 10] = [
    "target",
    "load",
    "work/s",
    "95% interval",
    "DB time per unit",
    "95% interval",
    "sessions",
    "CPU busy",
    "read",
    "commit",
];

/// What was measured, then every state of every target.
fn states_table(found: &Projection) -> ViewTable {
    let base = state_row("measured", &found.base, "as measured".to_owned());
    let of_targets = found.targets.iter().flat_map(state_rows);
    let table = ViewTable::of_numbers("Work and DB time, measured and projected", &STATE_COLUMNS);
    with_words(table, 1).with(std::iter::once(base).chain(of_targets))
}

fn state_row(name: &str, state: &ProjectedState, who: String) -> Vec<String> {
    let known = |time_s: Option<f64>| time_s.map_or_else(|| "–".to_owned(), seconds);
    vec![
        name.to_owned(),
        who,
        rate(state.throughput_per_s.value),
        span(&state.throughput_per_s, rate),
        seconds(state.response_s.value),
        span(&state.response_s, seconds),
        format!("{:.1}", state.average_active_sessions),
        state.cpu_busy_share.map_or_else(|| "–".to_owned(), percent),
        known(state.read_latency_s),
        known(state.commit_latency_s),
    ]
}

/// The states of a target; what it cannot do or what was refused has a row, too.
fn state_rows(target: &ProjectedTarget) -> Vec<Vec<String>> {
    let name = format!("{} ({})", target.name, target.origin.name());
    let without_numbers = |words: &str| {
        let mut row = vec![name.clone(), words.to_owned()];
        row.resize(STATE_COLUMNS.len(), "–".to_owned());
        row
    };
    let is_asked = |state: &ProjectedState| matches!(state.population, Population::SameWork);
    let is_too_much = target.overload_per_s.is_some() && !target.states.iter().any(is_asked);
    let too_much = is_too_much.then(|| without_numbers("same work: exceeds its capacity"));
    let states = target.states.iter().map(|state| state_row(&name, state, population(state)));
    let rows: Vec<Vec<String>> = too_much.into_iter().chain(states).collect();
    if rows.is_empty() { vec![without_numbers("refused")] } else { rows }
}

fn limits_table(found: &Projection) -> ViewTable {
    let limits = ViewTable::of_numbers("Limits", &["target", "limit", "maximum work/s"]);
    with_words(limits, 1).with(found.targets.iter().flat_map(|target| {
        target.bounds.iter().map(|bound| {
            let least = if bound.at_least { "≥ " } else { "" };
            vec![
                target.name.clone(),
                bound.limit.name().to_owned(),
                format!("{least}{}", rate(bound.most_per_s)),
            ]
        })
    }))
}

/// The same table with words in one of its columns.
fn with_words(mut table: ViewTable, column: usize) -> ViewTable {
    table.columns[column].is_number = false;
    table
}

/// Inks of the parts of DB time.
const PARTS: [Ink; 7] = [
    Ink::Class(0),
    Ink::Class(5),
    Ink::Class(1),
    Ink::Class(2),
    Ink::Class(6),
    Ink::Class(3),
    Ink::Class(4),
];

/// Parts of DB time of one unit before and after, side by side.
fn time<'a>(found: &Projection, format: Formatter) -> Vec<ViewBlock<'a>> {
    let mut columns = vec![("measured".to_owned(), found.base.parts)];
    let mut wholes_s = vec![found.base.response_s.value];
    for target in &found.targets {
        let same = target.state(|population| matches!(population, Population::SameWork));
        let state = same.or_else(|| target.states.last());
        columns.extend(state.map(|state| (target.name.clone(), state.parts)));
        wholes_s.extend(state.map(|state| state.response_s.value));
    }
    if columns.len() < 2 {
        return Vec::new();
    }
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let part = |place: usize| {
        let of = |parts: &TimeParts| parts.named()[place];
        let bars = columns.iter().map(|(_, parts)| {
            let value = of(parts).1 * 1e9;
            Some(Bar { value, low: value, high: value, is_cut: false, n: 1 })
        });
        BarKind { name: of(&columns[0].1).0.to_owned(), ink: PARTS[place], bars: bars.collect() }
    };
    let kinds: Vec<BarKind> = (0..7).map(part).collect();
    let is_seen = |kind: &BarKind| kind.bars.iter().flatten().any(|bar| bar.value > 0.0);
    let bars = Bars {
        title: "DB time per unit of work, by cause".to_owned(),
        name: "DB time".to_owned(),
        across_name: String::new(),
        unit: Unit::Ns,
        names: names.clone(),
        kinds: kinds.into_iter().filter(is_seen).collect(),
    };
    let heads: Vec<&str> =
        std::iter::once("part").chain(names.iter().map(String::as_str)).collect();
    let rows = (0..7).map(|place| {
        let first = columns[0].1.named()[place].0.to_owned();
        let times = columns.iter().map(|(_, parts)| seconds(parts.named()[place].1));
        std::iter::once(first).chain(times).collect::<Vec<String>>()
    });
    let table = ViewTable::of_numbers("DB time of one unit of work", &heads)
        .with(rows.chain(sums(&columns, &wholes_s)));
    vec![
        ViewBlock::Chart(bars.chart("time-before-and-after", SceneSize::Full, format)),
        ViewBlock::captioned(HeadingLevel::Detail, table),
    ]
}

/// What all parts come to, and what the report counted twice where they are more than its DB time.
fn sums(columns: &[(String, TimeParts)], wholes_s: &[f64]) -> Vec<Vec<String>> {
    let doubled =
        || columns.iter().zip(wholes_s).map(|((_, parts), whole_s)| whole_s - parts.sum_s());
    // A thousandth is the rounding of the report's own figures.
    let is_doubled = doubled().zip(wholes_s).any(|(rest_s, whole_s)| rest_s < -0.001 * whole_s);
    let twice = is_doubled.then(|| {
        let times =
            doubled().map(|rest_s| if rest_s < 0.0 { seconds(rest_s) } else { String::new() });
        std::iter::once("counted twice".to_owned()).chain(times).collect()
    });
    let whole = std::iter::once("DB time".to_owned())
        .chain(wholes_s.iter().map(|whole_s| seconds(*whole_s)));
    twice.into_iter().chain([whole.collect()]).collect()
}

/// Throughput and response over sessions without think time, a line a target, and the measured
/// point.
fn curves<'a>(found: &Projection, format: Formatter) -> Vec<ViewBlock<'a>> {
    let drawn: Vec<&ProjectedTarget> =
        found.targets.iter().filter(|target| !target.curve.is_empty()).collect();
    if drawn.is_empty() {
        return Vec::new();
    }
    let measured = found.base.average_active_sessions;
    let lines = |title: &str, unit: Unit, curves: Vec<ChartLine>| {
        let lines = ChartLines {
            title: title.to_owned(),
            across: Across::Log,
            across_name: "sessions without think time".to_owned(),
            name: title.to_owned(),
            unit,
            log: false,
            curves,
            marks: Vec::new(),
        };
        ViewBlock::Chart(lines.chart(SceneSize::Half, format))
    };
    let base = &found.base;
    let work = format!("{}s/s", capital(found.unit));
    vec![ViewBlock::SideBySide(vec![
        lines(&work, Unit::IosPerS, work_lines(&drawn, measured, base.throughput_per_s.value)),
        lines(
            "DB time per unit",
            Unit::Ns,
            response_lines(&drawn, measured, base.response_s.value),
        ),
    ])]
}

/// A number of each point of a target's curve.
type OfPoint = fn(&SessionPoint) -> f64;

/// A line a target, and the measured point.
fn session_lines(drawn: &[&ProjectedTarget], of: OfPoint, at: f64, height: f64) -> Vec<ChartLine> {
    let styled = drawn.iter().zip(STYLES.iter().cycle());
    let mut curves: Vec<ChartLine> = styled
        .map(|(target, style)| {
            let points = target.curve.iter();
            let points = points.map(|point| (point.sessions, Estimate::exact(of(point), 1)));
            plain_line(target.name.clone(), style.0, style.1, points.collect())
        })
        .collect();
    let point = vec![(at, Estimate::exact(height, 1))];
    let measured = plain_line("measured".to_owned(), Ink::Axis, Stroke::Solid, point);
    curves.push(ChartLine { dots: true, ..measured });
    curves
}

fn response_lines(drawn: &[&ProjectedTarget], sessions: f64, measured_s: f64) -> Vec<ChartLine> {
    session_lines(drawn, |point| 1e9 * point.response_s, sessions, 1e9 * measured_s)
}

/// Throughput, and what no number of sessions can exceed where a curve comes near it.
fn work_lines(drawn: &[&ProjectedTarget], sessions: f64, measured_per_s: f64) -> Vec<ChartLine> {
    let mut curves = session_lines(drawn, |point| point.throughput_per_s, sessions, measured_per_s);
    for (target, style) in drawn.iter().zip(STYLES.iter().cycle()) {
        let most = target.curve.iter().map(|point| point.throughput_per_s).fold(0.0, f64::max);
        let near = target.bounds.first().filter(|bound| bound.most_per_s <= NEAR_BOUND * most);
        let ends = target.curve.first().zip(target.curve.last());
        if let Some((bound, (first, last))) = near.zip(ends) {
            let at = |point: &SessionPoint| (point.sessions, Estimate::exact(bound.most_per_s, 1));
            let name = format!("{}: {}", target.name, bound.limit.name());
            curves.push(plain_line(name, style.0, Stroke::Hair, vec![at(first), at(last)]));
        }
    }
    curves
}

/// A bound further above its curve than this is not drawn: it would press the curves down.
const NEAR_BOUND: f64 = 1.5;

fn plain_line(name: String, ink: Ink, stroke: Stroke, points: Vec<(f64, Estimate)>) -> ChartLine {
    ChartLine { name, ink, stroke, dots: false, band: false, points }
}

fn capital(unit: WorkUnit) -> &'static str {
    match unit {
        WorkUnit::Transaction => "Transaction",
        WorkUnit::Execution => "Execution",
        WorkUnit::Read => "Read",
    }
}

/// The curve of the storage with the latency that is left for a read.
fn budget<'a>(found: &Projection, format: Formatter) -> Vec<ViewBlock<'a>> {
    let curves: Vec<ChartLine> = found
        .targets
        .iter()
        .zip(STYLES.iter().cycle())
        .filter(|(target, _)| !target.storage_curve.is_empty())
        .map(|(target, style)| ChartLine {
            name: target.name.clone(),
            ink: style.0,
            stroke: style.1,
            dots: false,
            band: false,
            points: target
                .storage_curve
                .iter()
                .map(|point| (point.read_iops, Estimate::exact(1e9 * point.read_latency_s, 1)))
                .collect(),
        })
        .collect();
    let wanted = found.targets.iter().find_map(|target| target.budget);
    let facts = found.targets.iter().filter_map(|target| {
        let budget = target.budget?;
        let left = if budget.read_latency_max_s > 0.0 {
            seconds(budget.read_latency_max_s)
        } else {
            "none: the other parts alone take longer".to_owned()
        };
        Some(Fact {
            name: target.name.clone(),
            value: format!("{}: {left} per read", budget.outcome.name()),
            doubt: String::new(),
            note: format!(
                "for {} of one {} at {} reads/s",
                seconds(budget.response_limit_s),
                found.unit.name(),
                rate(budget.read_iops)
            ),
        })
    });
    let facts: Vec<Fact> = facts.collect();
    if curves.is_empty() {
        return Vec::new();
    }
    let marks = wanted.map(|budget| (budget.read_iops, "asked".to_owned())).into_iter().collect();
    let chart = ChartLines {
        title: "Read latency by reads/s".to_owned(),
        across: Across::Linear,
        across_name: "reads/s".to_owned(),
        name: "read".to_owned(),
        unit: Unit::Ns,
        log: false,
        curves,
        marks,
    };
    let mut blocks = vec![ViewBlock::Chart(chart.chart(SceneSize::Full, format))];
    if !facts.is_empty() {
        blocks.insert(0, ViewBlock::Facts(facts));
    }
    blocks
}

fn finding(one: &Objection, target: Option<&str>) -> ViewFinding {
    let of = target.map_or_else(String::new, |name| format!("{name}: "));
    ViewFinding {
        severity: Some(match one.effect {
            Effect::Refused | Effect::Bounds => Severity::Warning,
            Effect::AtLeast | Effect::Doubt => Severity::Notice,
        }),
        what: format!("{of}{} ({})", one.finding, one.effect.name()),
        why: String::new(),
        remedy: one.remedy.clone(),
    }
}

fn doubts<'a>(found: &Projection) -> Vec<ViewBlock<'a>> {
    let mut blocks = Vec::new();
    if let Some(closure) = &found.closure {
        blocks.push(ViewBlock::Paragraph(format!(
            "Closure: on {}, where it was measured, the model gives {:+.1}% of the throughput and \
             {:+.1}% of the DB time; the database adds {} to a read and {} to a commit. Half of \
             the remaining error is applied to every target: {:+.1}% of DB time.",
            closure.name,
            100.0 * closure.throughput_error,
            100.0 * closure.response_error,
            seconds(closure.read_overhead_s),
            seconds(closure.commit_overhead_s),
            100.0 * (closure.response_factor - 1.0)
        )));
    }
    let general = found.objections.iter().map(|one| finding(one, None));
    let own = found
        .targets
        .iter()
        .flat_map(|target| target.objections.iter().map(|one| finding(one, Some(&target.name))));
    let all: Vec<ViewFinding> = general.chain(own).collect();
    if !all.is_empty() {
        blocks.push(ViewBlock::Findings(all));
    }
    blocks
}

fn sensitivity<'a>(found: &Projection) -> Vec<ViewBlock<'a>> {
    let rows = found.targets.iter().flat_map(|target| {
        target.sensitivity.iter().map(|one| {
            vec![
                target.name.clone(),
                one.kind.name().to_owned(),
                format!("± {}", percent(one.throughput_deviation)),
            ]
        })
    });
    let names = ["target", "input", "throughput, one standard deviation"];
    let table = ViewTable::of_numbers("Throughput by input", &names);
    let table = with_words(table, 1).with(rows);
    if table.is_empty() { Vec::new() } else { vec![ViewBlock::Table(table)] }
}

fn inputs<'a>(found: &Projection) -> Vec<ViewBlock<'a>> {
    let shown = |kind: InputKind, value: f64| match kind {
        InputKind::Response
        | InputKind::Cpu
        | InputKind::ReadLatency
        | InputKind::CommitLatency
        | InputKind::FlushTime
        | InputKind::Contention
        | InputKind::Other => seconds(value),
        _ => rate(value),
    };
    let rows = found.inputs.iter().map(|input| {
        let show = |value: f64| shown(input.kind, value);
        vec![
            input.kind.name().to_owned(),
            show(input.value.value),
            format!("{} – {}", show(input.value.low), show(input.value.high)),
            input.source.clone(),
        ]
    });
    let names = ["input", "of one unit", "95% interval", "source"];
    let table = with_words(ViewTable::of_numbers("Inputs", &names), 3).with(rows);
    let method = format!(
        "{} draws of every input from its interval, seed {}; the model error is assumed to be {} \
         (standard deviation). Formulas: {}.",
        found.draws,
        found.seed,
        percent(found.model_deviation),
        found.formulas.join("; ")
    );
    vec![ViewBlock::folded(
        "Inputs with their sources",
        vec![ViewBlock::Table(table), ViewBlock::Note(method)],
    )]
}
