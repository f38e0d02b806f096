//! `assay list catalog`: what can be bought, as the program and a user's files know it.

use crate::documents::EntryList;
use crate::exit::{ExitStatus, json, print};
use crate::options::COMMON;
use assay_app::sizing::{catalog_index, read_catalog, today};
use assay_catalog::{CatalogIndex, CatalogListing, PriceAge, price_age};
use assay_model::Result;
use assay_model::calendar::Day;
use assay_model::catalog::{IopsPoint, Offer, PriceList, Volume};
use assay_model::number::real;
use assay_model::units::{show_count, show_throughput, show_time_ns};
use clap::Args;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How the name of a catalog ends.
const ENDING: &str = ".catalog.toml";

/// List devices, arrays and volumes, with limits and prices
#[derive(Args)]
#[command(after_help = "Examples:
  assay list catalog
  assay list catalog gp3 r6a.8xlarge
  assay list catalog own.catalog.toml")]
pub struct CatalogOptions {
    /// Entries to show with everything that is known, or catalog files to check and list; by
    /// default all entries in short
    #[arg(value_name = "ENTRY|FILE")]
    named: Vec<String>,
    /// Catalog to add; its entries replace built-in ones of the same name
    #[arg(long, value_name = "FILE")]
    catalog: Vec<PathBuf>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
}

/// Carries the command out.
///
/// # Errors
/// When there is no such entry, or a file is not a catalog.
pub fn run(options: &CatalogOptions) -> Result<ExitStatus> {
    let index = catalog_index(&options.catalog)?;
    let mut listings: Vec<CatalogListing> = Vec::new();
    let mut is_list = options.named.is_empty();
    for name in &options.named {
        if name.ends_with(ENDING) {
            let own = CatalogIndex::of(read_catalog(Path::new(name))?, name);
            listings.extend(own.listings().iter().cloned());
            is_list = true;
        } else {
            listings.push(index.find(name)?.clone());
        }
    }
    if options.named.is_empty() {
        listings = index.listings().to_vec();
    }
    if options.json {
        let entries = listings.iter().map(|listing| &listing.entry).collect();
        return print(&json(&EntryList::of(entries))?);
    }
    let today = today();
    print(&if is_list { list(&listings, today) } else { described(&listings, today) })
}

fn list(listings: &[CatalogListing], today: Day) -> String {
    let mut text = String::new();
    for listing in listings {
        let entry = &listing.entry;
        let price = entry.price.as_ref().map_or_else(String::new, |price| aged(price, today));
        let _ = writeln!(text, "{:21} {:9} {}{price}", entry.name, entry.kind(), limits(listing));
    }
    text + "`assay list catalog NAME` shows one entry; `assay size` chooses among them\n"
}

/// The day of a price, and what its age means.
fn aged(price: &PriceList, today: Day) -> String {
    let age = match price_age(price.as_of, today) {
        PriceAge::Fresh => "",
        PriceAge::Doubted => " (may be outdated)",
        PriceAge::Refused => " (too old)",
    };
    format!("; price of {}{age}", price.as_of)
}

/// The prices of an entry, and what a terabyte of what is bought once costs.
fn priced(listing: &CatalogListing, price: &PriceList) -> String {
    let currency = &listing.currency;
    let capacity = match listing.entry.offer() {
        Some(Offer::Device(device)) => Some(device.capacity),
        Some(Offer::Array(array)) => Some(array.capacity),
        _ => None,
    };
    let mut parts = Vec::new();
    if let Some(each) = price.per_unit {
        parts.push(format!("{} each", money(each.0)));
        let terabytes = capacity.map(|bytes| real(bytes.0) / 1e12).filter(|size| *size > 0.0);
        parts.extend(terabytes.map(|size| format!("{} per TB", money(each.0 / size))));
    }
    parts.extend(price.per_gib_month.map(|gib| format!("{} per GiB per month", gib.0)));
    parts.extend(price.per_iops_month.iter().map(|tier| {
        format!("{} per IOPS per month above {}", tier.price.0, show_count(tier.above.0))
    }));
    parts.extend(price.per_throughput_month.map(|one| {
        format!("{} per {}/s per month above the included amount", one.price.0, one.unit_per_s)
    }));
    format!("prices in {currency}: {}", parts.join(", "))
}

/// An amount with its cents.
fn money(amount: f64) -> String {
    let cents = (amount * 100.0).round();
    let whole = (cents / 100.0).floor();
    format!("{}.{:02}", show_count(whole), (cents - 100.0 * whole).round())
}

/// The limits in a few words.
fn limits(listing: &CatalogListing) -> String {
    match listing.entry.offer() {
        Some(Offer::Volume(volume)) => of_volume(volume),
        Some(Offer::Device(device)) => format!("{}, {}", device.capacity, points(&device.iops)),
        Some(Offer::Array(array)) => format!("{}, {}", array.capacity, points(&array.iops)),
        Some(Offer::Instance(one)) => format!(
            "{} IOPS, {}",
            show_count(one.iops.0),
            show_throughput(real(one.throughput_per_s.0))
        ),
        Some(Offer::Port(port)) => show_throughput(real(port.payload_per_s.0)),
        None => String::new(),
    }
}

fn of_volume(volume: &Volume) -> String {
    format!(
        "to {}, {} IOPS, {}; {}",
        volume.size.max,
        show_count(volume.iops.max.0),
        show_throughput(real(volume.throughput.max_per_s.0)),
        volume.promise
    )
}

/// The most reads, with their latency.
fn points(points: &[IopsPoint]) -> String {
    let reads = points.iter().filter(|point| point.read_share.0 >= 1.0);
    reads.max_by(|one, other| one.rate.0.total_cmp(&other.rate.0)).map_or_else(
        || "IOPS not known".to_owned(),
        |most| {
            let latency = show_time_ns(most.latency_s() * 1e9);
            format!("{} reads/s at {latency}", show_count(most.rate.0))
        },
    )
}

fn described(listings: &[CatalogListing], today: Day) -> String {
    let mut text = String::new();
    for listing in listings {
        let entry = &listing.entry;
        let _ = writeln!(text, "{}: {} ({})", entry.name, entry.title, entry.kind());
        let _ = writeln!(text, "  limits of {}: {}", entry.as_of, limits(listing));
        let _ = writeln!(text, "  source: {}", entry.source);
        if let Some(price) = &entry.price {
            let _ = writeln!(text, "  {}{}", priced(listing, price), aged(price, today));
            let _ = writeln!(text, "  source of the price: {}", price.source);
        }
        for note in &entry.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        let _ = writeln!(text, "  from: {}", listing.catalog);
        if matches!(entry.offer(), Some(Offer::Volume(_))) {
            let _ = writeln!(text, "  as a target: catalog:{}", entry.name);
        }
    }
    text
}
