//! Puts the settings of a study's cell into its workload, and makes the loads that prepare the
//! data.

use crate::files::{is_file_name, read_document};
use crate::presets::preset;
use assay_model::study::{Cell, FactorValue, Study, StudySetting};
use assay_model::units::{Bytes, Nanos, Share};
use assay_model::workload::{
    Access, Arrival, BlockSizeMix, Layout, Span, Stream, Workload, parse_workload,
};
use assay_model::{Error, Result};
use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

mod cells;
mod published;
mod shape;

pub use cells::cells;
pub use published::published;
pub use shape::shaped;

/// Bytes on one target before the next one follows, where a study stripes: the allocation unit of
/// ASM.
const STRIPE: Bytes = Bytes(1 << 20);
/// Bytes of an I/O that fills or preconditions.
const LARGE: Bytes = Bytes(1 << 20);
/// The least that is written at once.
const PAGE: Bytes = Bytes(8 << 10);
/// Share of the I/Os that go to a hot band.
const HOT_SHARE: Share = Share(0.9);
/// How long one step of filling lasts.
const STEP: Nanos = Nanos(1_000_000_000);

/// The workload of a study before any factor.
///
/// # Errors
/// A usage error when there is no such preset or file.
pub fn base_workload(study: &Study) -> Result<Workload> {
    if let Some(workload) = &study.workload {
        return Ok(workload.clone());
    }
    // A study of sessions or of a load alone has no workload of its own: what it says of times is
    // put around this one.
    let name = study.preset.as_deref().unwrap_or("oltp");
    if is_file_name(name, preset(name).is_ok()) {
        let text = read_document(Path::new(name), "workload")?;
        return parse_workload(&text).map_err(|error| error.context(name));
    }
    preset(name)
}

/// The workload of a cell.
///
/// # Errors
/// A usage error when a factor does not fit the workload, or the result is contradictory.
pub fn workload_of(study: &Study, cell: &Cell) -> Result<Workload> {
    let mut workload = timed(study, cell)?;
    for setting in &cell.settings {
        apply(&mut workload, setting)
            .map_err(|error| error.context(format!("factor '{}'", setting.factor)))?;
    }
    workload.check()?;
    Ok(workload)
}

/// The workload with the times of the study, before any factor.
pub fn timed(study: &Study, cell: &Cell) -> Result<Workload> {
    let mut workload = base_workload(study)?;
    workload.duration = study.phases.measure;
    workload.warm_up = study.phases.warm_up;
    workload.seed = study.seed.wrapping_add(u64::from(cell.repeat) - 1);
    // Ten intervals at least, so that every cell has an interval of confidence.
    workload.interval = Nanos((workload.duration.0 / 20).clamp(10_000_000, workload.interval.0));
    Ok(workload)
}

fn apply(workload: &mut Workload, setting: &StudySetting) -> Result<()> {
    let (name, stream) = match setting.factor.split_once('.') {
        Some((name, stream)) => (name, Some(stream)),
        None => (setting.factor.as_str(), None),
    };
    let value = &setting.value;
    match name {
        "fill" => return parsed::<Share>(value, "\"80%\"").map(drop),
        "layout" => {
            workload.layout = layout(value)?;
            return Ok(());
        }
        // Which part of the target that is, only who knows the target can say.
        "capacity" => return parsed::<Bytes>(value, "\"2TB\"").map(drop),
        _ => {}
    }
    if let Some(off) = stream.filter(|_| is_depth(name) && *value == FactorValue::Whole(0)) {
        workload.streams.retain(|one| one.name != off);
        return Ok(());
    }
    let meant: Vec<&mut Stream> = workload
        .streams
        .iter_mut()
        .filter(|one| stream.is_none_or(|name| one.name == name))
        .collect();
    if meant.is_empty() {
        return Err(Error::usage(
            format!("the workload has no stream '{}'", stream.unwrap_or_default()),
            "specify a stream of the workload, or leave stream out to mean all",
        ));
    }
    let mut changed = false;
    for stream in meant {
        changed |= change(stream, name, value)?;
    }
    if changed {
        return Ok(());
    }
    Err(Error::usage(
        format!("no stream of the workload has a '{name}'"),
        "sessions need closed arrivals, a rate open ones",
    ))
}

