//! `assay calibrate`: what a target can give.

use super::study;
use crate::exit::ExitStatus;
use crate::options::{RunOptions, context};
use crate::start;
use assay_app::calibrate::CalibrationRunPlan;
use assay_app::database_source::{DatabaseSource, WATCH_TIME};
use assay_app::study::StudyPlan;
use assay_formats::orion::{OrionOptions, parse_luns};
use assay_methods::files::read_document;
use assay_model::study::Study;
use assay_model::units::Share;
use assay_model::workload::BlockSizeMix;
use assay_model::{Error, Result};
use clap::Args;
use std::path::Path;

/// Find maximum IOPS and throughput within a latency limit
#[derive(Args)]
#[command(after_help = "Examples:
  assay calibrate /mnt/data
  assay calibrate /mnt/data --read-share 70% --block-size 16KiB --max-latency 500us
  assay calibrate array:xtremio-1 --time 10s
  assay calibrate /mnt/data --hosts local:2
  assay calibrate /mnt/data --as orion -run simple")]
pub struct CalibrateOptions {
    /// Take block size, mix and log from this report, profile or benchmark step (RUN:SESSIONS);
    /// each mix with reads takes half of --time more
    #[arg(long = "for", value_name = "DB", conflicts_with_all = ["read_share", "block_size"])]
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
    let Some((program, words)) = options.foreign.split_first() else {
        return carry_out(options, options.plan.clone());
    };
    let orion = options.orion(program, words)?;
    let plan = options.foreign_plan(&orion)?;
    match orion.study(plan.target.targets.len()) {
        Some(study) => options.carry_out_matrix(study, plan),
        None => carry_out(options, plan),
    }
}

fn carry_out(options: &CalibrateOptions, mut plan: CalibrationRunPlan) -> Result<ExitStatus> {
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
    /// The words of another program, with what became of each on standard error.
    fn orion(&self, program: &str, words: &[String]) -> Result<OrionOptions> {
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
        Ok(orion)
    }

    /// ORION's data points; what its words leave open holds as it stands before them.
    fn carry_out_matrix(&self, mut study: Study, plan: CalibrationRunPlan) -> Result<ExitStatus> {
        if self.database.is_some() {
            return Err(Error::usage(
                "a matrix of ORION takes its block sizes from ORION's options, not from --for",
                "leave --for out, or ORION's -num_disks and -matrix",
            ));
        }
        study.phases.measure = plan.mix_time();
        for stream in study.workload.iter_mut().flat_map(|workload| &mut workload.streams) {
            let is_small = stream.name == "small";
            let size = if is_small { plan.block_size } else { plan.large_block_size };
            stream.block_size = BlockSizeMix::single(size);
            plan.read_share.first().inspect(|share| stream.read_share = **share);
        }
        let plan = StudyPlan { study, target: plan.target, ..StudyPlan::default() };
        study::carry_out(&plan, &self.run)
    }

    /// The plan that ORION's words mean.
    fn foreign_plan(&self, orion: &OrionOptions) -> Result<CalibrationRunPlan> {
        let mut target = self.plan.target.clone();
        if target.targets.is_empty() {
            target.targets = luns(orion)?;
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
            block_size: orion.small.unwrap_or(self.plan.block_size),
            large_block_size: orion.large.unwrap_or(self.plan.large_block_size),
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
