//! The parameters of Vdbench by the definition that they belong to; all may be shortened as long as
//! they are clear.

use crate::reading::ReadingRule;
use crate::reason::{Approximation, OptionReason};

/// What a line defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionKind {
    /// Parameters of the whole file.
    General,
    /// A host.
    Host,
    /// Storage: a device or a file.
    Storage,
    /// A workload.
    Workload,
    /// A run.
    Run,
    /// Anything of the load on file systems.
    FileSystem,
    /// A group of traces.
    Replay,
}

const GENERAL: &str = "
    abort_failed_skew auxreport compratio concatenate concatenatesds create_anchors data_errors \
                       debug dedupratio
    dedupunit dedupsets deduphotsets dedupflipflop dedupseed endcmd formatsds formatxfersize \
                       fwd_thread_adjust histogram include
    ios_per_jvm journal loop messagescan monitor pattern port report report_run_totals startcmd \
                       showlba timeout validate
    patterns stop_after swat tmpdir creates formatted";
const HOST: &str = "system user vdbench shell jvms clients mount master";
const STORAGE: &str = "
    lun host hd count size range threads hitarea journal offset align openflags streams replay \
                       resetbus resetlun
    compratio dedupratio dedupunit dedupsets pattern";
const WORKLOAD: &str = "
    sd xfersize rdpct seekpct skew rhpct whpct range threads openflags hotband iorate priority \
                        streams stride host hd
    hitarea pattern";
const RUN: &str = "
    wd sd fwd elapsed interval iorate warmup pause maxdata maxdatar maxdataw forxfersize \
                   forthreads forrdpct forseekpct
    forrhpct forwhpct forhitarea forcompratio forhpct xfersize threads rdpct seekpct rhpct whpct \
                   hitarea compratio curve
    stopcurve distribution openflags endcmd startcmd mount replay fwdrate format operations \
                   foroperations fordepth
    forwidth forfiles forsizes fortotal host hd";

/// The definition that a line begins with.
pub fn entity(key: &str) -> Option<DefinitionKind> {
    Some(match key.to_ascii_lowercase().as_str() {
        "hd" | "host" => DefinitionKind::Host,
        "sd" => DefinitionKind::Storage,
        "wd" => DefinitionKind::Workload,
        "rd" => DefinitionKind::Run,
        "fsd" | "fwd" => DefinitionKind::FileSystem,
        "rg" => DefinitionKind::Replay,
        _ => return None,
    })
}

/// Whether a line that begins so defines something new, though a comma ends the line before it:
/// `sd=` within a workload names its storage, and within storage begins the next.
pub fn ends(current: DefinitionKind, key: &str) -> bool {
    let rank = |kind: DefinitionKind| match kind {
        DefinitionKind::General => 0,
        DefinitionKind::Host => 1,
        DefinitionKind::Storage | DefinitionKind::Replay => 2,
        DefinitionKind::FileSystem | DefinitionKind::Workload => 3,
        DefinitionKind::Run => 4,
    };
    entity(key).is_some_and(|next| rank(next) >= rank(current) && next != DefinitionKind::Host)
}

fn list(entity: DefinitionKind) -> &'static str {
    match entity {
        DefinitionKind::General => GENERAL,
        DefinitionKind::Host => HOST,
        DefinitionKind::Storage => STORAGE,
        DefinitionKind::Workload => WORKLOAD,
        DefinitionKind::Run => RUN,
        DefinitionKind::FileSystem | DefinitionKind::Replay => "",
    }
}

/// The full name of a parameter, where it is one: the first that begins so, of two letters at
/// least.
pub fn full(entity: DefinitionKind, key: &str) -> Option<&'static str> {
    let key = match key.to_ascii_lowercase().as_str() {
        "readpct" => "rdpct".to_owned(),
        "forreadpct" => "forrdpct".to_owned(),
        key => key.to_owned(),
    };
    let names = || list(entity).split_whitespace();
    let same = names().find(|name| *name == key);
    same.or_else(|| names().find(|name| key.len() >= 2 && name.starts_with(&key)))
}

/// The nearest parameter to one that is none.
pub fn nearest(entity: DefinitionKind, key: &str) -> Option<String> {
    let known: Vec<String> = list(entity).split_whitespace().map(str::to_owned).collect();
    assay_model::document::nearest(key, &known).map(str::to_owned)
}

/// What becomes of a parameter that nobody asks for.
pub fn rule(name: &str) -> ReadingRule {
    match name {
        "startcmd" | "endcmd" => ReadingRule::Never(OptionReason::NeverExecuted),
        "validate" | "journal" => ReadingRule::Never(OptionReason::Verification),
        "replay" => ReadingRule::Never(OptionReason::Replay),
        "priority" => ReadingRule::Near(Approximation::NoPriority),
        "resetbus" | "resetlun" => ReadingRule::Never(OptionReason::SystemSetting),
        "stopcurve" => ReadingRule::Never(OptionReason::Limit),
        "align" => ReadingRule::Near(Approximation::Alignment),
        "dedupunit" | "dedupsets" | "deduphotsets" | "dedupflipflop" | "pattern" => {
            ReadingRule::Near(Approximation::RepeatedBlocks)
        }
        "maxdata" | "maxdatar" | "maxdataw" => ReadingRule::Near(Approximation::WholeTime),
        _ => ReadingRule::NoEffect,
    }
}
