//! From a study to its cells in the order in which they are measured.

use assay_model::number::{count_of, index_of};
use assay_model::study::{Cell, FactorValue, Order, Study, StudySetting};
use assay_stats::random::Random;

/// The cells in the order in which they are measured; the same study always has the same.
pub fn cells(study: &Study) -> Vec<Cell> {
    let mut combinations = combinations(study);
    combinations.retain(|settings| has_load(study, settings));
    let mut random = Random::new(study.seed);
    let mut cells = Vec::new();
    for repeat in 1..=study.repeats {
        let mut round = combinations.clone();
        match study.order {
            Order::Random => shuffle(&mut round, &mut random),
            Order::Interleaved if repeat % 2 == 0 => round.reverse(),
            Order::Listed | Order::Interleaved => {}
        }
        for settings in round {
            let number = u32::try_from(cells.len() + 1).unwrap_or(u32::MAX);
            cells.push(Cell { number, repeat, settings, restored: restored(study, number) });
        }
    }
    mark_fills(study, &mut cells);
    cells
}

/// Every combination; the last factor changes fastest.
fn combinations(study: &Study) -> Vec<Vec<StudySetting>> {
    study.factors.iter().fold(vec![Vec::new()], |combinations, factor| {
        let name = match &factor.stream {
            Some(stream) => format!("{}.{}", factor.name, stream),
            None => factor.name.clone(),
        };
        let mut longer = Vec::new();
        for combination in &combinations {
            for value in &factor.values {
                let mut settings: Vec<StudySetting> = combination.clone();
                settings.push(StudySetting { factor: name.clone(), value: value.clone() });
                longer.push(settings);
            }
        }
        longer
    })
}

/// Whether any stream is active, and no more than one where the study asks for that.
fn has_load(study: &Study, settings: &[StudySetting]) -> bool {
    let depths: Vec<bool> = settings.iter().filter_map(is_active).collect();
    let active = depths.iter().filter(|is_active| **is_active).count();
    let streams = study.workload.as_ref().map_or(usize::MAX, |workload| workload.streams.len());
    let is_empty = active == 0 && depths.len() >= streams;
    !(is_empty || study.streams_alone && active > 1)
}

/// Whether the stream that a setting names has any I/O; none of other settings.
fn is_active(setting: &StudySetting) -> Option<bool> {
    let (name, _) = setting.factor.split_once('.')?;
    let is_depth = ["sessions", "queue_depth"].contains(&name);
    is_depth.then(|| setting.value != FactorValue::Whole(0))
}

/// Fisher and Yates.
fn shuffle<Item>(items: &mut [Item], random: &mut Random) {
    for last in (1..items.len()).rev() {
        let other = index_of(random.below(count_of(last + 1)));
        items.swap(last, other);
    }
}

/// The first cell, and every n-th after it.
const fn restored(study: &Study, number: u32) -> bool {
    let prepares = study.phases.fill.is_some() || study.phases.precondition_passes > 0;
    match study.restore_every {
        Some(every) => (prepares || study.load.is_some()) && (number - 1).is_multiple_of(every),
        None => prepares && number == 1,
    }
}

/// Where how full the data are is a factor, every change of it fills.
fn mark_fills(study: &Study, cells: &mut [Cell]) {
    if !study.factors.iter().any(|factor| factor.name == "fill") {
        return;
    }
    let mut last = None;
    for cell in cells {
        let fill = cell.settings.iter().find(|setting| setting.factor == "fill");
        let fill = fill.map(|setting| setting.value.clone());
        cell.restored |= fill != last;
        last = fill;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Result;
    use assay_model::study::parse_study;

    const TEXT: &str = r#"
        format = 1
        name = "ladder"
        preset = "oltp-read"
        repeats = 2
        capacity = "1TiB"
        [phases]
        measure = "60s"
        warm_up = "10s"
        [[factor]]
        name = "read_share"
        values = ["100%", "70%"]
        [[factor]]
        name = "sessions"
        values = [1, 8]
    "#;

    fn study(changes: &[(&str, &str)]) -> Result<Study> {
        let text = changes.iter().fold(TEXT.to_owned(), |text, (from, to)| text.replace(from, to));
        parse_study(&text)
    }

    fn order(study: &Study) -> Vec<String> {
        let words = |cell: &Cell| {
            let values: Vec<String> =
                cell.settings.iter().map(|one| one.value.to_string()).collect();
            values.join("/")
        };
        cells(study).iter().map(words).collect()
    }

    /// Two streams whose queue depths are factors, in a study with `more` keys.
    fn two_streams(more: &str) -> Vec<String> {
        let text = format!(
            "format = 1\nname = \"x\"\n{more}[phases]\nmeasure = \"5s\"\n[[factor]]\nname = \
             \"queue_depth\"\nstream = \"large\"\nvalues = [0, 2]\n[[factor]]\nname = \
             \"queue_depth\"\nstream = \"small\"\nvalues = [0, 4]\n[workload]\nformat = 1\nname = \
             \"x\"\nduration = \"5s\"\n[[workload.stream]]\nname = \"small\"\nblock_size = \
             \"8KiB\"\narrival = {{ closed = {{ queue_depth = 1 }} }}\n[[workload.stream]]\nname = \
             \"large\"\nblock_size = \"1MiB\"\narrival = {{ closed = {{ queue_depth = 1 }} }}\n"
        );
        let study = parse_study(&text).unwrap();
        let active = |cell: &Cell| {
            let workload = crate::study::workload_of(&study, cell).unwrap();
            let streams = workload.streams.iter();
            streams.map(|stream| stream.name.clone()).collect::<Vec<_>>().join(" ")
        };
        cells(&study).iter().map(active).collect()
    }

    #[test]
    fn a_depth_of_0_turns_a_stream_off_and_no_cell_is_without_any() {
        assert_eq!(two_streams(""), ["small", "large", "small large"]);
        assert_eq!(two_streams("streams_alone = true\n"), ["small", "large"]);
    }

    #[test]
    fn every_combination_comes_once_a_repeat() {
        let listed = order(&study(&[]).unwrap());
        let round = ["100%/1", "100%/8", "70%/1", "70%/8"];
        assert_eq!(listed, [round, round].concat());
        let back: Vec<&str> = round.iter().rev().copied().collect();
        let interleaved =
            study(&[("repeats = 2", "repeats = 2\norder = \"interleaved\"")]).unwrap();
        assert_eq!(order(&interleaved), [round.to_vec(), back].concat());
        let random = study(&[("repeats = 2", "repeats = 2\norder = \"random\"")]).unwrap();
        let mut shuffled = order(&random);
        assert_eq!(shuffled, order(&random));
        assert_ne!(shuffled, listed);
        let mut sorted = listed;
        shuffled.sort();
        sorted.sort();
        assert_eq!(shuffled, sorted);
    }

    #[test]
    fn restores_come_every_so_often_and_whenever_the_fill_changes() {
        let third = study(&[
            ("repeats = 2", "repeats = 2\nrestore_every = 3"),
            ("measure = ", "fill = \"80%\"\nmeasure = "),
        ]);
        let restored: Vec<u32> = cells(&third.unwrap())
            .iter()
            .filter(|cell| cell.restored)
            .map(|cell| cell.number)
            .collect();
        assert_eq!(restored, [1, 4, 7]);
        let fills = study(&[("read_share", "fill")]).unwrap();
        let restored = cells(&fills).iter().filter(|cell| cell.restored).count();
        assert_eq!(restored, 4);
    }
}
