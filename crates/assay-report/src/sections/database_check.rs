//! A check for one database: its work and response now and on the new storage, by class of I/O.

use super::headline::Headline;
use super::projection::{percent, rate, seconds, span};
use crate::format::Formatter;
use crate::input::GivenReport;
use crate::phrases::{capital, ended};
use crate::view::{ViewAnswer, ViewBlock, ViewTable};
use assay_model::Estimate;
use assay_model::projection::{DemandReplay, Population, Projection, ReplayedClass};
use assay_model::units::show_count;
use assay_model::verdict::{Bias, Judgement, Outcome, Reason, Verdict};

/// Caveats on the first screen; the page has all.
const CAVEATS_MAX: usize = 3;
/// Classes on the first screen.
const CLASSES_MAX: usize = 6;
/// A class whose time grew by less than this is not why a check failed.
const GROWN_RATIO: f64 = 1.05;

/// The parts of a report of such a check.
struct DatabaseCheckParts<'a> {
    projection: &'a Projection,
    replay: &'a DemandReplay,
    verdict: Option<&'a Verdict>,
    target: &'a str,
}

impl<'a> DatabaseCheckParts<'a> {
    fn of(report: &'a GivenReport) -> Option<Self> {
        let projection = report.projection.as_ref()?;
        let (replay, verdict) = (projection.replay.as_ref()?, report.verdict.as_ref());
        Some(Self { projection, replay, verdict, target: &report.target })
    }

    fn judgement(&self, quantity: &str) -> Option<&'a Judgement> {
        self.verdict?.judgements.iter().find(|one| one.quantity == quantity)
    }

    fn outcome(&self) -> Option<Outcome> {
        self.verdict.map(|verdict| verdict.outcome)
    }

    /// `a transaction takes 243 ms instead of 291 ms (95% CI 231 – 255 ms)`.
    fn response(&self) -> Option<String> {
        let unit = self.projection.unit.name();
        if let Some((now_s, there)) =
            self.replay.response_now_s.zip(self.replay.response_s.as_ref())
        {
            if is_unchanged(now_s, there) {
                return Some(format!("one {unit} takes as long as now, {}", seconds(now_s)));
            }
            return Some(format!(
                "one {unit} takes {} instead of {} ({})",
                seconds(there.value),
                seconds(now_s),
                interval(there)
            ));
        }
        let ratio = self.replay.time_ratio.as_ref()?;
        let now_s = self.replay.wait_now_s()?;
        let there = scaled(ratio, now_s);
        Some(format!(
            "an I/O takes {} instead of {} on average ({})",
            seconds(there.value),
            seconds(now_s),
            interval(&there)
        ))
    }

    /// The rate that was demanded and the rate that was delivered, where that is not enough.
    fn shortfall(&self) -> Option<String> {
        let iops = self.judgement("iops").filter(|one| one.outcome == Outcome::Fail)?;
        let delivered = iops.evidence.estimate?.value;
        Some(format!(
            "it needs {} I/Os per second, but {} delivered {}",
            show_count(self.demanded()),
            self.target,
            show_count(delivered)
        ))
    }

    fn demanded(&self) -> f64 {
        self.replay.classes.iter().map(|class| class.rate_iops).sum()
    }

    /// The class whose longer times cost most.
    fn slowest(&self) -> Option<&'a ReplayedClass> {
        let cost = |class: &&ReplayedClass| {
            let grown = class.growth().unwrap_or(1.0) - 1.0;
            grown * class.db_time_share.unwrap_or(class.io_share)
        };
        let judged = self.replay.classes.iter().filter(|class| class.is_judged);
        let grown = judged.filter(|class| class.growth().unwrap_or(1.0) > GROWN_RATIO);
        grown.max_by(|left, right| cost(left).total_cmp(&cost(right)))
    }

    fn words(&self) -> String {
        let name = &self.projection.profile;
        match self.outcome() {
            Some(Outcome::Fail) => self.failure(),
            Some(Outcome::Inconclusive) => self.doubt(),
            Some(Outcome::Pass) | None => self.response().map_or_else(
                || {
                    format!(
                        "The storage delivers the {} I/Os per second that {name} needs.",
                        show_count(self.demanded())
                    )
                },
                |response| format!("{name} is not slower on this storage: {response}."),
            ),
        }
    }

    /// Reason and remedy in one sentence each.
    fn failure(&self) -> String {
        let name = &self.projection.profile;
        if let Some(shortfall) = self.shortfall() {
            return format!(
                "{name} does not fit: {shortfall}. Use storage with at least {} IOPS of this size \
                 and mix.",
                show_count(self.demanded())
            );
        }
        let response =
            self.response().unwrap_or_else(|| "its I/O fails or takes longer".to_owned());
        let Some((class, now_s, there)) =
            self.slowest().and_then(|class| Some((class, class.now_s?, class.there_s.as_ref()?)))
        else {
            return format!("{name} would be slower: {response}.");
        };
        let remedy = if class.name == "redo log" {
            "Put the log on storage with faster synchronous writes".to_owned()
        } else {
            format!("Use storage that completes {} within {}", plural(&class.name), seconds(now_s))
        };
        format!(
            "{name} would be slower: {response}, because {} take {} instead of {}. {remedy}.",
            plural(&class.name),
            seconds(there.value),
            seconds(now_s)
        )
    }

    fn doubt(&self) -> String {
        let name = &self.projection.profile;
        let undecided = self.verdict.into_iter().flat_map(|verdict| &verdict.judgements);
        let first = undecided.into_iter().find(|one| one.outcome == Outcome::Inconclusive);
        let Some(first) = first else {
            return format!("Undecided whether {name} is slower on this storage.");
        };
        let doubt = first.evidence.doubts.iter().find(|doubt| doubt.bias != Bias::Flattering);
        let doubt = doubt.or_else(|| first.evidence.doubts.first());
        let why = match (&first.reason, doubt) {
            (Reason::NoEvidence { missing }, _) => {
                format!(". {}: {missing}.", capital(&first.label))
            }
            (_, Some(doubt)) => {
                format!(", because {} {}", ended(&doubt.what), ended(&capital(&doubt.remedy)))
            }
            _ => ". The interval includes the limit. Measure for longer with --time.".to_owned(),
        };
        let seen =
            self.response().map_or_else(String::new, |response| format!(" Measured: {response}."));
        format!("Not decided for {name}{why}{seen}")
    }
}

