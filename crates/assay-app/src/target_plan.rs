//! What is measured and how it is opened, as it is planned.

use crate::cluster::HostNames;
use crate::plan_document::without_passwords;
use assay_engine::{BackendChoice, TaskRun, UringOptions};
use assay_host::gate::FILE_BYTES_MIN;
use assay_methods::target::{AccessOptions, LedgerUse, is_device, is_simulated};
use assay_model::number::count_of;
use assay_model::spelling::defaults;
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::Content;
use assay_model::{Error, Result, Workload};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is measured, and how it is opened.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Target options")]
#[serde(default, deny_unknown_fields)]
pub struct TargetPlan {
    /// Directories (a test file is created there), files, block devices, NVMe namespaces
    /// (`/dev/ng0n1`), or one simulated device: `sim:…`, `array:NAME`, `catalog:NAME`
    #[arg(value_name = "STORAGE", help_heading = None::<&'static str>)]
    #[serde(serialize_with = "without_passwords")]
    pub targets: Vec<String>,
    /// Whether they lie on other machines, where nobody can look at them from here; said each time
    /// and never kept.
    #[arg(skip)]
    #[serde(skip)]
    pub are_elsewhere: bool,
    /// Size of a test file; by default 2 GiB to 32 GiB as needed (`verify`: 1 GiB), and at most
    /// 10% of the free space
    #[arg(long, alias = "filesize", value_name = "SIZE")]
    pub size: Option<Bytes>,
    /// Maximum time for filling a test file
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub fill_time: Nanos,
    /// Keep the test file for later runs
    #[arg(long)]
    pub keep: bool,
    /// The ledger that a test file is for; said by the run that keeps it and not by a plan.
    #[arg(skip)]
    #[serde(skip)]
    pub ledger: Option<LedgerUse>,
    /// Overwrite the block device with this serial number (or exact size if it has none); repeat
    /// it once per device, in the same order
    // A permission: typed each time and never kept.
    #[arg(long, value_name = "SERIAL-OR-SIZE")]
    #[serde(skip)]
    pub destroy: Vec<String>,
    /// Also destroy the known data on that device: list everything found there, for example `ext4`
    /// or `gpt,mbr`, or `none`; repeat it once per --destroy, in the same order
    #[arg(long, value_name = "NAMES", requires = "destroy")]
    #[serde(skip)]
    pub wipe: Vec<String>,
    /// Share of the test file that compression can remove
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub compressible: Share,
    /// Share of the test file that deduplication can remove
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    pub duplicate: Share,
    /// Use the page cache instead of direct I/O
    #[arg(long, conflicts_with = "polled")]
    pub buffered: bool,
    /// How I/Os are submitted
    #[command(flatten)]
    pub engine: EnginePlan,
}

/// How I/Os are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Engine options")]
#[serde(default, deny_unknown_fields)]
pub struct EnginePlan {
    /// How I/Os are submitted
    #[arg(long, alias = "ioengine", value_enum, default_value_t = SubmissionBackend::Auto)]
    pub backend: SubmissionBackend,
    /// When the kernel processes completions of a ring
    #[arg(long, value_enum, default_value_t = RingTasks::Cooperative)]
    pub task_run: RingTasks,
    /// Maximum I/Os per system call; by default up to 8, fewer if batching would delay I/Os
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submit_batch: Option<u32>,
    /// Poll the device for completions; few devices support it
    #[arg(long)]
    pub polled: bool,
}

/// How I/Os are submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubmissionBackend {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RingTasks {
    /// Whenever the worker enters the kernel
    Cooperative,
    /// Only when the worker waits for them
    Deferred,
    /// A kernel thread also submits, at the cost of one core
    KernelThread,
}

impl Default for TargetPlan {
    fn default() -> Self {
        defaults()
    }
}

impl Default for EnginePlan {
    fn default() -> Self {
        defaults()
    }
}

impl EnginePlan {
    /// Refuses settings of a ring for who has none.
    fn check(self) -> Result<()> {
        let ringless = match self.backend {
            SubmissionBackend::Auto | SubmissionBackend::Uring => return Ok(()),
            SubmissionBackend::Posix => "posix",
            SubmissionBackend::Null => "null",
        };
        let setting = match (self.polled, self.task_run) {
            (true, _) => "--polled",
            (false, RingTasks::Deferred | RingTasks::KernelThread) => "--task-run",
            (false, RingTasks::Cooperative) => return Ok(()),
        };
        Err(Error::usage(
            format!("{setting} needs io_uring, which --backend {ringless} does not use"),
            "leave one of them out",
        ))
    }

