//! Direct I/O on a target, or why there is none.

use assay_host::gate::AdmittedTarget;
use assay_model::measurement::Remark;
use assay_model::target::DirectIo;

/// How the page cache stands to a target.
pub(super) struct Direct {
    /// Whether it is passed by.
    pub(super) on: bool,
    /// What a reader must know when it was to be and is not.
    pub(super) remark: Option<Remark>,
}

/// Passes the page cache by where it is wanted; where it cannot be, the result says so.
pub(super) fn set_direct(admission: &AdmittedTarget, wanted: bool) -> Direct {
    let answer = admission.set_direct(wanted);
    let DirectIo::Refused { reason } = answer else {
        return Direct { on: wanted, remark: None };
    };
    let on = false;
    let remark = wanted.then(|| Remark {
        what: format!("direct I/O on {} was refused: {reason}", admission.path().display()),
        why: "reads and writes go through the page cache, so the storage itself is not measured"
            .to_owned(),
        remedy: "use a file system with direct I/O, such as ext4 or XFS, or the block device"
            .to_owned(),
    });
    Direct { on, remark }
}
