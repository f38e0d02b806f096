//! No text makes the reader of targets, quantities or simulated devices fail, and a device that is accepted can be built.
#![no_main]

use assay_engine::device::DeviceSpec;
use assay_model::units::{Bytes, Nanos, Rate, Share};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    match kind % 8 {
        0 => {
            if let Ok(spec) = DeviceSpec::parse(text) {
                drop(spec.build());
            }
        }
        1 => drop(assay_methods::target::SimulatedDevice::parse(&format!("array:{text}"))),
        2 => drop(assay_methods::target::SimulatedDevice::parse(&format!("sim:{text}"))),
        3 => same(text.parse::<Bytes>()),
        4 => same(text.parse::<Nanos>()),
        5 => same(text.parse::<Rate>()),
        6 => same(text.parse::<Share>()),
        _ => drop(assay_methods::target::parse_targets(&[text.to_owned()])),
    }
});

/// A quantity is written in words that read as a quantity.
fn same<T: std::fmt::Display + std::str::FromStr>(read: Result<T, T::Err>) {
    if let Ok(quantity) = read {
        let written = quantity.to_string();
        assert!(written.parse::<T>().is_ok(), "{written}");
    }
}
