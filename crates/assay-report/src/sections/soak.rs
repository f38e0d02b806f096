//! A soak as charts and tables: every quantity over time with its levels, changes, what rests
//! brought, rules of others.

use super::headline::Headline;
use super::quantity_names::quantity;
use super::styles::STYLES;
use crate::chart::lines::{Across, ChartLine, ChartLines};
use crate::chart::scene::{Ink, SceneSize, Stroke};
use crate::clock::show_length;
use crate::format::Formatter;
use crate::phrases::capital_words;
use crate::view::{CellLook, HeadingLevel, ViewBlock, ViewSection, ViewTable};
use assay_model::Estimate;
use assay_model::soak::{self, Rests, Soak, SoakSeries, SoakState};
use assay_model::verdict::{Outcome, Unit};

/// Levels listed for a quantity; a saw-tooth has hundreds.
const LEVELS_MAX: usize = 12;

pub(super) fn headline(soak: &Soak, format: &Formatter) -> Headline {
    let iops = soak.courses.first();
    let lost = |outcome: Outcome| match (outcome, iops.and_then(|iops| iops.last_of_first)) {
        (Outcome::Fail, Some(ratio)) if ratio.value < 1.0 => format!(
            ", {:.0}% of the first level ({:.1} – {:.1}%)",
            ratio.value * 100.0,
            ratio.low * 100.0,
            ratio.high * 100.0
        ),
        _ => String::new(),
    };
    let level = iops.and_then(|iops| iops.levels.last());
    let level =
        level.map_or_else(String::new, |level| format.value(Unit::IosPerS, level.value.value));
    let words = match soak.state {
        SoakState::Steady { since_s } => {
            let from = if since_s > 0.0 {
                format!("from {} on", show_length(since_s))
            } else {
                "from the start".to_owned()
            };
            format!("Steady at {level} {from}{}.", lost(soak.outcome))
        }
        SoakState::NeverSteady => {
            format!("Never became steady in {} of load.", show_length(soak.worked_s))
        }
        SoakState::LongMemory { memory_s } => format!(
            "Undecided whether it is steady: rates {} apart are still correlated, so {} of load \
             is too short.",
            show_length(memory_s),
            show_length(soak.worked_s)
        ),
        SoakState::TooShort => format!(
            "{} of load is too short to judge a steady state; {} needed.",
            show_length(soak.worked_s),
            time_needed(soak)
        ),
    };
    Headline { outcome: Some(soak.outcome), words }
}

/// How much load twenty batches take, by the length of those that there are.
fn time_needed(soak: &Soak) -> String {
    const BATCHES_MIN: f64 = 20.0;
    let points = soak.courses.first().map_or(&[][..], |iops| &iops.points);
    if points.is_empty() {
        return "several minutes are".to_owned();
    }
    let apart_s = points.windows(2).map(|pair| pair[1].at_s - pair[0].at_s);
    let batch_s = apart_s.fold(soak.worked_s, f64::min);
    format!("about {} are", show_length((BATCHES_MIN * batch_s / 10.0).ceil() * 10.0))
}

pub(super) fn sections<'a>(soak: &Soak, format: Formatter) -> Vec<ViewSection<'a>> {
    vec![course_section(soak, format), rule_section(soak)]
}

fn course_section<'a>(soak: &Soak, format: Formatter) -> ViewSection<'a> {
    let charts = |courses: Vec<&SoakSeries>, size| {
        let charts = courses.into_iter();
        charts.map(|course| ViewBlock::Chart(chart(course).chart(size, format))).collect::<Vec<_>>()
    };
    let (first, others) = soak.courses.split_at(soak.courses.len().min(1));
    let (flat, moving): (Vec<_>, Vec<_>) = others.iter().partition(|course| is_flat(course));
    let mut blocks = vec![ViewBlock::Lead(lead(soak, &format))];
    blocks.extend(charts(first.iter().collect(), SceneSize::Full));
    blocks.push(ViewBlock::SideBySide(charts(moving, SceneSize::Half)));
    let title = format!("{} charts without a change", flat.len());
    let has_flat = !flat.is_empty();
    let folded =
        ViewBlock::Folded(title, false, vec![ViewBlock::SideBySide(charts(flat, SceneSize::Half))]);
    blocks.extend(has_flat.then_some(folded));
    blocks.push(ViewBlock::captioned(HeadingLevel::Detail, levels(soak, &format)));
    ViewSection { id: "course", title: "Timeline".to_owned(), blocks }
}

