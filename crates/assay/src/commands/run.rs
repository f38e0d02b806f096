//! `assay run`: one workload on one target.

mod print;

use crate::demand_options::DemandOptions;
use crate::exit::{ExitStatus, json, print};
use crate::finish::conclude;
use crate::job_options::{JobOptions, say_report, say_taken};
use crate::options::{RunOptions, context, without_passwords};
use crate::resume::{ids, locked_options};
use crate::start;
use crate::terminal::say;
use assay_app::database_source::{DatabaseSource, is_address};
use assay_app::job_file::{
    self, JobPlan, JobSettings, check_complete, chosen_targets, job_text, read_job, read_job_words,
    typed_targets,
};
use assay_app::run::RunPlan;
use assay_app::study::outline;
use assay_app::{CommandPlan, Context};
use assay_formats::Conversion;
use assay_methods::PlanOptions;
use assay_methods::files::{is_file_name, read_document, shadow_note};
use assay_methods::patterns::{LoadPattern, WorkloadChanges};
use assay_methods::presets::{preset, preset_text};
use assay_model::document::to_toml;
use assay_model::units::Nanos;
use assay_model::workload::parse_workload;
use assay_model::{Error, Result, Workload};
use clap::Args;
use std::path::{Path, PathBuf};

/// The command's own options that hold for a run that goes on as they were typed first.
const OWN: [&str; 4] = ["workload", "time", "warm_up", "print"];

/// Run a preset, a file, a fio, Vdbench or ORION job
#[derive(Args)]
#[command(after_help = "Examples:
  assay run oltp /mnt/data
  assay run randread /mnt/data --block 8k --depth 32 --read-share 70% --time 30s
  assay run --rw=randread --bs=8k --iodepth=32 --ioengine=libaio --direct=1 --runtime=10 /mnt/data
  assay run oltp --print > my.workload.toml
  assay run job.fio --print
  assay run oltp array:xtremio-1
  assay run job.fio /mnt/data
  assay run --for awr.html /mnt/data
  assay run randread /mnt/data --hosts local:4 --time 10s
  assay run --resume latest")]
pub struct RunCommandOptions {
    /// Workload file, job file of fio, Vdbench or `IOMeter`, or a built-in name such as oltp or
    /// randread: `assay list workloads`
    #[arg(required_unless_present_any = ["resume", "database"])]
    workload: Option<String>,
    /// Measured time; by default the workload's own, or less where criteria are certain before
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME")]
    time: Option<Nanos>,
    /// Run what a database demands: a report, a folder of reports, a profile, RUN:SESSIONS, or the
    /// address of a server
    #[arg(long = "for", value_name = "DB", conflicts_with = "resume")]
    database: Option<String>,
    #[command(flatten)]
    changes: WorkloadChanges,
    /// Print the workload as a file that `run` accepts, and run nothing
    #[arg(long, conflicts_with = "resume")]
    print: bool,
    /// With --print: write each workload and study of a job file to its own new file in this
    /// directory
    #[arg(long, value_name = "DIR", requires = "print")]
    out: Option<PathBuf>,
    /// How long to watch a live server before the test
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "database")]
    profile_time: Nanos,
    #[command(flatten, next_help_heading = "Options with --for")]
    demand: DemandOptions,
    /// Warm-up before measuring; by default the workload's own
    #[arg(long, aliases = ["warmup", "ramp-time"], value_name = "TIME")]
    warm_up: Option<Nanos>,
    /// Continue an unfinished run as it was started: its id, or `latest`
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = locked_options(&OWN, &[ids::<RunPlan>(), ids::<WorkloadChanges>()])
    )]
    resume: Option<String>,
    /// A word of a job in the options of fio, `name=value`
    #[arg(long, hide = true, value_name = "WORD")]
    job_word: Vec<String>,
    #[command(flatten)]
    job: JobOptions,
    #[command(flatten)]
    plan: RunPlan,
    #[command(flatten)]
    run: RunOptions,
}

