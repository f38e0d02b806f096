//! The driver of a cluster: it opens a session with every node, has all of them begin together, and
//! hears what they measure until the last has ended or the first is lost.

use super::course::{Attempt, HostsCourse, Measured, MergedObserver};
use super::hosts::HostNames;
use super::links::NodeLinks;
use super::wire::{NodeEvent, is_turned_away, random_digits};
use crate::context::Context;
use crate::progress::ProgressSender;
use assay_cluster::clock::Clock;
use assay_cluster::environments::HostEnvironment;
use assay_cluster::findings::{HostRecord, StartFindings};
use assay_cluster::merge::Merger;
use assay_cluster::protocol::{
    self, DatabaseOpening, KeptRecord, NodeAnswer, NodeOpening, NodeOrder, NodeSession, Opened,
};
use assay_cluster::schedule::{ATTEMPTS, lead_ns, period_ns, silence_ns};
use assay_engine::monotonic_ns;
use assay_model::cluster::HostLoss;
use assay_model::environment::Environment;
use assay_model::measurement::Finish;
use assay_model::number::{count_of, seconds};
use assay_model::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the driver looks at silence and at the stop flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Questions to each clock before the start, and the time between two of them.
const PINGS: usize = 40;
const PING_EVERY: Duration = Duration::from_millis(2);
/// How often all clocks are asked that number of questions at most, and for how many hosts more
/// than once.
const ROUNDS: usize = 5;
const ASKED_AGAIN_MAX: usize = 32;
/// Hosts that are named in one refusal.
const NAMES_SHOWN: usize = 8;
/// How long a host may take to start its node: to log in, or to schedule a step or a pod.
const LOGIN_NS: u64 = 15_000_000_000;
/// Signs of life to hosts that have started, while others have not.
const GREETED_BEAT: Duration = Duration::from_secs(1);
/// How long after its end a workload may take to be over: I/Os in flight are waited for.
const GRACE_NS: u64 = 60_000_000_000;
/// How long after the end of its first interval that may take to be heard of.
const BEGIN_NS: u64 = 20_000_000_000;

/// Until when what is to be heard of hosts, ns on the driver's clock.
#[expect(clippy::struct_field_names, reason = "the unit is a part of each name")]
struct DriverBounds {
    /// The common start.
    at_ns: u64,
    /// The first interval.
    begun_ns: u64,
    /// The end.
    overdue_ns: u64,
}

/// What hosts do together once.
pub(super) struct Round<'a> {
    /// What each is asked, in the order of the hosts.
    pub(super) orders: &'a [Option<NodeOrder>],
    /// How long it takes from the start on, ns.
    pub(super) length_ns: u64,
    /// Load from the start on before the first interval, ns.
    pub(super) unmeasured_ns: u64,
    /// Length of an interval, ns.
    pub(super) interval_ns: u64,
    /// Whether hosts meet twice: there is a load before the measured one.
    pub(super) warms_up: bool,
    /// Called when all are ready, right before they begin: whether what begins is the measured
    /// time.
    pub(super) begins: &'a mut dyn FnMut(bool),
}

/// A session with all nodes.
pub(super) struct Driver {
    links: NodeLinks,
    pub(super) hosts: Vec<HostRecord>,
    period_ns: u64,
    /// When hosts that have started are next given a sign of life; nothing once all have.
    greeting: Option<Instant>,
    /// When hosts began together the last time, ns; nothing where they have not yet.
    started_ns: Option<u64>,
    stop: Arc<AtomicBool>,
    progress: ProgressSender,
}

impl Driver {
    /// Starts the nodes and opens a session with each.
    ///
    /// # Errors
    /// An environment error when one cannot be started, or is of another version.
    pub(super) fn open(hosts: &HostNames, context: &Context) -> Result<Self> {
        // A secret: lines that went astray are none of this session's.
        let token = random_digits()?;
        let names = hosts.names();
        let period_ns = period_ns(count_of(names.len()));
        let clock = match hosts {
            HostNames::Local(_) => Clock::of_this_machine(),
            HostNames::Named(_) | HostNames::Reached { .. } => Clock::default(),
        };
        let record =
            |name: String| HostRecord { name, clock: clock.clone(), ..HostRecord::default() };
        let mut driver = Self {
            links: NodeLinks::open(hosts, &context.guards.node, &token)?,
            hosts: names.into_iter().map(record).collect(),
            period_ns,
            greeting: Some(Instant::now()),
            started_ns: None,
            stop: Arc::clone(&context.stop),
            progress: context.progress.clone(),
        };
        driver.greet(&token)?;
        driver.links.beat(period_ns)?;
        Ok(driver)
    }

