//! What makes an array impossible, said before it is built.

use super::{
    ArrayModel, Controller, ExperimentLoad, Flash, Hdd, Part, Path, Raid, RaidLevel, SessionLoad,
    Tier,
};
use crate::document::parse_toml;
use crate::error::{Error, Result};

/// Members and dies that a simulation keeps apart.
const MEMBERS_MAX: u32 = 4096;

/// Reads a model document and checks that such an array can be.
///
/// # Errors
/// A usage error that names the line or the part, and what would be accepted.
pub fn parse_array(text: &str) -> Result<ArrayModel> {
    let model: ArrayModel = parse_toml(text, "array model")?;
    model.check()?;
    Ok(model)
}

fn refuse(message: impl Into<String>, hint: &str) -> Result<()> {
    Err(Error::usage(message, hint))
}

impl ArrayModel {
    /// Refuses what cannot be: see the module.
    ///
    /// # Errors
    /// A usage error that names the part and the key.
    pub fn check(&self) -> Result<()> {
        if self.format != 1 {
            return refuse(
                format!("format {} is not known", self.format),
                "this version reads format = 1",
            );
        }
        if self.capacity.0 < 1 << 20 {
            return refuse(
                format!("a capacity of {} cannot hold data", self.capacity),
                "write for example capacity = \"1TB\"",
            );
        }
        check_parts(&self.parts)?;
        self.check_experiments()?;
        self.check_figures()
    }

    fn check_experiments(&self) -> Result<()> {
        for experiment in &self.experiments {
            if experiment.duration.0 == 0 || experiment.hasten_times == 0 {
                return refuse(
                    format!("experiment '{}' measures nothing", experiment.name),
                    "write a duration above 0s and hasten_times of at least 1",
                );
            }
            if let ExperimentLoad::Sessions(load) = &experiment.load {
                let name = format!("experiment '{}'", experiment.name);
                load.check().map_err(|error| error.context(name))?;
            }
        }
        Ok(())
    }

    fn check_figures(&self) -> Result<()> {
        for figure in &self.figures {
            let names = [&figure.experiment, &figure.over];
            for name in names.into_iter().flatten() {
                if !name.contains('/') && self.experiment(name).is_none() {
                    return refuse(
                        format!(
                            "figure '{}' refers to an unknown experiment: '{name}'",
                            figure.name
                        ),
                        "specify an [[experiment]] of the same document",
                    );
                }
            }
        }
        Ok(())
    }
}

impl SessionLoad {
    /// Refuses sessions that could not work.
    ///
    /// # Errors
    /// A usage error that names the keys.
    pub fn check(&self) -> Result<()> {
        let numbers = [self.sessions, self.hosts, self.cpus, self.writer_depth, self.dirty_max];
        if numbers.contains(&0)
            || !(self.logical_reads_mean.is_finite() && self.logical_reads_mean > 0.0)
        {
            return refuse(
                "no session has work",
                "write sessions, hosts, cpus, writer_depth, dirty_max and logical_reads_mean \
                 above 0",
            );
        }
        let shares = [self.update_share.0, self.cache_hits.0];
        if !shares.iter().all(|share| (0.0..=1.0).contains(share)) || self.hosts > 255 {
            return refuse(
                "these sessions are not possible",
                "write update_share and cache_hits from 0% to 100%, and up to 255 hosts",
            );
        }
        if self.block.0 < 512 || self.block.0 > 1 << 24 || self.active.0 < self.block.0 {
            return refuse(
                format!(
                    "{} of active data in blocks of {} is not possible",
                    self.active, self.block
                ),
                "write a block from 512B to 16MiB, and active data of at least one",
            );
        }
        Ok(())
    }
}

/// A chain ends with what stores, and nothing follows that.
fn check_parts(parts: &[Part]) -> Result<()> {
    let Some((last, above)) = parts.split_last() else {
        return refuse("the array has no part", "add a [[part]]");
    };
    if !stores(last) || above.iter().any(stores) {
        return refuse(
            "the last part does not store data",
            "write exactly one of hdd, flash, ram or tier, as the last part",
        );
    }
    for (index, part) in parts.iter().enumerate() {
        check_part(part).map_err(|error| error.context(format!("part {}", index + 1)))?;
    }
    Ok(())
}

const fn stores(part: &Part) -> bool {
    matches!(part, Part::Hdd(_) | Part::Flash(_) | Part::Ram(_) | Part::Tier(_))
}

