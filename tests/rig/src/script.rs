//! What a rig is to do, written as a builder or as a TOML file.

use crate::cache::{Cache, Lie};
use crate::fault::Fault;
use crate::latency::{Latencies, Latency, Stall};
use crate::log::Keep;
use crate::operation::Operation;
use crate::store::Content;
use assay_model::units::Bytes;
use assay_model::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How the kernel passes direct I/O on to the rig.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Opened without `FOPEN_DIRECT_IO`, with `FUSE_ASYNC_DIO`: asynchronous direct I/O keeps its
    /// depth. Synchronous direct writes to one file wait for one another in the kernel.
    #[default]
    Asynchronous,
    /// Opened with `FOPEN_DIRECT_IO` and parallel direct writes, without `FUSE_ASYNC_DIO`:
    /// asynchronous I/O blocks inside its submission, as on a device that makes the submitter wait;
    /// threads keep their depth. Nothing is ever cached.
    Blocking,
}

/// One file that exists from the start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Its name in the root of the mount.
    pub name: String,
    /// Its size; it counts as fully allocated.
    pub size: Bytes,
    /// What it holds before anything is written.
    #[serde(default)]
    pub content: Content,
}

/// The whole behaviour of a rig. Without any setting: an empty directory that serves at once and
/// without fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Version of this document: 1.
    pub format: u32,
    /// Drives content, exponential times and probabilities.
    pub seed: u64,
    /// How direct I/O is passed on.
    pub mode: Mode,
    /// Operations served at a time, in order of arrival; all of them if 0.
    pub servers: usize,
    /// Asynchronous requests that the kernel passes on at a time (its own default is 12).
    pub max_background: u16,
    /// Room for all files together; writes beyond fail with `ENOSPC`. Without end if absent.
    pub capacity: Option<Bytes>,
    /// A volatile cache before the medium; without one everything is durable at once.
    pub cache: Option<Cache>,
    /// Mounted read-only.
    pub read_only: bool,
    /// Opening with `O_DIRECT` fails with `EINVAL`.
    pub refuse_direct: bool,
    /// Which operations the log keeps.
    pub log: Keep,
    /// Service times by operation.
    pub latency: Latencies,
    /// Times without any work.
    #[serde(rename = "stall")]
    pub stalls: Vec<Stall>,
    /// Files that exist from the start.
    #[serde(rename = "file")]
    pub files: Vec<FileSpec>,
    /// What goes wrong.
    #[serde(rename = "fault")]
    pub faults: Vec<Fault>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            format: 1,
            seed: 0,
            mode: Mode::default(),
            servers: 0,
            max_background: 256,
            capacity: None,
            cache: None,
            read_only: false,
            refuse_direct: false,
            log: Keep::default(),
            latency: Latencies::default(),
            stalls: Vec::new(),
            files: Vec::new(),
            faults: Vec::new(),
        }
    }
}

impl Script {
    /// An empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file of `size_bytes` incompressible bytes.
    pub fn file(self, name: &str, size_bytes: u64) -> Self {
        self.file_of(name, size_bytes, Content::Random)
    }

    /// Adds a file with the given content.
    pub fn file_of(mut self, name: &str, size_bytes: u64, content: Content) -> Self {
        self.files.push(FileSpec { name: name.to_owned(), size: Bytes(size_bytes), content });
        self
    }

    /// Seeds content, exponential times and probabilities.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Chooses how direct I/O is passed on.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Service time of one kind of operation.
    pub fn latency(mut self, operation: Operation, latency: Latency) -> Self {
        self.latency.set(operation, latency);
        self
    }

    /// Serves at most this many operations at a time; the others wait in order of arrival.
    pub fn servers(mut self, servers: usize) -> Self {
        self.servers = servers;
        self
    }

    /// Adds a stall.
    pub fn stall(mut self, stall: Stall) -> Self {
        self.stalls.push(stall);
        self
    }

    /// Adds a fault; the first one of several that happens to an operation decides.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Limits the room for all files together.
    pub fn capacity(mut self, capacity_bytes: u64) -> Self {
        self.capacity = Some(Bytes(capacity_bytes));
        self
    }

    /// Puts a volatile cache before the medium, which writes units of this many bytes as a whole.
    pub fn cache(mut self, unit_bytes: u64, lie: Lie) -> Self {
        self.cache = Some(Cache { unit: Bytes(unit_bytes), lie });
        self
    }

    /// Mounts read-only.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Refuses `O_DIRECT`.
    pub fn refuse_direct(mut self) -> Self {
        self.refuse_direct = true;
        self
    }

    /// Asynchronous requests passed on at a time.
    pub fn max_background(mut self, requests: u16) -> Self {
        self.max_background = requests;
        self
    }

    /// Chooses which operations the log keeps.
    pub fn log(mut self, keep: Keep) -> Self {
        self.log = keep;
        self
    }

