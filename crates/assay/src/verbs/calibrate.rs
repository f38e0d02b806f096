//! `assay calibrate`: what a target can give.

use crate::exit::ExitStatus;
use crate::hosts_option::{hosts_plan, target_plan};
use crate::options::{MeasurementOptions, context};
use crate::start;
use assay_app::Context;
use assay_app::calibrate::CalibrationRunPlan;
use assay_app::cluster::HostNames;
use assay_app::database_source::{DatabaseSource, WATCH_TIME};
use assay_app::finish::CriteriaSource;
use assay_app::target_plan::TargetPlan;
use assay_cluster::division::Outstanding;
use assay_formats::orion::{OrionOptions, parse_luns};
use assay_methods::files::read_document;
use assay_model::spelling::latency;
use assay_model::spelling::{Quantile, quantity};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::{Error, Result};
use clap::Args;
use std::path::{Path, PathBuf};

/// Find maximum IOPS and throughput within a latency limit
#[derive(Args)]
#[command(after_help = "Examples:
  assay calibrate /mnt/data
  assay calibrate /mnt/data --read-share 70% --transfer 16KiB --max-latency 500us
  assay calibrate array:xtremio-1 --time 10s
  assay calibrate /mnt/data --hosts local:2
  assay calibrate /mnt/data --as orion -run simple")]
pub struct Options {
    /// Longest measured time of each mix
    #[arg(long, aliases = ["duration", "runtime"], value_name = "TIME", default_value = "60s")]
    time: Nanos,
    /// Limit on the latency (service time) at the quantile
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = latency)]
    max_latency: Nanos,
    /// Quantile that the limit holds for
    #[arg(long, value_name = "QUANTILE", default_value = "0.99")]
    quantile: Quantile,
    /// Shares of reads to calibrate, for example `100%,0%,70%`; by default reads, and where writing is allowed also writes and 70%
    #[arg(long, alias = "rwmixread", value_name = "SHARES", value_delimiter = ',')]
    read_share: Vec<Share>,
    /// Size of a small I/O
    #[arg(long, aliases = ["block", "block-size", "bs"], value_name = "SIZE", default_value = "8KiB")]
    transfer: Bytes,
    /// Take block size, mix and log from this report, profile or benchmark step (RUN:SESSIONS); each mix with reads
    /// takes half of --time more
    #[arg(long = "for", value_name = "DB", conflicts_with_all = ["read_share", "transfer"])]
    database: Option<String>,
    /// Size of a large I/O
    #[arg(long, value_name = "SIZE", default_value = "1MiB")]
    large_transfer: Bytes,
    /// Most outstanding I/Os (queue depth)
    #[arg(long, value_name = "N", default_value_t = 1024)]
    outstanding_max: u32,
    /// Add a table of IOPS within the limits FROM:TO:STEP, for example `100us:2ms:100us`
    #[arg(long, value_name = "FROM:TO:STEP", value_parser = steps)]
    steps: Option<Steps>,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Hosts that issue together, each on the targets as it sees them: local:N (processes here), ssh:A,B, or names in a Ray
    /// cluster: A,B
    #[arg(long, value_name = "HOSTS", conflicts_with = "foreign")]
    hosts: Option<HostNames>,
    /// Criteria to judge by: a file, oltp-default or dell-2017; without it there is no verdict
    #[arg(long, value_name = "FILE")]
    criteria: Option<PathBuf>,
    /// Take the words that follow as those of another program: `--as orion -run simple -testname mytest`; it comes last
    #[arg(long = "as", value_name = "PROGRAM", num_args = 1.., allow_hyphen_values = true)]
    foreign: Vec<String>,
    #[command(flatten)]
    shared: MeasurementOptions,
}

/// A series of limits.
#[derive(Clone, Debug)]
struct Steps(Vec<Nanos>);

/// Carries the command out.
pub fn run(options: &Options) -> Result<ExitStatus> {
    let criteria = CriteriaSource::named(options.criteria.as_deref())?;
    let mut plan = match options.foreign.split_first() {
        None => options.plan(),
        Some((program, words)) => options.foreign_plan(program, words)?,
    };
    if let Some(database) = &options.database {
        let context = context(&options.shared.store, &options.shared.output)?;
        plan.for_database(&DatabaseSource::open(database, WATCH_TIME, &context)?)?;
    }
    let run = |context: &Context| plan.run(criteria.as_ref(), context);
    start::carry_out(&options.shared, &plan.target, || plan.summary(), run)
}

