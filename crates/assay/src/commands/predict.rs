//! `assay predict`: what a database would do on other storage.

use crate::demand_options::growth;
use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use crate::terminal::layout;
use assay_app::new_file::write_new;
use assay_app::predict::{PredictionPlan, verify};
use assay_model::projection::{FORMAT, Projection, ProjectionAnswer, Verifications};
use assay_model::spelling::latency;
use assay_model::units::{Bytes, Nanos};
use assay_model::verdict::Outcome;
use assay_model::{Error, Result};
use assay_predict::ProjectionPlan;
use assay_report::{GivenReport, ReportOptions as Shown, VerificationHistory};
use clap::Args;
use std::path::PathBuf;

/// Estimate how fast a database would run on other storage
#[derive(Args)]
#[command(after_help = "Examples:
  assay predict awr.html --on array:xtremio-1 --on array:competitor-afa
  assay predict latest:8 --on fast=20261121 --from slow=20261120 --users 200
  assay predict awr.html --on latest --response-limit 20ms --html prediction.html
  assay predict --verify 20261120 20261121 --on latest

Exit codes: 0 answered (with --response-limit: PASS, 1 FAIL, 3 INCONCLUSIVE), 3 bounds only, 4 \
                        refused")]
pub struct PredictOptions {
    /// An AWR or Statspack report, a profile (`*.profile.json`), or a step of a benchmark as
    /// RUN:SESSIONS
    #[arg(value_name = "DB", required_unless_present = "verify")]
    profile: Option<String>,
    /// Storage to predict for: a run of calibrate or check, its `calibration.json`, or a simulated
    /// device (`array:NAME`); NAME=RUN gives it a name; repeat it for others
    #[arg(long, value_name = "RUN|STORAGE", required = true)]
    on: Vec<String>,
    /// Two runs of the same load, before and after a move: predict the second from the first,
    /// compare them, and store the result with it
    #[arg(long, num_args = 2, value_names = ["RUN_A", "RUN_B"], conflicts_with = "profile")]
    verify: Vec<String>,
    /// Use this verification only to test the error model, not to refine it
    #[arg(long, requires = "verify", conflicts_with = "profile")]
    held_out: bool,
    /// Calibration of the storage on which the profile was measured; the model is first checked
    /// there
    #[arg(long, value_name = "RUN|STORAGE")]
    from: Option<String>,
    /// Calibration of a separate log device, now and after the move; by default log and data share
    /// one
    #[arg(long, value_name = "RUN|STORAGE")]
    log: Option<String>,
    /// Users with think time between units of work; the think time is derived from the profile
    #[arg(long, value_name = "N", value_parser = positive)]
    users: Option<f64>,
    /// Predict only for the same work per second
    #[arg(long)]
    open: bool,
    /// Predict only for sessions without think time
    #[arg(long, conflicts_with = "open")]
    closed: bool,
    /// Number of sessions without think time; by default the average active sessions
    #[arg(long, value_name = "N", value_parser = positive)]
    sessions: Option<f64>,
    /// CPUs of the host; by default those of the profile
    #[arg(long, value_name = "N", value_parser = positive)]
    cpus: Option<f64>,
    /// Speed of a CPU relative to the profile's host
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    cpu_speed: Option<f64>,
    /// Growth of the work; below 0% if it shrinks
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = growth,
        default_value = "0%",
        allow_hyphen_values = true
    )]
    growth: f64,
    /// Size of the buffer cache to predict for
    #[arg(long, value_name = "SIZE")]
    cache: Option<Bytes>,
    /// Present size of the buffer cache, for a profile without the server's own advice
    #[arg(long, value_name = "SIZE", requires = "cache")]
    present_cache: Option<Bytes>,
    /// Maximum outstanding writes of the database; by default the number when sessions waited for
    /// late writes
    #[arg(long, value_name = "N", value_parser = positive)]
    writers: Option<f64>,
    /// Required response time of one unit of work; the result states the read latency that allows
    /// it
    #[arg(long, value_name = "TIME", value_parser = latency)]
    response_limit: Option<Nanos>,
    /// Virtual time for each mix when calibrating a simulated device; by default 5 s, and 30 s for
    /// a slow device
    #[arg(long, value_name = "TIME")]
    time: Option<Nanos>,
    /// Number of random draws of the inputs from their intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: u32,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the page to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the document to this new file (`*.projection.json`)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    #[command(flatten)]
    shown: OutputOptions,
}