/// The I/Os of a class as the subject of a sentence.
fn plural(name: &str) -> String {
    match name {
        "redo log" => "writes of the redo log".to_owned(),
        "temporary files" | "backup" => format!("I/Os of {name}"),
        "other I/O" | "all I/O" => "its I/Os".to_owned(),
        other => other.to_owned(),
    }
}

fn interval(estimate: &Estimate) -> String {
    format!("95% CI {}", range(estimate, seconds))
}

/// Whether the printed digits show no difference. Such a response is CPU time, which storage does
/// not change, so an interval would claim a measurement that did not happen.
fn is_unchanged(now_s: f64, there: &Estimate) -> bool {
    let now = seconds(now_s);
    [there.low, there.value, there.high].into_iter().all(|end_s| seconds(end_s) == now)
}

/// An interval; without an upper end *at least* its lower one.
fn range(estimate: &Estimate, show: fn(f64) -> String) -> String {
    if estimate.is_at_least() {
        format!("at least {}", show(estimate.low))
    } else {
        span(estimate, show)
    }
}

fn scaled(estimate: &Estimate, factor: f64) -> Estimate {
    Estimate {
        value: estimate.value * factor,
        low: estimate.low * factor,
        high: estimate.high * factor,
        ..*estimate
    }
}

/// The sentence of such a check; nothing of other reports.
pub(super) fn headline(report: &GivenReport) -> Option<Headline> {
    let check = DatabaseCheckParts::of(report)?;
    Some(Headline { outcome: check.outcome(), words: check.words() })
}

/// The question of such a check.
pub(super) fn asked(report: &GivenReport) -> Option<String> {
    let check = DatabaseCheckParts::of(report)?;
    Some(format!("Is {} fast enough for {}?", check.target, check.projection.profile))
}

