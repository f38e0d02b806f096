//! Options that several verbs share.

use crate::progress_line::ProgressLine;
use assay_app::target_plan::{self, EnginePlan, RingTasks, TargetPlan};
use assay_app::{Context, Guards, Progress};
use assay_dbserver::{may_hold_password, redacted};
use assay_engine::UringOptions;
use assay_model::Error;
use assay_model::units::{Bytes, Nanos, Share};
use assay_store::Store;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

/// Reads a quantity of the command line; the unit is required.
pub fn quantity<T: FromStr<Err = Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: Error| format!("{}; {}", error.message(), error.hint()))
}

/// Where runs are kept.
#[derive(Args)]
pub struct StoreOptions {
    /// Directory that keeps the runs
    #[arg(
        long,
        value_name = "DIR",
        default_value = "./assay-runs",
        env = "ASSAY_STORE",
        global = true
    )]
    pub store: PathBuf,
}

impl StoreOptions {
    /// The store; nothing is touched.
    pub fn open(&self) -> Store {
        Store::at(&self.store)
    }
}

/// How results are shown.
#[derive(Args)]
pub struct OutputOptions {
    /// Print the documents as JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Neither progress nor notes on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// What the library is given by the command line: store, signals, the line of progress, the command as it was typed.
///
/// # Errors
/// An environment error when the system takes no handler of signals.
pub fn context(store: &StoreOptions, output: &OutputOptions) -> Result<Context, Error> {
    Ok(Context {
        stop: crate::signals::stop_flag()?,
        progress: progress(output),
        command: command_line(),
        guards: Guards::of_this_program(),
        ..Context::new(store.open())
    })
}

/// The line of progress on standard error, unless a program reads the result.
pub fn progress(output: &OutputOptions) -> Progress {
    let mut line = ProgressLine::new(!output.json, output.quiet);
    Progress::new(move |update| line.take(update))
}

/// What is measured, and how it is opened.
#[derive(Args)]
pub struct TargetOptions {
    /// Directories (a test file is made there), files, block devices, or one simulated device `sim:…` or `array:…`
    #[arg(value_name = "TARGET")]
    pub targets: Vec<String>,
    /// Size of a test file; by default by free space, caches and time
    #[arg(long, value_name = "SIZE", value_parser = quantity::<Bytes>)]
    pub size: Option<Bytes>,
    /// How long filling a test file may take
    #[arg(long, value_name = "TIME", value_parser = quantity::<Nanos>, default_value = "30s")]
    pub fill_time: Nanos,
    /// Keep the test file for later runs
    #[arg(long)]
    pub keep: bool,
    /// Destroy the content of the block device with this serial number (or exact size, where it has none); once for each
    /// device, in their order
    #[arg(long, value_name = "SERIAL-OR-SIZE")]
    pub destroy: Vec<String>,
    /// Give up the known data on that device as well: the names of all that is found there, for example `ext4` or
    /// `gpt,mbr`; once for each --destroy, in their order, `none` where nothing is found
    #[arg(long, value_name = "NAMES", requires = "destroy")]
    pub wipe: Vec<String>,
    /// Share of the test file's content that compresses away
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    pub compressible: Share,
    /// Share of the test file's content that deduplicates away
    #[arg(long, value_name = "SHARE", value_parser = quantity::<Share>, default_value = "0%")]
    pub duplicate: Share,
    /// Through the page cache instead of direct I/O
    #[arg(long, conflicts_with = "polled")]
    pub buffered: bool,
    #[command(flatten)]
    pub engine: EngineOptions,
}

impl TargetOptions {
    /// The plan that these options mean.
    pub fn plan(&self) -> TargetPlan {
        TargetPlan {
            targets: self.targets.clone(),
            size: self.size,
            fill_time: self.fill_time,
            keep: self.keep,
            destroy: self.destroy.clone(),
            wipe: self.wipe.clone(),
            compressible: self.compressible,
            duplicate: self.duplicate,
            buffered: self.buffered,
            engine: self.engine.plan(),
        }
    }
}

/// Who carries out the I/Os.
#[derive(Args)]
pub struct EngineOptions {
    /// Who carries out the I/Os
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// When the kernel works off completions of a ring
    #[arg(long, value_enum, default_value_t = Run::Cooperative)]
    pub task_run: Run,
    /// I/Os handed to the kernel at once at most
    #[arg(long, value_name = "N", default_value_t = UringOptions::default().submit_batch, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub submit_batch: u32,
    /// Poll the device for completions; few devices can
    #[arg(long)]
    pub polled: bool,
}

/// Who carries out the I/Os.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// `io_uring`, or blocking calls where it is denied
    Auto,
    /// `io_uring`
    Uring,
    /// Blocking calls by a thread for each outstanding I/O
    Posix,
    /// Nobody: what the tool itself costs
    Null,
}

/// When the kernel works off completions of a ring.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Run {
    /// Whenever the worker is in the kernel anyway
    Cooperative,
    /// Only when the worker waits for them
    Deferred,
    /// A kernel thread submits as well; costs a core
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
        // An option with its value is told apart before it is told of.
        let value = word.split_once('=').filter(|_| word.starts_with('-')).map(|(_, value)| value);
        let text = text.replace(&word, &redacted(&word));
        value.map_or(text.clone(), |value| text.replace(value, &redacted(value)))
    })
}
