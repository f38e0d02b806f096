//! Options of commands that measure: who looks on while it lasts, and what is opened for them.

use crate::live_host::LiveHost;
use crate::progress_line::left_by_pace;
use crate::screen::Screen;
use assay_app::ProgressUpdate;
use assay_app::loaded_run::LoadedRun;
use assay_model::{Error, Result};
use assay_monitor::{
    LivePages, LiveServer, MetricsFile, MetricsServer, Monitor, live_address, metrics_address,
};
use assay_report::{html, live_html};
use assay_store::{RunReader, Store, StoredDocument};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Who looks on.
#[derive(Args)]
#[command(next_help_heading = "Live options")]
pub struct LiveOptions {
    /// Serve a live page of the run to browsers on this machine; its address contains a token; by
    /// default on a free port
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0"
    )]
    pub live: Option<String>,
    /// Show the measurement live on the whole terminal
    #[arg(long, conflicts_with = "quiet")]
    pub screen: bool,
    /// Expose counters and histograms as `OpenMetrics`, at an address (`127.0.0.1:9464`) or in a
    /// new file
    #[arg(long, value_name = "ADDR|FILE")]
    pub openmetrics: Option<String>,
}

/// What is open for those who look on; all of it ends when this is dropped.
pub struct LiveObserver {
    monitor: Monitor,
    // Their order is that in which they end: the terminal first, for what is said of the others.
    screen: Option<Screen>,
    host: Option<LiveHost>,
    _server: Option<LiveServer>,
    _metrics: Option<Metrics>,
    is_quiet: bool,
    /// When the work began whose progress is shown.
    begun: Option<Instant>,
}

/// Where metrics are exposed.
#[expect(dead_code, reason = "they are held until they are dropped")]
enum Metrics {
    Address(MetricsServer),
    File(MetricsFile),
}

impl LiveOptions {
    /// Opens what is asked for; nothing where nobody looks on.
    ///
    /// # Errors
    /// A usage error for an address that is none, an environment error for one that is in use, and
    /// for no terminal.
    pub fn open(&self, store: &Store, is_quiet: bool) -> Result<Option<LiveObserver>> {
        if self.live.is_none() && !self.screen && self.openmetrics.is_none() {
            return Ok(None);
        }
        let monitor = Monitor::new(concat!("assay ", env!("CARGO_PKG_VERSION")));
        let metrics =
            self.openmetrics.as_deref().map(|place| metrics(place, &monitor)).transpose()?;
        let server =
            self.live.as_deref().map(|address| serve(address, &monitor, store)).transpose()?;
        if let Some(server) = &server {
            // Whoever asked for the page needs its address, also where nothing else is said.
            crate::terminal::say(&format!("live: {}", server.url()));
            monitor.served_at(server.url());
        }
        let screen = if self.screen { Some(Screen::open(&monitor)?) } else { None };
        let host = Some(LiveHost::begin(&monitor));
        Ok(Some(LiveObserver {
            monitor,
            screen,
            host,
            _server: server,
            _metrics: metrics,
            is_quiet,
            begun: None,
        }))
    }
}

fn metrics(place: &str, monitor: &Monitor) -> Result<Metrics> {
    if let Some(address) = metrics_address(place) {
        let server = MetricsServer::begin(address, monitor)?;
        crate::terminal::say(&format!("metrics: {}", server.url()));
        return Ok(Metrics::Address(server));
    }
    if place.contains(':') && !place.contains('/') {
        return Err(Error::usage(
            format!("--openmetrics {place}: this is not an address"),
            "write 127.0.0.1:9464, or ./NAME for a file with a colon in its name",
        ));
    }
    Ok(Metrics::File(MetricsFile::begin(Path::new(place), monitor)?))
}

fn serve(address: &str, monitor: &Monitor, store: &Store) -> Result<LiveServer> {
    let store = store.clone();
    let pages = LivePages {
        live: live_html(),
        so_far: Box::new(move |directory| page_so_far(&store, directory)),
        last: Box::new(|directory| std::fs::read_to_string(last_page(directory)).ok()),
    };
    LiveServer::begin(live_address(address)?, monitor, pages)
}

/// The page that a run keeps of itself when it ends.
fn last_page(directory: &Path) -> PathBuf {
    directory.join(StoredDocument::Report.file_name())
}

/// The page of what is kept so far; none before there is anything.
fn page_so_far(store: &Store, directory: &Path) -> Option<String> {
    let run: RunReader = store.open(&directory.display().to_string()).ok()?;
    let loaded = LoadedRun::read(&run).ok()?;
    Some(html(&loaded.report, assay_report::ReportOptions::default()))
}

impl LiveObserver {
    /// Takes what the library reports.
    pub fn take(&mut self, update: &ProgressUpdate<'_>) {
        match *update {
            ProgressUpdate::Phase { what, share, left_s } => {
                let begun = *self.begun.get_or_insert_with(Instant::now);
                let by_pace = || left_by_pace(share, begun.elapsed().as_secs_f64());
                self.monitor.show(what, share, left_s.or_else(by_pace));
            }
            ProgressUpdate::Idle => {
                self.begun = None;
                self.monitor.idle();
            }
            ProgressUpdate::Note(text) => self.monitor.note(text),
            ProgressUpdate::Run { directory, subject } => self.monitor.begin(directory, subject),
            ProgressUpdate::Interval(interval) => self.monitor.interval(interval),
        }
    }

    /// Whether the whole terminal is taken, so that no line of progress has room.
    pub const fn has_screen(&self) -> bool {
        self.screen.is_some()
    }
}

impl Drop for LiveObserver {
    fn drop(&mut self) {
        (self.screen, self.host) = (None, None);
        if !self.is_quiet {
            let (cost_s, share) = (self.monitor.cost_s(), self.monitor.cost_share());
            let percent = 100.0 * share;
            crate::terminal::say(&format!(
                "note: the live view used {cost_s:.2} s of CPU time, {percent:.2}% of a core"
            ));
        }
    }
}
