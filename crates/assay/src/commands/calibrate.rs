//! `assay calibrate`: what a target can give.

use crate::exit::ExitStatus;
use crate::options::{RunOptions, context};
use crate::start;
use assay_app::calibrate::CalibrationRunPlan;
use assay_app::database_source::{DatabaseSource, WATCH_TIME};
use assay_formats::orion::{OrionOptions, parse_luns};
use assay_methods::files::read_document;
use assay_model::units::Share;
use assay_model::{Error, Result};
use clap::Args;
use std::path::Path;

/// Find maximum IOPS and throughput within a latency limit
#[derive(Args)]
#[command(after_help = "Examples:
  assay calibrate /mnt/data
  assay calibrate /mnt/data --read-share 70% --transfer 16KiB --max-latency 500us
  assay calibrate array:xtremio-1 --time 10s
  assay calibrate /mnt/data --hosts local:2
  assay calibrate /mnt/data --as orion -run simple")]
pub struct CalibrateOptions {
    /// Take block size, mix and log from this report, profile or benchmark step (RUN:SESSIONS);
    /// each mix with reads takes half of --time more
    #[arg(long = "for", value_name = "DB", conflicts_with_all = ["read_share", "transfer"])]
    database: Option<String>,
    #[command(flatten)]
    plan: CalibrationRunPlan,
    /// Accept the options of another program after this one: `--as orion -run simple -testname
    /// mytest`
    #[arg(
        long = "as",
        value_name = "PROGRAM",
        num_args = 1..,
        allow_hyphen_values = true,
        conflicts_with = "hosts",
        help_heading = None::<&'static str>
    )]
    foreign: Vec<String>,
    #[command(flatten)]
    run: RunOptions,
}

/// Carries the command out.
pub fn run(options: &CalibrateOptions) -> Result<ExitStatus> {
    let mut plan = match options.foreign.split_first() {
        None => options.plan.clone(),
        Some((program, words)) => options.foreign_plan(program, words)?,
    };
    if let Some(database) = &options.database {
        let context = context(&options.run.store, &options.run.output)?;
        plan.for_database(&DatabaseSource::open(database, WATCH_TIME, &context)?)?;
    }
    start::carry_out(&plan.resolved(), &options.run)
}

/// The LUNs of a test, which lie in its `.lun` file where the caller is.
fn luns(orion: &OrionOptions) -> Result<Vec<String>> {
    let name = orion.lun_file();
    let text = read_document(Path::new(&name), "LUN")?;
    parse_luns(&text).map_err(|error| error.context(name))
}

impl CalibrateOptions {
    /// The plan that the words of another program mean, with what became of each on standard error.
    fn foreign_plan(&self, program: &str, words: &[String]) -> Result<CalibrationRunPlan> {
        if program != "orion" {
            return Err(Error::usage(
                format!("--as {program}: there is no such program"),
                "write --as orion and its options",
            ));
        }
        let orion = OrionOptions::parse(words)?;
        if !self.run.output.quiet {
            orion.report().lines().for_each(crate::terminal::say);
        }
        let mut target = self.plan.target.clone();
        if target.targets.is_empty() {
            target.targets = luns(&orion)?;
            let writes = orion.write_share.is_some_and(|share| share > 0.0);
            if writes && !target.may_be_written() {
                return Err(Error::usage(
                    format!("-write would overwrite the devices listed in {}", orion.lun_file()),
                    "specify a directory to write in: assay calibrate DIR --as orion …, or allow \
                     devices to be overwritten with --destroy",
                ));
            }
        }
        Ok(CalibrationRunPlan {
            read_share: self.foreign_read_share(orion.write_share),
            transfer: orion.small.unwrap_or(self.plan.transfer),
            large_transfer: orion.large.unwrap_or(self.plan.large_transfer),
            time: orion.duration.or(self.plan.time),
            target,
            ..self.plan.clone()
        })
    }

    /// What ORION's words do not say holds as it stands before them, and without both there are
    /// reads only.
    fn foreign_read_share(&self, write_share: Option<f64>) -> Vec<Share> {
        match write_share {
            Some(share) => vec![Share(1.0 - share)],
            None if self.plan.read_share.is_empty() => vec![Share(1.0)],
            None => self.plan.read_share.clone(),
        }
    }
}
