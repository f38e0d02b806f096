//! Where a load is asked to run: a directory, or a server of a product.

use assay_dbserver::redacted;
use assay_model::{Error, Result};
use assay_postgres::address::{Address, is_address};
use std::path::PathBuf;

/// A target that was understood.
#[derive(Clone)]
pub enum LoadTarget {
    /// A directory on the storage.
    Directory(PathBuf),
    /// A PostgreSQL server.
    Postgres(Box<Address>),
    /// A MariaDB or MySQL server.
    Mariadb(Box<assay_mariadb::address::Address>),
}

impl LoadTarget {
    /// Reads a target.
    ///
    /// # Errors
    /// A usage error when it is neither.
    pub fn read(target: &str) -> Result<Self> {
        if is_address(target) {
            let address = Address::parse(target, |name| std::env::var(name).ok())?;
            return Ok(Self::Postgres(Box::new(address)));
        }
        if assay_mariadb::address::is_address(target) {
            let variable = |name: &str| std::env::var(name).ok();
            let address = assay_mariadb::address::Address::parse(target, variable)?;
            return Ok(Self::Mariadb(Box::new(address)));
        }
        let path = PathBuf::from(target);
        if path.is_dir() {
            return Ok(Self::Directory(path));
        }
        Err(Error::usage(
            format!("{target} is neither a directory nor the address of a server"),
            "name a directory on the storage, postgresql://USER@HOST/DATABASE or mysql://USER@HOST/",
        ))
    }

    /// The password, as it was typed or as it was found in the environment or in a file of passwords.
    pub fn secret(&self) -> Option<&str> {
        match self {
            Self::Directory(_) => None,
            Self::Postgres(address) => address.password.as_deref(),
            Self::Mariadb(address) => address.password.as_deref(),
        }
    }

    /// The same with a password that came another way, where there is one.
    pub fn with_secret(mut self, secret: Option<String>) -> Self {
        match &mut self {
            Self::Postgres(address) if secret.is_some() => address.password = secret,
            Self::Mariadb(address) if secret.is_some() => address.password = secret,
            _ => {}
        }
        self
    }

    /// The target without secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Postgres(address) => address.to_string(),
            Self::Mariadb(address) => address.to_string(),
        }
    }

    /// A command without passwords, with the target as it is shown.
    pub fn command(&self, target: &str, command: &[String]) -> Vec<String> {
        let (shown, typed) = (self.shown(), redacted(target));
        let words = command.iter();
        words.map(|word| if *word == typed { shown.clone() } else { word.clone() }).collect()
    }
}
