//! `assay size`: what to buy for what a database asks of its storage.

use crate::demand_options::growth;
use crate::exit::{ExitStatus, json, print, print_report};
use crate::options::{COMMON, OutputOptions, StoreOptions, context};
use crate::terminal::layout;
use assay_app::new_file::write_new;
use assay_app::sizing::{SizingRequest, today};
use assay_model::Result;
use assay_model::array::RaidLevel;
use assay_model::sizing::{FailingPart, Sizing};
use assay_model::spelling::{latency, quantity};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_sizing::{GivenDemand, Peak, SizingPlan};
use clap::Args;
use std::path::PathBuf;

/// List devices, arrays and volumes that suffice, with cost
#[derive(Args)]
#[command(after_help = "Examples:
  assay size awr.html --read-latency 1ms --capacity 4TiB
  assay size reports/ --peak p95 --growth 30% --years 3 --survive controller,device
  assay size crm/ shop/ --consolidate
  assay size --iops 20000/s --throughput 600MiB/s --capacity 4TiB --only gp3,io2")]
pub struct SizeOptions {
    /// Profiles (`*.profile.json`), AWR or Statspack reports, or folders of reports; without any,
    /// the demand is given by --iops
    #[arg(value_name = "DB")]
    profiles: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Options of the demand")]
    demand: SizingDemandOptions,
    #[command(flatten, next_help_heading = "Options of the storage")]
    storage: StorageOptions,
    /// Number of configurations to show; the document contains all
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
    /// Write the page to this new file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the document to this new file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten, next_help_heading = COMMON)]
    store: StoreOptions,
    /// Print the document as JSON
    #[arg(long, help_heading = COMMON)]
    json: bool,
    /// Print the full text on a terminal, not only the first screen
    #[arg(long, help_heading = COMMON)]
    full: bool,
}

/// What has to be carried.
#[derive(Args)]
struct SizingDemandOptions {
    /// IOPS demanded, instead of profiles
    #[arg(long, value_name = "RATE", conflicts_with = "profiles")]
    iops: Option<Rate>,
    /// Share of reads in --iops
    #[arg(long, value_name = "SHARE", default_value = "70%")]
    read_share: Share,
    /// Size of an I/O
    #[arg(long, alias = "transfer", value_name = "SIZE", default_value = "8KiB")]
    block_size: Bytes,
    /// Throughput, if it is not IOPS times block size
    #[arg(long, value_name = "SIZE/s", value_parser = throughput, requires = "iops")]
    throughput: Option<Bytes>,
    /// Size one storage for several databases by the sum of their demands
    #[arg(long)]
    consolidate: bool,
    /// Peak of several profiles: `max`, `p95`, or a multiple of their mean such as `2x`
    #[arg(long, value_name = "WHICH", value_parser = peak, default_value = "max")]
    peak: Peak,
    /// Length of a peak, which burst credits of a volume may cover; by default peaks must be
    /// sustained
    #[arg(long, value_name = "TIME")]
    peak_time: Option<Nanos>,
    /// Growth per year; below 0% if the database shrinks
    #[arg(
        long,
        value_name = "SHARE",
        value_parser = growth,
        default_value = "0%",
        allow_hyphen_values = true
    )]
    growth: f64,
    /// Years of growth; 1 if only --growth is given
    #[arg(long, value_name = "N")]
    years: Option<u32>,
    /// Headroom to add to the peak
    #[arg(long, value_name = "SHARE", default_value = "30%")]
    headroom: Share,
    /// Current size of the database
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// Space for snapshots, as a share of the data
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    snapshots: Share,
    /// Space for log, temporary data and backups
    #[arg(long, value_name = "SIZE", default_value = "0B")]
    other: Bytes,
    /// Maximum share of the capacity in use
    #[arg(long, value_name = "SHARE", default_value = "80%")]
    fill: Share,
    /// Limit on the mean read latency
    #[arg(long, value_name = "TIME", value_parser = latency)]
    read_latency: Option<Nanos>,
    /// Limit on the transaction time; the limit on the read latency is derived from the profile
    #[arg(long, value_name = "TIME", conflicts_with = "read_latency", value_parser = latency)]
    response: Option<Nanos>,
}

