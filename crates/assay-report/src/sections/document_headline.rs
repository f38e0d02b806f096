//! The sentence that answers where a run is of a comparison, of queries, of a soak, of working sets
//! or of a study.

use super::headline::Headline;
use super::{comparison_headline, dss, locality, projection, soak, study, verification};
use crate::format::Formatter;
use crate::input::GivenReport;

/// The sentence, where a document of these kinds is there.
pub(super) fn headline(report: &GivenReport, format: &Formatter) -> Option<Headline> {
    // A check has a verdict of its own, and ends with the projection.
    if let Some(found) = report.projection.as_ref().filter(|_| report.calibration.is_none()) {
        return Some(projection::headline(found));
    }
    if let Some(found) = &report.verified {
        return Some(verification::headline(found));
    }
    if let Some(found) = &report.comparison {
        return Some(comparison_headline::headline(found, format));
    }
    if let Some(found) = &report.dss {
        return Some(dss::headline(found, format));
    }
    if let Some(found) = &report.soak {
        return Some(soak::headline(found, format));
    }
    if let Some(found) = &report.locality {
        return Some(locality::headline(found, format));
    }
    report.study.as_ref().map(|found| study::headline(found, format))
}
