//! Vdbench's manual: its parameter files as workloads and studies.

mod file;
mod names;
mod number;
mod run;
mod storage;
mod workload;

use crate::conversion::{
    Conversion, NamedTarget, Note, OptionOrigin, Refused, SourceProgram, Treatment, farthest,
};
use crate::reading::{ReadSection, ReadSetting, SectionReader};
use crate::reason::OptionReason;
use crate::surroundings::{HeldBytes, Surroundings};
use assay_model::units::{Bytes, Share};
use assay_model::workload::Content;
use std::collections::{BTreeMap, HashMap};

/// Reads a parameter file; `name` is what its lines are called by.
///
/// # Errors
/// The line, the parameter and the reason where nothing can be made of the file.
pub fn convert(text: &str, name: &str, around: &Surroundings<'_>) -> Result<Conversion, Refused> {
    let found = file::read(text, name, around)?;
    let storages = storage::storages(&found)?;
    let (content, general) = content(&found.general)?;
    let mut conversion = Conversion {
        program: SourceProgram::Vdbench,
        parts: Vec::new(),
        targets: targets(&storages),
        notes: general,
        hosts: if found.hosts.len() > 1 { found.hosts.clone() } else { Vec::new() },
    };
    let (mut refused, mut held) = (Vec::new(), HeldBytes::default());
    for section in &found.runs {
        match run::run(section, &found, &storages, content, &conversion.targets) {
            Ok(run) => {
                held.add_part(&run.part, &run.notes).map_err(|reason| refusal(section, reason))?;
                conversion.parts.push(run.part);
                conversion.notes.extend(run.notes);
            }
            Err(why) if why.reason == OptionReason::FileSystemLoad => refused.push(why),
            Err(why) => return Err(why),
        }
    }
    name_apart(&mut conversion);
    if conversion.parts.is_empty() {
        return Err(refused.into_iter().next().unwrap_or_else(|| nothing(&found, name)));
    }
    conversion.notes.extend(storages.into_iter().flat_map(|one| one.notes));
    conversion.notes.extend(refused.into_iter().map(|why| Note {
        origin: why.origin,
        value: why.value,
        treatment: Treatment::Refused(why.reason),
    }));
    conversion.notes.extend(found.others.iter().map(other));
    conversion.notes = farthest(conversion.notes);
    Ok(conversion)
}

fn refusal(section: &ReadSection, reason: OptionReason) -> Refused {
    Refused { origin: section.origin.clone(), value: section.name.clone(), reason }
}

/// Why a file without a run that can be carried over is refused.
fn nothing(found: &file::Definitions, name: &str) -> Refused {
    if let Some((section, reason)) = found.others.first() {
        return Refused {
            origin: section.origin.clone(),
            value: section.name.clone(),
            reason: reason.clone(),
        };
    }
    let origin = OptionOrigin { file: name.to_owned(), line: 1, key: "rd".to_owned() };
    Refused { origin, value: String::new(), reason: OptionReason::NoJob }
}

fn other((section, reason): &(ReadSection, OptionReason)) -> Note {
    let unused = Treatment::Refused(reason.clone());
    Note { origin: section.origin.clone(), value: section.name.clone(), treatment: unused }
}

/// What all of them write, by the parameters of the file.
fn content(general: &[ReadSetting]) -> Result<(Content, Vec<Note>), Refused> {
    let section = ReadSection { settings: general.to_vec(), ..ReadSection::default() };
    let mut reading = SectionReader::new(&section, names::rule);
    let compressible =
        reading.parsed("compratio", "content", number::real)?.map_or(0.0, run::compressible);
    let duplicate =
        reading.parsed("dedupratio", "content", number::real)?.map_or(0.0, run::compressible);
    let (notes, _) = reading.finish();
    Ok((Content { compressible: Share(compressible), duplicate: Share(duplicate) }, notes))
}

fn targets(storages: &[storage::StorageDefinition]) -> Vec<NamedTarget> {
    let (mut found, mut places) = (Vec::<NamedTarget>::new(), HashMap::new());
    for one in storages {
        let place = *places.entry(&one.lun).or_insert(found.len());
        match found.get_mut(place) {
            Some(known) => known.size = known.size.max(one.size.map(Bytes)),
            None => found.push(NamedTarget { name: one.lun.clone(), size: one.size.map(Bytes) }),
        }
    }
    found
}

/// Runs of the same name get numbers.
fn name_apart(conversion: &mut Conversion) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for part in &mut conversion.parts {
        let times = seen.entry(part.document.name().to_owned()).or_insert(0);
        *times += 1;
        if *times > 1 {
            let name = format!("{}-{times}", part.document.name());
            match &mut part.document {
                crate::conversion::ConvertedDocument::Workload(workload) => workload.name = name,
                crate::conversion::ConvertedDocument::Study(study) => study.name = name,
            }
        }
    }
}
