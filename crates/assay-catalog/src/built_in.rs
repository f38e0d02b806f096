//! The catalogs that the program carries, and files of a user's own over them: what has a name
//! there replaces it here.

use assay_model::catalog::{Catalog, CatalogEntry, parse_catalog};
use assay_model::document::nearest;
use assay_model::{Error, Result};

/// Every document of `catalog/`, by its name.
macro_rules! catalogs {
    ($($name:literal),* $(,)?) => {
        const CATALOGS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../../catalog/", $name, ".catalog.toml")))),*
        ];
    };
}

catalogs! { "aws", "azure", "google", "devices", "arrays" }

/// An entry, the currency of its prices, and the catalog that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogListing {
    /// The entry.
    pub entry: CatalogEntry,
    /// Currency of its prices.
    pub currency: String,
    /// The catalog: a name of the program's own, or a path.
    pub catalog: String,
}

/// All entries, each under a name of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CatalogIndex {
    listings: Vec<CatalogListing>,
}

impl CatalogIndex {
    /// The catalogs that the program carries.
    ///
    /// # Errors
    /// What is wrong with a document, or that two of them have an entry of one name.
    pub fn built_in() -> Result<Self> {
        let mut index = Self::default();
        for (name, text) in CATALOGS {
            let catalog = parse_catalog(text).map_err(|error| error.context(*name))?;
            let known = catalog.entries.iter().find(|entry| index.get(&entry.name).is_some());
            if let Some(entry) = known {
                return Err(Error::usage(
                    format!("{name}: another catalog also has '{}'", entry.name),
                    "give each entry a unique name",
                ));
            }
            index.overlay(catalog, name);
        }
        Ok(index)
    }

    /// The entries of one catalog alone.
    pub fn of(catalog: Catalog, name: &str) -> Self {
        let mut index = Self::default();
        index.overlay(catalog, name);
        index
    }

    /// Puts a catalog over this: entries of names that are known replace those, others are added.
    pub fn overlay(&mut self, catalog: Catalog, name: &str) {
        let Catalog { currency, entries, .. } = catalog;
        for entry in entries {
            self.listings.retain(|listing| listing.entry.name != entry.name);
            let (currency, catalog) = (currency.clone(), name.to_owned());
            self.listings.push(CatalogListing { entry, currency, catalog });
        }
    }

    /// All entries in their order.
    pub fn listings(&self) -> &[CatalogListing] {
        &self.listings
    }

    /// The entry of a name, where there is one.
    pub fn get(&self, name: &str) -> Option<&CatalogListing> {
        self.listings.iter().find(|listing| listing.entry.name == name)
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// A usage error with the nearest name.
    pub fn find(&self, name: &str) -> Result<&CatalogListing> {
        self.get(name).ok_or_else(|| {
            let known: Vec<String> =
                self.listings.iter().map(|listing| listing.entry.name.clone()).collect();
            let near = nearest(name, &known);
            let near = near.map(|near| format!("did you mean '{near}'? ")).unwrap_or_default();
            Error::usage(
                format!("'{name}' is not in any catalog"),
                format!("{near}`assay list catalog` lists the entries"),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::catalog::Offer;

    #[test]
    fn every_row_is_read_and_has_its_day_and_source() {
        let index = CatalogIndex::built_in().unwrap();
        for listing in index.listings() {
            let entry = &listing.entry;
            assert!(entry.offer().is_some(), "{}", entry.name);
            assert!(entry.source.len() > 10, "{}: {}", entry.name, entry.source);
            assert!(entry.as_of.0 > 14_000 && !entry.title.is_empty(), "{}", entry.name);
        }
        let volumes = ["gp2", "gp3", "io2", "premium-ssd-v2", "ultra-disk", "hyperdisk-balanced"];
        for name in volumes.into_iter().chain(["hyperdisk-extreme"]) {
            let offer = index.get(name).and_then(|listing| listing.entry.offer());
            assert!(matches!(offer, Some(Offer::Volume(_))), "{name}");
        }
    }

    #[test]
    fn a_file_of_a_user_replaces_rows_by_their_name() {
        let mut index = CatalogIndex::built_in().unwrap();
        let before = index.listings().len();
        let text = include_str!("../../../contract/examples/small.catalog.toml");
        let own = text.replace("name = \"volume\"", "name = \"gp3\"");
        index.overlay(parse_catalog(&own).unwrap(), "own.catalog.toml");
        let gp3 = index.find("gp3").unwrap();
        assert_eq!((gp3.currency.as_str(), gp3.catalog.as_str()), ("EUR", "own.catalog.toml"));
        assert_eq!(index.listings().len(), before + 5);
        let error = index.find("gp4").unwrap_err().to_string();
        assert!(
            error.contains("'gp4' is not in any catalog") && error.contains("did you mean"),
            "{error}"
        );
    }
}
