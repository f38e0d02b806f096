//! Options that several verbs share.

use assay_dbserver::{may_hold_password, redacted};
use assay_engine::{BackendChoice, TaskRun, UringOptions};
use assay_host::gate::FILE_BYTES_MIN;
use assay_methods::target::{Opening, is_block_device, is_simulated};
use assay_model::Error;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::Content;
use assay_store::Store;
use clap::{Args, ValueEnum};
use std::fmt::Display;
use std::path::{Path, PathBuf};
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
    /// Refuses settings of a ring for who has none.
    fn check(&self) -> Result<(), Error> {
        let ringless = match self.backend {
            Backend::Auto | Backend::Uring => return Ok(()),
            Backend::Posix => "posix",
            Backend::Null => "null",
        };
        let setting = match (self.polled, self.task_run) {
            (true, _) => "--polled",
            (false, Run::Deferred | Run::KernelThread) => "--task-run",
            (false, Run::Cooperative) => return Ok(()),
        };
        Err(Error::usage(
            format!("{setting} is a setting of io_uring, and --backend {ringless} has none"),
            "leave one of them out",
        ))
    }

    /// The engine's form of the choice.
    pub fn choice(&self) -> BackendChoice {
        let task_run = match self.task_run {
            Run::Cooperative => TaskRun::Cooperative,
            Run::Deferred => TaskRun::Deferred,
            Run::KernelThread => TaskRun::KernelThread,
        };
        let options =
            UringOptions { task_run, polled: self.polled, submit_batch: self.submit_batch };
        match self.backend {
            Backend::Auto => BackendChoice::Auto(options),
            Backend::Uring => BackendChoice::Uring(options),
            Backend::Posix => BackendChoice::Posix,
            Backend::Null => BackendChoice::Null,
        }
    }
}

impl TargetOptions {
    /// Whether writing can be meant: a simulated device, directories only, or a device that was given up.
    pub fn may_be_written(&self) -> bool {
        let free = |target: &String| is_simulated(target) || Path::new(target).is_dir();
        !self.destroy.is_empty() || self.targets.iter().all(free)
    }

    /// Refuses options that contradict one another or mean nothing for these targets, before anything is touched.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<(), Error> {
        self.engine.check()?;
        if let Some(size) = self.size.filter(|size| size.0 < FILE_BYTES_MIN) {
            return Err(Error::usage(
                format!("--size {size}: a test file this small holds nothing to measure"),
                format!("write at least {}", Bytes(FILE_BYTES_MIN)),
            ));
        }
        let paths = || self.targets.iter().map(Path::new);
        let of_test_files = self.of_test_files();
        if let Some(option) = of_test_files.filter(|_| !paths().any(Path::is_dir)) {
            return Err(Error::usage(
                format!("{option} is about test files, and no target is a directory"),
                format!("leave {option} out, or name a directory to make a test file in"),
            ));
        }
        let devices = paths().filter(|path| is_block_device(path)).count();
        if self.destroy.len() > devices {
            return Err(Error::usage(
                format!(
                    "--destroy is given {} times for {devices} block devices among the targets",
                    self.destroy.len()
                ),
                "give it once for each device whose content may go",
            ));
        }
        if self.wipe.len() > self.destroy.len() {
            return Err(Error::usage(
                format!(
                    "--wipe is given {} times for {} of --destroy",
                    self.wipe.len(),
                    self.destroy.len()
                ),
                "give it once for each --destroy at most, with all names joined by commas",
            ));
        }
        Ok(())
    }

    /// An option that was given and only test files have.
    fn of_test_files(&self) -> Option<&'static str> {
        let given = [
            ("--size", self.size.is_some()),
            ("--keep", self.keep),
            ("--compressible", self.compressible.0 > 0.0),
            ("--duplicate", self.duplicate.0 > 0.0),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// How the targets are to be opened.
    pub fn opening(&self, write: bool, direct: bool) -> Opening {
        Opening {
            write,
            direct: direct && !self.buffered,
            destroy: self.destroy.clone(),
            wipe: self.wipe.clone(),
            file_size: self.size,
            fill_time: self.fill_time,
            keep: self.keep,
            content: Content { compressible: self.compressible, duplicate: self.duplicate },
            backend: match self.engine.choice() {
                // A test file is really written, also when the measurement itself touches nothing.
                BackendChoice::Null => BackendChoice::Auto(UringOptions::default()),
                choice => choice,
            },
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

/// Words joined as a person would type them.
pub fn typed(words: &[impl Display]) -> String {
    let quote = |word: String| {
        let plain = word
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_./:=,%+".contains(letter));
        if plain && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(|word| quote(word.to_string())).collect::<Vec<_>>().join(" ")
}
