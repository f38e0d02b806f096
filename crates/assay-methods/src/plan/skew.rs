//! Where random reads go, as far as a report shows.

use assay_model::number::real_len;
use assay_model::profile::{Profile, SegmentReads};
use assay_model::units::Share;
use assay_model::workload::Access;

/// Segments that are named.
const NAMED: usize = 3;

/// The access of random reads, and what is to be said of it.
pub(super) fn access(profile: &Profile) -> (Access, Vec<String>) {
    let skew = profile.report.as_ref().and_then(|report| report.skew.as_ref());
    let (access, note) = skew.map_or_else(
        || {
            let even = "The report does not show which addresses are used: I/Os are spread evenly, \
                        so caches do not help. Change `access` if you know more.";
            (Access::Uniform, even.to_owned())
        },
        |skew| {
            let band = real_len(skew.hot_files) / real_len(skew.files);
            let access = Access::HotBand {
                share: Share(rounded(skew.read_share)),
                band: Share(rounded(band)),
                start: Share(0.0),
            };
            let note = format!(
                "{} of {} files receive {:.0}% of the reads, so random reads have a hot band. It \
                 is {:.1}% of the storage if files are equally large, which reports do not state; \
                 {}.",
                skew.hot_files,
                skew.files,
                skew.read_share * 100.0,
                band * 100.0,
                skew.source
            );
            (access, note)
        },
    );
    (access, std::iter::once(note).chain(segments(profile)).collect())
}

/// Shares and places of a workload are written with few digits.
fn rounded(share: f64) -> f64 {
    (share * 1e4).round() / 1e4
}

/// The segments that are read most: how large they are is in no report.
fn segments(profile: &Profile) -> Option<String> {
    let report = profile.report.as_ref()?;
    let first: Vec<_> = report.segments.iter().take(NAMED).collect();
    let share: f64 = first.iter().filter_map(|segment| segment.share).sum();
    let counted = match first.first()?.counted {
        SegmentReads::Requests => "read requests",
        SegmentReads::Blocks => "blocks read",
    };
    let names: Vec<String> =
        first.iter().map(|segment| format!("{}.{}", segment.owner, segment.object)).collect();
    (share > 0.0).then(|| {
        format!(
            "{:.0}% of the {counted} are of {}; with their sizes you can narrow `access`.",
            share * 100.0,
            names.join(", ")
        )
    })
}
