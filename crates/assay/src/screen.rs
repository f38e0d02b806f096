//! A whole terminal while a measurement lasts; however that ends, the terminal is what it was
//! before.

use assay_model::{Error, Result};
use assay_monitor::{Monitor, ScreenSize, screen};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often it is drawn.
const EVERY: Duration = Duration::from_millis(500);
/// Nobody waits longer than this for the terminal.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The other screen of the terminal, without a cursor and without what stood on it.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// The cursor and the first screen again.
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// The terminal as it was, while it is taken; it is the program's, like its signals.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);
/// What is said of a panic has to be read.
static ON_PANIC: Once = Once::new();

/// A terminal that is taken.
struct Taken {
    before: Option<Termios>,
    monitor: Monitor,
    /// Notes that were said before it was taken.
    noted: u64,
}

/// The screen; the terminal is given back when this is dropped.
pub struct Screen {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal behind standard error.
    ///
    /// # Errors
    /// A usage error when there is none.
    pub fn open(monitor: &Monitor) -> Result<Self> {
        if !io::stderr().is_terminal() {
            return Err(Error::usage(
                "--screen: standard error is not a terminal",
                "omit it, or use --live or --openmetrics",
            ));
        }
        ON_PANIC.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                // Who panics may hold the state from which notes would be read.
                give_back();
                usual(panic);
            }));
        });
        enter(monitor);
        let stop = Arc::<AtomicBool>::default();
        let (stopped, monitor) = (Arc::clone(&stop), monitor.clone());
        let work = move || draw_until(&stopped, &monitor);
        let thread = thread::Builder::new().name("screen".to_owned()).spawn(work);
        let thread = thread.map_err(|error| {
            leave();
            Error::environment(format!("--screen: {error}"), "leave it out").because(&error)
        })?;
        Ok(Self { stop, thread: Some(thread) })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        leave();
    }
}

/// Gives the terminal back where it is taken, and says below it what was said meanwhile: before
/// anything else is printed.
pub fn leave() {
    let Some(taken) = give_back() else { return };
    for note in taken.monitor.look(|state| state.said_after(taken.noted)) {
        crate::terminal::say(&note);
    }
}

/// Gives the terminal back where it is taken.
fn give_back() -> Option<Taken> {
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take()?;
    put(LEAVE);
    if let Some(before) = &taken.before {
        // A terminal that has gone needs nothing.
        let _ = tcsetattr(io::stderr(), OptionalActions::Now, before);
    }
    Some(taken)
}

/// Letters that are typed are not shown, and the program is not sent to the background with the
/// terminal; Ctrl-C stays.
fn enter(monitor: &Monitor) {
    let before = tcgetattr(io::stderr()).ok();
    if let Some(before) = &before {
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VSUSP] = 0;
        let _ = tcsetattr(io::stderr(), OptionalActions::Now, &quiet);
    }
    let noted = monitor.look(assay_monitor::MonitorState::said);
    let taken = Taken { before, monitor: monitor.clone(), noted };
    *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
    put(ENTER);
}

/// Draws until it is over or the program is asked to end: what it then says has to be read.
fn draw_until(stop: &AtomicBool, monitor: &Monitor) {
    let mut drawn: Option<Instant> = None;
    while !stop.load(Ordering::Relaxed) {
        if crate::signals::stopped() {
            leave();
            return;
        }
        if drawn.is_none_or(|drawn| drawn.elapsed() >= EVERY) {
            monitor.at_cost(|| draw(monitor));
            drawn = Some(Instant::now());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn draw(monitor: &Monitor) {
    let lines = monitor.look(|state| screen(state, monitor.cost_share(), size()));
    let mut text = String::from("\x1b[H");
    for (number, line) in lines.iter().enumerate() {
        text.push_str(if number == 0 { "\x1b[2K" } else { "\r\n\x1b[2K" });
        text.push_str(&crate::terminal::plain(line));
    }
    text.push_str("\x1b[J");
    // Not while it is being given back.
    let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.is_some() {
        put(&text);
    }
}

/// The size of the terminal now: it may have changed.
fn size() -> ScreenSize {
    let found = tcgetwinsize(io::stderr()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    let (columns, rows) = found.map_or((80, 24), |size| (size.ws_col, size.ws_row));
    ScreenSize { columns: usize::from(columns), rows: usize::from(rows) }
}

fn put(text: &str) {
    let mut terminal = io::stderr().lock();
    drop(terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()));
}
