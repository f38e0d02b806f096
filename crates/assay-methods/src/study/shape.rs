//! Factors that speak of a simulated array itself: its controllers, its volumes, what is in use of
//! it.

use super::{parsed, whole};
use crate::target::SimulatedDevice;
use assay_model::Result;
use assay_model::study::{Cell, StudySetting};
use assay_model::units::Bytes;

/// What an array has in place of a workload's factor of the same name.
const OF_ARRAYS: [&str; 6] =
    ["volumes", "nodes", "capacity", "cache_lost", "controller_lost", "stale_member"];

/// The device as a cell wants it, and the cell without what the device has taken.
///
/// # Errors
/// A usage error when a value means nothing.
pub fn shaped(device: &SimulatedDevice, cell: &Cell) -> Result<(SimulatedDevice, Cell)> {
    let SimulatedDevice::Array(array) = device else {
        return Ok((device.clone(), cell.clone()));
    };
    let (mut array, mut rest) = (array.clone(), cell.clone());
    let taken = |setting: &StudySetting| OF_ARRAYS.contains(&setting.factor.as_str());
    for setting in cell.settings.iter().filter(|setting| taken(setting)) {
        let value = &setting.value;
        let number =
            || whole(value).map_err(|error| error.context(format!("factor '{}'", setting.factor)));
        array = match setting.factor.as_str() {
            "volumes" => array.with_volumes(number()?),
            "nodes" => array.with_nodes(number()?),
            "capacity" => {
                let size: Bytes = parsed(value, "\"2TB\"")?;
                assay_arrays::ArraySpec { capacity_bytes: size.0, ..array }
            }
            failure => array.with_query(&format!("{failure}={value}"))?,
        };
    }
    rest.settings.retain(|setting| !taken(setting));
    Ok((SimulatedDevice::Array(array), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::cells;
    use assay_model::study::parse_study;

    #[test]
    fn volumes_nodes_and_capacity_are_the_arrays_own() {
        let text = "format = 1\nname = \"x\"\npreset = \"oltp\"\n[phases]\nmeasure = \
                    \"10s\"\n[[factor]]\nname = \"capacity\"\nvalues = \
                    [\"1TB\"]\n[[factor]]\nname = \"nodes\"\nvalues = [2]\n[[factor]]\nname = \
                    \"sessions\"\nvalues = [7]\n";
        let cell = cells(&parse_study(text).unwrap()).remove(0);
        let plain = SimulatedDevice::parse("array:ps6110xs").unwrap().unwrap();
        let (found, rest) = shaped(&plain, &cell).unwrap();
        let named = SimulatedDevice::parse("array:ps6110xs?capacity=1TB&nodes=2").unwrap();
        assert_eq!(Some(found), named);
        assert_eq!(rest.settings.len(), 1);
        let failing = text.replace("capacity", "cache_lost").replace("1TB", "20s");
        let failing = cells(&parse_study(&failing).unwrap()).remove(0);
        let cached = SimulatedDevice::parse("array:ps6010xv").unwrap().unwrap();
        let (found, rest) = shaped(&cached, &failing).unwrap();
        let named = SimulatedDevice::parse("array:ps6010xv?cache_lost=20s&nodes=2").unwrap();
        assert_eq!((Some(found), rest.settings.len()), (named, 1));
        let error = shaped(&plain, &failing).map(drop);
        assert!(error.is_ok(), "a tier below a cache leaves its places alone");
        let laws = SimulatedDevice::parse("sim:servers?count=8&service=200us").unwrap().unwrap();
        assert_eq!(shaped(&laws, &cell).unwrap(), (laws, cell));
    }
}
