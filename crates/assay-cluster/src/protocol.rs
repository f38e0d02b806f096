//! What driver and nodes say to each other: one JSON object a line, of bounded length, in a form
//! with a number.

use assay_model::environment::Environment;
use assay_model::load::{LoadStep, Retries};
use assay_model::measurement::{Measurement, Window};
use assay_model::number::count_of;
use assay_model::watch::Moment;
use assay_model::{Blame, Error, Result, Workload};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, Read};

/// The form of the messages; both sides must speak the same.
pub const FORMAT: u32 = 1;
/// The longest line, bytes: what a node kept on its host takes up to three quarters, an interval of
/// many streams a fiftieth.
pub const LINE_BYTES_MAX: u64 = 16 << 20;
/// The longest line of a node that is not asked for what it kept.
const WORD_BYTES_MAX: usize = 4 << 20;
/// Histograms of such a line at most: 256 streams have three operations with two each.
const HISTOGRAMS_MAX: usize = 2048;
/// Objects of such a line at most.
const OBJECTS_MAX: usize = 50_000;
/// Memory that a histogram and an object take at most times, bytes; in a line they take a
/// hundredth.
const HISTOGRAM_BYTES: usize = 100_000;
const OBJECT_BYTES: usize = 512;
/// What is shown of another program's words.
const WORDS_CHARACTERS_MAX: usize = 500;

/// The session that a driver opens with a node; it comes first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeSession {
    /// The form of the messages.
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The secret that the node was started with.
    pub token: String,
    /// Name of the host.
    pub host: String,
    /// Time between two beats, ns.
    pub period_ns: u64,
}

/// What is to be opened, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a wish of its own, independent of the others"
)]
pub struct NodeOpening {
    /// The plan of the targets, in the form of the library that reads it.
    pub target: serde_json::Value,
    /// Serial numbers or sizes of the devices whose content may go.
    pub destroy: Vec<String>,
    /// Names of the known data on them that may go as well.
    pub wipe: Vec<String>,
    /// Whether storage may be loaded that a running database has its files on.
    pub in_use: bool,
    /// Whether anything will be written.
    pub write: bool,
    /// Whether the page cache is to be passed by.
    pub direct: bool,
    /// Whether a small test file is enough while its reads do not look cached.
    pub grows: bool,
}

/// Opened targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// The host, and the block stacks below the targets.
    pub environment: Environment,
    /// Bytes of all targets together.
    pub length_bytes: u64,
    /// How the targets came about, in sentences.
    pub notes: Vec<String>,
}

/// What nobody may read who does not need it: it is sent, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

/// A database on which a node is to have sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseOpening {
    /// The plan of the load, in the form of the library that reads it.
    pub load: String,
    /// The address of the server, without its password.
    pub address: String,
    /// The password, where one is known.
    pub secret: Option<Secret>,
    /// The schema that holds the data.
    pub schema: String,
}

/// One host's part of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RungPart {
    /// The step, with the sessions and the rate of this host.
    pub step: LoadStep,
    /// Number of its first session.
    pub first_session: u32,
    /// Seed of its arrivals, where they are open.
    pub seed: u64,
}

/// What the sessions of a host came to besides what they measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RungRecord {
    /// What was refused and tried again.
    pub retries: Vec<Retries>,
    /// What was due at the end and had not begun.
    pub backlog: Option<u64>,
    /// Steps by kind that the server acknowledged, those of the warm-up among them.
    pub acknowledged: Vec<u64>,
    /// Steps by kind without an answer.
    pub unknown: Vec<u64>,
    /// Processor time of the program, s.
    pub client_cpu_s: f64,
    /// Processes of the server that served it.
    pub processes: Vec<u32>,
    /// Time that these ran, and that they waited for a processor, ns, where that is seen.
    pub served_ns: Option<(u64, u64)>,
    /// Bytes that storage gave to them.
    pub storage_read_bytes: Option<u64>,
}

/// An interval that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredPart {
    /// Begin, ns after the measured time began.
    pub start_ns: u64,
    /// End, ns after the measured time began.
    pub end_ns: u64,
    /// Time-weighted mean of the outstanding I/Os.
    pub queue_depth_mean: f64,
    /// What happened in it, in full precision.
    pub joint: Window,
    /// The machine meanwhile, where it is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Box<Moment>>,
}

/// What is to be watched of a machine while others work on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchOrder {
    /// Paths whose devices are watched; all disks that were ever used where there are none.
    pub targets: Vec<String>,
    /// Sampling interval, ns.
    pub interval_ns: u64,
    /// How long it is watched, ns; until it is stopped where that is not said.
    pub length_ns: Option<u64>,
}

