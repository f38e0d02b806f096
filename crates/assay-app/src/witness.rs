//! The witness as a program that goes on: it keeps ledgers of other machines, and cuts their power
//! one time after the other where it is asked to.

use crate::context::Context;
use assay_host::counters::monotonic_ns;
use assay_host::hook::{HookPurpose, HookRun, run_hook};
use assay_ledger::{LedgerActivity, LedgerId, Token, Witness};
use assay_methods::durability::durability;
use assay_model::durability::{Durability, JudgedCut};
use assay_model::number::{count, count_of, real};
use assay_model::units::Nanos;
use assay_model::{Error, Result};
use assay_stats::random::Random;
use serde::Serialize;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How often it looks at what goes on.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A target whose acknowledgements have not come for this long is taken for dead.
const SILENCE: Duration = Duration::from_secs(3);
/// How long acknowledgements may go on to come after the command has ended.
const GRACE: Duration = Duration::from_secs(10);
/// Cuts in a row that may fail.
const FAILURES_MAX: u32 = 3;

/// The plan of a witness.
pub struct WitnessPlan {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where ledgers are kept.
    pub store: PathBuf,
    /// What both ends know.
    pub token: Token,
    /// Cuts, where it is to make some.
    pub campaign: Option<CampaignPlan>,
}

/// Cuts one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignPlan {
    /// Cuts that are to be judged.
    pub cuts: u64,
    /// The command that cuts.
    pub command: String,
    /// Load before a cut, at least; up to twice as long at random.
    pub steady: Nanos,
    /// Timeout of the command.
    pub limit: Nanos,
    /// How long a judgement is waited for.
    pub patience: Nanos,
}

/// What came of all judgements that a witness saw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct CampaignDocument<'a> {
    /// Version of the document's form: 1.
    format: u32,
    /// The cuts, and how strong they are as evidence.
    #[cfg_attr(test, schemars(schema_with = "crate::contract::durability"))]
    durability: &'a Durability,
}

impl<'a> CampaignDocument<'a> {
    /// Of these judgements.
    pub const fn of(durability: &'a Durability) -> Self {
        Self { format: 1, durability }
    }
}

/// Where a campaign stands.
enum WitnessStage {
    /// Acknowledgements are to come for this long; they were waited for since this moment.
    Load(Duration, Instant),
    /// The command has ended, after this number of judgements of that ledger; no acknowledgement
    /// may come any more.
    Silence(LedgerId, usize, Instant),
    /// A judgement is waited for, after this number of that ledger.
    Judgement(LedgerId, usize, Instant),
}

/// A campaign on its way.
struct Campaign<'a> {
    plan: &'a CampaignPlan,
    context: &'a Context,
    stage: WitnessStage,
    random: Random,
    cuts: Vec<JudgedCut>,
    failures: u32,
}

