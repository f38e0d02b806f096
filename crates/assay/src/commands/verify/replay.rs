//! `assay verify replay`: a recorded write log, cut everywhere.

use crate::exit::{ExitStatus, json, print};
use crate::options::COMMON;
use assay_app::replay::{ImagePlan, ReplayDocument, ReplayPlan, ReplayedDevice};
use assay_model::Result;
use assay_model::number::real;
use assay_model::units::{Bytes, show_count};
use clap::Args;
use std::path::PathBuf;

/// Simulate power cuts at every point of a recorded write log
#[derive(Args)]
#[command(after_help = "Examples:
  assay verify replay writes.log
  assay verify replay writes.log --states 1000 --unit 4KiB
  assay verify replay ext4.log --image state.img --entries 500 --base before.img")]
pub struct ReplayOptions {
    /// States to check for each kind of device
    #[arg(
        long,
        value_name = "N",
        default_value = "10000",
        value_parser = clap::value_parser!(u64).range(1..=10_000_000)
    )]
    states: u64,
    #[command(flatten)]
    plan: ReplayPlan,
    /// Write the state of a device after one cut to this new file, instead of judging many
    #[arg(long, value_name = "FILE", requires = "entries")]
    image: Option<PathBuf>,
    /// Number of log entries completed at that cut
    #[arg(long, value_name = "N", requires = "image")]
    entries: Option<u64>,
    /// Content of the device before the log; by default zeros
    #[arg(long, value_name = "FILE", requires = "image")]
    base: Option<PathBuf>,
    /// Print JSON documents instead of text
    #[arg(long, help_heading = COMMON)]
    json: bool,
}

/// Carries the command out.
pub fn run(options: &ReplayOptions) -> Result<ExitStatus> {
    let plan = &options.plan;
    if let (Some(image), Some(entries)) = (&options.image, options.entries) {
        let base = options.base.clone();
        plan.write_image(&ImagePlan { entries, base, image: image.clone() })?;
        return print(&format!("{}\n", image.display()));
    }
    let devices = plan.cut_everywhere(options.states)?;
    let document = || json(&ReplayDocument::of(&devices));
    print(&if options.json { document()? } else { text(&devices) })?;
    Ok(exit(&devices))
}

/// A device that keeps its promises and breaks one nevertheless is a defect of the log; a lie that
/// no state shows leaves the question open.
fn exit(devices: &[ReplayedDevice]) -> ExitStatus {
    let (conforming, lying) = devices.split_at(1);
    if conforming.iter().any(|device| device.broken_states > 0) {
        return ExitStatus::Failure;
    }
    if lying.iter().all(|device| device.broken_states > 0) {
        ExitStatus::Success
    } else {
        ExitStatus::Inconclusive
    }
}

fn text(devices: &[ReplayedDevice]) -> String {
    let states = devices.first().map_or(0, |device| device.states);
    let mut lines = vec![
        format!("{} states after power cuts of each device", show_count(real(states))),
        String::new(),
        format!(
            "{:<28}{:>10}{:>12}{:>10}  {}",
            "device", "broken in", "cuts needed", "torn", "faults"
        ),
    ];
    lines.extend(devices.iter().map(|device| {
        let needed = device.cuts_needed.map_or_else(|| "–".to_owned(), |cuts| cuts.to_string());
        let faults: Vec<String> = device
            .faults
            .iter()
            .map(|count| format!("{} {}", show_count(real(count.blocks)), count.kind.name()))
            .collect();
        format!(
            "{:<28}{:>10}{needed:>12}{:>10}  {}",
            device.device,
            show_count(real(device.broken_states)),
            show_count(real(device.torn_blocks)),
            faults.join(", ")
        )
    }));
    let unit = devices.first().and_then(|device| device.atomic_unit_bytes);
    lines.extend(
        unit.map(|bytes| {
            format!("\nUnacknowledged blocks change at multiples of {}.", Bytes(bytes))
        }),
    );
    lines.push(
        "\nCuts needed: the number of cuts that expose such a device with 95% confidence. Torn \
         blocks were not acknowledged.\n"
            .to_owned(),
    );
    lines.join("\n")
}