/// What a node kept on its own host of a workload whose driver has died.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRecord {
    /// The moment at which it was to begin, ns on the node's clock; nothing where that is no
    /// longer kept.
    pub start_ns: Option<u64>,
    /// Intervals, in their order; the first ones may be gone.
    pub parts: Vec<MeasuredPart>,
    /// What was measured, where the node came to an end.
    pub measurement: Option<Box<Measurement>>,
    /// When the workers began.
    pub began: Option<Began>,
}

/// When a node's workers began, ns on its own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Began {
    /// The first of them.
    pub first_ns: u64,
    /// The last of them.
    pub last_ns: u64,
}

/// A refusal, with whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRefusal {
    /// What was tried and what happened.
    pub message: String,
    /// What to do next.
    pub hint: String,
    /// Whether it is the user's mistake and not the environment's refusal.
    pub usage: bool,
}

/// A word of the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NodeOrder {
    /// Opens the session.
    Hello(NodeSession),
    /// Asks what the host is, and what is below these paths on it; touches nothing.
    Survey(Vec<String>),
    /// Asks the safety gate, and touches nothing.
    Admit(NodeOpening),
    /// Opens what was admitted, and fills test files.
    Open,
    /// Keeps intervals of what is measured from now on also on the node's own host, under the name
    /// of this run, until the session is closed.
    Keep(String),
    /// Asks for what was kept of a run whose driver has died.
    Collect(String),
    /// Removes what was kept of a run.
    Forget(String),
    /// Makes everything ready for a workload, which begins with [`NodeOrder::Start`].
    Measure(Box<Workload>),
    /// The same for one of many short ones, whose tool is not compared with its ceiling.
    MeasureSlice(Box<Workload>),
    /// Makes everything ready to watch the machine, which begins with [`NodeOrder::Start`]; touches
    /// nothing.
    Watch(WatchOrder),
    /// Enters a database for sessions of a load.
    Connect(Box<DatabaseOpening>),
    /// Opens the sessions of a step, which begin with [`NodeOrder::Start`]; where there is a load
    /// before the measured one, that begins with the first and the measured one with a second.
    Climb(Box<RungPart>),
    /// When it begins, ns on the node's own clock.
    Start(u64),
    /// A sign of life, with a number that comes back; it renews the node's lease.
    Beat(u64),
    /// Ends the workload now.
    Stop,
    /// Ends the session.
    Close,
}

/// A word of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum NodeAnswer {
    /// The session is open.
    Hello(NodeGreeting),
    /// What was asked for is not done.
    Refused(NodeRefusal),
    /// The host, and the block stacks below the paths.
    Surveyed(Box<Environment>),
    /// The gate lets everything pass: what each target is, where hosts may share it.
    Admitted(Vec<Option<String>>),
    /// The targets are open.
    Opened(Box<Opened>),
    /// What was kept of a run.
    Kept(Box<KeptRecord>),
    /// What was kept of it is removed.
    Forgotten,
    /// The database was entered.
    Connected,
    /// All workers wait for the start.
    Ready,
    /// The start was known too late, by this many ns; nothing has begun.
    Late(u64),
    /// An interval is over.
    Interval(Box<MeasuredPart>),
    /// The workload has ended.
    Finished {
        /// What was measured.
        measurement: Box<Measurement>,
        /// When the workers began.
        began: Option<Began>,
        /// What else sessions of a database came to.
        rung: Option<Box<RungRecord>>,
    },
    /// The node stood still for as long, ns, and runs again.
    StoodStill(u64),
    /// What is being done, with the share that is done.
    Doing(String, f64),
    /// Something for the user to read.
    Note(String),
    /// The answer to a beat: its number, and the node's clock, ns.
    Beat(u64, u64),
}

/// The answer to the opening of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeGreeting {
    /// The form of the messages.
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The host's own name.
    pub host_name: String,
}

impl NodeSession {
    /// Whether a node of this version with this secret takes part.
    ///
    /// # Errors
    /// An environment error that names both versions, or that the token is another.
    pub fn check(&self, version: &str, token: &str) -> Result<()> {
        check_version((self.format, &self.version), (FORMAT, version))?;
        // An empty secret is none: everybody knows it.
        if !token.is_empty() && is_same(&self.token, token) {
            return Ok(());
        }
        Err(Error::environment(
            "the token of the driver is not that of this node",
            "start the nodes with the same driver",
        ))
    }
}

