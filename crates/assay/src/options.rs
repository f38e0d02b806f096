//! Options that several commands share.

use crate::live_options::{LiveObserver, LiveOptions};
use crate::progress_line::ProgressLine;
use crate::store_place;
use assay_app::{Context, Guards, ProgressSender};
use assay_dbserver::{may_hold_password, redacted};
use assay_model::Error;
use assay_store::Store;
use clap::Args;
use std::path::{Path, PathBuf};

/// Heading of the options that all commands have, at the end of each help.
pub const COMMON: &str = "Common options";

/// Where runs are kept.
#[derive(Args)]
pub struct StoreOptions {
    /// Directory for stored runs; by default ./assay-runs if it exists, otherwise the path in
    /// ~/.config/assay/store, a file with one line; $TMPDIR if neither can be written
    #[arg(long, value_name = "DIR", env = "ASSAY_STORE", hide_env_values = true, global = true)]
    pub store: Option<PathBuf>,
}

impl StoreOptions {
    /// The store; nothing is touched.
    pub fn open(&self) -> Store {
        Store::at(self.path())
    }

    fn path(&self) -> PathBuf {
        let usual = || store_place::usual(Path::new(store_place::HERE));
        self.store.clone().unwrap_or_else(usual)
    }

    /// That runs go to a temporary place, which goes with its container or machine.
    fn note(&self) -> Option<String> {
        let path = self.path();
        let is_temporary = self.store.is_none() && Some(&path) == store_place::temporary().as_ref();
        is_temporary.then(|| {
            format!(
                "note: {} cannot be written, so the run is kept in {}: copy it before this \
                 machine or container ends, or specify --store DIR",
                store_place::HERE,
                path.display()
            )
        })
    }
}

/// How results are shown.
#[derive(Args)]
pub struct OutputOptions {
    /// Print JSON documents instead of text
    #[arg(long)]
    pub json: bool,
    /// Print the full text on a terminal, not only the first screen
    #[arg(long)]
    pub full: bool,
    /// Do not print progress or notes on standard error
    #[arg(long, short)]
    pub quiet: bool,
}

/// How a run is begun, kept and shown.
#[derive(Args)]
pub struct RunOptions {
    #[command(flatten)]
    pub live: LiveOptions,
    #[command(flatten, next_help_heading = COMMON)]
    pub start: StartOptions,
    #[command(flatten)]
    pub store: StoreOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

impl RunOptions {
    /// The file of the page that is asked for.
    pub fn page(&self) -> Option<&Path> {
        self.start.html.as_deref()
    }

    /// The context of a command that measures.
    ///
    /// # Errors
    /// Those of [`measuring_context`].
    pub fn context(&self) -> Result<Context, Error> {
        measuring_context(&self.store, &self.output, &self.start, &self.live)
    }
}

/// What the library is given by the command line: store, signals, the line of progress, the command
/// as it was typed.
///
/// # Errors
/// An environment error when the system takes no handler of signals.
pub fn context(store: &StoreOptions, output: &OutputOptions) -> Result<Context, Error> {
    context_of(store.open(), progress(output))
}

/// The same for a command that measures: its run may have a name, and others may look on.
///
/// # Errors
/// The same, a usage error when that cannot be a name, and what stands against those who look on.
pub fn measuring_context(
    store: &StoreOptions,
    output: &OutputOptions,
    start: &StartOptions,
    live: &LiveOptions,
) -> Result<Context, Error> {
    start.check()?;
    let note = store.note();
    let store = store.open().labelled(start.name.as_deref())?;
    let progress = match live.open(&store, output.quiet)? {
        None => progress(output),
        Some(view) => shown_live(output, view),
    };
    if let Some(note) = &note {
        progress.say(note);
    }
    Ok(Context { loads_in_use: start.yes, ..context_of(store, progress)? })
}

fn context_of(store: Store, progress: ProgressSender) -> Result<Context, Error> {
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
pub fn progress(output: &OutputOptions) -> ProgressSender {
    let mut line = ProgressLine::new(!output.json, output.quiet);
    ProgressSender::new(move |update| line.take(update))
}

/// The same with others who look on; a screen has no room for a line, and shows notes itself.
fn shown_live(output: &OutputOptions, mut view: LiveObserver) -> ProgressSender {
    let has_screen = view.has_screen();
    let mut line = ProgressLine::new(!output.json && !has_screen, output.quiet || has_screen);
    ProgressSender::new(move |update| {
        view.take(&update);
        line.take(update);
    })
}

/// Whether anything begins at all.
#[derive(Args)]
pub struct StartOptions {
    /// Print the load, its duration and what would be written where; change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask for confirmation when a running database uses the storage
    #[arg(long)]
    pub yes: bool,
    /// Name of the run, for use with `runs`, `compare` and `report`
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Also write the HTML page of the run to this new file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

impl StartOptions {
    /// Refuses what could not be written after everything was measured.
    ///
    /// # Errors
    /// A usage error when the file of the page exists, or its directory does not.
    fn check(&self) -> Result<(), Error> {
        let Some(path) = &self.html else { return Ok(()) };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let trouble = if path.exists() {
            "already exists"
        } else if directory.is_some_and(|directory| !directory.is_dir()) {
            "is in a directory that does not exist"
        } else {
            return Ok(());
        };
        Err(Error::usage(
            format!("{} {trouble}", path.display()),
            "specify a new file in an existing directory",
        ))
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
