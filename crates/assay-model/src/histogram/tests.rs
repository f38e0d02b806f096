//! The histogram against exact arithmetic and against the `hdrhistogram` crate.

use super::*;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use proptest::prelude::*;

fn filled(precision: Precision, values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new(precision);
    for value in values {
        histogram.record(*value);
    }
    histogram
}

/// Nearest rank in the sorted values.
fn exact_quantile(values: &[u64], quantile: f64) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (quantile * real(count_of(sorted.len()))).ceil().max(1.0);
    sorted[crate::number::index(rank) - 1]
}

#[test]
fn buckets_join_without_gap_or_overlap() {
    for bits in [7, 10] {
        for index in 0..(40u64 << bits) {
            let (lowest, width) = bounds(index, bits);
            assert_eq!(bucket(lowest, bits), index);
            assert_eq!(bucket(lowest + width - 1, bits), index);
            assert_eq!(bounds(index + 1, bits).0, lowest + width);
        }
    }
}

#[test]
fn the_largest_value_has_a_bucket() {
    let histogram = filled(Precision::Fine, &[u64::MAX, 0]);
    assert_eq!(
        (histogram.min_ns(), histogram.max_ns(), histogram.quantile_ns(0.0)),
        (0, u64::MAX, 0)
    );
}

#[test]
fn another_implementation_reads_what_we_write_and_we_read_what_it_writes() {
    let values: Vec<u64> = (0..5000u64).map(|step| step * step * 31 % 40_000_000).collect();
    let ours = filled(Precision::Fine, &values);
    let bytes = codec::from_base64(&ours.to_text()).unwrap();
    let theirs: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    assert_eq!(theirs.len(), ours.ios());
    for quantile in [0.01, 0.5, 0.9, 0.99, 0.999] {
        let (low, high) = (
            theirs.lowest_equivalent(theirs.value_at_quantile(quantile)),
            theirs.value_at_quantile(quantile),
        );
        assert!((low..=high).contains(&ours.quantile_ns(quantile)), "{quantile}");
    }
    let mut written = Vec::new();
    V2DeflateSerializer::new().serialize(&theirs, &mut written).unwrap();
    assert_eq!(Histogram::from_text(&codec::to_base64(&written)).unwrap(), ours);
}

#[test]
fn a_damaged_text_is_an_error_that_says_so() {
    let text = filled(Precision::Fine, &[1, 2, 3]).to_text();
    for end in 0..text.len() - 4 {
        assert!(Histogram::from_text(&text[..end]).is_err(), "{end}");
    }
    assert!(Histogram::from_text("not base64!").unwrap_err().message().contains("base64"));
}

#[test]
fn a_document_that_contradicts_itself_is_refused() {
    let whole = serde_json::to_value(filled(Precision::Fine, &[1_000, 5_000, 900_000])).unwrap();
    let read = |name: &str, value: f64| {
        let mut document = whole.clone();
        let integer = serde_json::json!(crate::number::count(value));
        document[name] = if name == "mean_ns" { serde_json::json!(value) } else { integer };
        serde_json::from_value::<Histogram>(document)
    };
    assert!(read("min_ns", 1_000.0).is_ok());
    for (name, value) in [
        ("min_ns", 900_000.0),
        ("min_ns", 999.0),
        ("max_ns", 1_000.0),
        ("max_ns", 1e9),
        ("mean_ns", 10.0),
        ("mean_ns", 1e6),
        ("mean_ns", -1.0),
    ] {
        let error = read(name, value).expect_err(name).to_string();
        assert!(error.contains("contradicts its counts"), "{error}");
    }
}

