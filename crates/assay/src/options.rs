//! Options that several verbs share.

use crate::live_options::{LiveObserver, LiveOptions};
use crate::progress_line::ProgressLine;
use assay_app::target_plan::{self, EnginePlan, RingTasks, TargetPlan};
use assay_app::{Context, Guards, Progress};
use assay_dbserver::{may_hold_password, redacted};
use assay_model::Error;
use assay_model::units::{Bytes, Nanos, Share};
use assay_store::Store;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Heading of the options that all verbs have, at the end of each help.
pub const COMMON: &str = "Common options";

/// Where runs are kept.
#[derive(Args)]
pub struct StoreOptions {
    /// Directory that keeps the runs; by default ./assay-runs, or where that is not there the default of
    /// ~/.config/assay/store, a file with one line
    #[arg(long, value_name = "DIR", env = "ASSAY_STORE", hide_env_values = true, global = true)]
    pub store: Option<PathBuf>,
}

impl StoreOptions {
    /// The store; nothing is touched.
    pub fn open(&self) -> Store {
        let usual = || crate::store_place::usual(Path::new(crate::store_place::HERE));
        Store::at(self.store.clone().unwrap_or_else(usual))
    }
}

/// How results are shown.
#[derive(Args)]
pub struct OutputOptions {
    /// Print JSON documents instead of text
    #[arg(long)]
    pub json: bool,
    /// Print all of the text on a terminal, not the first screen alone
    #[arg(long)]
    pub full: bool,
    /// Print neither progress nor notes on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// Where the run of a load is kept, and how it is shown.
#[derive(Args)]
pub struct LoadRunOptions {
    #[command(flatten)]
    pub live: LiveOptions,
    #[command(flatten, next_help_heading = COMMON)]
    pub start: StartOptions,
    #[command(flatten)]
    pub store: StoreOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// What the library is given by the command line: store, signals, the line of progress, the command as it was typed.
///
/// # Errors
/// An environment error when the system takes no handler of signals.
pub fn context(store: &StoreOptions, output: &OutputOptions) -> Result<Context, Error> {
    context_of(store.open(), progress(output))
}

/// The same for a verb that measures: its run may have a name, and others may look on.
///
/// # Errors
/// The same, a usage error when that cannot be a name, and what stands against those who look on.
pub fn measuring_context(
    store: &StoreOptions,
    output: &OutputOptions,
    name: Option<&str>,
    live: &LiveOptions,
) -> Result<Context, Error> {
    let store = store.open().labelled(name)?;
    let progress = match live.open(&store, output.quiet)? {
        None => progress(output),
        Some(view) => shown_live(output, view),
    };
    context_of(store, progress)
}

fn context_of(store: Store, progress: Progress) -> Result<Context, Error> {
    Ok(Context {
        stop: crate::signals::stop_flag()?,
        progress,
        command: command_line(),
        server_programs: std::env::var_os("ASSAY_BINDIR").map(PathBuf::from),
        guards: Guards::of_this_program(),
        ..Context::new(store)
    })
}

/// The line of progress on standard error, unless a program reads the result.
pub fn progress(output: &OutputOptions) -> Progress {
    let mut line = ProgressLine::new(!output.json, output.quiet);
    Progress::new(move |update| line.take(update))
}

/// The same with others who look on; a screen has no room for a line, and shows notes itself.
fn shown_live(output: &OutputOptions, mut view: LiveObserver) -> Progress {
    let has_screen = view.has_screen();
    let mut line = ProgressLine::new(!output.json && !has_screen, output.quiet || has_screen);
    Progress::new(move |update| {
        view.take(&update);
        line.take(update);
    })
}

/// What is measured, and how it is opened.
#[derive(Args)]
#[command(next_help_heading = "Target options")]
pub struct TargetOptions {
    /// Directories (a test file is created there), files, block devices, NVMe namespaces past the block layer
    /// (`/dev/ng0n1`), or one simulated device `sim:…`, `array:…` or `catalog:…`
    #[arg(value_name = "TARGET", help_heading = None::<&'static str>)]
    pub targets: Vec<String>,
    /// Size of a test file; by default 2 GiB to 32 GiB by need, 1 GiB with `verify`, and a tenth of the free space at most
    #[arg(long, alias = "filesize", value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Longest time to spend on filling a test file
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub fill_time: Nanos,
    /// Keep the test file for later runs
    #[arg(long)]
    pub keep: bool,
    /// Overwrite the block device with this serial number (or exact size if it has none); once per device, in their order
    #[arg(long, value_name = "SERIAL-OR-SIZE")]
    pub destroy: Vec<String>,
    /// Also give up the known data on that device: the names of everything found there, for example `ext4` or `gpt,mbr`;
    /// once per --destroy, in their order, `none` if nothing is found
    #[arg(long, value_name = "NAMES", requires = "destroy")]
    pub wipe: Vec<String>,
    /// Share of the test file's content that compression removes
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub compressible: Share,
    /// Share of the test file's content that deduplication removes
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub duplicate: Share,
    /// Use the page cache instead of direct I/O
    #[arg(long, conflicts_with = "polled")]
    pub buffered: bool,
    #[command(flatten)]
    pub start: StartOptions,
    #[command(flatten)]
    pub engine: EngineOptions,
    #[command(flatten)]
    pub live: LiveOptions,
}

/// Whether anything begins at all.
#[derive(Args)]
pub struct StartOptions {
    /// Print what would be written, where, for how long and with which load; nothing is touched
    #[arg(long)]
    pub dry_run: bool,
    /// Load storage that a running database has its files on, without asking
    #[arg(long)]
    pub yes: bool,
    /// Name of the run, by which `runs`, `compare`, `report` and `judge` find it
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

/// What every verb that measures storage is given: where, and how its run is kept and shown.
#[derive(Args)]
pub struct MeasurementOptions {
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten, next_help_heading = COMMON)]
    pub store: StoreOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

impl MeasurementOptions {
    /// The context of a verb that measures these targets.
    ///
    /// # Errors
    /// Those of [`measuring_context`].
    pub fn context(&self) -> Result<Context, Error> {
        let TargetOptions { start, live, .. } = &self.target;
        measuring_context(&self.store, &self.output, start.name.as_deref(), live)
    }
}

impl TargetOptions {
    /// The plan that these options mean.
    pub fn plan(&self) -> TargetPlan {
        TargetPlan {
            are_elsewhere: false,
            targets: self.targets.clone(),
            size: self.size,
            fill_time: self.fill_time,
            keep: self.keep,
            ledger: None,
            destroy: self.destroy.clone(),
            wipe: self.wipe.clone(),
            compressible: self.compressible,
            duplicate: self.duplicate,
            buffered: self.buffered,
            engine: self.engine.plan(),
        }
    }
}

/// How I/Os are submitted.
#[derive(Args)]
#[command(next_help_heading = "Engine options")]
pub struct EngineOptions {
    /// How I/Os are submitted
    #[arg(long, alias = "ioengine", value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// When the kernel processes completions of a ring
    #[arg(long, value_enum, default_value_t = Run::Cooperative)]
    pub task_run: Run,
    /// Most I/Os to hand to the kernel in one call; by default up to 8, fewer if they would delay one another
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub submit_batch: Option<u32>,
    /// Poll the device for completions; few devices support it
    #[arg(long)]
    pub polled: bool,
}

/// How I/Os are submitted.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// `io_uring`, or blocking calls if it is denied
    Auto,
    /// `io_uring`
    Uring,
    /// Blocking calls, one thread per outstanding I/O
    Posix,
    /// No I/O at all: measures the cost of Assay itself
    Null,
}

/// When the kernel processes completions of a ring.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Run {
    /// When the worker is in the kernel anyway
    Cooperative,
    /// Only when the worker waits for them
    Deferred,
    /// A kernel thread submits as well, which costs a core
    KernelThread,
}

impl EngineOptions {
    const fn plan(&self) -> EnginePlan {
        EnginePlan {
            backend: match self.backend {
                Backend::Auto => target_plan::Backend::Auto,
                Backend::Uring => target_plan::Backend::Uring,
                Backend::Posix => target_plan::Backend::Posix,
                Backend::Null => target_plan::Backend::Null,
            },
            task_run: match self.task_run {
                Run::Cooperative => RingTasks::Cooperative,
                Run::Deferred => RingTasks::Deferred,
                Run::KernelThread => RingTasks::KernelThread,
            },
            submit_batch: self.submit_batch,
            polled: self.polled,
        }
    }
}

/// The command line as it was typed, without passwords.
pub fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| redacted(&word.to_string_lossy())).collect()
}

/// A text without the passwords of addresses that were typed.
pub fn without_passwords(text: &str) -> String {
    let typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    typed.filter(|word| may_hold_password(word)).fold(text.to_owned(), |text, word| {
        // An option and its value are separate words to whoever reports them.
        let value = word.split_once('=').filter(|_| word.starts_with('-')).map(|(_, value)| value);
        let text = text.replace(&word, &redacted(&word));
        value.map_or(text.clone(), |value| text.replace(value, &redacted(value)))
    })
}
