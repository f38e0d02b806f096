//! What the caller gives to everything that measures: where runs are kept, how it is stopped,
//! who hears of it.

use crate::progress::ProgressSender;
use assay_store::Store;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where runs are kept, how they are stopped, who hears of them; clones are the same.
#[derive(Clone, Debug)]
pub struct Context {
    /// Keeps the runs.
    pub store: Store,
    /// Set when the program is asked to end; what was measured until then is kept.
    pub stop: Arc<AtomicBool>,
    /// Hears how far it is.
    pub progress: ProgressSender,
    /// Whether storage of other hosts may be loaded that a running database has its files on.
    pub loads_in_use: bool,
    /// The command that led here, for the manifest; without passwords.
    pub command: Vec<String>,
    /// Directory with the programs of servers, where a cell of a study names none.
    pub server_programs: Option<PathBuf>,
    /// Programs that end what is started when this program ends.
    pub guards: Guards,
}

/// Command lines that another program's follows: it then ends with the program that started it.
#[derive(Clone, Debug)]
pub struct Guards {
    /// Before the command line of a server: parent, signal, program and arguments follow.
    pub server: Vec<String>,
    /// Before the command of a hook.
    pub hook: Vec<String>,
    /// What a node of a cluster is.
    pub node: Vec<String>,
}

impl Context {
    /// Runs in this store, silently, by the program `assay` next to this one.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            stop: Arc::default(),
            progress: ProgressSender::silent(),
            loads_in_use: false,
            command: Vec::new(),
            server_programs: None,
            guards: Guards::of(Path::new("assay")),
        }
    }

    /// Whether the program was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Guards {
    /// The guards that the program `assay` is, too; it may lie anywhere where accounts of servers
    /// may look.
    pub fn of(assay: &Path) -> Self {
        let words = |command: &str| vec![assay.display().to_string(), command.to_owned()];
        Self { server: words("guard"), hook: words("guard-hook"), node: words("node") }
    }

    /// The guards of this program itself, where it is `assay`; it may lie where an account of a
    /// server may not look.
    pub fn of_this_program() -> Self {
        Self::of(Path::new("/proc/self/exe"))
    }
}
