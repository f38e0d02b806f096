//! Where a load is asked to run: a directory, or a server of a product.

use super::products::ServerAddress;
use assay_dbserver::redacted;
use assay_model::load::Dialect;
use assay_model::{Error, Result};
use std::path::PathBuf;

/// A target that was understood.
#[derive(Clone)]
pub enum LoadTarget {
    /// A directory on the storage.
    Directory(PathBuf),
    /// A server.
    Server(ServerAddress),
}

impl LoadTarget {
    /// Reads a target.
    ///
    /// # Errors
    /// A usage error when it is neither.
    pub fn read(target: &str) -> Result<Self> {
        if let Some(dialect) = Dialect::of_address(target) {
            return ServerAddress::read(dialect, target).map(Self::Server);
        }
        let path = PathBuf::from(target);
        if path.is_dir() {
            return Ok(Self::Directory(path));
        }
        let examples = Dialect::ALL.map(|dialect| dialect.facts().example).join(" or ");
        Err(Error::usage(
            format!("{target} is neither a directory nor a server address"),
            format!("specify a directory on the storage, {examples}"),
        ))
    }

    /// The password, as it was typed or as it was found in the environment or in a file of
    /// passwords.
    pub fn secret(&self) -> Option<&str> {
        match self {
            Self::Directory(_) => None,
            Self::Server(address) => address.password(),
        }
    }

    /// The same with a password that came another way, where there is one.
    pub fn with_secret(mut self, secret: Option<String>) -> Self {
        if let (Self::Server(address), Some(secret)) = (&mut self, secret) {
            address.set_password(secret);
        }
        self
    }

    /// The target without secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Directory(path) => path.display().to_string(),
            Self::Server(address) => address.to_string(),
        }
    }

    /// A command without passwords, with the target as it is shown.
    pub fn command(&self, target: &str, command: &[String]) -> Vec<String> {
        let (shown, typed) = (self.shown(), redacted(target));
        let words = command.iter();
        words.map(|word| if *word == typed { shown.clone() } else { word.clone() }).collect()
    }
}
