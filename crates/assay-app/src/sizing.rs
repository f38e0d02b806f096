//! A sizing from files: profiles and reports, catalogs over those of the program, and calibrations
//! in place of data sheets.

use crate::context::Context;
use crate::database_source::{DatabaseSource, WATCH_TIME};
use crate::loaded_run::LoadedRun;
use crate::reports::{ReportRequest, read_files};
use assay_catalog::CatalogIndex;
use assay_host::clock::unix_ns;
use assay_methods::files::read_document;
use assay_model::calendar::Day;
use assay_model::calibration::Calibration;
use assay_model::catalog::{Catalog, IopsPoint, parse_catalog};
use assay_model::document::parse_json;
use assay_model::profile::Profile;
use assay_model::sizing::Sizing;
use assay_model::units::{Bytes, Nanos, Rate, Share};
use assay_model::{Error, Result};
use assay_sizing::{SizingPlan, read_latency_for, size};
use assay_store::Store;
use std::path::{Path, PathBuf};

/// What a sizing is made from.
#[derive(Clone, Debug)]
pub struct SizingRequest {
    /// Profiles, reports, or folders of reports.
    pub profiles: Vec<PathBuf>,
    /// Catalogs over those of the program, the last one on top.
    pub catalogs: Vec<PathBuf>,
    /// Entries whose IOPS are those of a calibration: a name, and a run or a document.
    pub measured: Vec<(String, String)>,
    /// A response for which the read latency is derived from the profiles.
    pub response: Option<Nanos>,
    /// All else.
    pub plan: SizingPlan,
}

/// Today, UTC.
pub fn today() -> Day {
    Day::of(unix_ns())
}

impl SizingRequest {
    /// Reads everything and sizes it.
    ///
    /// # Errors
    /// What a file, a catalog or a run says, and what cannot be sized.
    pub fn run(mut self, context: &Context) -> Result<Sizing> {
        let profiles = read_profiles(&self.profiles, context)?;
        let named: Vec<(&str, &Profile)> =
            profiles.iter().map(|(name, profile)| (name.as_str(), profile)).collect();
        if let Some(response) = self.response {
            let budgets =
                named.iter().map(|(name, one)| read_latency_for(name, one, response.seconds()));
            let least_s =
                budgets.collect::<Result<Vec<_>>>()?.into_iter().fold(f64::INFINITY, f64::min);
            if !least_s.is_finite() {
                return Err(Error::usage(
                    "--response needs a profile",
                    "specify a report with DB time and transactions, or give --read-latency",
                ));
            }
            self.plan.read_latency = Some(Nanos::from_seconds(least_s));
        }
        let index = self.index(&context.store)?;
        size(&named, &index, &self.plan)
    }

    fn index(&self, store: &Store) -> Result<CatalogIndex> {
        let mut index = catalog_index(&self.catalogs)?;
        for (name, run) in &self.measured {
            measure(&mut index, name, run, store)?;
        }
        Ok(index)
    }
}

/// The program's own catalogs and files over them.
///
/// # Errors
/// When a file cannot be read or is not a catalog.
pub fn catalog_index(files: &[PathBuf]) -> Result<CatalogIndex> {
    let mut index = CatalogIndex::built_in()?;
    for path in files {
        index.overlay(read_catalog(path)?, &path.display().to_string());
    }
    Ok(index)
}

/// A catalog of a user's own.
///
/// # Errors
/// When the file cannot be read or is not a catalog.
pub fn read_catalog(path: &Path) -> Result<Catalog> {
    let text = read_document(path, "catalog")?;
    parse_catalog(&text).map_err(|error| error.context(path.display()))
}

/// All profiles with the names of their files; a folder gives those of its reports, RUN:SESSIONS a
/// step of a benchmark.
fn read_profiles(paths: &[PathBuf], context: &Context) -> Result<Vec<(String, Profile)>> {
    let mut profiles = Vec::new();
    for path in paths {
        if !path.is_dir() || path.join("run.json").is_file() {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            profiles.push((
                name,
                DatabaseSource::open(&path.to_string_lossy(), WATCH_TIME, context)?.profile,
            ));
            continue;
        }
        for mut file in
            read_files(std::slice::from_ref(path), ReportRequest { profiles: true, medium: None })
        {
            if let Some(error) = file.errors.pop() {
                return Err(error);
            }
            let named = |report: crate::reports::ReadReport| Some((report.file, report.profile?));
            profiles.extend(file.reports.into_iter().filter_map(named));
        }
    }
    Ok(profiles)
}

/// The calibration of a run of the store, or of a document.
fn calibration(named: &str, store: &Store) -> Result<Calibration> {
    let path = Path::new(named);
    if path.is_file() {
        return parse_json(&read_document(path, "calibration")?, "calibration");
    }
    let loaded = LoadedRun::read(&store.open(named)?)?;
    loaded.report.calibration.ok_or_else(|| {
        Error::usage(
            format!("run '{named}' has no calibration"),
            "specify a run of `assay calibrate` or `assay check`",
        )
    })
}

/// Puts the curves of a calibration instead of a data sheet.
fn measure(index: &mut CatalogIndex, name: &str, run: &str, store: &Store) -> Result<()> {
    let listing = index.find(name)?.clone();
    let mut entry = listing.entry;
    let points_of = match (&mut entry.device, &mut entry.array) {
        (Some(device), _) => &mut device.iops,
        (_, Some(array)) => &mut array.iops,
        _ => {
            return Err(Error::usage(
                format!("--measured: '{name}' is neither a device nor an array"),
                "the limits of a volume are those that you order",
            ));
        }
    };
    let found = calibration(run, store)?;
    entry.reference = false;
    *points_of = points(&found);
    entry.source = format!("calibration {run} of {}", found.target);
    let entries = vec![entry];
    let catalog = Catalog { format: 1, as_of: Day::default(), currency: listing.currency, entries };
    index.overlay(catalog, &listing.catalog);
    Ok(())
}

/// Every step of small I/Os as IOPS at a mean latency.
fn points(found: &Calibration) -> Vec<IopsPoint> {
    let rungs = found.mixes.iter().flat_map(|mix| mix.curve.iter().map(move |rung| (mix, rung)));
    let point = |(mix, rung): (
        &assay_model::calibration::MixCalibration,
        &assay_model::calibration::CurvePoint,
    )| IopsPoint {
        read_share: Share(mix.read_share),
        rate: Rate(rung.iops.value),
        block_size: Bytes(rung.block_size_bytes),
        latency: Some(Nanos::from_seconds(rung.service_time_ns.value / 1e9)),
        queue_depth: Some(rung.queue_depth),
    };
    rungs.map(point).filter(|point| point.rate.0 > 0.0).collect()
}
