//! The stream of events that a live page reads: how it stands, new points, and in the end the page
//! itself (server-sent events, HTML standard section 9.2).

use crate::monitor::Monitor;
use crate::point::MonitorPoint;
use crate::state::MonitorState;
use serde::Serialize;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Events follow one another no faster than this.
const PAUSE: Duration = Duration::from_millis(500);
/// A comment after this long finds out whether the reader is still there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// What an event holds.
#[derive(Serialize)]
struct MonitorEvent<'a> {
    subject: &'a str,
    doing: &'a str,
    share: f64,
    left_s: Option<f64>,
    measured_s: f64,
    runnable: Option<u64>,
    /// Share of a core that showing costs.
    cost: f64,
    points: Vec<&'a MonitorPoint>,
    notes: Vec<&'a String>,
}

/// Where a reader stands.
#[derive(Clone, Copy, Debug, Default)]
struct ReaderPosition {
    points: u64,
    notes: u64,
}

/// Sends events until the run ends or the reader goes; `last_page` gives the page of the run once
/// it has ended.
pub(crate) fn send(
    out: &mut impl Write,
    monitor: &Monitor,
    last_page: &dyn Fn() -> Option<String>,
) -> io::Result<()> {
    let mut seen = ReaderPosition::default();
    loop {
        let sent = Instant::now();
        let has_ended = monitor.at_cost(|| send_news(out, monitor, &mut seen))?;
        if has_ended {
            return send_page(out, last_page().as_deref());
        }
        wait(out, monitor, seen, sent)?;
    }
}

/// Waits for news, and for the pause between two events.
fn wait(
    out: &mut impl Write,
    monitor: &Monitor,
    seen: ReaderPosition,
    sent: Instant,
) -> io::Result<()> {
    let is_old = |state: &MonitorState| {
        !state.has_ended && (state.taken, state.noted) == (seen.points, seen.notes)
    };
    let mut alive = sent;
    // What is being done changes more often than anybody reads it: it is sent with the next point,
    // or after a while.
    while monitor.look(is_old) && sent.elapsed() < 2 * PAUSE {
        monitor.wait(PAUSE);
        if alive.elapsed() >= SIGN_OF_LIFE {
            out.write_all(b":\n\n")?;
            alive = Instant::now();
        }
    }
    let is_over = monitor.look(|state| state.has_ended);
    let rest = PAUSE.saturating_sub(sent.elapsed());
    if !is_over && !rest.is_zero() {
        std::thread::sleep(rest);
    }
    Ok(())
}

/// Sends how it stands and what is new; says whether the run has ended.
fn send_news(
    out: &mut impl Write,
    monitor: &Monitor,
    seen: &mut ReaderPosition,
) -> io::Result<bool> {
    let cost = monitor.cost_share();
    let (text, has_ended) = monitor.look(|state| {
        let text = event(state, *seen, cost);
        *seen = ReaderPosition { points: state.taken, notes: state.noted };
        (text, state.has_ended)
    });
    out.write_all(format!("data: {text}\n\n").as_bytes())?;
    out.flush()?;
    Ok(has_ended)
}

fn event(state: &MonitorState, seen: ReaderPosition, cost: f64) -> String {
    let event = MonitorEvent {
        subject: &state.subject,
        doing: &state.doing,
        share: state.share,
        left_s: state.left_s,
        measured_s: assay_model::number::seconds(state.measured_ns),
        runnable: state.host.map(|host| host.runnable),
        cost,
        points: state.points_after(seen.points).collect(),
        notes: state.notes_after(seen.notes).collect(),
    };
    // Numbers, texts and lists of them are always JSON.
    serde_json::to_string(&event).unwrap_or_default()
}

fn send_page(out: &mut impl Write, page: Option<&str>) -> io::Result<()> {
    let text = serde_json::to_string(&page).unwrap_or_default();
    out.write_all(format!("event: page\ndata: {text}\n\n").as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::measurement::Interval;
    use std::path::Path;

    #[test]
    fn a_reader_gets_every_point_once_and_the_page_last() {
        let monitor = Monitor::new("assay");
        monitor.begin(Path::new("/runs/a"), "run of \"x\"\n");
        let interval = Interval { end_ns: 1_000_000_000, ..Interval::default() };
        (0..3).for_each(|_| monitor.interval(&interval));
        let (mut out, mut seen) = (Vec::new(), ReaderPosition::default());
        assert!(!send_news(&mut out, &monitor, &mut seen).unwrap());
        monitor.note("note: <b>");
        monitor.interval(&interval);
        monitor.end();
        assert!(send_news(&mut out, &monitor, &mut seen).unwrap());
        send_page(&mut out, Some("<!DOCTYPE html>\n<p>")).unwrap();
        let text = String::from_utf8(out).unwrap();
        let events: Vec<&str> = text.split_terminator("\n\n").collect();
        let data = |event: &str| -> serde_json::Value {
            serde_json::from_str(event.rsplit_once("data: ").unwrap().1).unwrap()
        };
        assert_eq!(events.len(), 3);
        assert_eq!(data(events[0])["points"].as_array().unwrap().len(), 3);
        assert_eq!(data(events[1])["points"].as_array().unwrap().len(), 1);
        assert_eq!(data(events[1])["notes"][0], "note: <b>");
        assert!(events[2].starts_with("event: page\n"));
        assert_eq!(data(events[2]), "<!DOCTYPE html>\n<p>");
    }
}
