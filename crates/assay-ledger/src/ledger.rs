//! A ledger as a whole: what was begun, what was acknowledged, what was judged, stretch after
//! stretch.

use crate::frame::{FrameKind, acknowledgements, frame};
use crate::frame_stream::FrameStream;
use assay_model::durability::{Control, JudgedCut};
use assay_model::number::count_of;
use assay_model::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Read};

/// The first bytes of every ledger, with the version of its form.
pub(crate) const MAGIC: &[u8; 8] = b"ASLEDG1\n";

/// A longer ledger is neither written nor read: one of two days at 100,000 acknowledgements a
/// second is shorter.
pub(crate) const LEDGER_BYTES_MAX: u64 = 4 << 30;
/// Heads and judgements of a ledger together, bytes: thousands of cuts.
pub(crate) const DOCUMENT_BYTES_MAX: usize = 8 << 20;
/// No load has as many sessions.
const SESSIONS_MAX: u64 = 1 << 20;
/// Blocks are whole sectors.
const SECTOR_BYTES: u64 = 512;

/// The name of a ledger: 128 random bits, so that no two are taken for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LedgerId(pub [u8; 16]);

impl LedgerId {
    /// A new one.
    ///
    /// # Errors
    /// An environment error when the system gives no random bytes.
    pub fn random() -> Result<Self> {
        crate::token::random().map(Self)
    }

    /// Its 32 hexadecimal digits.
    pub fn digits(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    fn of_digits(digits: &str) -> Option<Self> {
        let byte = |at: usize| u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..16).map(byte).collect();
        (digits.len() == 32).then_some(Self(bytes?.try_into().ok()?))
    }
}

/// What the acknowledgements are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LedgerSubject {
    /// Versions of the blocks of a target.
    Blocks {
        /// The number in the stamps.
        run: u32,
        /// Bytes of a block.
        block_bytes: u64,
        /// The first byte of the target that was written to.
        first_byte: u64,
        /// Bytes from there.
        length_bytes: u64,
    },
    /// Transactions of the sessions of a load, numbered from 1 in each.
    Commits {
        /// The number in the rows that they leave.
        run: u32,
        /// The schema of the load.
        schema: String,
        /// What the server was started without, on purpose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        control: Option<Control>,
    },
}

impl LedgerSubject {
    /// How many places it has; `None` where it makes no sense.
    fn places(&self) -> Option<u64> {
        match self {
            Self::Commits { .. } => Some(SESSIONS_MAX),
            Self::Blocks { block_bytes, first_byte, length_bytes, .. } => {
                first_byte.checked_add(*length_bytes)?;
                let is_sectors = *block_bytes > 0 && block_bytes.is_multiple_of(SECTOR_BYTES);
                is_sectors.then(|| length_bytes / block_bytes)
            }
        }
    }

    /// How many of them a target of this size can have.
    fn places_on(&self, target_bytes: u64) -> u64 {
        match self {
            Self::Commits { .. } => SESSIONS_MAX,
            Self::Blocks { block_bytes, .. } => target_bytes / (*block_bytes).max(1),
        }
    }
}

/// What a stretch of a ledger begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerHead {
    /// Version of this form: 1.
    pub format: u32,
    /// Name of the ledger, the same in all its stretches.
    pub ledger: String,
    /// The target as it was named.
    pub target: String,
    /// What it is known by when it is found again: the owner of a test file, the serial number or
    /// size of a device.
    pub identity: String,
    /// What the directory of a test file is known by if the file is gone: its path and the number
    /// of its file system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The kernel's number of the time since its start, which another start changes.
    pub boot: String,
    /// When it began, nanoseconds since 1970 UTC.
    pub began_unix_ns: u64,
    /// What is acknowledged.
    pub subject: LedgerSubject,
}

/// One stretch: from its begin to the cut that ended it.
#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    /// What it began with.
    pub head: LedgerHead,
    /// The last version of each place that is acknowledged; empty but in the last stretch.
    pub promises: HashMap<u64, u32>,
    /// When it was acknowledged at the latest, ns from the start; empty but in the last stretch.
    pub promised_ns: HashMap<u64, u64>,
    /// Acknowledgements that it holds.
    pub acknowledgements: u64,
    /// Time from the start to the last of them, ns.
    pub elapsed_ns: u64,
    /// What came of the cut that ended it, once for each time that it was judged.
    pub judgements: Vec<JudgedCut>,
}