impl RunCommandOptions {
    /// The plan of a workload that these options mean.
    fn plan(&self, workload: Workload) -> RunPlan {
        RunPlan { workload, whole_time: self.time.is_some(), ..self.plan.clone() }
    }
}

/// Carries the command out.
pub fn run(options: &RunCommandOptions) -> Result<ExitStatus> {
    if let Some(database) = &options.database {
        return run_demand(database, options);
    }
    if let Some(run) = &options.resume {
        return resume(run, options);
    }
    let name = options.workload.as_deref().unwrap_or_default();
    let settings = options.job.settings();
    if !options.job_word.is_empty() {
        let conversion = read_job_words(&options.job_word, &settings)?;
        return run_job(&conversion, &settings, options);
    }
    if !options.run.output.quiet
        && let Some(note) = shadow_note(name, is_built_in(name))
    {
        say(&note);
    }
    if let Some(text) = job_of(name)? {
        let conversion = read_job(Path::new(name), &text, &settings)?;
        return run_job(&conversion, &settings, options);
    }
    let workload = changed(load(name)?, options)?;
    if options.print {
        return print_workload(name, &workload, options);
    }
    if !options.run.output.quiet && LoadPattern::named(name).is_some() {
        say(&format!("note: {name}: {}", workload.description));
    }
    start::carry_out(&options.plan(workload), &options.run)
}

/// What the database demands, on the target that stands where a workload would.
fn run_demand(database: &str, options: &RunCommandOptions) -> Result<ExitStatus> {
    let first = options.workload.clone().filter(|_| !options.print);
    if first.is_none() && !options.print {
        return Err(Error::usage(
            "run --for needs storage to run the demand on",
            format!("specify it: assay run --for {} STORAGE", without_passwords(database)),
        ));
    }
    let usual = PlanOptions::default();
    let time = options.time.unwrap_or(usual.duration);
    let warm_up = options.warm_up.unwrap_or(usual.warm_up);
    let workload = if options.run.start.dry_run && is_address(database) && !options.print {
        let typical = Workload { duration: time, warm_up, ..preset("oltp")? };
        unwatched(database, options.profile_time, typical)
    } else {
        let context = context(&options.run.store, &options.run.output)?;
        let profile = DatabaseSource::open(database, options.profile_time, &context)?.profile;
        let demand = assay_methods::plan(&profile, &options.demand.plan(time, warm_up))?;
        if options.print {
            return print(&demand.to_toml()?);
        }
        demand.workload
    };
    let mut plan = options.plan(changed(workload, options)?);
    plan.target.targets.splice(0..0, first);
    start::carry_out(&plan, &options.run)
}

/// The demand of a live server before it was watched: a typical one, which a plan that is only
/// shown needs for what it would do to the storage.
pub fn unwatched(address: &str, time: Nanos, typical: Workload) -> Workload {
    let server = without_passwords(address);
    Workload {
        name: "demand".to_owned(),
        description: format!("the demand of {server}, observed for {time}"),
        ..typical
    }
}

/// Prints a workload that is not of a job file.
fn print_workload(
    name: &str,
    workload: &Workload,
    options: &RunCommandOptions,
) -> Result<ExitStatus> {
    if options.run.output.json {
        return print(&json(workload)?);
    }
    print(&text(name, workload)?)
}

/// The text of another program's job file, where the name is that of one.
fn job_of(name: &str) -> Result<Option<String>> {
    if is_file_name(name, is_built_in(name)) { job_text(Path::new(name)) } else { Ok(None) }
}