    fn greet(&mut self, token: &str) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        for (host, record) in self.hosts.iter().enumerate() {
            let session = NodeSession {
                format: protocol::FORMAT,
                version: version.to_owned(),
                token: token.to_owned(),
                host: record.name.clone(),
                period_ns: self.period_ns,
            };
            self.links.say(host, &NodeOrder::Hello(session));
        }
        let greetings = self.answers_of_all(|word| match word {
            NodeAnswer::Hello(greeting) => Some(greeting),
            _ => None,
        })?;
        self.greeting = None;
        self.links.were_heard();
        for (record, greeting) in self.hosts.iter_mut().zip(greetings) {
            greeting.check(version).map_err(|error| error.context(&record.name))?;
            record.host_name = greeting.host_name;
        }
        Ok(())
    }

    /// Asks the safety gate of every host; gives what each target is to those of one machine.
    ///
    /// # Errors
    /// What any gate says; nothing has been touched on any host then.
    pub(super) fn admit(&mut self, opening: &NodeOpening) -> Result<Vec<Vec<Option<String>>>> {
        self.links.say_all(&NodeOrder::Admit(opening.clone()));
        self.answers_of_all(|word| match word {
            NodeAnswer::Admitted(places) => Some(places),
            _ => None,
        })
    }

    /// Asks every host what it is, and what is below some paths on it.
    ///
    /// # Errors
    /// What any host says, for example that a path is not there.
    pub(super) fn survey(&mut self, targets: &[String]) -> Result<Vec<Environment>> {
        self.links.say_all(&NodeOrder::Survey(targets.to_vec()));
        self.answers_of_all(|word| match word {
            NodeAnswer::Surveyed(environment) => Some(*environment),
            _ => None,
        })
    }

    /// The same with the name of each.
    ///
    /// # Errors
    /// The same.
    pub(super) fn described(&mut self, targets: &[String]) -> Result<Vec<HostEnvironment>> {
        let environments = self.survey(targets)?;
        Ok(self.hosts.iter().map(|host| host.name.clone()).zip(environments).collect())
    }

    /// Has every host enter a database, dealt in turn where there are several.
    ///
    /// # Errors
    /// What any host says.
    pub(super) fn connect(&mut self, openings: &[DatabaseOpening]) -> Result<()> {
        for (host, opening) in (0..self.hosts.len()).zip(openings.iter().cycle()) {
            self.links.say(host, &NodeOrder::Connect(Box::new(opening.clone())));
        }
        self.answers_of_all(|word| matches!(word, NodeAnswer::Connected).then_some(())).map(drop)
    }

    /// Has every host open what was admitted.
    ///
    /// # Errors
    /// What any host says; the others remove what they made when the session ends.
    pub(super) fn open_targets(&mut self) -> Result<Vec<Opened>> {
        self.links.say_all(&NodeOrder::Open);
        let opened = self.answers_of_all(|word| match word {
            NodeAnswer::Opened(opened) => Some(*opened),
            _ => None,
        });
        self.progress.clear();
        opened
    }

    /// Has every host keep what it measures also on its own disk, until the session ends.
    pub(super) fn keep(&self, run: &str) {
        self.links.say_all(&NodeOrder::Keep(run.to_owned()));
    }

    /// Asks every host for what it kept of a run whose driver has died.
    ///
    /// # Errors
    /// What any host says.
    pub(super) fn collect(&mut self, run: &str) -> Result<Vec<KeptRecord>> {
        self.links.say_all(&NodeOrder::Collect(run.to_owned()));
        self.answers_of_all(|word| match word {
            NodeAnswer::Kept(record) => Some(*record),
            _ => None,
        })
    }

    /// Has every host remove what it kept of a run.
    ///
    /// # Errors
    /// What any host says.
    pub(super) fn forget(&mut self, run: &str) -> Result<()> {
        self.links.say_all(&NodeOrder::Forget(run.to_owned()));
        self.answers_of_all(|word| matches!(word, NodeAnswer::Forgotten).then_some(())).map(drop)
    }

    /// Asks every clock a number of times, and again where the best answer of one of a few was
    /// slow.
    pub(super) fn ask_clocks(&mut self) -> Result<()> {
        self.ask_clocks_once()?;
        let rounds = if self.hosts.len() <= ASKED_AGAIN_MAX { ROUNDS - 1 } else { 0 };
        for _ in 0..rounds {
            if self.hosts.iter().all(|host| host.clock.is_precise()) {
                break;
            }
            self.ask_clocks_once()?;
        }
        Ok(())
    }

    fn ask_clocks_once(&mut self) -> Result<()> {
        for _ in 0..PINGS {
            self.links.say_all(&NodeOrder::Beat(monotonic_ns()));
            let until = Instant::now() + PING_EVERY;
            while let Some((host, event)) =
                self.links.next(until.saturating_duration_since(Instant::now()))
            {
                match event {
                    NodeEvent::Answered(ping) => self.hosts[host].clock.add(ping),
                    NodeEvent::Said(_) => {}
                    NodeEvent::Gone(words) => return Err(self.lost(host, words)),
                }
            }
        }
        Ok(())
    }

    /// Measures what each host has to do, on all of them together; a host without anything to do
    /// rests.
    ///
    /// # Errors
    /// What any of them says before the first start, or that they cannot begin together. What
    /// happens later is in the result.
    pub(super) fn measure(
        &mut self,
        round: &mut Round<'_>,
        observer: MergedObserver<'_>,
    ) -> Result<Measured> {
        let members: Vec<usize> =
            (0..round.orders.len()).filter(|host| round.orders[*host].is_some()).collect();
        let measured = self.measure_on(&members, round, observer);
        let is_lost = members.iter().any(|host| self.hosts[*host].lost.is_some());
        match (measured, self.started_ns) {
            (Err(error), Some(_)) if is_lost => {
                Ok(nothing_measured(members.len(), round.interval_ns, &error))
            }
            (measured, _) => measured,
        }
    }

    fn measure_on(
        &mut self,
        members: &[usize],
        round: &mut Round<'_>,
        observer: MergedObserver<'_>,
    ) -> Result<Measured> {
        let orders = round.orders;
        self.begin_anew(members)?;
        let mut worst = (0, 0);
        for number in 0..ATTEMPTS {
            for (host, order) in orders.iter().enumerate() {
                if let Some(order) = order {
                    self.links.say(host, order);
                }
            }
            self.are_ready(members)?;
            if round.warms_up {
                (round.begins)(false);
                self.begin_at(members, number)?;
                self.are_ready(members)?;
            }
            (round.begins)(true);
            match self.attempt(members, round, number, observer)? {
                Attempt::Measured(measured) => {
                    self.started_ns = Some(measured.start.at_ns);
                    return Ok(*measured);
                }
                Attempt::Late { host, by_ns } => worst = (host, by_ns),
            }
        }
        let (name, late_ms) = (&self.hosts[worst.0].name, seconds(worst.1) * 1e3);
        Err(Error::environment(
            format!(
                "the hosts cannot start together: {name} received the start {late_ms:.1} ms too \
                 late"
            ),
            "check the network to this host, and other programs on it",
        ))
    }

    /// Forgets what the last workload came to; no host that takes part may have been lost
    /// meanwhile.
    fn begin_anew(&mut self, members: &[usize]) -> Result<()> {
        for host in members {
            if let Some(loss) = &self.hosts[*host].lost {
                let reason = loss.reason.clone();
                return Err(self.lost(*host, reason));
            }
            let record = &mut self.hosts[*host];
            (record.begin, record.conduct) = (None, None);
        }
        Ok(())
    }

    fn are_ready(&mut self, members: &[usize]) -> Result<()> {
        self.answers(members, |word| matches!(word, NodeAnswer::Ready).then_some(())).map(drop)
    }

    /// Gives each of them the moment at which all begin, and says which it is on the driver's
    /// clock.
    fn begin_at(&mut self, members: &[usize], number: u32) -> Result<u64> {
        let clocks: Vec<Clock> =
            members.iter().map(|host| self.hosts[*host].clock.clone()).collect();
        let at_ns = monotonic_ns() + lead_ns(&clocks, number, self.started_ns.is_some());
        for (host, clock) in members.iter().copied().zip(&clocks) {
            let Some(local_ns) = clock.to_node_ns(at_ns) else {
                return Err(self.lost(host, "it does not answer heartbeats".to_owned()));
            };
            self.links.say(host, &NodeOrder::Start(local_ns));
        }
        Ok(at_ns)
    }

    /// One attempt of hosts that are ready to begin together.
    fn attempt(
        &mut self,
        members: &[usize],
        round: &Round<'_>,
        number: u32,
        observer: MergedObserver<'_>,
    ) -> Result<Attempt> {
        let at_ns = self.begin_at(members, number)?;
        let intervals = round.length_ns / round.interval_ns.max(1);
        let mut course = HostsCourse::new(members.to_vec(), intervals, observer);
        let bounds = DriverBounds {
            at_ns,
            begun_ns: at_ns + round.unmeasured_ns + 2 * round.interval_ns + BEGIN_NS,
            overdue_ns: at_ns + round.length_ns + GRACE_NS,
        };
        self.follow(&mut course, &bounds);
        let (attempts, interval_ns) = (number + 1, round.interval_ns);
        let start = StartFindings { at_ns, attempts, interval_ns, warm_up_ns: 0 };
        course.conclude(start, &mut self.hosts)
    }

    /// Hears all hosts until each has ended or is lost.
    fn follow(&mut self, course: &mut HostsCourse<'_>, bounds: &DriverBounds) {
        let at_ns = bounds.at_ns;
        while course.awaited().any(|host| self.hosts[host].lost.is_none()) {
            match self.links.next(POLL_INTERVAL) {
                Some((host, NodeEvent::Said(NodeAnswer::StoodStill(still_ns)))) => {
                    let longest_ns = &mut self.hosts[host].stood_still_ns;
                    *longest_ns = (*longest_ns).max(Some(still_ns));
                }
                Some((host, NodeEvent::Said(word))) if self.hosts[host].lost.is_none() => {
                    if let Err(reason) = course.take(host, word, self.links.held_bytes()) {
                        self.lose(host, at_ns, reason);
                    }
                }
                Some((host, NodeEvent::Answered(ping))) => self.hosts[host].clock.add(ping),
                Some((host, NodeEvent::Gone(words))) if course.awaited().any(|one| one == host) => {
                    self.lose(host, at_ns, words);
                }
                // A host that was lost has no part in it any more.
                Some((_, NodeEvent::Said(_) | NodeEvent::Gone(_))) | None => {}
            }
            self.look_for_silence(course, bounds);
            course.was_stopped |= self.stop.load(Ordering::Relaxed);
            let is_lost = course.members().iter().any(|host| self.hosts[*host].lost.is_some());
            if !course.is_stopping && (course.was_stopped || is_lost || course.must_stop()) {
                course.is_stopping = true;
                course.members().iter().for_each(|host| self.links.say(*host, &NodeOrder::Stop));
            }
        }
    }

    fn look_for_silence(&mut self, course: &HostsCourse<'_>, bounds: &DriverBounds) {
        let now_ns = monotonic_ns();
        for host in course.awaited() {
            if let Some(words) = self.silence(host) {
                self.lose(host, bounds.at_ns, words);
            } else if now_ns > bounds.overdue_ns {
                self.lose(host, bounds.at_ns, "it did not finish".to_owned());
            } else if now_ns > bounds.begun_ns && !course.has_begun(host) {
                let words = "it measured nothing: check its clock";
                self.lose(host, bounds.at_ns, words.to_owned());
            }
        }
    }

    /// That a host has been silent for too long, in words.
    fn silence(&self, host: usize) -> Option<String> {
        let silent_ns = self.links.silent_ns(host);
        let usual_ns = silence_ns(self.period_ns);
        let limit_ns = if self.greeting.is_some() { LOGIN_NS.max(usual_ns) } else { usual_ns };
        let is_lost = silent_ns > limit_ns;
        is_lost.then(|| format!("it sent nothing for {:.1} s", seconds(silent_ns)))
    }

    /// Notes the loss of a host while a workload runs.
    fn lose(&mut self, host: usize, at_ns: u64, words: String) {
        if self.hosts[host].lost.is_some() {
            return;
        }
        let reason = self.end_in_words(host, words);
        self.links.turn_away(host);
        let after_ns = monotonic_ns().cast_signed().wrapping_sub(at_ns.cast_signed());
        self.hosts[host].lost = Some(HostLoss { after_ns, reason });
    }

    /// How a node ended, where its program says more than these words.
    fn end_in_words(&mut self, host: usize, words: String) -> String {
        if is_turned_away(&words) {
            return words;
        }
        self.links.end_of(host).unwrap_or(words)
    }

    /// Hears hosts that rest; why one of them is lost, where one is.
    pub(super) fn hear_resting(&mut self) -> Option<String> {
        while let Some((host, event)) = self.links.next(Duration::ZERO) {
            match event {
                NodeEvent::Answered(ping) => self.hosts[host].clock.add(ping),
                NodeEvent::Gone(words) => return Some(self.lost(host, words).message().to_owned()),
                NodeEvent::Said(_) => {}
            }
        }
        let silent = (0..self.hosts.len()).find_map(|host| Some((host, self.silence(host)?)));
        silent.map(|(host, words)| self.lost(host, words).message().to_owned())
    }

    /// The loss of a host while nothing is measured.
    fn lost(&mut self, host: usize, words: String) -> Error {
        let known = self.hosts[host].lost.as_ref().map(|loss| loss.reason.clone());
        let reason = known.unwrap_or_else(|| self.end_in_words(host, words));
        if let Some(started_ns) = self.started_ns {
            let after_ns = monotonic_ns().saturating_sub(started_ns).cast_signed();
            let loss = HostLoss { after_ns, reason: reason.clone() };
            self.hosts[host].lost.get_or_insert(loss);
        }
        Error::environment(
            format!("the host {} was lost: {reason}", self.hosts[host].name),
            "check the host, then start again",
        )
    }

    /// The answer of each host, in their order.
    ///
    /// # Errors
    /// What the hosts refuse, all at once; that one was lost; that somebody stopped it.
    fn answers_of_all<T>(&mut self, pick: impl Fn(NodeAnswer) -> Option<T>) -> Result<Vec<T>> {
        let all: Vec<usize> = (0..self.hosts.len()).collect();
        self.answers(&all, pick)
    }

    /// The same of some of them.
    fn answers<T>(
        &mut self,
        of: &[usize],
        pick: impl Fn(NodeAnswer) -> Option<T>,
    ) -> Result<Vec<T>> {
        let mut answers: Vec<Option<Result<T>>> = self.hosts.iter().map(|_| None).collect();
        while of.iter().any(|host| answers[*host].is_none()) {
            if self.stop.load(Ordering::Relaxed) {
                let error = Error::environment("it was stopped before it began", "start again");
                return Err(error.of_kind(ErrorKind::Stopped));
            }
            let started = of.iter().copied().filter(|host| answers[*host].is_some());
            self.keep_alive(started);
            match self.links.next(POLL_INTERVAL) {
                Some((host, NodeEvent::Said(NodeAnswer::Refused(refusal)))) => {
                    answers[host] = Some(Err(refusal.into()));
                }
                Some((host, NodeEvent::Said(word))) => {
                    let answer = self.passed_on(host, word).and_then(&pick);
                    answers[host] = answer.map(Ok).or(answers[host].take());
                }
                Some((host, NodeEvent::Answered(ping))) => self.hosts[host].clock.add(ping),
                // A node that refuses a session ends.
                Some((host, NodeEvent::Gone(words)))
                    if of.contains(&host) && answers[host].is_none() =>
                {
                    return Err(self.lost(host, words));
                }
                Some((_, NodeEvent::Gone(_))) | None => {}
            }
            for host in of.iter().copied().filter(|host| answers[*host].is_none()) {
                if let Some(words) = self.silence(host) {
                    return Err(self.lost(host, words));
                }
            }
        }
        let hosts = self.hosts.iter().zip(answers);
        all_or_refusals(hosts.filter_map(|(host, answer)| Some((host.name.as_str(), answer?))))
    }

    /// Gives a sign of life to hosts that have started, whose lease would end before the slowest
    /// has.
    fn keep_alive(&mut self, started: impl Iterator<Item = usize>) {
        if self.greeting.is_none_or(|due| Instant::now() < due) {
            return;
        }
        started.for_each(|host| self.links.say(host, &NodeOrder::Beat(monotonic_ns())));
        self.greeting = Some(Instant::now() + GREETED_BEAT);
    }

    /// Passes on what is for the user; gives every other word back.
    fn passed_on(&self, host: usize, word: NodeAnswer) -> Option<NodeAnswer> {
        let name = &self.hosts[host].name;
        match word {
            NodeAnswer::Note(note) => self.progress.say(&format!("note: {name}: {note}")),
            NodeAnswer::Doing(what, share) => {
                self.progress.show(&format!("{name}: {what}"), share, None);
            }
            other => return Some(other),
        }
        None
    }
}