impl NodeGreeting {
    /// Whether the driver of this version can use the node.
    ///
    /// # Errors
    /// An environment error that names both versions.
    pub fn check(&self, version: &str) -> Result<()> {
        check_version((FORMAT, version), (self.format, &self.version))
    }
}

/// Results of two versions are not added up, even where they can read each other.
fn check_version(driver: (u32, &str), node: (u32, &str)) -> Result<()> {
    if driver == node {
        return Ok(());
    }
    let show = |(format, version): (u32, &str)| format!("assay {version} (protocol {format})");
    Err(Error::environment(
        format!("the driver has version {}, the node {}", show(driver), show(node)),
        "install the same version on all hosts",
    ))
}

/// Compares secrets in a time that says nothing of where they differ.
fn is_same(one: &str, other: &str) -> bool {
    let differs = |(one, other): (u8, u8)| one ^ other;
    one.len() == other.len()
        && one.bytes().zip(other.bytes()).map(differs).fold(0, |all, bits| all | bits) == 0
}

impl From<&Error> for NodeRefusal {
    fn from(error: &Error) -> Self {
        Self {
            message: error.message().to_owned(),
            hint: error.hint().to_owned(),
            usage: error.blame() == Blame::Usage,
        }
    }
}

impl From<NodeRefusal> for Error {
    fn from(refusal: NodeRefusal) -> Self {
        let NodeRefusal { message, hint, usage } = refusal;
        if usage { Self::usage(message, hint) } else { Self::environment(message, hint) }
    }
}

/// What the line of a node would take in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSize {
    bytes: usize,
    histograms: usize,
    objects: usize,
}

impl LineSize {
    /// Counts what the line holds, without reading it.
    pub fn new(line: &[u8]) -> Self {
        let objects = line.iter().map(|byte| usize::from(*byte == b'{')).sum::<usize>();
        // So begins the text form of every histogram, in base64; an escaped letter may hide one.
        let begins = |at: &[u8]| at.starts_with(b"HISTF") || at.starts_with(b"\\u");
        let histograms = line.windows(5).filter(|five| begins(five)).count();
        Self { bytes: line.len(), histograms, objects }
    }

    /// Whether a node may say it; what it kept of a run may be longer, where it was asked for that.
    pub fn is_allowed(&self, line: &[u8], is_collecting: bool) -> bool {
        let begin = &line[..line.len().min(64)];
        let is_kept = begin.windows(6).any(|six| six == b"\"kept\"");
        is_kept && is_collecting
            || !is_kept
                && self.bytes <= WORD_BYTES_MAX
                && self.histograms <= HISTOGRAMS_MAX
                && self.objects <= OBJECTS_MAX
    }

    /// Bytes of it in memory, about.
    pub fn memory_bytes(&self) -> u64 {
        let parts = self.histograms * HISTOGRAM_BYTES + self.objects * OBJECT_BYTES;
        count_of(2 * self.bytes + parts)
    }
}

/// The beginning of another program's words.
#[must_use]
pub fn cut(mut words: String) -> String {
    if let Some((end, _)) = words.char_indices().nth(WORDS_CHARACTERS_MAX) {
        words.truncate(end);
        words.push('…');
        words.shrink_to_fit();
    }
    words
}

/// A message as its line, with the end of the line.
///
/// # Errors
/// What the serializer says of numbers that JSON does not have.
pub fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// The next message; nothing at the end.
///
/// # Errors
/// Those of the reader; [`io::ErrorKind::InvalidData`] for a line that is too long, cut off or none
/// of the messages.
pub fn next<T: DeserializeOwned>(reader: &mut impl BufRead) -> io::Result<Option<T>> {
    next_line(reader)?.map(|line| parse(&line)).transpose()
}

/// The next line without its end; nothing at the end.
///
/// # Errors
/// Those of the reader; [`io::ErrorKind::InvalidData`] for a line that is too long or cut off.
pub fn next_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an unterminated line"));
    }
    Ok(Some(line))
}