/// Runs what a job file stands for, one document after the other; the first bad end counts.
fn run_job(
    conversion: &Conversion,
    settings: &JobSettings,
    options: &RunCommandOptions,
) -> Result<ExitStatus> {
    let output = &options.run.output;
    say_taken(settings, output.quiet);
    if options.print {
        return print::conversion(conversion, options.out.as_deref(), output.json, output.quiet);
    }
    check_complete(conversion)?;
    say_report(conversion, output.quiet);
    let mut target = options.plan.target.clone();
    if target.targets.is_empty() && !options.job_word.is_empty() {
        target.targets = typed_targets(conversion)?;
    }
    let chosen = chosen_targets(conversion, &target.targets, settings)?;
    if !options.run.start.dry_run {
        start::check(&chosen, &options.run.start)?;
    }
    let context = options.run.context()?;
    let mut worst = ExitStatus::Success;
    for (number, part) in (1..).zip(&conversion.parts) {
        if !output.quiet && conversion.parts.len() > 1 {
            let count = conversion.parts.len();
            say(&format!("{number} of {count}: {}", part.document.name()));
        }
        let status = run_part(job_file::plan(part, &chosen, &target), options, &context)?;
        if worst == ExitStatus::Success {
            worst = status;
        }
        if context.is_stopped() {
            break;
        }
    }
    Ok(worst)
}

/// Runs one document of a job file, or shows what it would do.
fn run_part(plan: JobPlan, options: &RunCommandOptions, context: &Context) -> Result<ExitStatus> {
    let is_shown = options.run.start.dry_run;
    let finished = match plan {
        JobPlan::Run(plan) => {
            let workload = changed(plan.workload, options)?;
            let plan = RunPlan { target: plan.target, ..options.plan(workload) };
            if is_shown {
                return start::show(&plan.summary()?, &options.run.output);
            }
            plan.run(context)?
        }
        JobPlan::Study(mut plan) => {
            let phases = &mut plan.study.phases;
            phases.measure = options.time.unwrap_or(phases.measure);
            phases.warm_up = options.warm_up.unwrap_or(phases.warm_up);
            plan.hosts.clone_from(&options.plan.hosts);
            if is_shown {
                return print(&outline::text(&plan.study, &plan.notes, &plan.target.targets));
            }
            plan.run(context)?
        }
    };
    conclude(&finished, &options.run.output, options.run.page())
}

/// Whether a preset or a pattern is called so.
fn is_built_in(name: &str) -> bool {
    preset_text(name).is_some() || LoadPattern::named(name).is_some()
}

/// A preset, or a file of that name.
///
/// # Errors
/// A usage error when it is neither, or is invalid.
pub fn load(name: &str) -> Result<Workload> {
    if is_file_name(name, is_built_in(name)) {
        return parse_workload(&read_document(Path::new(name), "workload")?)
            .map_err(|error| error.context(name));
    }
    preset(name).map_err(|error| match std::fs::metadata(name) {
        Ok(_) => no_workload(name),
        Err(_) => error,
    })
}

/// A target stands where the workload belongs.
fn no_workload(target: &str) -> Error {
    Error::usage(
        format!("no workload is named before the target {target}"),
        format!(
            "specify a pattern, a preset or a file: `assay run randread {target}`; `assay list \
             workloads` lists them"
        ),
    )
}

/// The workload as a file: the preset as it ships, with the reasons for its numbers, where nothing
/// is changed.
fn text(name: &str, workload: &Workload) -> Result<String> {
    let shipped =
        preset_text(name).filter(|_| preset(name).is_ok_and(|preset| preset == *workload));
    shipped.map_or_else(|| to_toml(workload), |text| Ok(text.to_owned()))
}

/// The workload with what the command line says otherwise.
fn changed(workload: Workload, options: &RunCommandOptions) -> Result<Workload> {
    let mut workload = options.changes.apply(workload)?;
    workload.duration = options.time.unwrap_or(workload.duration);
    workload.warm_up = options.warm_up.unwrap_or(workload.warm_up);
    workload.check()?;
    Ok(workload)
}

/// Goes on with a run; it may be judged by other criteria.
fn resume(run: &str, options: &RunCommandOptions) -> Result<ExitStatus> {
    start::resume(run, &options.plan.target, &options.run, |plan: &mut RunPlan| {
        plan.criteria = options.plan.criteria.clone().or_else(|| plan.criteria.take());
    })
}