/// A host was lost since hosts had measured together: what was measured before stands, and nothing
/// comes after it.
fn nothing_measured(hosts: usize, interval_ns: u64, error: &Error) -> Measured {
    Measured {
        merger: Merger::new(hosts),
        start: StartFindings { at_ns: monotonic_ns(), attempts: 0, interval_ns, warm_up_ns: 0 },
        finish: Finish::Failed { reason: error.message().to_owned() },
        measurements: vec![None; hosts],
        rungs: vec![None; hosts],
    }
}

/// All answers, or all refusals as one: each is said, those that are alike once, and the way out is
/// the first one's.
fn all_or_refusals<'a, T>(answers: impl Iterator<Item = (&'a str, Result<T>)>) -> Result<Vec<T>> {
    let (mut given, mut refused) = (Vec::new(), Vec::new());
    for (name, answer) in answers {
        match answer {
            Ok(answer) => given.push(answer),
            Err(error) => refused.push((name, error)),
        }
    }
    let Some((_, first)) = refused.first() else { return Ok(given) };
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, error) in &refused {
        match said.iter_mut().find(|(message, _)| message == error.message()) {
            Some((_, names)) => names.push(name),
            None => said.push((error.message().to_owned(), vec![name])),
        }
    }
    let words: Vec<String> =
        said.iter().map(|(message, names)| format!("{}: {message}", listed(names))).collect();
    let (words, hint) = (words.join("; "), first.hint());
    let is_usage = refused.iter().all(|(_, error)| error.blame() == assay_model::Blame::Usage);
    let error = if is_usage { Error::usage(words, hint) } else { Error::environment(words, hint) };
    Err(error.of_kind(first.kind()))
}

