//! ORION's data points, which combine small and large I/Os, as a study.

use assay_model::study::{Factor, FactorValue, Phases, Study};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Layout, Stream, Workload};

/// Which combinations of small and large I/Os are measured: the values of `-matrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrionMatrix {
    /// Small I/Os alone, then large I/Os alone.
    Basic,
    /// All combinations.
    Detailed,
    /// One combination.
    Point,
    /// Large I/Os only.
    Column,
    /// Small I/Os only.
    Row,
    /// The greatest depths, alone and together.
    Max,
}

impl OrionMatrix {
    /// By its word on the command line.
    pub fn parse(word: &str) -> Option<Self> {
        let words = [
            ("basic", Self::Basic),
            ("detailed", Self::Detailed),
            ("point", Self::Point),
            ("col", Self::Column),
            ("row", Self::Row),
            ("max", Self::Max),
        ];
        words.into_iter().find(|(known, _)| *known == word).map(|(_, matrix)| matrix)
    }
}

/// What the data points of a test have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct OrionPoints {
    /// Name of the test.
    pub name: String,
    /// Which combinations.
    pub matrix: OrionMatrix,
    /// Greatest number of small I/Os outstanding.
    pub small_max: u32,
    /// Greatest number of large I/Os outstanding.
    pub large_max: u32,
    /// Bytes of a small I/O.
    pub small: Bytes,
    /// Bytes of a large I/O.
    pub large: Bytes,
    /// Share of reads.
    pub read_share: Share,
    /// Whether large I/Os are sequential.
    pub is_sequential: bool,
    /// Whether targets are striped in units of 1 MiB instead of concatenated.
    pub is_striped: bool,
    /// Time of a data point.
    pub duration: Nanos,
}

/// Before each data point, so that it does not begin on an idle device.
const WARM_UP: Nanos = Nanos(1_000_000_000);
const STRIPE: Bytes = Bytes(1 << 20);

impl OrionPoints {
    /// The study with these data points.
    pub fn study(&self) -> Study {
        let factor = |stream: &str, values: Vec<u32>| Factor {
            name: "queue_depth".to_owned(),
            values: values.into_iter().map(|depth| FactorValue::Whole(depth.into())).collect(),
            stream: Some(stream.to_owned()),
        };
        Study {
            name: self.name.clone(),
            description: "Small and large I/Os, alone and together, as in ORION.".to_owned(),
            phases: Phases { warm_up: WARM_UP, measure: self.duration, ..Phases::default() },
            factors: vec![
                factor("large", self.large_depths()),
                factor("small", self.small_depths()),
            ],
            streams_alone: self.matrix == OrionMatrix::Basic,
            workload: Some(self.workload()),
            ..Study::default()
        }
    }

    fn small_depths(&self) -> Vec<u32> {
        match self.matrix {
            OrionMatrix::Basic | OrionMatrix::Detailed => with_none(depths(self.small_max)),
            OrionMatrix::Row => depths(self.small_max),
            OrionMatrix::Column => vec![0],
            OrionMatrix::Point => vec![self.small_max],
            OrionMatrix::Max => vec![0, self.small_max],
        }
    }

    fn large_depths(&self) -> Vec<u32> {
        match self.matrix {
            OrionMatrix::Basic | OrionMatrix::Detailed => with_none(depths(self.large_max)),
            OrionMatrix::Column => depths(self.large_max),
            OrionMatrix::Row => vec![0],
            OrionMatrix::Point => vec![self.large_max],
            OrionMatrix::Max => vec![0, self.large_max],
        }
    }

    fn workload(&self) -> Workload {
        let small = Stream::closed("small", self.read_share, self.small, 1);
        let mut large = Stream::closed("large", self.read_share, self.large, 1);
        if self.is_sequential {
            large.access = Access::Sequential { streams: 1 };
        }
        let mut workload = Workload::of(&self.name, self.duration, small);
        workload.streams.push(large);
        if self.is_striped {
            workload.layout = Layout::Stripe { unit: STRIPE };
        }
        workload
    }
}

/// Depths up to the greatest, each about half the next: of 40 they are 1, 2, 5, 10, 20 and 40.
fn depths(most: u32) -> Vec<u32> {
    let mut depths: Vec<u32> =
        std::iter::successors(Some(most.max(1)), |depth| Some(depth / 2).filter(|next| *next > 0))
            .collect();
    depths.reverse();
    depths
}

fn with_none(mut depths: Vec<u32>) -> Vec<u32> {
    depths.insert(0, 0);
    depths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(matrix: OrionMatrix) -> OrionPoints {
        OrionPoints {
            name: "mytest".to_owned(),
            matrix,
            small_max: 40,
            large_max: 16,
            small: Bytes(8192),
            large: Bytes(1 << 20),
            read_share: Share(1.0),
            is_sequential: false,
            is_striped: false,
            duration: Nanos(60_000_000_000),
        }
    }

    /// Values of the large factor, then of the small one.
    fn values(matrix: OrionMatrix) -> [Vec<String>; 2] {
        let factors = points(matrix).study().factors;
        let of = |factor: &Factor| factor.values.iter().map(ToString::to_string).collect();
        [of(&factors[0]), of(&factors[1])]
    }

    #[test]
    fn the_depths_are_those_of_orion_for_eight_disks() {
        let [large, small] = values(OrionMatrix::Detailed);
        assert_eq!(large, ["0", "1", "2", "4", "8", "16"]);
        assert_eq!(small, ["0", "1", "2", "5", "10", "20", "40"]);
        assert_eq!(values(OrionMatrix::Row)[0], ["0"]);
        assert_eq!(values(OrionMatrix::Column)[1], ["0"]);
        assert_eq!(values(OrionMatrix::Point), [["16"], ["40"]]);
        assert_eq!(values(OrionMatrix::Max), [["0", "16"], ["0", "40"]]);
        assert!(points(OrionMatrix::Basic).study().streams_alone);
        assert!(!points(OrionMatrix::Detailed).study().streams_alone);
    }

    #[test]
    fn the_study_is_valid_and_has_the_kinds_of_io_that_are_asked_for() {
        let striped =
            OrionPoints { is_sequential: true, is_striped: true, ..points(OrionMatrix::Row) };
        let study = striped.study();
        study.check().unwrap();
        let workload = study.workload.unwrap();
        assert_eq!(workload.layout, Layout::Stripe { unit: Bytes(1 << 20) });
        assert_eq!(workload.streams[1].access, Access::Sequential { streams: 1 });
        assert_eq!(OrionMatrix::parse("col"), Some(OrionMatrix::Column));
        assert_eq!(OrionMatrix::parse("half"), None);
    }
}
