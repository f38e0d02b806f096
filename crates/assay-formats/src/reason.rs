//! Why an option of another program was not carried over, or how it was changed: types first, their
//! words in one place.

use assay_model::units::Nanos;
use serde::Serialize;
use std::fmt;

/// How an option was changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Approximation {
    /// The job ends with an amount of data; a workload ends with time.
    EndsByTime(Nanos),
    /// The test runs until somebody stops it.
    UntilStopped(Nanos),
    /// The job ends with its time or its data, whichever comes first; the workload runs its whole
    /// time.
    WholeTime,
    /// Another engine issues the same I/O.
    Engine,
    /// Mapped memory is read by calls through the page cache.
    MappedMemory,
    /// Jobs of one workload differ in whether they pass the page cache; all do.
    AllDirect,
    /// Files of a job are one test file of their joint size.
    FilesJoined(u64),
    /// Sizes of files are spread in a range; one test file has the whole size.
    FileSizes,
    /// Jobs that share a file each start at its beginning; here they start at equal distances.
    SpacedStarts,
    /// Sequential reads and writes have a place of their own each; here they share one.
    OnePosition,
    /// Reads and writes have sizes of their own; here one mix has both by their shares.
    JointSizes,
    /// Sizes must be multiples of the smallest; this one was rounded.
    RoundedSize,
    /// I/Os of several sizes may meet a place twice in a round.
    MixedRounds,
    /// Addresses are multiples of the smallest size.
    Alignment,
    /// The first zone is a hot band, all others are one.
    ZonesJoined,
    /// Another law of the same kind.
    HotBand,
    /// Most I/Os are of this kind; all are here.
    Majority,
    /// The gap after each sequential I/O is left out.
    NoGaps,
    /// More I/Os are outstanding than are kept here: 32,768.
    OutstandingMax,
    /// I/Os are submitted and reaped one by one.
    NoBatches,
    /// The pause follows each completion instead of stopping the whole job.
    PausePerIo,
    /// Two rates became one.
    JointRate,
    /// The start delay and the end of each job cut the time into workloads that follow one another.
    Steps,
    /// `fsync` became `fdatasync`: the data, without what only times and names need.
    Fdatasync,
    /// `O_SYNC` became `O_DSYNC`: the data, without what only times and names need.
    DataSync,
    /// Blocks of repeated content have their own size here.
    RepeatedBlocks,
    /// Leading dashes belong to a command line; the option was read without them.
    Dashes,
    /// One host issues what several were to issue.
    OneHost,
    /// Steps of outstanding I/Os instead of steps of a rate that is only known at run time.
    DepthLadder,
    /// Threads are dealt out among workloads by their skew.
    DealtThreads,
    /// A random distance was replaced by its mean.
    MeanDistance,
    /// An absolute offset became a share of the space that the file names.
    ShareOfSpace,
    /// The share of cache hits became a hot band as large as the hit area.
    HitArea,
    /// The whole time is run, also where the job would end as soon as it is steady.
    NoEarlyEnd,
    /// All I/Os have the same priority.
    NoPriority,
    /// The depth is searched for instead of given in steps.
    DepthSearch,
    /// The time of one data point is that of the whole search.
    SearchTime,
    /// Large I/Os are measured at random places, and sequentially by one stream.
    BothKinds,
    /// Targets lie behind one another instead of being striped.
    Concatenated,
    /// Stripes are 1 MiB, whatever size is requested.
    StripeUnit,
    /// Each sequential stream has one I/O outstanding.
    OneIoPerStream,
    /// Nothing is flushed after the last I/O, whose time would be a part of the run.
    NoFinalFlush,
    /// Blocking calls have queue depth 1, whatever depth is requested.
    BlockingCalls,
    /// The load before measuring ends with time instead of an amount of data.
    WarmUpByTime,
}

/// Why an option was not carried over.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionReason {
    /// The program has no such option.
    UnknownOption {
        /// The nearest one that it has.
        nearest: Option<String>,
    },
    /// The value cannot be read.
    Value,
    /// A distribution that no version of fio known here has.
    UnknownDistribution,
    /// Another program fills in the values of the file.
    Template,
    /// The option needs a value.
    NoValue,
    /// The number is larger than any storage or time.
    Overflow,
    /// The variable has no value.
    Variable(String),
    /// It stands outside of any section.
    OutsideSection,
    /// The file has no job.
    NoJob,
    /// A file of LUNs.
    Luns,
    /// Bytes that are not text.
    NotText,
    /// The file is larger than a job file can be.
    TooLarge,
    /// A file includes itself.
    CircularInclude,
    /// Includes stand too deep in one another.
    DeepInclude,
    /// The included file cannot be read.
    MissingInclude,
    /// More jobs or threads than 4096.
    TooManyJobs,
    /// Commands in files are never executed.
    NeverExecuted,
    /// No engine for storage of this host.
    Engine,
    /// An option of one engine.
    EngineOption,
    /// An option of one of the program's profiles.
    Profile,
    /// A number with a fraction, which the program cuts off with its unit.
    Fraction,
    /// Discards are not issued.
    Trim,
    /// A recorded trace is replayed.
    Replay,
    /// Content is checked.
    Verification,
    /// A search for a depth or a rate.
    Search,
    /// Files and directories are made, opened and removed.
    FileSystemLoad,
    /// Zoned devices.
    ZonedDevice,
    /// Gaps between the zones of a plain device.
    Strides,
    /// Several jobs share the rate among them.
    Flow,
    /// A limit ends the run.
    Limit,
    /// A setting of the system that Assay leaves as it is.
    SystemSetting,
    /// Something that a workload has no word for.
    NoWord,
    /// What it refers to is not in the file.
    Missing(String),
    /// A definition lacks an option.
    Incomplete(&'static str),
    /// The result is not a valid workload.
    Invalid(String),
}

