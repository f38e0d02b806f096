//! Reads of the disks under the data as the kernel's block layer times them, where this program may
//! ask for it.

use assay_blocktimes::{BlockTimes, ERROR_SHARE};
use assay_host::root::SysRoot;
use assay_model::profile::{ReadObserver, ReadTimes};
use assay_model::stack::DeviceNumber;

/// Disks that are being timed.
pub struct DeviceReads(Vec<(String, BlockTimes)>);

impl DeviceReads {
    /// Begins to time the reads of all disks among the devices of a stack; parts of disks and
    /// devices made of others are left out, because their reads are those of the disks.
    pub fn begin(root: &SysRoot, devices: &[String]) -> Result<Self, String> {
        let disks = devices.iter().filter_map(|name| Some((name, disk(root, name)?)));
        let timed = disks.map(|(name, number)| Ok((name.clone(), BlockTimes::begin(number)?)));
        let timed: Vec<(String, BlockTimes)> = timed.collect::<Result<_, String>>()?;
        if timed.is_empty() {
            return Err("the data are not on a disk of this machine".to_owned());
        }
        Ok(Self(timed))
    }

    /// What was timed so far; a disk without reads is left out.
    pub fn read(&self) -> Vec<ReadTimes> {
        let one = |(name, times): &(String, BlockTimes)| ReadTimes {
            seen_by: ReadObserver::BlockLayer,
            subject: name.clone(),
            error_share: ERROR_SHARE,
            service: times.histogram(),
        };
        self.0.iter().map(one).filter(|times| !times.service.is_empty()).collect()
    }
}

/// The number of a whole disk that is made of no other.
fn disk(root: &SysRoot, name: &str) -> Option<DeviceNumber> {
    // Names of some drivers have a slash, which is written as an exclamation mark there.
    let place = format!("/sys/class/block/{}", name.replace('/', "!"));
    let is_part = root.path(format!("{place}/partition")).exists();
    let slaves = std::fs::read_dir(root.path(format!("{place}/slaves")));
    let is_made_of_others = slaves.is_ok_and(|mut slaves| slaves.next().is_some());
    if is_part || is_made_of_others {
        return None;
    }
    root.text(format!("{place}/dev")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_whole_disks_are_timed() {
        let place = std::env::temp_dir().join(format!("assay-disks-{}", std::process::id()));
        let block = place.join("sys/class/block");
        for (name, inside) in [("dm-0", "slaves/sda1"), ("sda1", "partition"), ("sda", "slaves")] {
            fs::create_dir_all(block.join(name).join(inside)).unwrap();
            fs::write(block.join(name).join("dev"), "8:16\n").unwrap();
        }
        let root = SysRoot::under(&place);
        let found = |name: &str| disk(&root, name);
        assert_eq!((found("dm-0"), found("sda1"), found("nothing")), (None, None, None));
        assert_eq!(found("sda"), Some(DeviceNumber { major: 8, minor: 16 }));
        assert!(DeviceReads::begin(&root, &["dm-0".to_owned()]).is_err());
        fs::remove_dir_all(place).unwrap();
    }
}