/// Names, of many the first ones and how many more.
fn listed(names: &[&str]) -> String {
    match names {
        names if names.len() <= NAMES_SHOWN + 1 => names.join(", "),
        names => {
            format!("{} and {} more", names[..NAMES_SHOWN].join(", "), names.len() - NAMES_SHOWN)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_hosts_the_first_are_named_and_the_others_counted() {
        let names: Vec<String> = (1..=100).map(|number| format!("h{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(listed(&names[..3]), "h1, h2, h3");
        assert!(listed(&names[..9]).ends_with(", h9"));
        assert_eq!(listed(&names), "h1, h2, h3, h4, h5, h6, h7, h8 and 92 more");
    }

    #[test]
    fn all_refusals_are_said_at_once_and_those_alike_once() {
        let refused = |words: &str| Err(Error::environment(words, "mount it"));
        let answers: Vec<(&str, Result<u32>)> = vec![
            ("hA", Ok(1)),
            ("hB", refused("/x is not there")),
            ("hC", refused("/x is not there")),
            ("hD", refused("/x is in use")),
        ];
        let error = all_or_refusals(answers.into_iter()).unwrap_err();
        assert_eq!(error.message(), "hB, hC: /x is not there; hD: /x is in use");
        assert_eq!(error.hint(), "mount it");
        assert_eq!(all_or_refusals([("hA", Ok(1)), ("hB", Ok(2))].into_iter()).unwrap(), [1, 2]);
    }
}