impl WitnessPlan {
    /// Listens until it is stopped, or the cuts are judged; gives what came of all judgements.
    ///
    /// # Errors
    /// An environment error when it cannot listen, or cuts fail one after the other.
    pub fn run(&self, context: &Context) -> Result<Durability> {
        let witness = Witness::listen(self.listen, &self.store, self.token.clone())?;
        context.progress.say(&format!("listening at {}", witness.address()));
        let mut campaign = self.campaign.as_ref().map(|plan| Campaign::new(plan, context));
        let mut reported = HashMap::new();
        while !context.is_stopped() {
            let activities = witness.activities();
            tell(&witness, &activities, &mut reported, context);
            if let Some(campaign) = &mut campaign
                && campaign.go_on(&activities)?
            {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let cuts = match campaign {
            Some(campaign) => campaign.cuts,
            None => witness.activities().into_iter().flat_map(|activity| activity.judged).collect(),
        };
        Ok(durability(Vec::new(), None, cuts))
    }
}

/// Says what is new: stretches that began, cuts that were judged, and what went wrong.
fn tell(
    witness: &Witness,
    activities: &[LedgerActivity],
    reported: &mut HashMap<LedgerId, (u64, usize)>,
    context: &Context,
) {
    let say = |what: &str| context.progress.say(what);
    witness.complaints().iter().for_each(|complaint| say(&format!("note: {complaint}")));
    for activity in activities {
        let (began, judged) = reported.entry(activity.id).or_default();
        if *began != activity.head.began_unix_ns {
            *began = activity.head.began_unix_ns;
            say(&format!(
                "{}: acknowledgements go to {}",
                activity.head.target,
                activity.id.digits()
            ));
        }
        for cut in activity.judged.iter().skip(*judged) {
            say(&format!("{}: {}", activity.head.target, words(cut)));
        }
        *judged = activity.judged.len();
    }
}

/// A judged cut in a sentence.
fn words(cut: &JudgedCut) -> String {
    let (kind, promised) = (cut.kind.name(), cut.promised());
    let what = if cut.commits.is_some() { "transactions" } else { "blocks" };
    let control = cut.control().map_or_else(String::new, |control| {
        format!(" (control: the server ran without {})", control.name())
    });
    match cut.broken() {
        0 => format!("{kind} cut{control}: all {promised} acknowledged {what} are kept"),
        broken => format!("{kind} cut{control}: {broken} faults in {promised} acknowledged {what}"),
    }
}

impl<'a> Campaign<'a> {
    fn new(plan: &'a CampaignPlan, context: &'a Context) -> Self {
        let mut random = Random::new(monotonic_ns());
        let stage = WitnessStage::Load(delay(plan, &mut random), Instant::now());
        Self { plan, context, stage, random, cuts: Vec::new(), failures: 0 }
    }

    /// Goes on as far as what happened allows; whether it has come to its end.
    fn go_on(&mut self, activities: &[LedgerActivity]) -> Result<bool> {
        match self.stage {
            WitnessStage::Load(steady, since) => {
                let is_heard = |activity: &&LedgerActivity| {
                    activity.acknowledgements > 0 && activity.last.elapsed() < SILENCE
                };
                let mut heard = activities.iter().filter(is_heard).peekable();
                if heard.peek().is_none() {
                    self.check_patience("acknowledgement", "", since)?;
                }
                let loaded = heard.find(|activity| activity.began.elapsed() >= steady);
                loaded.map_or(Ok(()), |activity| self.cut(activity))?;
            }
            WitnessStage::Silence(id, before, ended) => {
                if let Some(activity) = activities.iter().find(|activity| activity.id == id) {
                    self.look_for_silence(activity, before, ended)?;
                }
            }
            WitnessStage::Judgement(id, before, since) => {
                let activity = activities.iter().find(|activity| activity.id == id);
                let judged = activity.and_then(|activity| activity.judged.get(before));
                match judged {
                    Some(judged) => self.take(judged.clone()),
                    None => self.check_patience("judgement", " --after --resume", since)?,
                }
            }
        }
        // More cuts cannot redeem storage that lost what it had acknowledged.
        let is_refuted = |cut: &JudgedCut| cut.control().is_none() && cut.broken() > 0;
        let is_over = self.cuts.last().is_some_and(is_refuted);
        Ok(is_over || count_of(self.cuts.len()) >= self.plan.cuts)
    }

    fn check_patience(&self, what: &str, options: &str, since: Instant) -> Result<()> {
        if since.elapsed() <= Duration::from_nanos(self.plan.patience.0) {
            return Ok(());
        }
        Err(Error::environment(
            format!("no {what} arrived within {}", self.plan.patience),
            format!(
                "start `assay verify TARGET{options} --witness …` when the machine is up again, \
                 or raise --patience"
            ),
        ))
    }

    fn cut(&mut self, activity: &LedgerActivity) -> Result<()> {
        let (run, number) = (activity.id.digits(), (self.cuts.len() + 1).to_string());
        let variables = [
            ("ASSAY_RUN", run.as_str()),
            ("ASSAY_TARGET", activity.head.target.as_str()),
            ("ASSAY_CUT", number.as_str()),
        ];
        self.context
            .progress
            .say(&format!("cut {number} of {}: {}", self.plan.cuts, self.plan.command));
        let hook = HookRun {
            purpose: HookPurpose::Cut,
            guard: &self.context.guards.hook,
            variables: &variables,
            limit: Duration::from_nanos(self.plan.limit.0),
            stop: &self.context.stop,
        };
        match run_hook(&self.plan.command, &hook) {
            Ok(_) => {
                let (id, before) = (activity.id, activity.judged.len());
                self.stage = WitnessStage::Silence(id, before, Instant::now());
                Ok(())
            }
            Err(error) => self.fail(error),
        }
    }

    /// A machine that goes on to acknowledge was not cut.
    fn look_for_silence(
        &mut self,
        activity: &LedgerActivity,
        before: usize,
        ended: Instant,
    ) -> Result<()> {
        let is_judged = activity.judged.len() > before;
        if is_judged || activity.last.elapsed() > SILENCE {
            self.stage = WitnessStage::Judgement(activity.id, before, Instant::now());
            return Ok(());
        }
        if ended.elapsed() <= GRACE {
            return Ok(());
        }
        self.fail(Error::environment(
            format!(
                "the cut command `{}` cut nothing: acknowledgements continue",
                self.plan.command
            ),
            "specify a command that cuts the power, such as `ipmitool chassis power off`",
        ))
    }

    /// A cut that did not come about is tried again, a few times.
    fn fail(&mut self, error: Error) -> Result<()> {
        self.failures += 1;
        if self.failures >= FAILURES_MAX || self.context.is_stopped() {
            return Err(error);
        }
        self.context.progress.say(&format!("note: {}", error.message()));
        self.stage = WitnessStage::Load(delay(self.plan, &mut self.random), Instant::now());
        Ok(())
    }

    fn take(&mut self, judged: JudgedCut) {
        self.failures = 0;
        self.cuts.push(judged);
        self.stage = WitnessStage::Load(delay(self.plan, &mut self.random), Instant::now());
    }
}

/// A random time under load, so that cuts meet every moment of it.
fn delay(plan: &CampaignPlan, random: &mut Random) -> Duration {
    let steady = real(plan.steady.0);
    Duration::from_nanos(count(steady * (1.0 + random.unit())))
}
