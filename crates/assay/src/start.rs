//! Before anything is touched: what would be done, where that is the question, and whether storage
//! in use may be loaded.

use crate::exit::{ExitStatus, json, print};
use crate::finish::conclude;
use crate::options::{OutputOptions, RunOptions, StartOptions};
use crate::terminal::{agreed, say};
use assay_app::database_source::is_address;
use assay_app::dry_run::PlanSummary;
use assay_app::plan::kept_plan;
use assay_app::target_plan::TargetPlan;
use assay_app::{CommandPlan, ResumablePlan};
use assay_dbserver::redacted;
use assay_host::live_database::{LiveDatabase, live_database};
use assay_host::shared_device::database_on_device;
use assay_methods::target::is_simulated;
use assay_model::document::nearest;
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
pub fn carry_out(plan: &impl CommandPlan, options: &RunOptions) -> Result<ExitStatus> {
    let target = plan.target();
    check_storage(&target)?;
    check(&target.targets, &options.start)?;
    carry_out_checked(plan, options)
}

/// The same of targets that were checked.
///
/// # Errors
/// What the plan itself says.
pub fn carry_out_checked(plan: &impl CommandPlan, options: &RunOptions) -> Result<ExitStatus> {
    if options.start.dry_run {
        return show(&plan.summary()?, &options.output);
    }
    conclude(&plan.run(&options.context()?)?, &options.output, options.page())
}

/// Resumes a run by its kept plan, after `adjust` has changed it; permission to destroy data is
/// what was typed now.
///
/// # Errors
/// A usage error for a run of another kind or one that has ended; those of [`check`]; what the plan
/// itself says.
pub fn resume<P: ResumablePlan>(
    run: &str,
    typed: &TargetPlan,
    options: &RunOptions,
    adjust: impl FnOnce(&mut P),
) -> Result<ExitStatus> {
    let context = options.context()?;
    let run = context.store.open(run)?;
    let mut plan: P = kept_plan(&run)?;
    adjust(&mut plan);
    let target = plan.target_mut();
    target.destroy.clone_from(&typed.destroy);
    target.wipe.clone_from(&typed.wipe);
    check(&target.targets, &options.start)?;
    conclude(&plan.resume(&run, &context)?, &options.output, options.page())
}

/// Refuses words that name no storage before anything is touched; what other hosts have is theirs
/// to say.
///
/// # Errors
/// A usage error that says what the word is and which command takes it, or the nearest name that is
/// there.
pub fn check_storage(target: &TargetPlan) -> Result<()> {
    let is_here = !target.are_elsewhere;
    target.targets.iter().try_for_each(|named| match Path::new(named) {
        _ if is_address(named) => Err(Error::usage(
            format!("{} is a database server, not storage", redacted(named)),
            format!(
                "see what it demands: assay profile {0}; test storage for it: assay check DIR \
                 --for {0}",
                redacted(named)
            ),
        )),
        _ if is_simulated(named) => Ok(()),
        path if is_here && path.is_file() => check_no_document(path),
        path if is_here && !path.exists() => Err(nothing_there(path)),
        _ => Ok(()),
    })
}

/// A file that another command takes.
fn check_no_document(path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let named = path.display();
    let command = match &*extension {
        "html" | "htm" | "lst" => format!("assay profile {named}"),
        "fio" | "vdb" | "icf" => format!("assay run {named} DIR"),
        "json" | "csv" | "log" => format!("assay runs import {named}"),
        _ => return Ok(()),
    };
    Err(Error::usage(format!("{named} is a document, not storage"), format!("use `{command}`")))
}

fn nothing_there(path: &Path) -> Error {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let listed = std::fs::read_dir(parent.unwrap_or_else(|| Path::new(".")));
    let names = listed.into_iter().flatten().flatten();
    let known: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let near = nearest(&name, &known).map(|near| format!("did you mean '{near}'? "));
    Error::environment(
        format!("cannot open {}: it does not exist", path.display()),
        format!(
            "{}specify a directory, a file, a block device, or simulated storage: sim:…, \
             array:NAME, catalog:NAME",
            near.unwrap_or_default()
        ),
    )
}

/// Lets a load begin where no running database has its files on a target or on its device, or where
/// the user agrees. A database elsewhere on the device is only given where nobody can be asked;
/// what is only shown asks nothing.
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
    match agreed(&format!("{warning}. Continue?")) {
        Some(true) => Ok(()),
        None if !is_inside => {
            say(&format!("note: {warning}"));
            Ok(())
        }
        _ => Err(Error::usage(
            format!("{warning}, so nothing was started"),
            "specify another directory or stop the server; --yes continues anyway, --dry-run shows \
             what would be done",
        )),
    }
}

fn warning(found: &LiveDatabase, is_inside: bool) -> String {
    let (product, directory) = (found.product, found.directory.display());
    let process = found.process;
    if is_inside {
        return format!(
            "{product} is running on {directory} (process {process}): this saturates the disk \
             under it"
        );
    }
    format!(
        "{product} in {directory} (process {process}) is in use on the same device: this \
         saturates the disk under it"
    )
}
