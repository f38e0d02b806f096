//! Everything that a verdict may rest on.

use crate::doubts;
use crate::series::Series;
use assay_model::calibration::Calibration;
use assay_model::dss::Dss;
use assay_model::environment::Environment;
use assay_model::integrity::Integrity;
use assay_model::load::Load;
use assay_model::measurement::Measurement;
use assay_model::verdict::{Doubt, NamedEstimate};

/// A measurement with its series of batches.
#[derive(Clone, Copy, Debug)]
pub struct JudgedRun<'a> {
    /// The totals, and how the tool behaved.
    pub measurement: &'a Measurement,
    /// How it went over time.
    pub series: &'a Series,
}

/// A load on a database.
#[derive(Clone, Copy, Debug)]
pub struct JudgedLoadFacts<'a> {
    /// The ladder.
    pub load: &'a Load,
    /// How each of its steps went over time, in their order; fewer where they were not kept.
    pub series: &'a [Series],
}

/// Everything that a verdict may rest on; what is missing is said by the verdict.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// What the target can give.
    pub calibration: Option<&'a Calibration>,
    /// What happened under a workload.
    pub run: Option<JudgedRun<'a>>,
    /// What a database got.
    pub load: Option<JudgedLoadFacts<'a>>,
    /// What a load of decision support got.
    pub dss: Option<&'a Dss>,
    /// Whether what was read is what was written.
    pub integrity: Option<&'a Integrity>,
    /// Quantities known from elsewhere, for example `host.tcp_retransmits`; they are preferred to
    /// what is found here.
    pub given: &'a [NamedEstimate],
    /// The host and the targets; what the content of a target does to reads is a doubt about them.
    pub environment: Option<&'a Environment>,
    /// Doubts known from elsewhere; they hold for every rate and every time that was measured.
    pub doubts: &'a [Doubt],
}

impl Facts<'_> {
    /// Doubts about the content of the targets; `reads` says whether reads are part of the
    /// quantity.
    pub(crate) fn content_doubts(&self, reads: bool) -> Vec<Doubt> {
        let environment = self.environment.filter(|_| reads);
        let storage = environment.map_or(&[][..], |environment| &environment.storage);
        let contents =
            storage.iter().filter_map(|storage| doubts::of_target(storage.target.as_ref()?));
        contents.collect()
    }
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Facts")
            .field("calibration", &self.calibration.is_some())
            .field("run", &self.run.is_some())
            .field("load", &self.load.is_some())
            .field("dss", &self.dss.is_some())
            .field("integrity", &self.integrity.is_some())
            .field("environment", &self.environment.is_some())
            .field("given", &self.given)
            .field("doubts", &self.doubts)
            .finish_non_exhaustive()
    }
}