/// Whether a quantity stayed so close to one level that its chart is a straight line.
fn is_flat(course: &SoakSeries) -> bool {
    const FLAT: f64 = 0.05;
    let [level] = course.levels.as_slice() else { return false };
    let near = |value: f64| (value / level.value.value - 1.0).abs() <= FLAT;
    course.points.iter().all(|point| near(point.value))
}

fn lead(soak: &Soak, format: &Formatter) -> Vec<String> {
    let plan = match soak.plan.cycles {
        0 | 1 => format!("{} of load without rest.", show_length(soak.worked_s)),
        cycles => format!(
            "{cycles} cycles of {} load and {} rest planned; {} of load in {}.",
            soak.plan.work,
            soak.plan.rest,
            show_length(soak.worked_s),
            show_length(soak.elapsed_s)
        ),
    };
    let mut lead = vec![plan];
    lead.extend(story(soak, format));
    lead.extend(soak.courses.iter().filter_map(degradation));
    lead.extend(soak.rests.as_ref().map(rests));
    lead.extend(soak.noticed.iter().take(LEVELS_MAX).map(|noticed| {
        format!(
            "At {} the IOPS changed from {} to {}, detected after {}.",
            show_length(noticed.at_s),
            format.value(Unit::IosPerS, noticed.before_iops),
            format.value(Unit::IosPerS, noticed.after_iops),
            show_length(noticed.noticed_s - noticed.at_s)
        )
    }));
    lead
}

/// A level this near to the first one is as good.
const RECOVERED: f64 = 0.95;

/// The largest change of the IOPS in a sentence: when, how far, and whether they came back.
pub(super) fn story(soak: &Soak, format: &Formatter) -> Option<String> {
    let levels = &soak.courses.first()?.levels;
    let first = levels.first()?;
    let of_first = |level: &soak::Level| level.value.value / first.value.value;
    let distance = |level: &soak::Level| of_first(level).max(f64::MIN_POSITIVE).ln().abs();
    let (at, farthest) = levels
        .iter()
        .enumerate()
        .max_by(|(_, one), (_, other)| distance(one).total_cmp(&distance(other)))?;
    let is_near = |level: &soak::Level| distance(level) <= -RECOVERED.ln();
    if is_near(farthest) {
        return None;
    }
    let share = of_first(farthest);
    let after = match levels[at..].iter().find(|level| is_near(level)) {
        Some(back) => format!("they recovered at {}", show_length(back.from_s)),
        None if share < 1.0 => "they did not recover".to_owned(),
        None => "they stayed higher".to_owned(),
    };
    let (verb, end) = if share < 1.0 { ("fall", "lowest") } else { ("rise", "highest") };
    Some(format!(
        "The IOPS began to {verb} at {} from {} and were at their {end} from {} on: {}, {:.0}% of \
         the first level; {after}.",
        show_length(first.to_s),
        format.value(Unit::IosPerS, first.value.value),
        show_length(farthest.from_s),
        format.value(Unit::IosPerS, farthest.value.value),
        share * 100.0
    ))
}

/// What rests brought, where there were any.
pub(super) fn rests_words(soak: &Soak) -> Option<String> {
    soak.rests.as_ref().map(rests)
}

/// What was lost, where it was.
fn degradation(course: &SoakSeries) -> Option<String> {
    let ratio = course.last_of_first.filter(|_| course.levels.len() > 1)?;
    let word = if course.degraded { "Lost" } else { "Changed" };
    Some(format!(
        "{word}: {} ended at {:.1}% of its first level ({:.1} – {:.1}%).",
        quantity(&course.quantity),
        ratio.value * 100.0,
        ratio.low * 100.0,
        ratio.high * 100.0
    ))
}

