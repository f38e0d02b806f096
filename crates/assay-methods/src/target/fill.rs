//! Test files are written through before they are read: an extent that was only allocated reads as
//! zeros without touching the device.

use super::AccessOptions;
use assay_engine::{BackendChoice, EngineJob, OpenFile, UringOptions, run};
use assay_model::measurement::{Finish, Interval, Measurement, Window};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{Access, Content, Stream, Workload};
use assay_model::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bytes of one write, and writes in flight: enough for the bandwidth of any single device.
const TRANSFER: u64 = 1 << 20;
const OUTSTANDING: u32 = 8;
/// An estimate of the fill rate needs only as many reports.
const INTERVAL: Nanos = Nanos(200_000_000);

/// What is said of a test file while it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetFilling<'a> {
    /// Its size and the reasons, before the first byte is written.
    Begins(&'a str),
    /// How far it has come.
    Written {
        /// Bytes that are written.
        bytes: u64,
        /// Bytes to write.
        total_bytes: u64,
    },
}

/// Hears of a test file while it is made.
pub type FillProgress<'a> = &'a mut dyn FnMut(TargetFilling<'_>);

/// Fills the target from its first byte on, for the time allowed at the most; gives the bytes that
/// are certainly written.
///
/// # Errors
/// An environment error when writing fails; a stop by the user counts as such.
pub fn fill(
    target: OpenFile,
    opening: &AccessOptions,
    stop: &AtomicBool,
    progress: FillProgress<'_>,
) -> Result<u64> {
    let length_bytes = target.length_bytes / TRANSFER * TRANSFER;
    let name = target.name.clone();
    let workload = workload(opening.content, opening.fill_time, target.direct);
    let job = EngineJob {
        workload: &workload,
        targets: Arc::from([target]),
        backend: plain(opening.backend),
        passes: Some(1),
    };
    let mut written = 0;
    let mut observe = |interval: &Interval, _: &Window| {
        written += interval.operations.bytes();
        progress(TargetFilling::Written { bytes: written, total_bytes: length_bytes });
        ControlFlow::Continue(())
    };
    let measurement = run(&job, stop, &mut observe)?;
    check(&measurement, &name)?;
    let bytes = measurement.operations().bytes();
    // Writes complete in any order: the last ones in flight may lie before completed ones.
    let unsure = if bytes >= length_bytes { 0 } else { u64::from(OUTSTANDING) * TRANSFER };
    let sure = bytes.saturating_sub(unsure);
    if sure == 0 {
        return Err(Error::environment(
            format!("filling {name}: nothing was written within {}", opening.fill_time),
            "increase --fill-time, or check the device and the kernel log",
        ));
    }
    Ok(sure)
}

/// Only a file without a gap may be measured.
fn check(measurement: &Measurement, name: &str) -> Result<()> {
    match &measurement.finish {
        Finish::Complete => {}
        Finish::Interrupted | Finish::Unfinished => {
            return Err(Error::environment(
                format!("filling {name} was interrupted"),
                "start again",
            ));
        }
        Finish::Failed { reason } => {
            return Err(Error::environment(
                format!("filling {name}: {reason}"),
                "free space on its file system, or give a smaller --size",
            ));
        }
    }
    let Some(error) = measurement.errors.first() else {
        return Ok(());
    };
    Err(Error::environment(
        format!(
            "filling {name}: {} of {} at byte {}: {}",
            error.operation.name(),
            Bytes(TRANSFER),
            error.first_offset_bytes,
            error.meaning
        ),
        "check the device and the kernel log",
    ))
}

/// Polling is for measuring: where a device cannot, nothing ever completes.
pub(super) fn plain(backend: BackendChoice) -> BackendChoice {
    let plain = |options: UringOptions| UringOptions { polled: false, ..options };
    match backend {
        BackendChoice::Auto(options) => BackendChoice::Auto(plain(options)),
        BackendChoice::Uring(options) => BackendChoice::Uring(plain(options)),
        BackendChoice::Posix | BackendChoice::Null => backend,
    }
}

fn workload(content: Content, time: Nanos, direct: bool) -> Workload {
    let stream = Stream {
        access: Access::Sequential { streams: 1 },
        content,
        ..Stream::closed("fill", Share(0.0), Bytes(TRANSFER), OUTSTANDING)
    };
    let mut workload = Workload::of("fill", time, stream);
    workload.interval = INTERVAL;
    workload.direct = direct;
    workload
}
