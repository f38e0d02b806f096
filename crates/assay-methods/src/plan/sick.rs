//! What is asked in place of the time of storage that is slow for what it is made of.

use assay_model::profile::{Figure, IoPath, IoPurpose, Profile};
use assay_model::units::show_time_ns;

/// The accepted time of a purpose, s, where the report's own time is longer; `None` where parity
/// with the report is a sensible demand.
pub(super) fn accepted(
    profile: &Profile,
    purpose: IoPurpose,
    latency: Option<&Figure>,
) -> Option<Figure> {
    let path = match purpose {
        IoPurpose::LogWrite => IoPath::RedoWrite,
        IoPurpose::SingleBlockRead => IoPath::SingleBlockRead,
        _ => return None,
    };
    let found = profile.verdict.devices.iter().find(|found| found.path == path)?;
    let latency = latency.filter(|latency| latency.value > found.limit_s)?;
    let source = format!(
        "{}; the report's own {} is slower and is not required",
        found.limit_source,
        show_time_ns(latency.value * 1e9)
    );
    Some(Figure::new(found.limit_s, source))
}