/// The LUNs of a test, which lie in its `.lun` file where the caller is.
fn luns(orion: &OrionOptions) -> Result<Vec<String>> {
    let name = orion.lun_file();
    let text = read_document(Path::new(&name), "LUN")?;
    parse_luns(&text).map_err(|error| error.context(name))
}

impl Options {
    fn plan(&self) -> CalibrationRunPlan {
        let target = target_plan(&self.shared.target, self.hosts.as_ref());
        CalibrationRunPlan {
            max_latency: self.max_latency,
            quantile: self.quantile.0,
            read_share: self.read_share(&target),
            transfer: self.transfer,
            large_transfer: self.large_transfer,
            time: self.time,
            outstanding_max: self.outstanding_max,
            steps: self.steps.as_ref().map(|steps| steps.0.clone()).unwrap_or_default(),
            seed: self.seed,
            curve_time: Nanos(0),
            append: None,
            hosts: self
                .hosts
                .as_ref()
                .map(|hosts| hosts_plan(hosts, &self.shared.target, Outstanding::Total)),
            target,
        }
    }

    /// The plan that the words of another program mean, with what became of each on standard error.
    fn foreign_plan(&self, program: &str, words: &[String]) -> Result<CalibrationRunPlan> {
        if program != "orion" {
            return Err(Error::usage(
                format!("--as {program}: there is no such program"),
                "write --as orion and its options",
            ));
        }
        let orion = OrionOptions::parse(words)?;
        if !self.shared.output.quiet {
            orion.report().lines().for_each(crate::terminal::say);
        }
        let mut target = self.shared.target.plan.clone();
        if target.targets.is_empty() {
            target.targets = luns(&orion)?;
            let writes = orion.write_share.is_some_and(|share| share > 0.0);
            if writes && !target.may_be_written() {
                return Err(Error::usage(
                    format!("-write would overwrite what {} names", orion.lun_file()),
                    "name a directory to write in: assay calibrate DIR --as orion …, or give devices up with --destroy",
                ));
            }
        }
        Ok(CalibrationRunPlan {
            read_share: self.foreign_read_share(orion.write_share),
            transfer: orion.small.unwrap_or(self.transfer),
            large_transfer: orion.large.unwrap_or(self.large_transfer),
            time: orion.duration.unwrap_or(self.time),
            target,
            ..self.plan()
        })
    }

    /// What ORION's words do not say holds as it stands before them, and without both there are reads only.
    fn foreign_read_share(&self, write_share: Option<f64>) -> Vec<Share> {
        match write_share {
            Some(share) => vec![Share(1.0 - share)],
            None if self.read_share.is_empty() => vec![Share(1.0)],
            None => self.read_share.clone(),
        }
    }

    /// Reads always; writes only where a test file is made, a device was given up, or nothing is real.
    fn read_share(&self, target: &TargetPlan) -> Vec<Share> {
        if !self.read_share.is_empty() {
            return self.read_share.clone();
        }
        let shares: &[f64] = if target.may_be_written() { &[1.0, 0.0, 0.7] } else { &[1.0] };
        shares.iter().map(|share| Share(*share)).collect()
    }
}

/// Reads `FROM:TO:STEP`.
fn steps(text: &str) -> std::result::Result<Steps, String> {
    let parts: Vec<Nanos> =
        text.split(':').map(quantity::<Nanos>).collect::<std::result::Result<_, _>>()?;
    let [from, to, step] = parts.as_slice() else {
        return Err("write FROM:TO:STEP, for example 100us:2ms:100us".to_owned());
    };
    if step.0 == 0 || from.0 == 0 || to.0 < from.0 || (to.0 - from.0) / step.0 > 200 {
        return Err("use a step above 0, FROM below TO, and at most 200 limits".to_owned());
    }
    let limits = (0..=(to.0 - from.0) / step.0).map(|index| Nanos(from.0 + index * step.0));
    Ok(Steps(limits.collect()))
}