/// What may carry it.
#[derive(Args)]
struct StorageOptions {
    /// Entries to consider, by name; by default all except published models of old arrays
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,
    /// Catalog to add; its entries replace built-in ones of the same name
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,
    /// Use the IOPS of a device or an array from a calibration (a run or a document)
    #[arg(long, value_name = "NAME=RUN", value_parser = pair)]
    measured: Vec<(String, String)>,
    /// Parts of which any one may fail while the storage still sustains the peak
    #[arg(long, value_name = "PARTS", value_enum, value_delimiter = ',')]
    survive: Vec<FailingPart>,
    /// RAID level of disks and drives
    #[arg(long, value_name = "LEVELS", value_enum, value_delimiter = ',', default_value = "10")]
    raid: Vec<RaidLevel>,
    /// Drives in a parity group
    #[arg(long, value_name = "N", default_value_t = 8)]
    raid_group: u32,
    /// Maximum volumes in a stripe
    #[arg(long, value_name = "N", default_value_t = 8)]
    stripes: u32,
    /// Virtual machine that volumes are attached to
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,
    /// Ports between host and array
    #[arg(long, value_name = "NAME")]
    port: Option<String>,
    /// Maximum utilization of a device or an array
    #[arg(long = "use", value_name = "SHARE", default_value = "100%")]
    used: Share,
    /// Years over which to spread purchase prices
    #[arg(long, value_name = "YEARS", default_value_t = 3)]
    lifetime: u32,
    /// Accept prices older than two years
    #[arg(long)]
    accept_old_prices: bool,
}

fn peak(typed: &str) -> std::result::Result<Peak, String> {
    let times = typed.strip_suffix('x').and_then(|times| times.parse::<f64>().ok());
    match (typed, times) {
        ("max", _) => Ok(Peak::Max),
        ("p95", _) => Ok(Peak::Quantile95),
        (_, Some(times)) if times.is_finite() && times > 0.0 => Ok(Peak::TimesMean(times)),
        _ => Err(format!("'{typed}' is not a peak; write max, p95, or a multiple such as 2x")),
    }
}

fn throughput(typed: &str) -> std::result::Result<Bytes, String> {
    quantity::<Bytes>(typed.strip_suffix("/s").unwrap_or(typed))
}

fn pair(typed: &str) -> std::result::Result<(String, String), String> {
    let parts = typed.split_once('=').filter(|(name, run)| !name.is_empty() && !run.is_empty());
    let (name, run) = parts.ok_or("write the name of an entry and a run: nvme-4tb=latest")?;
    Ok((name.to_owned(), run.to_owned()))
}

impl SizeOptions {
    fn plan(&self) -> SizingPlan {
        let (demand, storage) = (&self.demand, &self.storage);
        let given = demand.iops.map(|rate| GivenDemand {
            rate,
            read_share: demand.read_share,
            block_size: demand.block_size,
            throughput_per_s: demand.throughput,
        });
        SizingPlan {
            given,
            consolidates: demand.consolidate,
            peak: demand.peak,
            peak_time: demand.peak_time,
            growth: demand.growth,
            years: demand.years.unwrap_or_else(|| u32::from(demand.growth != 0.0)),
            headroom: demand.headroom,
            capacity: demand.capacity,
            snapshots: demand.snapshots,
            other: demand.other,
            fill: demand.fill,
            read_latency: demand.read_latency,
            raid: storage.raid.clone(),
            group_members: storage.raid_group,
            survives: storage.survive.clone(),
            stripes_max: storage.stripes,
            instance: storage.instance.clone(),
            port: storage.port.clone(),
            used: storage.used,
            lifetime_years: storage.lifetime,
            only: storage.only.clone(),
            accepts_old_prices: storage.accept_old_prices,
            day: today(),
        }
    }
}

/// Carries the command out.
///
/// # Errors
/// What a profile, a catalog or the options say, or a file that cannot be written; an existing file
/// is not overwritten.
pub fn run(options: &SizeOptions) -> Result<ExitStatus> {
    let request = SizingRequest {
        profiles: options.profiles.clone(),
        catalogs: options.storage.catalog.clone(),
        measured: options.storage.measured.clone(),
        response: options.demand.response,
        plan: options.plan(),
    };
    let shown = OutputOptions { json: options.json, full: true, quiet: false };
    let sizing = request.run(&context(&options.store, &shown)?)?;
    write(&sizing, options)?;
    if options.json {
        print(&json(&sizing)?)?;
    } else {
        print_report(&assay_report::sizing_text(&sizing, options.top, layout(options.full)))?;
    }
    Ok(status(&sizing))
}

/// Whether something suffices, nothing does, or it depends on what is not documented.
const fn status(sizing: &Sizing) -> ExitStatus {
    match (sizing.configurations.is_empty(), sizing.undecided.is_empty()) {
        (false, _) => ExitStatus::Success,
        (true, false) => ExitStatus::Inconclusive,
        (true, true) => ExitStatus::Failure,
    }
}

fn write(sizing: &Sizing, options: &SizeOptions) -> Result<()> {
    if let Some(path) = &options.output {
        write_new(path, json(sizing)?.as_bytes())?;
    }
    if let Some(path) = &options.html {
        let program = format!("assay {}", env!("CARGO_PKG_VERSION"));
        let page = assay_report::sizing_html(sizing, options.top, &program);
        write_new(path, page.as_bytes())?;
    }
    Ok(())
}