/// A ledger that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// Its name.
    pub id: LedgerId,
    /// Its stretches; at least one.
    pub epochs: Vec<Epoch>,
    /// Bytes that are whole frames; what follows was cut off or damaged.
    pub whole_bytes: u64,
    /// Bytes behind them.
    pub rest_bytes: u64,
    /// Whether whole frames lie among these: then it was damaged, and not cut off.
    pub is_damaged: bool,
}

impl Ledger {
    /// Reads a ledger. What follows the last whole frame is left out: a promise that is not read
    /// can only be missed.
    ///
    /// # Errors
    /// A usage error when it is not a ledger of a known form, or begins with no head.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::read(bytes, u64::MAX).unwrap_or_else(|error| Err(refusal(&error.to_string())))
    }

    /// The same from a file or a wire, of which one frame at a time is in memory. Promises of
    /// blocks are kept up to the size of the target: whoever sends a ledger does not decide how
    /// much memory it takes.
    ///
    /// # Errors
    /// Those of the reader; inside, those of [`parse`](Self::parse).
    pub(crate) fn read(reader: impl Read, target_bytes: u64) -> io::Result<Result<Self>> {
        let mut frames = FrameStream::new(reader);
        if !frames.takes(MAGIC)? {
            return Ok(Err(refusal("it does not start like a ledger")));
        }
        let (mut epochs, mut whole_bytes) = (Vec::new(), count_of(MAGIC.len()));
        let mut document_bytes = 0;
        while let Some((kind, content, length)) = frames.peek()? {
            if kind != FrameKind::Acknowledgements {
                document_bytes += content.len();
            }
            if document_bytes > DOCUMENT_BYTES_MAX {
                return Ok(Err(refusal("it has too many cuts")));
            }
            if take(&mut epochs, kind, content, target_bytes).is_none() {
                break;
            }
            frames.skip(length);
            whole_bytes += count_of(length);
        }
        let id = match epochs.first().map(|first: &Epoch| LedgerId::of_digits(&first.head.ledger)) {
            None => return Ok(Err(refusal("it has no intact record"))),
            Some(None) => return Ok(Err(refusal("its name is not a ledger name"))),
            Some(Some(id)) => id,
        };
        let rest = frames.rest()?;
        let (rest_bytes, is_damaged) = (rest.bytes, rest.holds_frames);
        Ok(Ok(Self { id, epochs, whole_bytes, rest_bytes, is_damaged }))
    }

    /// Takes the promises of the last stretch and their times out, which can be large.
    pub fn take_promises(&mut self) -> (HashMap<u64, u32>, HashMap<u64, u64>) {
        self.epochs.last_mut().map(Epoch::take_promises).unwrap_or_default()
    }

    /// The last stretch.
    pub fn last(&self) -> &Epoch {
        &self.epochs[self.epochs.len() - 1]
    }

    /// The judgement of every stretch that was judged; the last one of each counts.
    pub fn judgements(&self) -> Vec<JudgedCut> {
        self.epochs.iter().filter_map(|epoch| epoch.judgements.last().cloned()).collect()
    }

    /// What of it does not count, if anything.
    pub fn gap(&self) -> Option<String> {
        let (whole, rest) = (self.whole_bytes, self.rest_bytes);
        match (self.is_damaged, rest) {
            (true, _) => Some(format!(
                "the ledger is damaged at byte {whole}: the {rest} bytes from there are ignored, \
                 and nothing is added to it"
            )),
            (false, 0) => None,
            (false, _) => {
                Some(format!("the last {rest} bytes of the ledger are incomplete and ignored"))
            }
        }
    }
}

impl Epoch {
    fn new(head: LedgerHead) -> Self {
        Self {
            head,
            promises: HashMap::new(),
            promised_ns: HashMap::new(),
            acknowledgements: 0,
            elapsed_ns: 0,
            judgements: Vec::new(),
        }
    }

    fn take_promises(&mut self) -> (HashMap<u64, u32>, HashMap<u64, u64>) {
        (std::mem::take(&mut self.promises), std::mem::take(&mut self.promised_ns))
    }

    /// Takes acknowledgements in; `None` where one is of a place that the subject does not have.
    fn acknowledge(&mut self, content: &[u8], target_bytes: u64) -> Option<()> {
        let (elapsed_ns, all) = acknowledgements(content)?;
        let (places, kept) =
            (self.head.subject.places()?, self.head.subject.places_on(target_bytes));
        // All of a frame, or nothing.
        if acknowledgements(content)?.1.any(|one| one.place >= places) {
            return None;
        }
        for one in all {
            if one.place < kept {
                let known = self.promises.entry(one.place).or_default();
                if one.version > *known {
                    *known = one.version;
                    self.promised_ns.insert(one.place, elapsed_ns);
                }
            }
            self.acknowledgements += 1;
            self.elapsed_ns = elapsed_ns;
        }
        Some(())
    }
}

