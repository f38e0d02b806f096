//! Repeats of one run as one side: the value is their mean, and what varies between them counts as doubt.

use super::{Measured, SideFacts, overlays};
use crate::statistics::Statistics;
use assay_model::Estimate;
use assay_model::number::{count_of, real_len};

/// Joins repeats of the same run; `None` of none. Distributions are those of all together.
///
/// The interval of a measure is the wider one of two: what the repeats differ by (Student's law), and what each of them
/// is uncertain by itself.
pub fn joined(repeats: Vec<SideFacts>, statistics: &dyn Statistics) -> Option<SideFacts> {
    let names: Vec<String> = repeats.iter().map(|facts| facts.side.name.clone()).collect();
    let all = repeats.clone();
    let mut whole = repeats.into_iter().next()?;
    if all.len() == 1 {
        return Some(whole);
    }
    whole.side.name = names.join(", ");
    whole.side.repeats = all.iter().map(|facts| facts.side.repeats).sum();
    whole.side.elapsed_s = all.iter().map(|facts| facts.side.elapsed_s).sum();
    whole.measures.retain_mut(|mine| {
        let found: Vec<Estimate> =
            all.iter().filter_map(|facts| estimate_of(facts, mine)).collect();
        if found.len() == all.len() {
            mine.estimate = mean(&found, statistics);
        }
        found.len() == all.len()
    });
    for (what, rows) in &mut whole.histograms {
        for facts in &all[1..] {
            let same = facts.histograms.iter().find(|(other, _)| other == what);
            if let Some((_, others)) = same {
                add(rows, others);
            }
        }
    }
    whole.curves = overlays::of_repeats(&all, statistics);
    Some(whole)
}

fn estimate_of(facts: &SideFacts, mine: &Measured) -> Option<Estimate> {
    let same = |other: &&Measured| other.quantity == mine.quantity && other.subject == mine.subject;
    Some(facts.measures.iter().find(same)?.estimate)
}

fn add(rows: &mut Vec<super::Counted>, others: &[super::Counted]) {
    for (low, high, ios) in others {
        match rows
            .iter_mut()
            .find(|(from, to, _)| (from, to) == (&mut low.clone(), &mut high.clone()))
        {
            Some((.., mine)) => *mine += ios,
            None => rows.push((*low, *high, *ios)),
        }
    }
    rows.sort_by_key(|(low, ..)| *low);
}

/// The mean of repeats.
pub fn mean(found: &[Estimate], statistics: &dyn Statistics) -> Estimate {
    let n = real_len(found.len());
    let value = found.iter().map(|one| one.value).sum::<f64>() / n;
    let half = |one: &Estimate| 0.5 * (one.high - one.low);
    let within = found.iter().map(|one| half(one).powi(2)).sum::<f64>().sqrt() / n;
    let values: Vec<f64> = found.iter().map(|one| one.value).collect();
    let between = statistics.of_repeats(&values).map_or(0.0, |one| half(&one));
    let reach = within.max(between);
    Estimate {
        value,
        low: value - reach,
        high: value + reach,
        confidence: 0.95,
        n: found.iter().map(|one| one.n).sum::<u64>().max(count_of(found.len())),
    }
}