/// Everything that is said of the database, for the page.
pub(super) fn blocks<'a>(report: &GivenReport) -> Option<Vec<ViewBlock<'a>>> {
    let check = DatabaseCheckParts::of(report)?;
    let mut lead = vec![check.words()];
    lead.extend(more_work(&check));
    Some(vec![
        ViewBlock::Lead(lead),
        ViewBlock::Table(work_table(&check)),
        ViewBlock::Table(classes_table(&check, usize::MAX)),
    ])
}

/// All of the answer on a first screen, below its headline.
pub(super) fn short<'a>(
    report: &GivenReport,
    headline: String,
    format: &Formatter,
) -> Option<ViewAnswer<'a>> {
    let check = DatabaseCheckParts::of(report)?;
    let notes = super::notes::notes(report, format).into_iter();
    let notes = notes.map(|note| ended(&capital(&note.what)));
    let notes = notes.filter(|note| !headline.contains(note.as_str())).take(CAVEATS_MAX);
    let list = ViewBlock::List(more_work(&check).into_iter().chain(notes).collect());
    let tables = [work_table(&check), classes_table(&check, CLASSES_MAX)].map(ViewBlock::Table);
    Some(ViewAnswer {
        outcome: check.outcome(),
        headline,
        verdict: tables.into_iter().chain([list]).collect(),
        ..ViewAnswer::default()
    })
}

/// What sessions that never think would do there, and what limits them then.
fn more_work(check: &DatabaseCheckParts<'_>) -> Option<String> {
    let target = check.projection.targets.first()?;
    let closed = target.state(|population| matches!(population, Population::Closed { .. }))?;
    let limit = target.next_limit().map_or_else(String::new, |bound| {
        let more = if bound.at_least { " or more" } else { "" };
        format!(
            " The next bottleneck is {}, at {} per second{more}.",
            bound.limit.name(),
            rate(bound.most_per_s)
        )
    });
    Some(format!(
        "Without think time its sessions would do {} {}s per second instead of {} (95% CI {}), by \
         the model.{limit}",
        rate(closed.throughput_per_s.value),
        check.projection.unit.name(),
        rate(check.projection.base.throughput_per_s.value),
        range(&closed.throughput_per_s, rate)
    ))
}

/// Work and response, now and there.
fn work_table(check: &DatabaseCheckParts<'_>) -> ViewTable {
    let mut table =
        ViewTable::of_numbers("Work and response of the database", &["", "now", "here", "95% CI"]);
    let base = &check.projection.base;
    let unit = check.projection.unit.name();
    let is_short = check.shortfall().is_some();
    if base.throughput_per_s.value > 0.0 {
        let now = rate(base.throughput_per_s.value);
        let here = if is_short { "less".to_owned() } else { now.clone() };
        table.push(vec![format!("{unit}s per second"), now, here, String::new()]);
    }
    if let Some((now_s, there)) = check.replay.response_now_s.zip(check.replay.response_s.as_ref())
    {
        let interval = range(there, seconds);
        table.push(vec![
            format!("response of one {unit}"),
            seconds(now_s),
            seconds(there.value),
            interval,
        ]);
    }
    let delivered = check.judgement("iops").and_then(|one| one.evidence.estimate);
    if let Some(delivered) = delivered {
        table.push(vec![
            "I/Os per second".to_owned(),
            rate(check.demanded()),
            rate(delivered.value),
            range(&delivered, rate),
        ]);
    }
    table
}

/// `183 µs`, or `0.4 – 1.2 ms` where only bounds are known.
fn now(class: &ReplayedClass) -> String {
    let Some(now_s) = class.now_s else { return "–".to_owned() };
    match class.now_least_s {
        Some(least_s) => format!("{} – {}", seconds(least_s), seconds(now_s)),
        None => seconds(now_s),
    }
}

