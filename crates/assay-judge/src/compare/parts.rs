//! A run of several parts, such as a check with its calibration, its workload and its ladder, as
//! one side of a comparison.

use super::sides::SideFacts;
use assay_model::comparison::SideKind;

/// The parts as one side; `None` of none.
pub fn of_parts(parts: Vec<SideFacts>) -> Option<SideFacts> {
    let several = parts.len() > 1;
    parts
        .into_iter()
        .reduce(|mut whole, part| {
            whole.side.elapsed_s += part.side.elapsed_s;
            whole.measures.extend(part.measures);
            whole.histograms.extend(part.histograms);
            whole.work.extend(part.work);
            whole.made.extend(part.made);
            whole.curves.extend(part.curves);
            whole
        })
        .map(|mut whole| {
            if several {
                whole.side.kind = SideKind::Check;
            }
            whole
        })
}