    /// The engine's form of the choice.
    pub fn choice(self) -> BackendChoice {
        let task_run = match self.task_run {
            RingTasks::Cooperative => TaskRun::Cooperative,
            RingTasks::Deferred => TaskRun::Deferred,
            RingTasks::KernelThread => TaskRun::KernelThread,
        };
        let options =
            UringOptions { task_run, polled: self.polled, submit_batch: self.submit_batch };
        match self.backend {
            SubmissionBackend::Auto => BackendChoice::Auto(options),
            SubmissionBackend::Uring => BackendChoice::Uring(options),
            SubmissionBackend::Posix => BackendChoice::Posix,
            SubmissionBackend::Null => BackendChoice::Null,
        }
    }
}

impl TargetPlan {
    /// The same as hosts see it, which may be other machines.
    pub fn seen_by(&self, hosts: Option<&HostNames>) -> Self {
        let are_elsewhere = hosts.is_some_and(HostNames::are_elsewhere);
        Self { are_elsewhere, ..self.clone() }
    }

    /// Whether writing is possible: a simulated device, directories only, or a device that was
    /// given up.
    pub fn may_be_written(&self) -> bool {
        let free = |target: &String| is_simulated(target) || self.is_directory(target);
        !self.destroy.is_empty() || self.targets.iter().all(free)
    }

    /// Whether a target is a directory. On other machines a path counts as one that is not below
    /// `/dev`, until they say so themselves.
    pub(crate) fn is_directory(&self, target: &str) -> bool {
        let path = Path::new(target);
        if self.are_elsewhere { !path.starts_with("/dev") } else { path.is_dir() }
    }

    fn is_device(&self, target: &str) -> bool {
        let path = Path::new(target);
        if self.are_elsewhere { path.starts_with("/dev") } else { is_device(path) }
    }

    /// Refuses options that contradict one another or mean nothing for these targets, before
    /// anything is touched.
    ///
    /// # Errors
    /// A usage error that names the option.
    pub fn check(&self) -> Result<()> {
        self.engine.check()?;
        if let Some(size) = self.size.filter(|size| size.0 < FILE_BYTES_MIN) {
            return Err(Error::usage(
                format!("--size {size}: this test file is too small to measure"),
                format!("write at least {}", Bytes(FILE_BYTES_MIN)),
            ));
        }
        let makes_files = self.targets.iter().any(|target| self.is_directory(target));
        let of_test_files = self.of_test_files();
        if let Some(option) = of_test_files.filter(|_| !makes_files) {
            return Err(Error::usage(
                format!("{option} applies to test files, but no target is a directory"),
                format!("omit {option}, or specify a directory for a test file"),
            ));
        }
        let devices = self.targets.iter().filter(|target| self.is_device(target)).count();
        if self.destroy.len() > devices {
            return Err(Error::usage(
                format!(
                    "--destroy is given {} times for {devices} block devices among the targets",
                    self.destroy.len()
                ),
                "give it once for each device to overwrite",
            ));
        }
        if self.wipe.len() > self.destroy.len() {
            return Err(Error::usage(
                format!(
                    "--wipe is given {} times for {} of --destroy",
                    self.wipe.len(),
                    self.destroy.len()
                ),
                "give it at most once per --destroy, with all names separated by commas",
            ));
        }
        Ok(())
    }

    /// The same with test files as large as a workload's data, where their size is not said
    /// otherwise.
    pub(crate) fn sized_for(&self, workload: &Workload) -> Self {
        let mut sized = self.clone();
        let makes_files = self.targets.iter().any(|target| self.is_directory(target));
        if let (None, Some(capacity), true) = (self.size, workload.capacity, makes_files) {
            let files = count_of(self.targets.len()).max(1);
            // A file keeps some of its bytes for what says that it is ours.
            let each = (capacity.0.div_ceil(files << 20) + 4) << 20;
            sized.size = Some(Bytes(each.max(FILE_BYTES_MIN)));
        }
        sized
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

    /// How the targets are to be opened, and whether a small test file is enough while its reads do
    /// not look cached.
    pub fn opening(&self, write: bool, direct: bool, grows: bool) -> AccessOptions {
        AccessOptions {
            write,
            direct: direct && !self.buffered,
            destroy: self.destroy.clone(),
            wipe: self.wipe.clone(),
            file_size: self.size,
            grows,
            fill_time: self.fill_time,
            keep: self.keep || self.ledger.is_some(),
            ledger: self.ledger.clone(),
            content: Content { compressible: self.compressible, duplicate: self.duplicate },
            backend: match self.engine.choice() {
                // A test file is really written, also when the measurement itself touches nothing.
                BackendChoice::Null => BackendChoice::Auto(UringOptions::default()),
                choice => choice,
            },
        }
    }
}
