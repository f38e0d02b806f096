//! `assay verify witness`: keeps ledgers of other machines.

use crate::exit::{ExitStatus, json, print};
use crate::options::{COMMON, OutputOptions, progress};
use assay_app::witness::{CampaignDocument, CampaignPlan, WitnessPlan};
use assay_app::{Context, Guards};
use assay_ledger::Token;
use assay_model::Result;
use assay_model::durability::CutEvidence;
use assay_model::number::count_of;
use assay_model::units::Nanos;
use assay_store::Store;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Record acknowledged writes of other machines; cut power
#[derive(Args)]
#[command(after_help = "Examples:
  assay verify witness --listen 192.0.2.7:9310 --token-file token
  assay verify witness --listen 192.0.2.7:9310 --token-file token --cuts 30 --cut-command ./cut")]
pub struct WitnessOptions {
    /// Address and port to listen on
    #[arg(long, value_name = "ADDR:PORT")]
    listen: SocketAddr,
    /// File with the token shared with the other machines, at least 16 characters
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Cut the power until this number of cuts have been judged
    #[arg(
        long,
        value_name = "N",
        requires = "cut_command",
        value_parser = clap::value_parser!(u64).range(1..=100_000)
    )]
    cuts: Option<u64>,
    /// Command that cuts the power; it gets `ASSAY_RUN`, `ASSAY_TARGET` and `ASSAY_CUT`
    #[arg(long, value_name = "COMMAND", requires = "cuts")]
    cut_command: Option<String>,
    /// Minimum time under load before each cut; the time is random, up to twice as long
    #[arg(long, value_name = "TIME", default_value = "10s")]
    steady: Nanos,
    /// Timeout of the command
    #[arg(long, value_name = "TIME", default_value = "60s")]
    cut_timeout: Nanos,
    /// Time to wait for the judgement of a cut
    #[arg(long, value_name = "TIME", default_value = "30min")]
    patience: Nanos,
    /// Directory for the ledgers
    #[arg(long, value_name = "DIR", default_value = "assay-ledgers", help_heading = COMMON)]
    store: PathBuf,
    #[command(flatten, next_help_heading = COMMON)]
    output: OutputOptions,
}

/// Carries the command out.
pub fn run(options: &WitnessOptions) -> Result<ExitStatus> {
    let campaign =
        options.cuts.zip(options.cut_command.clone()).map(|(cuts, command)| CampaignPlan {
            cuts,
            command,
            steady: options.steady,
            limit: options.cut_timeout,
            patience: options.patience,
        });
    let plan = WitnessPlan {
        listen: options.listen,
        store: options.store.clone(),
        token: Token::read(&options.token_file)?,
        campaign,
    };
    let context = Context {
        stop: crate::signals::stop_flag()?,
        progress: progress(&options.output),
        guards: Guards::of_this_program(),
        ..Context::new(Store::at(options.store.clone()))
    };
    let found = plan.run(&context)?;
    let is_short = options.cuts.is_some_and(|cuts| count_of(found.cuts.len()) < cuts);
    if options.output.json {
        print(&json(&CampaignDocument::of(&found))?)?;
    } else {
        print(&format!("{}\n", assay_report::durability_sentence(&found)))?;
    }
    Ok(match (found.evidence, options.cuts) {
        (CutEvidence::Refuted, _) => ExitStatus::Failure,
        _ if is_short => ExitStatus::Interrupted,
        (_, Some(_)) if found.strongest_cuts().is_none() => ExitStatus::Inconclusive,
        _ => ExitStatus::Success,
    })
}
