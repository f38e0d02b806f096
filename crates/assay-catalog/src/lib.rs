//! Data sheets and price lists: the catalogs that the program carries, files that overlay them, and
//! what an order gets.
#![forbid(unsafe_code)]

mod age;
mod built_in;
mod target;

pub use age::{PriceAge, are_limits_old, price_age};
pub use built_in::{CatalogIndex, CatalogListing};
pub use target::VolumeTarget;