fn check_part(part: &Part) -> Result<()> {
    match part {
        Part::Path(path) => check_path(path),
        Part::Controller(controller) => check_controller(controller),
        Part::Cache(cache) if cache.line.0 == 0 || cache.size.0 < cache.line.0 => refuse(
            "the cache is smaller than one line",
            "write a line above 0 and a size of at least one line",
        ),
        Part::Raid(raid) => check_raid(raid),
        Part::Tier(tier) => check_tier(tier),
        Part::Hdd(hdd) => check_hdd(hdd),
        Part::Flash(flash) => check_flash(flash),
        Part::Ram(ram) if !counts(ram.channels) => refuse_count("ram", "channels"),
        Part::Cache(_) | Part::Ram(_) => Ok(()),
    }
}

const fn counts(number: u32) -> bool {
    number > 0 && number <= MEMBERS_MAX
}

fn refuse_count(part: &str, key: &str) -> Result<()> {
    refuse(format!("the {key} of {part} cannot be simulated"), "write a number from 1 to 4096")
}

fn check_path(path: &Path) -> Result<()> {
    let numbers = [path.links, path.volumes.unwrap_or(1), path.volume_depth.unwrap_or(1)];
    if !numbers.into_iter().all(counts) || path.bandwidth_per_s.is_some_and(|rate| rate.0 == 0) {
        return refuse_count("path", "links, volumes or bandwidth");
    }
    Ok(())
}

fn check_controller(controller: &Controller) -> Result<()> {
    let loads = [
        controller.sigma,
        controller.per_mib_sigma,
        controller.kappa,
        controller.scaling_loss_share,
    ];
    if !counts(controller.nodes)
        || !counts(controller.cores)
        || !loads.into_iter().all(|load| load.is_finite() && load >= 0.0)
    {
        return refuse_count("controller", "nodes, cores or losses");
    }
    Ok(())
}

fn check_raid(raid: &Raid) -> Result<()> {
    let (least, even) = match raid.level {
        RaidLevel::Raid0 => (1, false),
        RaidLevel::Raid1 => (2, false),
        RaidLevel::Raid10 => (2, true),
        RaidLevel::Raid5 => (3, false),
        RaidLevel::Raid6 => (4, false),
    };
    let fits = counts(raid.members) && raid.members >= least;
    if fits && (!even || raid.members.is_multiple_of(2)) && raid.stripe.0 >= 512 {
        return Ok(());
    }
    refuse(
        format!("{:?} with {} members is not possible", raid.level, raid.members),
        "use at least 1, 2, 2, 3 or 4 members for raid0, raid1, raid10 (an even number), raid5 or \
         raid6, and a stripe",
    )
}

fn check_tier(tier: &Tier) -> Result<()> {
    if tier.page.0 < 4096 || tier.every.0 == 0 || tier.moves.0 < 0.0 {
        return refuse(
            "the tier does not move pages",
            "write a page of at least 4KiB and every above 0s",
        );
    }
    check_parts(&tier.fast)?;
    check_parts(&tier.slow)
}

fn check_hdd(hdd: &Hdd) -> Result<()> {
    if hdd.rotation_per_min == 0
        || hdd.transfer_per_s.0 == 0
        || hdd.capacity.0 == 0
        || !counts(hdd.queue_depth)
    {
        return refuse(
            "the disk does not rotate",
            "write capacity, rotation_per_min, transfer_per_s and queue_depth above 0",
        );
    }
    if hdd.seek_full < hdd.seek_track {
        return refuse(
            "a seek across the whole disk is shorter than a seek to the next track",
            "write seek_full of at least seek_track",
        );
    }
    Ok(())
}

fn check_flash(flash: &Flash) -> Result<()> {
    if !counts(flash.dies) {
        return refuse_count("flash", "dies");
    }
    if flash.page.0 < 512 || flash.pages_per_block < 2 || flash.mapped_pages < 4096 {
        return refuse(
            "the flash has no pages",
            "write a page of at least 512B, 2 pages_per_block and 4096 mapped_pages",
        );
    }
    let over = flash.over_provisioning.0;
    let blocks = f64::from(flash.mapped_pages) * over / f64::from(flash.pages_per_block);
    if over > 0.0 && blocks < 4.0 {
        return refuse(
            "the over-provisioning is less than four blocks",
            "write a larger over_provisioning or more mapped_pages",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests;