const SPACED_STARTS: &str = "jobs that share a file start evenly spaced, not all at offset 0";
const DEPTH_LADDER: &str = "steps are queue depths, because the maximum is known only at run time";
const NO_EARLY_END: &str = "the run takes its full time; `assay soak` detects a steady state";
const DEPTH_SEARCH: &str = "queue depths come from a search for saturation instead of fixed steps";
const BOTH_KINDS: &str = "large I/Os are measured at random offsets, and by one sequential stream";
const NO_FINAL_FLUSH: &str = "nothing is flushed at the end; fdatasync flushes during the run";
const BLOCKING_CALLS: &str =
    "the queue depth is 1, as with fio's synchronous engines; libaio and io_uring allow more";
const WARM_UP_BY_TIME: &str = "the warm-up is a time (--warm-up), not an amount of data";

impl Approximation {
    /// The words of those that hold nothing more.
    const fn words(&self) -> &'static str {
        match self {
            Self::EndsByTime(_) | Self::UntilStopped(_) | Self::FilesJoined(_) => "",
            Self::WholeTime => "the run takes its full time, even if a job would end earlier",
            Self::Engine => "another engine issues the same I/O (io_uring, or blocking calls)",
            Self::MappedMemory => "mapped memory is read by calls through the page cache",
            Self::AllDirect => "jobs that run together differ here; all bypass the page cache",
            Self::FileSizes => "one test file has the whole size",
            Self::SpacedStarts => SPACED_STARTS,
            Self::OnePosition => "sequential reads and writes share one position",
            Self::JointSizes => "one mix of sizes applies to reads and writes, by their shares",
            Self::RoundedSize => "sizes are rounded up to multiples of the smallest one",
            Self::MixedRounds => "with several block sizes, an address may be used twice in a pass",
            Self::Alignment => "addresses are multiples of the smallest size",
            Self::ZonesJoined => "the first zone is a hot band, the others are joined",
            Self::HotBand => "the distribution became a hot band",
            Self::Majority => "all I/Os behave as most of them do",
            Self::NoGaps => "the gap after each I/O is left out",
            Self::OutstandingMax => "the queue depth of one stream is at most 32768",
            Self::NoBatches => "I/Os are submitted and reaped one by one",
            Self::PausePerIo => "the pause follows each completion and does not stop the job",
            Self::JointRate => "reads and writes share one rate",
            Self::Steps => "starts and ends divide the time into successive workloads",
            Self::Fdatasync => "fdatasync, which leaves out times and names",
            Self::DataSync => "O_DSYNC, which leaves out times and names",
            Self::RepeatedBlocks => "repeated content repeats whole I/Os",
            Self::Dashes => "read without the dashes, which belong to a command line",
            Self::OneHost => "one host issues the I/O of several",
            Self::DepthLadder => DEPTH_LADDER,
            Self::DealtThreads => "threads are dealt out among workloads by their skew",
            Self::MeanDistance => "a random distance is replaced by its mean",
            Self::ShareOfSpace => "a byte offset is converted to a share of the space",
            Self::NoEarlyEnd => NO_EARLY_END,
            Self::DepthSearch => DEPTH_SEARCH,
            Self::SearchTime => "the time per data point applies to the whole search",
            Self::BothKinds => BOTH_KINDS,
            Self::Concatenated => "targets are concatenated instead of striped",
            Self::StripeUnit => "stripes are 1 MiB",
            Self::OneIoPerStream => "one stream has all large I/Os outstanding",
            Self::NoPriority => "all I/Os have the same priority",
            Self::NoFinalFlush => NO_FINAL_FLUSH,
            Self::BlockingCalls => BLOCKING_CALLS,
            Self::WarmUpByTime => WARM_UP_BY_TIME,
            Self::HitArea => "cache hits became a hot band as large as the hit area",
        }
    }
}

impl fmt::Display for Approximation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsByTime(time) => write!(
                formatter,
                "the job ends after an amount of data, the workload after {time} (--time)"
            ),
            Self::UntilStopped(time) => write!(
                formatter,
                "the test runs until it is stopped; the workload ends after {time} (--time)"
            ),
            Self::FilesJoined(files) => {
                write!(formatter, "{files} files become one test file of the same total size")
            }
            other => formatter.write_str(other.words()),
        }
    }
}