/// Takes a frame in; `None` where its content is none that can stand here.
fn take(epochs: &mut Vec<Epoch>, kind: FrameKind, content: &[u8], target_bytes: u64) -> Option<()> {
    match kind {
        FrameKind::Head => {
            let head: LedgerHead = read(content)?;
            let is_same = epochs.first().is_none_or(|first| first.head.ledger == head.ledger);
            if head.format != 1 || !is_same || head.subject.places().is_none() {
                return None;
            }
            // Only the last stretch is judged by its promises: those before it were, and need no
            // memory.
            if let Some(before) = epochs.last_mut() {
                drop(before.take_promises());
            }
            epochs.push(Epoch::new(head));
        }
        FrameKind::Acknowledgements => {
            epochs.last_mut()?.acknowledge(content, target_bytes)?;
        }
        FrameKind::Judgement => epochs.last_mut()?.judgements.push(read(content)?),
    }
    Some(())
}

fn read<T: DeserializeOwned>(content: &[u8]) -> Option<T> {
    serde_json::from_slice(content).ok()
}

/// A frame that holds a document.
fn document(kind: FrameKind, document: &impl Serialize) -> Result<Vec<u8>> {
    let text = serde_json::to_vec(document);
    text.map(|text| frame(kind, &text)).map_err(|error| {
        Error::environment(format!("writing JSON: {error}"), "report this as a bug")
    })
}

/// The frame that a stretch begins with.
pub(crate) fn head_frame(head: &LedgerHead) -> Result<Vec<u8>> {
    document(FrameKind::Head, head)
}

/// The frame of a judgement.
pub(crate) fn judgement_frame(judged: &JudgedCut) -> Result<Vec<u8>> {
    document(FrameKind::Judgement, judged)
}