/// Reads a number above 0.
fn positive(text: &str) -> std::result::Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
    if number > 0.0 && number < 1e9 { Ok(number) } else { Err("use a number above 0".to_owned()) }
}

/// Carries the command out.
///
/// # Errors
/// What the store says, a profile or a target that cannot be read, or a file that cannot be
/// written.
pub fn run(options: &PredictOptions) -> Result<ExitStatus> {
    if options.draws == 0 || options.draws > 100_000 {
        return Err(Error::usage("--draws must be between 1 and 100,000", "1000 is typical"));
    }
    let context = context(&options.store, &options.shown)?;
    let mut report = GivenReport {
        title: "predict".to_owned(),
        target: options.on.join(", "),
        created_unix_ns: assay_host::clock::unix_ns(),
        program: format!("assay {}", env!("CARGO_PKG_VERSION")),
        command: assay_app::command_line::typed(&crate::options::command_line()),
        ..GivenReport::default()
    };
    if let [before, after] = options.verify.as_slice() {
        let found = verify(&options.plan(), before, after, options.held_out, &context)?;
        let one = Verifications { format: FORMAT, pairs: vec![found.verification.clone()] };
        let document = json(&one)?;
        report.verified = Some(VerificationHistory {
            verification: found.verification,
            learnt_from: found.learnt_from,
            held_out: found.held_out,
            noisy: found.noisy,
        });
        show(options, &report, &document)?;
        return Ok(ExitStatus::Success);
    }
    let found = options.plan().run(&context)?;
    let status = status(&found, options.response_limit.is_some());
    let document = json(&found)?;
    report.projection = Some(found);
    show(options, &report, &document)?;
    Ok(status)
}

/// Writes the files that are asked for, and prints.
fn show(options: &PredictOptions, report: &GivenReport, document: &str) -> Result<ExitStatus> {
    if let Some(path) = &options.output {
        write_new(path, document.as_bytes())?;
    }
    if let Some(path) = &options.html {
        write_new(path, assay_report::html(report, Shown::default()).as_bytes())?;
    }
    if options.shown.json {
        return print(document);
    }
    print_report(&assay_report::text(report, Shown::default(), layout(options.shown.full)))
}

impl PredictOptions {
    fn plan(&self) -> PredictionPlan {
        PredictionPlan {
            profile: self.profile.clone().unwrap_or_default(),
            on: self.on.clone(),
            from: self.from.clone(),
            log: self.log.clone(),
            cache: self.cache,
            present_cache: self.present_cache,
            calibration_time: self.time,
            projection: ProjectionPlan {
                thinking_sessions: self.users,
                only_same_work: self.open,
                only_closed: self.closed,
                sessions: self.sessions,
                processors_mean: self.cpus,
                cpu_speed_ratio: self.cpu_speed,
                growth: 1.0 + self.growth,
                write_queue_depth: self.writers,
                response_limit_s: self.response_limit.map(Nanos::seconds),
                draws: self.draws,
                seed: self.seed,
                ..ProjectionPlan::default()
            },
        }
    }
}

/// Answered, between bounds, or not at all; where a response is asked for, whether it is kept.
fn status(found: &Projection, is_judged: bool) -> ExitStatus {
    match found.answer() {
        ProjectionAnswer::Refused => ExitStatus::Aborted,
        ProjectionAnswer::Bounds => ExitStatus::Inconclusive,
        ProjectionAnswer::Answered if !is_judged => ExitStatus::Success,
        ProjectionAnswer::Answered => {
            let outcomes = found.targets.iter().filter_map(|target| target.budget);
            let mut outcomes = outcomes.map(|budget| budget.outcome);
            if outcomes.clone().any(|outcome| outcome == Outcome::Fail) {
                ExitStatus::Failure
            } else if outcomes.any(|outcome| outcome == Outcome::Inconclusive) {
                ExitStatus::Inconclusive
            } else {
                ExitStatus::Success
            }
        }
    }
}
