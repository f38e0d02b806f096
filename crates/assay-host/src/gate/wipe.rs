//! What a person gives up by name: the known data on a device, all of it and nothing else.

use super::refusal::DeviceRefusal;
use crate::signatures::{Match, SignatureKind};

/// The word for a device that carries nothing, where several devices are given up.
const NOTHING: &str = "none";

/// Other words for the same formats.
const SYNONYMS: &[(&str, &str)] = &[
    ("ext2", "ext4"),
    ("ext3", "ext4"),
    ("jbd", "ext4"),
    ("dos", "mbr"),
    ("fat", "vfat"),
    ("luks", "crypto_LUKS"),
];

/// Compares what was found with what was typed; says what was given up, if anything was.
///
/// # Errors
/// The refusal, when anything that was found was not typed, was typed and not found, or is not for
/// one device to lose.
pub(super) fn check(
    found: &[Match],
    typed: Option<&str>,
    token: &str,
) -> Result<Option<String>, DeviceRefusal> {
    let names: Vec<&str> = found.iter().map(|found| found.name).collect();
    let shared: Vec<&str> = found
        .iter()
        .filter(|found| found.kind == SignatureKind::Member)
        .map(|found| found.name)
        .collect();
    if !shared.is_empty() {
        return Err(DeviceRefusal::Member { names, shared });
    }
    let there = sorted(found.iter().map(|found| found.word).collect());
    let given = words(typed.unwrap_or(NOTHING));
    if there == given {
        return Ok(
            (!found.is_empty()).then(|| format!("given up with --wipe: {}", names.join(", ")))
        );
    }
    let typed = typed.map(str::to_owned);
    match typed {
        Some(typed) if found.is_empty() => Err(DeviceRefusal::NothingToWipe { typed }),
        typed => {
            let option = format!("--destroy '{token}' --wipe {}", there.join(","));
            Err(DeviceRefusal::Occupied { names, typed, option })
        }
    }
}

fn words(typed: &str) -> Vec<&str> {
    let known = |word: &'_ str| {
        let synonym = SYNONYMS.iter().find(|(other, _)| other.eq_ignore_ascii_case(word));
        synonym.map(|(_, own)| *own)
    };
    let words = typed.split(',').map(str::trim);
    sorted(words.filter(|word| *word != NOTHING).map(|word| known(word).unwrap_or(word)).collect())
}

fn sorted(mut words: Vec<&str>) -> Vec<&str> {
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXT4: Match =
        Match { word: "ext4", name: "ext4 file system", kind: SignatureKind::Content, offset: 0 };
    const GPT: Match = Match { word: "gpt", name: "GPT", kind: SignatureKind::Table, offset: 0 };
    const LVM: Match =
        Match { word: "lvm", name: "LVM volume", kind: SignatureKind::Member, offset: 0 };

    #[test]
    fn exactly_what_is_there_must_be_named() {
        for typed in ["ext4,gpt", "gpt, ext4", "ext3,gpt,ext4"] {
            let given_up = check(&[EXT4, GPT], Some(typed), "S").unwrap().unwrap();
            assert_eq!(given_up, "given up with --wipe: ext4 file system, GPT");
        }
        for typed in ["ext4", "gpt", "", "none", "all", "ext4,gpt,xfs", "ext4 gpt", "ext4,gpt,"] {
            let refusal = check(&[EXT4, GPT], Some(typed), "S").unwrap_err();
            let DeviceRefusal::Occupied { option, .. } = refusal else { panic!("{refusal:?}") };
            assert_eq!(option, "--destroy 'S' --wipe ext4,gpt");
        }
        assert!(check(&[EXT4], None, "S").is_err());
    }

    #[test]
    fn an_empty_device_has_nothing_to_name() {
        assert_eq!(check(&[], None, "S").unwrap(), None);
        assert_eq!(check(&[], Some("none"), "S").unwrap(), None);
        let refusal = check(&[], Some("ext4"), "S").unwrap_err();
        assert_eq!(refusal, DeviceRefusal::NothingToWipe { typed: "ext4".into() });
    }

    #[test]
    fn what_others_have_parts_of_is_not_for_one_device_to_lose() {
        for typed in [None, Some("lvm"), Some("ext4,lvm")] {
            let refusal = check(&[EXT4, LVM], typed, "S").unwrap_err();
            assert!(
                matches!(refusal, DeviceRefusal::Member { shared, .. } if shared == ["LVM volume"])
            );
        }
    }
}