fn refusal(what: &str) -> Error {
    Error::usage(
        format!("the ledger cannot be read: {what}"),
        "specify the ledger that `assay verify` wrote",
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::frame::{Acknowledgement, acknowledged};

    pub(crate) fn head(id: LedgerId, run: u32) -> LedgerHead {
        LedgerHead {
            format: 1,
            ledger: id.digits(),
            target: "/mnt/data".to_owned(),
            identity: "file 1".to_owned(),
            directory: Some("/mnt/data on file system 7".to_owned()),
            boot: "b".to_owned(),
            began_unix_ns: 5,
            subject: LedgerSubject::Blocks {
                run,
                block_bytes: 8192,
                first_byte: 1 << 20,
                length_bytes: 1 << 22,
            },
        }
    }

    fn bytes() -> Vec<u8> {
        let id = LedgerId([7; 16]);
        let of = |place, version| Acknowledgement { place, version };
        [
            MAGIC.to_vec(),
            head_frame(&head(id, 1)).unwrap(),
            acknowledged(10, &[of(3, 2), of(4, 1), of(3, 1)]),
            acknowledged(90, &[of(3, 5)]),
            acknowledged(95, &[]),
            head_frame(&head(id, 2)).unwrap(),
            acknowledged(1, &[of(9, 1)]),
        ]
        .concat()
    }

    #[test]
    fn the_last_acknowledged_version_of_each_place_is_promised() {
        let ledger = Ledger::parse(&bytes()).unwrap();
        assert_eq!((ledger.id, ledger.epochs.len(), ledger.rest_bytes), (LedgerId([7; 16]), 2, 0));
        let first = &ledger.epochs[0];
        assert_eq!((first.acknowledgements, first.elapsed_ns), (4, 90));
        assert!(first.promises.is_empty() && first.promised_ns.is_empty());
        assert_eq!(ledger.last().promises.len(), 1);
        let second_head = head_frame(&head(LedgerId([7; 16]), 2)).unwrap();
        let whole = bytes();
        let at = whole.windows(second_head.len()).position(|part| part == second_head).unwrap();
        let alone = Ledger::parse(&whole[..at]).unwrap();
        let promises = &alone.last().promises;
        assert_eq!((promises[&3], promises[&4], alone.last().promised_ns[&3]), (5, 1, 90));
        assert_eq!(ledger.whole_bytes, count_of(bytes().len()));
    }

    #[test]
    fn a_cut_or_damaged_end_is_left_out_and_what_is_before_it_counts() {
        let whole = bytes();
        let cut = Ledger::parse(&whole[..whole.len() - 1]).unwrap();
        assert_eq!((cut.epochs.len(), cut.last().promises.len()), (2, 0));
        assert!(
            cut.rest_bytes > 0 && cut.whole_bytes + cut.rest_bytes == count_of(whole.len()) - 1
        );
        let mut damaged = whole;
        let at = damaged.len() - 3;
        damaged[at] ^= 1;
        let damaged = Ledger::parse(&damaged).unwrap();
        assert!(damaged.last().promises.is_empty() && !damaged.is_damaged);
        assert!(damaged.gap().is_some_and(|gap| gap.contains("incomplete")));
    }

    #[test]
    fn damage_before_the_end_differs_from_an_end_that_was_cut_off() {
        let whole = bytes();
        assert_eq!(Ledger::parse(&whole).unwrap().gap(), None);
        let last = acknowledged(1, &[Acknowledgement { place: 9, version: 1 }]).len();
        for at in
            MAGIC.len() + head_frame(&head(LedgerId([7; 16]), 1)).unwrap().len()..whole.len() - last
        {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            let ledger = Ledger::parse(&damaged).unwrap();
            assert!(ledger.is_damaged, "at byte {at}");
            assert!(ledger.gap().is_some_and(|gap| gap.contains("damaged at byte")));
        }
    }

    #[test]
    fn promises_beyond_the_target_need_no_memory_and_beyond_the_range_end_it() {
        let id = LedgerId([7; 16]);
        let of = |place| acknowledged(1, &[Acknowledgement { place, version: 1 }]);
        let whole = [MAGIC.to_vec(), head_frame(&head(id, 1)).unwrap(), of(1), of(511)].concat();
        let read = |bytes: &[u8], target_bytes| Ledger::read(bytes, target_bytes).unwrap().unwrap();
        assert_eq!(read(&whole, 4 << 20).last().promises.len(), 2);
        let small = read(&whole, 1 << 20);
        assert_eq!((small.last().promises.len(), small.last().acknowledgements), (1, 2));
        let pair = [511, 512].map(|place| Acknowledgement { place, version: 9 });
        let beyond = read(&[whole, acknowledged(1, &pair)].concat(), 4 << 20);
        assert_eq!(beyond.last().promises[&511], 1);
        assert!(beyond.last().promises.len() == 2 && beyond.rest_bytes > 0);
    }

    #[test]
    fn heads_that_make_no_sense_or_never_end_are_refused() {
        let id = LedgerId([7; 16]);
        let with = |block_bytes, first_byte| {
            let length_bytes = 1 << 20;
            let subject = LedgerSubject::Blocks { run: 1, block_bytes, first_byte, length_bytes };
            head_frame(&LedgerHead { subject, ..head(id, 1) }).unwrap()
        };
        for frame in [with(0, 0), with(1000, 0), with(4096, u64::MAX)] {
            let error = Ledger::parse(&[MAGIC.to_vec(), frame].concat()).unwrap_err().to_string();
            assert!(error.contains("no intact record"), "{error}");
        }
        let one = head_frame(&head(id, 1)).unwrap();
        let many = [MAGIC.to_vec(), one.repeat(1 + DOCUMENT_BYTES_MAX / one.len() * 2)].concat();
        let error = Ledger::parse(&many).unwrap_err().to_string();
        assert!(error.contains("too many cuts"), "{error}");
    }

    #[test]
    fn a_head_of_another_ledger_ends_it() {
        let mut mixed = bytes();
        mixed.extend(head_frame(&head(LedgerId([8; 16]), 3)).unwrap());
        let ledger = Ledger::parse(&mixed).unwrap();
        assert!(ledger.epochs.len() == 2 && ledger.rest_bytes > 0);
    }

    #[test]
    fn what_is_no_ledger_is_refused() {
        for (bytes, what) in [
            (b"".to_vec(), "does not start"),
            (b"something else".to_vec(), "does not start"),
            (MAGIC.to_vec(), "it has no intact record"),
            ([MAGIC.to_vec(), acknowledged(1, &[])].concat(), "it has no intact record"),
        ] {
            let error = Ledger::parse(&bytes).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn names_are_read_from_their_digits() {
        let id = LedgerId::random().unwrap();
        assert_eq!(LedgerId::of_digits(&id.digits()), Some(id));
        assert_eq!(LedgerId::of_digits("../../etc/passwd"), None);
        assert_eq!(LedgerId::of_digits(&"zz".repeat(16)), None);
    }
}
