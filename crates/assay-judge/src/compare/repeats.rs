//! Repeats of one run as one side: the value is their mean, and what varies between them counts as
//! doubt.

use super::overlays;
use super::pooled::mean_of_repeats;
use super::sides::{BucketCount, SideFacts, SideFigure};
use assay_model::Estimate;

/// Joins repeats of the same run; `None` of none. Distributions are those of all together.
///
/// The interval of a measure is the wider one of two: what the repeats differ by (Student's law),
/// and what each of them is uncertain by itself. Comparisons use the runs themselves.
pub fn joined(repeats: Vec<SideFacts>) -> Option<SideFacts> {
    let mut names: Vec<String> = repeats.iter().map(|facts| facts.side.name.clone()).collect();
    names.dedup();
    let all = repeats.clone();
    let mut whole = repeats.into_iter().next()?;
    if all.len() == 1 {
        return Some(whole);
    }
    whole.side.name = names.join(", ");
    whole.side.ids = all.iter().flat_map(|facts| facts.side.ids.clone()).collect();
    whole.side.causes = all.iter().flat_map(|facts| facts.side.causes.clone()).collect();
    whole.side.repeats = all.iter().map(|facts| facts.side.repeats).sum();
    whole.side.elapsed_s = all.iter().map(|facts| facts.side.elapsed_s).sum();
    whole.measures.retain_mut(|mine| {
        let found: Vec<Estimate> =
            all.iter().filter_map(|facts| estimate_of(facts, mine)).collect();
        let is_everywhere = found.len() == all.len();
        if is_everywhere {
            mine.estimate = mean_of_repeats(&found);
            mine.runs = found;
        }
        is_everywhere
    });
    for (what, rows) in &mut whole.histograms {
        for facts in &all[1..] {
            let same = facts.histograms.iter().find(|(other, _)| other == what);
            if let Some((_, others)) = same {
                add(rows, others);
            }
        }
    }
    whole.curves = overlays::of_repeats(&all);
    Some(whole)
}

fn estimate_of(facts: &SideFacts, mine: &SideFigure) -> Option<Estimate> {
    let same =
        |other: &&SideFigure| other.quantity == mine.quantity && other.subject == mine.subject;
    Some(facts.measures.iter().find(same)?.estimate)
}

fn add(rows: &mut Vec<BucketCount>, others: &[BucketCount]) {
    for (low, high, ios) in others {
        match rows.iter_mut().find(|(from, to, _)| *from == *low && *to == *high) {
            Some((.., mine)) => *mine += ios,
            None => rows.push((*low, *high, *ios)),
        }
    }
    rows.sort_by_key(|(low, ..)| *low);
}
