//! `assay profile --workload`: from what a database demands of its storage to a workload that demands the same.

use super::Options;
use crate::exit::{ExitStatus, print};
use crate::options::{OutputOptions, context};
use assay_app::database_source::DatabaseSource;
use assay_app::new_file::write_new;
use assay_methods::{PlanOptions, plan};
use assay_model::{Error, Result};
use std::path::Path;

/// Writes the workload to a new file; `-` is standard output.
///
/// # Errors
/// What the profile or the options say, or a file that cannot be written; an existing file is not overwritten.
pub fn write(path: &Path, options: &Options) -> Result<ExitStatus> {
    let [named] = options.files.as_slice() else {
        return Err(Error::usage(
            "--workload takes one database",
            "name one report, one folder with reports of one database, a profile, a run or an address",
        ));
    };
    let quiet = OutputOptions { json: false, full: true, quiet: options.quiet };
    let context = context(&options.store, &quiet)?;
    let profile = DatabaseSource::open(&named.to_string_lossy(), options.time, &context)?.profile;
    let usual = PlanOptions::default();
    let text = plan(&profile, &options.demand.plan(usual.duration, usual.warm_up))?.to_toml()?;
    if path == Path::new("-") {
        return print(&text);
    }
    write_new(path, text.as_bytes())?;
    Ok(ExitStatus::Success)
}
