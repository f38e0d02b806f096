//! Before anything is touched: what would be done, where that is the question, and whether storage in use may be loaded.

use crate::exit::{ExitStatus, json, print};
use crate::finish::conclude;
use crate::options::{MeasurementOptions, OutputOptions, StartOptions, TargetOptions};
use crate::terminal::{agreed, say};
use assay_app::Context;
use assay_app::dry_run::PlanSummary;
use assay_app::finish::FinishedRun;
use assay_app::target_plan::TargetPlan;
use assay_host::live_database::{LiveDatabase, live_database};
use assay_host::shared_device::database_on_device;
use assay_model::{Error, Result};
use std::path::Path;

/// Prints a summary instead of doing what it says.
///
/// # Errors
/// A closed standard output.
pub fn show(summary: &PlanSummary, output: &OutputOptions) -> Result<ExitStatus> {
    if output.json { print(&json(summary)?) } else { print(&summary.text()) }
}

/// Carries a plan out on targets where nothing stands against it, or says what it would do.
///
/// # Errors
/// Those of [`check`], and what the plan itself says.
pub fn carry_out(
    options: &MeasurementOptions,
    targets: &[String],
    summary: impl FnOnce() -> Result<PlanSummary>,
    run: impl FnOnce(&Context) -> Result<FinishedRun>,
) -> Result<ExitStatus> {
    check(targets, &options.target.start)?;
    carry_out_checked(options, summary, run)
}

/// The same of targets that were checked.
///
/// # Errors
/// What the plan itself says.
pub fn carry_out_checked(
    options: &MeasurementOptions,
    summary: impl FnOnce() -> Result<PlanSummary>,
    run: impl FnOnce(&Context) -> Result<FinishedRun>,
) -> Result<ExitStatus> {
    if options.target.start.dry_run {
        return show(&summary()?, &options.output);
    }
    conclude(&run(&options.context()?)?, &options.output)
}

/// Lets a load begin where no running database has its files on a target or on its device, or where the user agrees. A
/// database elsewhere on the device is only given where nobody can be asked; what is only shown asks nothing.
///
/// # Errors
/// A usage error that names the database.
pub fn check(targets: &[String], options: &StartOptions) -> Result<()> {
    let directories = || {
        targets.iter().filter_map(|target| {
            let path = Path::new(target);
            if path.is_file() { path.parent() } else { Some(path) }
        })
    };
    let proc = Path::new("/proc");
    let found = directories().find_map(|directory| live_database(directory, proc));
    let is_inside = found.is_some();
    let on_device = || {
        directories()
            .filter(|directory| directory.is_dir())
            .find_map(|directory| database_on_device(directory, Path::new("/")))
    };
    let Some(found) = found.or_else(on_device) else { return Ok(()) };
    let warning = warning(&found, is_inside);
    if options.yes || options.dry_run {
        say(&format!("note: {warning}"));
        return Ok(());
    }
    match agreed(&format!("{warning}. Go on?")) {
        Some(true) => Ok(()),
        None if !is_inside => {
            say(&format!("note: {warning}"));
            Ok(())
        }
        _ => Err(Error::usage(
            format!("{warning}, so nothing was begun"),
            "name another directory or stop the server; --yes goes on all the same, --dry-run shows what would be done",
        )),
    }
}

/// Lets a run go on with its own plan; what may be destroyed is what was typed now.
///
/// # Errors
/// Those of [`check`].
pub fn go_on_with(plan: &mut TargetPlan, options: &TargetOptions) -> Result<()> {
    plan.destroy.clone_from(&options.plan.destroy);
    plan.wipe.clone_from(&options.plan.wipe);
    check(&plan.targets, &options.start)
}

fn warning(found: &LiveDatabase, is_inside: bool) -> String {
    let (product, directory) = (found.product, found.directory.display());
    let process = found.process;
    if is_inside {
        return format!(
            "{product} is running on {directory} (process {process}): this saturates the disk under it"
        );
    }
    format!(
        "{product} in {directory} (process {process}) is in use on the same device: this saturates the disk under it"
    )
}