    /// Reads a script from TOML text.
    ///
    /// # Errors
    /// A usage error that says where the text is wrong, or what in it is contradictory.
    pub fn parse(text: &str) -> Result<Self> {
        let hint = "tests/rig/example.toml shows every key";
        let script: Self = toml::from_str(text)
            .map_err(|error| Error::usage(format!("the script is not valid: {error}"), hint))?;
        script.check()?;
        Ok(script)
    }

    /// Reads a script from a TOML file.
    ///
    /// # Errors
    /// As [`Script::parse`], or a usage error if the file cannot be read.
    pub fn read(path: &Path) -> Result<Self> {
        let doing = format!("reading the script {}", path.display());
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::usage(format!("{doing}: {error}"), "name a TOML file"))?;
        Self::parse(&text).map_err(|error| error.context(doing))
    }

    /// Whether the script is valid and consistent.
    ///
    /// # Errors
    /// A usage error that names the first part that cannot.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            let what = format!("format {} of the script is not known", self.format);
            return Err(Error::usage(what, "write format = 1"));
        }
        if self.max_background == 0 {
            return Err(Error::usage("max_background is 0", "write at least 1"));
        }
        self.check_files()?;
        self.stalls.iter().try_for_each(check_stall)?;
        self.faults.iter().try_for_each(Fault::check)
    }

    fn check_files(&self) -> Result<()> {
        let hint = "each file needs a name of its own, without a slash";
        for (index, file) in self.files.iter().enumerate() {
            let odd = file.name.is_empty() || file.name.contains('/') || file.name.starts_with('.');
            if odd || self.files[..index].iter().any(|other| other.name == file.name) {
                return Err(Error::usage(format!("file name '{}'", file.name), hint));
            }
        }
        Ok(())
    }
}

fn check_stall(stall: &Stall) -> Result<()> {
    let refuse = |what: &str, hint: &str| Err(Error::usage(what, hint));
    match (stall.at, stall.every) {
        (None, None) => refuse("a stall has no time", "write at = \"2s\" or every = \"20s\""),
        (_, Some(period)) if period <= stall.duration => {
            refuse("a stall is as long as its period", "write a duration below `every`")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno::Errno;
    use crate::fault::Effect;
    use assay_model::units::Nanos;
    use std::time::Duration;

    const EXAMPLE: &str = include_str!("../example.toml");

    #[test]
    fn the_example_is_valid_and_survives_writing() {
        let script = Script::parse(EXAMPLE).unwrap();
        let again = Script::parse(&toml::to_string(&script).unwrap()).unwrap();
        assert_eq!(script, again);
    }

    #[test]
    fn the_example_shows_every_effect_and_every_selection() {
        for word in [
            "error",
            "no_space_after",
            "vanish",
            "delay",
            "torn",
            "lost",
            "stale_read",
            "stale_write",
            "misdirected",
            "bit_flip",
            "nth",
            "every",
            "from",
            "after",
            "probability",
            "always",
        ] {
            assert!(EXAMPLE.contains(word), "{word}");
        }
    }

    #[test]
    fn text_and_builder_say_the_same() {
        let text = r#"
            seed = 3
            [[file]]
            name = "data"
            size = "1MiB"
            [latency]
            read = { fixed = "2ms" }
            [[stall]]
            every = "20s"
            duration = "1s"
            [[fault]]
            effect = { error = "EIO" }
            operations = ["read"]
            from = "4KiB"
            to = "8KiB"
            select = { nth = 2 }
        "#;
        let script = Script::new()
            .seed(3)
            .file("data", 1 << 20)
            .latency(Operation::Read, Latency::Fixed(Nanos(2_000_000)))
            .stall(Stall::every(Duration::from_secs(20), Duration::from_secs(1)))
            .fault(Fault::error(Errno::EIO).on(&[Operation::Read]).range(4096..8192).nth(2));
        assert_eq!(Script::parse(text).unwrap(), script);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let refused = |text: &str| Script::parse(text).unwrap_err().message().to_owned();
        assert!(refused("sed = 3").contains("unknown field"));
        assert!(refused("format = 2").contains("format 2"));
        assert!(refused("[[stall]]\nduration = \"1s\"").contains("no time"));
        assert!(refused("[[stall]]\nevery = \"1s\"\nduration = \"1s\"").contains("period"));
        let twice = "[[file]]\nname = \"a\"\nsize = \"1B\"\n".repeat(2);
        assert!(refused(&twice).contains("file name 'a'"));
        assert!(refused("[[fault]]\neffect = { error = \"EIEIO\" }").contains("EIEIO"));
    }

    #[test]
    fn an_effect_without_a_value_is_a_plain_word() {
        let script = Script::parse("[[fault]]\neffect = \"lost\"").unwrap();
        assert_eq!(script.faults[0].effect, Effect::Lost);
    }
}
