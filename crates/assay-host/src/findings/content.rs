//! Rules on the content of targets that are read.

use super::rule::FindingRule;
use assay_model::environment::Severity::{Critical, Warning};
use assay_model::environment::{Finding, Storage};
use assay_model::target::{DirectIo, TargetFacts};

const HOLES: FindingRule = FindingRule::new(
    "holes",
    Critical,
    "holes and unwritten extents read as zeros without device I/O: such reads measure memory",
    "let Assay create and fill a file, or use a fully written file",
);
const ZEROS: FindingRule = FindingRule::new(
    "zeros",
    Warning,
    "storage that detects zeros or compresses data returns them without reading the medium",
    "use real data, or a file that Assay filled with incompressible data",
);
const COMPRESSIBLE: FindingRule = FindingRule::new(
    "compressible",
    Warning,
    "the content compresses this much; storage that compresses moves fewer bytes than requested",
    "use a file that Assay filled with incompressible data, or use the compression ratio of your \
     own data",
);
const CACHED: FindingRule = FindingRule::new(
    "cached",
    Warning,
    "a part of the target is in the page cache; buffered reads of it do not reach the device",
    "use direct I/O, or drop the cache of the file before",
);
const BUFFERED: FindingRule = FindingRule::new(
    "no_direct_io",
    Critical,
    "the file system does not support direct I/O, so reads and writes pass through the page cache \
     and partly measure memory",
    "choose a file system with direct I/O, or a file of at least twice the memory",
);

pub(super) const RULES: &[&FindingRule] = &[&HOLES, &ZEROS, &COMPRESSIBLE, &CACHED, &BUFFERED];

/// Share of a target that may be a hole, zeros or cached without a word.
const SHARE_MAX: f64 = 0.02;
/// Below this a fast compressor finds something.
const COMPRESSED_RATIO_MIN: f64 = 0.9;

pub(super) fn find(storage: &Storage, findings: &mut Vec<Finding>) {
    if let Some(target) = &storage.target {
        findings.extend(target_findings(target));
    }
}

fn target_findings(target: &TargetFacts) -> Vec<Finding> {
    let about = |what: &str| format!("{}: {what}", target.path);
    let content = &target.content;
    let over = |share: Option<f64>| share.filter(|share| *share > SHARE_MAX);
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    let ratio = content.compressed_ratio.filter(|ratio| *ratio < COMPRESSED_RATIO_MIN);
    let refused = match &target.direct_io {
        DirectIo::Refused { reason } => Some(reason.clone()),
        _ => None,
    };
    let found = [
        over(content.written_share.map(|share| 1.0 - share))
            .map(|share| HOLES.found(about("holes"), percent(share))),
        over(content.zero_share).map(|share| ZEROS.found(about("zeros"), percent(share))),
        ratio.map(|ratio| COMPRESSIBLE.found(about("compressed size"), percent(ratio))),
        over(content.cached_share)
            .map(|share| CACHED.found(about("in the page cache"), percent(share))),
        refused.map(|reason| BUFFERED.found(about("direct I/O"), reason)),
    ];
    found.into_iter().flatten().collect()
}