fn rests(rests: &Rests) -> String {
    let percent = |ratio: &Estimate| {
        format!(
            "{:.1}% ({:.1} – {:.1}%)",
            ratio.value * 100.0,
            ratio.low * 100.0,
            ratio.high * 100.0
        )
    };
    let idle = rests.idle_share * 100.0;
    let within = rests.after_of_before.as_ref().map_or_else(String::new, |ratio| {
        format!(" After a rest the IOPS were {} of those before it.", percent(ratio))
    });
    let after = rests.recovered_of_best.as_ref().map_or_else(String::new, |ratio| {
        format!(" After the final rest they were {} of the best level before.", percent(ratio))
    });
    format!("Idle for {idle:.0}% of the time.{within}{after}")
}

pub(super) fn chart(course: &SoakSeries) -> ChartLines {
    let exact = |value: f64| Estimate::exact(value, 1);
    let points = course.points.iter();
    let mut lines = vec![ChartLine {
        name: "measured".to_owned(),
        ink: STYLES[0].0,
        stroke: Stroke::Solid,
        dots: false,
        band: false,
        points: points.map(|point| (point.at_s, exact(point.value))).collect(),
    }];
    let ends = |level: &soak::Level| [(level.from_s, level.value), (level.to_s, level.value)];
    lines.push(ChartLine {
        name: "level".to_owned(),
        ink: Ink::Found,
        stroke: Stroke::Dashed,
        dots: false,
        band: false,
        points: course.levels.iter().flat_map(ends).collect(),
    });
    let steady = course.steady_since_s.filter(|since_s| *since_s > 0.0);
    ChartLines {
        title: capital_words(&format!("{} over time", quantity(&course.quantity))),
        across: Across::Time,
        across_name: "time since the load began".to_owned(),
        name: quantity(&course.quantity),
        unit: course.unit,
        log: false,
        curves: lines,
        marks: steady.map(|since_s| (since_s, "steady".to_owned())).into_iter().collect(),
    }
}

fn levels(soak: &Soak, format: &Formatter) -> ViewTable {
    let names = ["quantity", "from", "to", "level", "95% interval"];
    let rows = soak.courses.iter().flat_map(|course| levels_of(course, format));
    ViewTable::of_numbers("Stable phases", &names).with(rows)
}

fn levels_of(course: &SoakSeries, format: &Formatter) -> Vec<Vec<String>> {
    let row = |level: &soak::Level| {
        vec![
            quantity(&course.quantity),
            show_length(level.from_s),
            show_length(level.to_s),
            format.value(course.unit, level.value.value),
            format.interval(course.unit, &level.value),
        ]
    };
    let more = course.levels.len().saturating_sub(LEVELS_MAX);
    let more = (more > 0).then(|| {
        let name = format!("and {more} more levels");
        std::iter::once(name).chain((0..4).map(|_| "–".to_owned())).collect()
    });
    course.levels.iter().take(LEVELS_MAX).map(row).chain(more).collect()
}

/// Where the last level began, and what it gained or lost to its end.
fn last_level(course: &SoakSeries) -> Option<String> {
    let (level, drift) = (course.levels.last()?, course.drift.as_ref()?);
    Some(format!(
        "; the last level began at {} and changed by {:+.1}% to its end ({:+.1} – {:+.1}%)",
        show_length(level.from_s),
        drift.value * 100.0,
        drift.low * 100.0,
        drift.high * 100.0
    ))
}

fn rule_section<'a>(soak: &Soak) -> ViewSection<'a> {
    let last = soak.courses.first().and_then(last_level).unwrap_or_default();
    let ours = match soak.state {
        SoakState::Steady { since_s } => format!("steady since {}{last}", show_length(since_s)),
        SoakState::NeverSteady => format!("never steady{last}"),
        SoakState::LongMemory { memory_s } => {
            format!("undecided: rates are correlated over {}", show_length(memory_s))
        }
        SoakState::TooShort => "too short".to_owned(),
    };
    let mut rows = vec![vec![soak.rule.clone(), ours]];
    rows.extend(soak.rules.iter().map(|rule| {
        let said = rule.steady_at_s.map_or_else(
            || "never".to_owned(),
            |at_s| format!("steady after {} of load", show_length(at_s)),
        );
        vec![rule.rule.clone(), said]
    }));
    let table = ViewTable::new("Steady-state rules").look(CellLook::Dense);
    let table = table.words("rule").words("says").with(rows);
    ViewSection {
        id: "rules",
        title: "Steady state by several rules".to_owned(),
        blocks: vec![ViewBlock::captioned(HeadingLevel::Detail, table)],
    }
}