/// The classes, those that count first.
fn classes_table(check: &DatabaseCheckParts<'_>, most: usize) -> ViewTable {
    let names = ["class of I/O", "of I/Os", "of DB time", "now", "here", "95% CI", "counts"];
    let mut table = ViewTable::of_numbers("Mean time of an I/O by class", &names);
    let known = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
    for class in check.replay.classes.iter().take(most) {
        table.push(vec![
            class.name.clone(),
            percent(class.io_share),
            known(class.db_time_share),
            now(class),
            class.there_s.as_ref().map_or_else(|| "–".to_owned(), |there| seconds(there.value)),
            class.there_s.as_ref().map_or_else(String::new, |there| range(there, seconds)),
            if class.is_judged { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, rate_iops: f64, now_s: f64, there_s: f64, share: f64) -> ReplayedClass {
        ReplayedClass {
            name: name.to_owned(),
            rate_iops,
            io_share: rate_iops / 1000.0,
            db_time_share: Some(share),
            now_s: Some(now_s),
            now_least_s: None,
            there_s: Some(Estimate::exact(there_s, 100)),
            is_judged: share >= 0.01,
        }
    }

    fn report(outcome: Outcome, there_s: f64) -> GivenReport {
        let estimate = |value: f64| Estimate {
            value,
            low: 0.9 * value,
            high: 1.1 * value,
            confidence: 0.95,
            n: 50,
        };
        let text = r#"{"format":1,"profile":"shop","product":"postgresql","unit":"transaction","inputs":[],
            "base":{"population":{"kind":"same_work"},"throughput_per_s":{"value":60.0,"low":60.0,"high":60.0,"confidence":1.0,"n":1},
            "response_s":{"value":0.02,"low":0.02,"high":0.02,"confidence":1.0,"n":1},
            "parts":{"cpu_s":0.0,"cpu_queue_s":0.0,"reads_s":0.0,"commit_s":0.0,"writes_s":0.0,"contention_s":0.0,"other_s":0.0},
            "average_active_sessions":1.2,"read_queue_depth":0.5},"targets":[],"model_deviation":0.1,"draws":10,"seed":1,"formulas":[]}"#;
        let projection: Projection = serde_json::from_str(text).unwrap();
        let replay = DemandReplay {
            classes: vec![
                class("single-block reads", 900.0, 0.001, 0.0008, 0.4),
                class("redo log", 98.0, 0.002, there_s, 0.5),
                class("direct writes", 2.0, 0.001, 0.005, 0.002),
            ],
            response_now_s: Some(0.02),
            response_s: Some(estimate(if outcome == Outcome::Pass { 0.016 } else { 0.09 })),
            time_ratio: Some(estimate(0.8)),
        };
        let verdict = Verdict {
            format: 1,
            criteria: "shop".to_owned(),
            outcome,
            judgements: Vec::new(),
            left_out: Vec::new(),
        };
        GivenReport {
            target: "/new".to_owned(),
            projection: Some(Projection { replay: Some(replay), ..projection }),
            verdict: Some(verdict),
            ..GivenReport::default()
        }
    }

    #[test]
    fn the_verdict_is_about_the_database() {
        let pass = report(Outcome::Pass, 0.001);
        let words = headline(&pass).unwrap().words;
        assert_eq!(
            words,
            "shop is not slower on this storage: one transaction takes 16.0 ms instead of 20.0 ms \
             (95% CI 14.4 ms – 17.6 ms)."
        );
        assert_eq!(asked(&pass).unwrap(), "Is /new fast enough for shop?");
        let fail = headline(&report(Outcome::Fail, 0.012)).unwrap().words;
        assert!(
            fail.contains("because writes of the redo log take 12.0 ms instead of 2.00 ms"),
            "{fail}"
        );
        assert!(fail.contains("faster synchronous writes"), "{fail}");
        assert!(headline(&GivenReport::default()).is_none());
    }

    #[test]
    fn small_classes_are_shown_and_do_not_count() {
        let pass = report(Outcome::Pass, 0.001);
        let short = short(&pass, String::new(), &Formatter::default()).unwrap();
        let text = crate::render::text::answer_text(&short, crate::input::TextOptions::default());
        assert!(text.lines().count() <= 20, "{text}");
        let row = text.lines().find(|line| line.contains("direct writes")).unwrap();
        assert!(row.contains("5.00 ms") && row.trim_end().ends_with("no"), "{row}");
    }
}