impl fmt::Display for OptionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::Variable(name) => return write!(formatter, "the variable '{name}' has no value"),
            Self::Missing(what) => return write!(formatter, "'{what}' is not defined in the file"),
            Self::Incomplete(what) => return write!(formatter, "it has no {what}="),
            Self::Invalid(why) => return write!(formatter, "it is not a valid workload: {why}"),
            Self::UnknownOption { .. } => "Assay does not know this option",
            Self::UnknownDistribution => "Assay does not know this distribution",
            Self::Value => "the value cannot be read",
            Self::Template => "the file is a template whose values another program fills in",
            Self::NoValue => "a value is missing",
            Self::Overflow => "the number is larger than any storage or time",
            Self::OutsideSection => "it comes before the first [section]",
            Self::NoJob => "the file contains no jobs",
            Self::Luns => "the file only lists LUNs for ORION",
            Self::NotText => "the file is not text",
            Self::TooLarge => {
                "the file is too large (at most 4 MiB, and 32 MiB with globals, variables and \
                 workloads)"
            }
            Self::CircularInclude => "the file includes itself",
            Self::DeepInclude => "included files are nested more than 16 deep",
            Self::MissingInclude => "the included file cannot be read",
            Self::TooManyJobs => "more than 4096 jobs would run at once",
            Self::NeverExecuted => "commands in job files are never executed",
            Self::Engine => "this I/O engine is not supported",
            Self::EngineOption => "it is an option of another I/O engine",
            Self::Profile => "it has no effect without its profile",
            Self::Fraction => "fio reads only whole numbers and ignores the fraction and the unit",
            Self::Trim => "discards are not issued",
            Self::Replay => "traces are not replayed",
            Self::Verification => "content is not verified by a workload",
            Self::Search => "a workload does not search",
            Self::FileSystemLoad => "Assay loads blocks, not files and directories",
            Self::ZonedDevice => "zoned devices are not supported",
            Self::Strides => "zones with gaps between them are not supported",
            Self::Flow => "jobs do not share a rate among them",
            Self::Limit => "a workload is not ended by a limit",
            Self::SystemSetting => "settings of the system stay as they are",
            Self::NoWord => "a workload cannot express it",
        };
        formatter.write_str(words)
    }
}

impl OptionReason {
    /// What to do instead.
    pub fn remedy(&self) -> String {
        let words = match self {
            Self::UnknownOption { nearest: Some(nearest) } => {
                return format!("did you mean '{nearest}'?");
            }
            Self::Variable(name) => {
                return format!(
                    "use --set {name}=VALUE; names that suggest a secret are not read from the \
                     environment"
                );
            }
            Self::Search => {
                "use `assay calibrate`, which searches for the maximum within --max-latency"
            }
            Self::Verification => "leave it out, and give --verify to `assay run` or `assay soak`",
            Self::FileSystemLoad => "describe the blocks with sd and wd, or filename and rw",
            Self::Limit => "judge the result: `--criteria FILE` with a limit on the quantity",
            Self::NeverExecuted => "run the command by hand before, or use the hooks of a study",
            Self::TooManyJobs => "use fewer jobs with a higher queue depth each",
            Self::Replay => {
                "use `assay profile` and `assay profile --workload` for the load of a database"
            }
            Self::Engine => "use libaio, io_uring or sync on a file or device",
            Self::EngineOption | Self::Profile => "remove the option",
            Self::Fraction => "write a whole number in a smaller unit, for example 1536m",
            Self::MissingInclude => "put the file next to the job file or in a directory below it",
            Self::CircularInclude | Self::DeepInclude => "remove an include",
            Self::Trim | Self::ZonedDevice | Self::Strides | Self::Flow | Self::NoWord => {
                "remove the option, or describe the workload in TOML"
            }
            Self::SystemSetting => "set it by hand before",
            Self::OutsideSection => "put [global] above it",
            Self::NoJob => {
                "write a [section] with a name other than global, a line rd= that runs a wd= on \
                 its sd=, or a 'Worker' with assigned access specifications"
            }
            Self::Luns => {
                "specify it by the test: assay calibrate --as orion -run simple -testname NAME"
            }
            Self::NotText | Self::Template => "specify a job file with its values",
            Self::TooLarge => "split the file",
            Self::Overflow | Self::Value | Self::NoValue => {
                "correct the line; see the manual of the program"
            }
            Self::UnknownOption { .. } => {
                "correct its name, or remove it if only a newer version of the program has it"
            }
            Self::UnknownDistribution => "use random, zipf, pareto, normal, zoned or zoned_abs",
            Self::Missing(_) => "define it before it is used",
            Self::Incomplete(_) => "add it to the definition",
            Self::Invalid(_) => "change the option, or describe the workload in TOML",
        };
        words.to_owned()
    }

    /// Whether a part of the load itself is missing without it, and not only something around it.
    pub const fn leaves_out_load(&self) -> bool {
        matches!(
            self,
            Self::Engine
                | Self::Trim
                | Self::Replay
                | Self::FileSystemLoad
                | Self::ZonedDevice
                | Self::Strides
        )
    }
}