/// The message of a line.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] for a line that is none of the messages.
pub fn parse<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    Ok(serde_json::from_slice(line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn session(version: &str, token: &str) -> NodeSession {
        NodeSession {
            format: FORMAT,
            version: version.to_owned(),
            token: token.to_owned(),
            host: "hA".to_owned(),
            period_ns: 1_000_000_000,
        }
    }

    #[test]
    fn versions_and_tokens_must_be_the_same() {
        assert!(session("1.0", "secret").check("1.0", "secret").is_ok());
        let other = session("1.0", "secret").check("1.1", "secret").unwrap_err();
        assert!(other.message().contains("assay 1.0") && other.message().contains("assay 1.1"));
        for token in ["", "secreT", "secret1"] {
            let wrong = session("1.0", "secret").check("1.0", token).unwrap_err();
            assert!(wrong.message().contains("token") && !wrong.message().contains("secret"));
        }
        let newer = NodeSession { format: FORMAT + 1, ..session("1.0", "secret") };
        assert!(newer.check("1.0", "secret").unwrap_err().message().contains("protocol 2"));
        let node =
            NodeGreeting { format: FORMAT, version: "1.1".to_owned(), host_name: String::new() };
        assert!(node.check("1.1").is_ok() && node.check("1.0").is_err());
    }

    #[test]
    fn every_word_survives_its_line() {
        let words = [
            NodeOrder::Hello(session("1.0", "secret")),
            NodeOrder::Open,
            NodeOrder::Start(u64::MAX),
            NodeOrder::Beat(7),
            NodeOrder::Stop,
            NodeOrder::Close,
        ];
        let mut lines = Vec::new();
        for word in &words {
            lines.extend(line(word).unwrap());
        }
        let mut reader = &lines[..];
        for word in words {
            assert_eq!(next::<NodeOrder>(&mut reader).unwrap(), Some(word));
        }
        assert_eq!(next::<NodeOrder>(&mut reader).unwrap(), None);
    }

    #[test]
    fn what_is_unknown_cut_off_or_too_long_is_refused() {
        let refused = |text: &[u8]| next::<NodeOrder>(&mut &text[..]).unwrap_err().kind();
        assert_eq!(refused(b"\"shout\"\n"), io::ErrorKind::InvalidData);
        assert_eq!(refused(b"{\"start\":1,\"also\":2}\n"), io::ErrorKind::InvalidData);
        assert_eq!(
            refused(b"{\"hello\":{\"format\":1,\"more\":true}}\n"),
            io::ErrorKind::InvalidData
        );
        assert_eq!(refused(b"\"sto"), io::ErrorKind::InvalidData);
        let endless = io::repeat(b' ');
        let mut endless = io::BufReader::new(endless);
        assert_eq!(next::<NodeOrder>(&mut endless).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_line_that_would_fill_the_memory_is_known_before_it_is_read() {
        let allowed = |line: &[u8], asked| LineSize::new(line).is_allowed(line, asked);
        assert!(allowed(b"\"ready\"", false));
        assert!(!allowed(&vec![b' '; WORD_BYTES_MAX + 1], false));
        assert!(!allowed("HISTF".repeat(HISTOGRAMS_MAX + 1).as_bytes(), false));
        assert!(!allowed("{".repeat(OBJECTS_MAX + 1).as_bytes(), false));
        let kept = format!("{{\"kept\":{}", "{".repeat(OBJECTS_MAX));
        assert!(!allowed(kept.as_bytes(), false) && allowed(kept.as_bytes(), true));
        let one = LineSize::new(b"{\"a\":\"HISTFAAA\"}");
        assert!(one.memory_bytes() > 100_000);
    }

    #[test]
    fn an_empty_secret_opens_nothing() {
        let error = session("1.0", "").check("1.0", "").unwrap_err();
        assert!(error.message().contains("token"), "{error}");
    }

    #[test]
    fn long_words_are_cut_and_short_ones_stay() {
        assert_eq!(cut("short".to_owned()), "short");
        let long = cut("ä".repeat(100_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (501, true));
    }

    #[test]
    fn a_secret_is_sent_and_never_shown() {
        let opening = DatabaseOpening {
            load: String::new(),
            address: "postgresql://u@h/d".to_owned(),
            secret: Some(Secret("S3cretPw".to_owned())),
            schema: "s".to_owned(),
        };
        assert!(!format!("{opening:?}").contains("S3cret"));
        let sent = line(&opening).unwrap();
        assert_eq!(next::<DatabaseOpening>(&mut &sent[..]).unwrap(), Some(opening));
    }

    #[test]
    fn a_refusal_keeps_whose_it_is() {
        for error in [Error::usage("a", "b"), Error::environment("c", "d")] {
            let back = Error::from(NodeRefusal::from(&error));
            assert_eq!((back.message(), back.hint()), (error.message(), error.hint()));
            assert_eq!(back.blame(), error.blame());
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_the_reader_fail_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = &bytes[..];
            while let Ok(Some(_)) = next::<NodeAnswer>(&mut reader) {}
        }
    }
}