fn is_depth(name: &str) -> bool {
    ["sessions", "queue_depth"].contains(&name)
}

/// Changes a stream; false where the stream has no such thing.
fn change(stream: &mut Stream, name: &str, value: &FactorValue) -> Result<bool> {
    match name {
        "sessions" | "queue_depth" => {
            if let Arrival::Closed { queue_depth, .. } = &mut stream.arrival {
                *queue_depth = whole(value)?;
                stream.workers = stream.workers.min(*queue_depth).max(1);
                return Ok(true);
            }
            return Ok(false);
        }
        "rate" => {
            if let Arrival::Open { rate, .. } = &mut stream.arrival {
                *rate = parsed(value, "\"1000/s\"")?;
                return Ok(true);
            }
            return Ok(false);
        }
        "block_size" | "transfer" => {
            stream.block_size = BlockSizeMix::single(parsed(value, "\"8KiB\"")?);
        }
        "read_share" => stream.read_share = parsed(value, "\"70%\"")?,
        "workers" | "parallelism" => stream.workers = whole(value)?,
        "volumes" => {
            stream.targets = (0..assay_model::number::index_of(u64::from(whole(value)?))).collect();
        }
        "locality" => {
            stream.span = Span { from: Share(0.0), to: parsed(value, "\"20%\"")? };
        }
        "hot_band" => {
            stream.access = Access::HotBand {
                share: HOT_SHARE,
                band: parsed(value, "\"10%\"")?,
                start: Share(0.0),
            };
        }
        "theta" => {
            let theta = value.number().ok_or_else(|| wrong(value, "0.9"))?;
            stream.access = Access::Zipf { theta };
        }
        "compressible" => stream.content.compressible = parsed(value, "\"50%\"")?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn wrong(value: &impl Display, example: &str) -> Error {
    Error::usage(format!("'{value}' is not a valid value"), format!("write for example {example}"))
}

fn parsed<T: FromStr<Err = Error>>(value: &FactorValue, example: &str) -> Result<T> {
    value.to_string().parse().map_err(|_| wrong(value, example))
}

fn whole(value: &FactorValue) -> Result<u32> {
    let FactorValue::Whole(whole) = value else {
        return Err(wrong(value, "8"));
    };
    u32::try_from(*whole).ok().filter(|whole| *whole > 0).ok_or_else(|| wrong(value, "8"))
}

fn layout(value: &FactorValue) -> Result<Layout> {
    match value {
        FactorValue::Text(word) if word == "concat" => Ok(Layout::Concat),
        FactorValue::Text(word) if word == "stripe" => Ok(Layout::Stripe { unit: STRIPE }),
        other => Err(wrong(other, "\"concat\" or \"stripe\"")),
    }
}

/// How full a cell wants the data, where a factor says so; else what the phases say.
pub fn fill_of(study: &Study, cell: &Cell) -> Option<Share> {
    let setting = cell.settings.iter().find(|setting| setting.factor == "fill");
    let varied = setting.and_then(|setting| setting.value.to_string().parse().ok());
    varied.or(study.phases.fill)
}

/// How much data a cell works on, where a factor says so; else what the study says.
pub fn capacity_of(study: &Study, cell: &Cell) -> Option<Bytes> {
    let setting = cell.settings.iter().find(|setting| setting.factor == "capacity");
    let varied = setting.and_then(|setting| setting.value.to_string().parse().ok());
    varied.or(study.capacity)
}

/// The part of the target that a study works on: the capacity, where one is named.
///
/// # Errors
/// A usage error when the target is smaller.
pub fn share_used(capacity: Option<Bytes>, length_bytes: u64) -> Result<f64> {
    let Some(capacity) = capacity else {
        return Ok(1.0);
    };
    if capacity.0 > length_bytes {
        return Err(Error::usage(
            format!("the study needs {capacity}, but the target has {}", Bytes(length_bytes)),
            "reduce the study with --scale, for example --scale 1/100, or specify a larger target",
        ));
    }
    Ok(assay_model::number::share(capacity.0, length_bytes))
}

/// Narrows a workload to the part of the target that the study works on.
pub fn within(mut workload: Workload, share: f64) -> Workload {
    for stream in &mut workload.streams {
        stream.span.from = Share(stream.span.from.0 * share);
        stream.span.to = Share(stream.span.to.0 * share);
    }
    workload
}

/// A step of writing data once in large transfers from `from` on, both shares of the target. On a
/// device that is hastened `times` over, one page in `times` stands for all. No write is larger
/// than `most`.
pub fn filling(from: f64, to: f64, times: u64, most: Option<Bytes>) -> Workload {
    let large = most.map_or(LARGE, |most| most.min(LARGE));
    let pages = (large.0 / PAGE.0 / times).max(1);
    let block_size = Bytes(PAGE.0 * pages);
    let mut stream = Stream::closed("fill", Share(0.0), block_size, 16);
    stream.access = if times > 1 {
        Access::Stride { step: Bytes(block_size.0 * times) }
    } else {
        Access::Sequential { streams: 1 }
    };
    stream.span = Span { from: Share(from), to: Share(to) };
    Workload::of("fill", STEP, stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::study::parse_study;

    fn workloads(factor: &str, values: &str) -> Vec<Result<Workload>> {
        let text = format!(
            "format = 1\nname = \"x\"\npreset = \"oltp\"\n[phases]\nmeasure = \
             \"10s\"\n[[factor]]\nname = \"{factor}\"\nvalues = {values}\n"
        );
        let study = parse_study(&text).unwrap();
        let cells = cells(&study);
        cells.iter().map(|cell| workload_of(&study, cell)).collect()
    }

    fn one(factor: &str, value: &str) -> Workload {
        workloads(factor, &format!("[{value}]")).remove(0).unwrap()
    }

    #[test]
    fn every_factor_reaches_the_workload() {
        let stream = |factor, value| one(factor, value).streams.remove(0);
        assert_eq!(stream("sessions", "33").arrival.queue_depth(), 33);
        assert_eq!(
            stream("block_size", "\"64KiB\"").block_size,
            BlockSizeMix::single(Bytes(65_536))
        );
        assert_eq!(stream("read_share", "\"92%\"").read_share, Share(0.92));
        assert_eq!(stream("locality", "\"20%\"").span.to, Share(0.2));
        assert_eq!(stream("theta", "0.9").access, Access::Zipf { theta: 0.9 });
        assert_eq!(stream("volumes", "2").targets, [0, 1]);
        assert_eq!(stream("compressible", "\"50%\"").content.compressible, Share(0.5));
        assert!(matches!(stream("hot_band", "\"10%\"").access, Access::HotBand { .. }));
        assert_eq!(stream("parallelism", "4").workers, 4);
        assert_eq!(one("layout", "\"stripe\"").layout, Layout::Stripe { unit: STRIPE });
        assert_eq!(one("fill", "\"80%\""), one("fill", "\"20%\""));
    }

    #[test]
    fn values_that_mean_nothing_are_refused_with_an_example() {
        for (factor, value) in [
            ("sessions", "\"many\""),
            ("sessions", "0"),
            ("block_size", "\"8\""),
            ("read_share", "\"x\""),
            ("layout", "\"ring\""),
            ("rate", "\"100/s\""),
            ("fill", "\"full\""),
        ] {
            let error = workloads(factor, &format!("[{value}]")).remove(0).unwrap_err();
            assert!(error.message().starts_with(&format!("factor '{factor}'")), "{error}");
        }
    }

    #[test]
    fn a_target_must_hold_the_data() {
        let text = "format = 1\nname = \"x\"\npreset = \"oltp\"\ncapacity = \
                    \"1TiB\"\n[phases]\nmeasure = \"10s\"\n";
        let study = parse_study(text).unwrap();
        let refused = share_used(study.capacity, 1 << 30).unwrap_err();
        assert!(refused.hint().contains("--scale"), "{refused}");
        assert!((share_used(study.capacity, 4 << 40).unwrap() - 0.25).abs() < 1e-12);
        let narrowed = within(one("locality", "\"20%\""), 0.25);
        assert!((narrowed.streams[0].span.to.0 - 0.05).abs() < 1e-12);
    }
}