proptest! {
    #[test]
    fn quantiles_are_within_the_stated_error(values in prop::collection::vec(0u64..1 << 45, 1..400), quantile in 0.0..=1.0f64) {
        for (precision, error) in [(Precision::Fine, 0.0005), (Precision::Coarse, 0.004)] {
            let (shown, exact) = (real(filled(precision, &values).quantile_ns(quantile)), real(exact_quantile(&values, quantile)));
            prop_assert!((shown - exact).abs() <= exact * error + 0.5, "{shown} {exact}");
        }
    }

    #[test]
    fn merging_is_exact_in_any_order(left in prop::collection::vec(any::<u32>(), 0..200), right in prop::collection::vec(any::<u32>(), 0..200)) {
        let wide = |values: &[u32]| values.iter().map(|value| u64::from(*value)).collect::<Vec<_>>();
        let (left, right) = (wide(&left), wide(&right));
        let mut merged = filled(Precision::Fine, &left);
        merged.merge(&filled(Precision::Fine, &right));
        let mut turned = filled(Precision::Fine, &right);
        turned.merge(&filled(Precision::Fine, &left));
        let whole = filled(Precision::Fine, &[left, right].concat());
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(&turned, &whole);
        prop_assert_eq!((merged.min_ns(), merged.max_ns(), merged.sum), (whole.min_ns(), whole.max_ns(), whole.sum));
    }

    #[test]
    fn coarsening_then_merging_equals_merging_then_coarsening(left in prop::collection::vec(any::<u32>(), 0..100), right in prop::collection::vec(any::<u32>(), 0..100)) {
        let wide = |values: &[u32]| values.iter().map(|value| u64::from(*value)).collect::<Vec<_>>();
        let (left, right) = (filled(Precision::Fine, &wide(&left)), filled(Precision::Fine, &wide(&right)));
        let mut joined = left.coarsened();
        joined.merge(&right.coarsened());
        let mut fine = left;
        fine.merge(&right);
        prop_assert_eq!(joined, fine.coarsened());
    }

    #[test]
    fn a_document_reads_back_the_same(values in prop::collection::vec(any::<u64>(), 0..100), coarse in any::<bool>()) {
        let precision = if coarse { Precision::Coarse } else { Precision::Fine };
        let histogram = filled(precision, &values);
        let json = serde_json::to_string(&histogram).unwrap();
        let read: Histogram = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&read, &histogram);
        prop_assert_eq!((read.min_ns(), read.max_ns()), (histogram.min_ns(), histogram.max_ns()));
        prop_assert!((read.mean_ns() - histogram.mean_ns()).abs() <= histogram.mean_ns() * 1e-9);
    }
}

fn of_share(share: f64, time_ns: u64) -> ReportedQuantile {
    ReportedQuantile { share, time_ns }
}

fn counted() -> Histogram {
    let mut histogram = Histogram::new(Precision::Fine);
    (1..=1000).for_each(|value| histogram.record(value * 2474));
    histogram
}

#[test]
fn reported_quantiles_are_exact_and_others_lie_between_them() {
    let reported = [of_share(0.5, 1_237_001), of_share(99.9 / 100.0, 2_470_003)];
    let histogram = counted().with_reported(Some(1_238_111.25), &reported);
    assert_eq!([0.5, 0.999].map(|q| histogram.quantile_ns(q)), [1_237_001, 2_470_003]);
    assert_eq!(histogram.mean_ns().to_bits(), f64::to_bits(1_238_111.25));
    let all: Vec<u64> =
        (0..=1000).map(|rank| histogram.quantile_ns(f64::from(rank) / 1e3)).collect();
    assert!(all.is_sorted());
    let read: Histogram =
        serde_json::from_str(&serde_json::to_string(&histogram).unwrap()).unwrap();
    assert_eq!((&read, read.reported()), (&histogram, &reported[..]));
}

#[test]
fn reported_quantiles_are_those_of_these_values_only() {
    let histogram = counted().with_reported(None, &[of_share(0.5, 1_237_001)]);
    assert_eq!(histogram.coarsened().quantile_ns(0.5), 1_237_001);
    let mut more = histogram.clone();
    more.record(5);
    assert!(more.reported().is_empty());
    let mut twice = histogram.clone();
    twice.merge(&histogram);
    assert!(twice.reported().is_empty() && histogram.times(2).reported().is_empty());
    twice.clear();
    assert_eq!(twice.quantile_ns(0.5), 0);
}

#[test]
fn between_the_quantiles_of_its_program_a_histogram_is_unknown() {
    let of = |shares: &[f64]| counted().known_at(shares.iter().copied());
    let (few, default) = (of(&[0.5, 0.75, 0.995]), of(&[0.5, 0.9, 99.0 / 100.0]));
    assert_eq!([0.5, 0.9, 0.99].map(|q| few.knows_quantile(q)), [true, false, false]);
    assert!(default.knows_quantile(0.99) && counted().knows_quantile(0.123));
    let read: Histogram = serde_json::from_str(&serde_json::to_string(&few).unwrap()).unwrap();
    assert_eq!((&read, read.coarsened().knows_quantile(0.9)), (&few, false));
    for other in [&default, &counted()] {
        let mut both = few.clone();
        both.merge(other);
        assert_eq!([0.5, 0.9].map(|q| both.knows_quantile(q)), [true, false]);
    }
    let mut cleared = few.clone();
    cleared.clear();
    assert!(cleared.knows_quantile(0.9));
}

#[test]
fn impossible_quantiles_are_left_out_and_no_document() {
    let falling = [of_share(0.5, 2474 * 9), of_share(0.9, 2474 * 8)];
    for wrong in [&falling[..], &[of_share(0.5, 1)], &[of_share(1.0, 2474)]] {
        let histogram = counted().with_reported(Some(1e12), wrong);
        assert_eq!(histogram, counted());
        let mut document = serde_json::to_value(&histogram).unwrap();
        document["quantiles"] = serde_json::to_value(wrong).unwrap();
        let error = serde_json::from_value::<Histogram>(document).unwrap_err().to_string();
        assert!(error.contains("quantiles"), "{error}");
    }
}
