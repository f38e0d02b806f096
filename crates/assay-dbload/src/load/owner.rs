//! The record inside of a schema or database that says which run made it: by it, and never by a
//! name, something is known as one that may be changed or dropped.

use super::link::ServerLink;
use assay_dbserver::password;
use assay_host::clock::unix_ns;
use assay_model::failure::Answer;
use assay_model::load::{Dialect, LoadKind};
use assay_model::row::Row;
use assay_model::{Error, Result};

/// The table that holds the record.
pub(super) const RECORD: &str = "assay_owner";
/// What its form is called; another form is another program's.
const FORM: &str = "ASSAY OWNER 1";
/// The form inside of a schema that was there before, empty. Releases that would drop the schema
/// take this for another program's.
const GIVEN_FORM: &str = "ASSAY OWNER 2";

/// What earlier runs left on a server; and, by name and reason, what only looks like it.
pub type LeftoversOnServer = (Vec<LeftoverSchema>, Vec<(String, String)>);

/// What a schema or database was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnedKind {
    /// A schema for a load.
    Load(LoadKind),
    /// A whole database, with the schema of a load in it.
    Database,
}

impl OwnedKind {
    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        LoadKind::ALL.into_iter().map(Self::Load).chain([Self::Database])
    }

    /// Its name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load(load) => load.name(),
            Self::Database => "database",
        }
    }
}

/// What the record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaOwner {
    /// 128 random bits as letters; no two runs have the same.
    pub id: String,
    /// What it was made for.
    pub kind: OwnedKind,
    /// Whether a run was asked to leave it for later.
    pub is_kept: bool,
    /// Whether the schema was there before, empty: it is left so, and never dropped or renamed.
    pub is_given: bool,
    /// What the server calls the thing itself: a copy of it has another.
    pub(super) place: String,
}

/// What a name stands for on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Nothing.
    Absent,
    /// Something that this user's runs did not make; why that is known.
    Foreign(String),
    /// Made by a run of this user.
    Ours(SchemaOwner),
}

/// An Assay schema or database that no program uses and nobody asked to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverSchema {
    /// Its name.
    pub name: String,
    /// Its record.
    pub owner: SchemaOwner,
    /// What it takes on storage, bytes.
    pub bytes: u64,
}

/// A schema that carries a record, or looks as if it did.
pub struct OwnerCandidate {
    /// Its name.
    pub(super) name: String,
    /// What it takes on storage, bytes.
    pub(super) bytes: u64,
    /// Whether no program uses it.
    pub(super) is_free: bool,
}

impl SchemaOwner {
    /// A new one of something that its run makes.
    ///
    /// # Errors
    /// An environment error when the system gives no random bytes.
    pub fn new(kind: OwnedKind) -> Result<Self> {
        let (is_kept, is_given, place) = (false, false, String::new());
        Ok(Self { id: password()?, kind, is_kept, is_given, place })
    }

    /// Its rows, as values of a statement; `place` is an expression of the product.
    pub(super) fn values(&self, place: &str) -> String {
        let kept = if self.is_kept { "yes" } else { "no" };
        let form = if self.is_given { GIVEN_FORM } else { FORM };
        format!(
            "('form', '{form}'), ('id', '{}'), ('kind', '{}'), ('kept', '{kept}'), ('place', \
             {place}), ('process', '{}'), ('begun_us', '{}')",
            self.id,
            self.kind.name(),
            std::process::id(),
            unix_ns() / 1000
        )
    }

    /// Reads rows; nothing where they are not what this program writes.
    pub(super) fn of(rows: &[(String, String)]) -> Option<Self> {
        let value = |name: &str| {
            let found = rows.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        let is_given = match value("form") {
            Some(FORM) => false,
            Some(GIVEN_FORM) => true,
            _ => return None,
        };
        let id = value("id").filter(|id| id.len() == 32 && is_hexadecimal(id))?;
        let kind = OwnedKind::all().find(|kind| Some(kind.name()) == value("kind"))?;
        let is_kept = value("kept") == Some("yes");
        let place = value("place")?.to_owned();
        Some(Self { id: id.to_owned(), kind, is_kept, is_given, place })
    }
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|letter| letter.is_ascii_hexdigit())
}

/// A standing of something that is not ours.
pub(super) fn foreign(why: &str) -> Ownership {
    Ownership::Foreign(why.to_owned())
}

/// The rows of a record.
pub(super) fn pairs(rows: &[Row]) -> Vec<(String, String)> {
    rows.iter().map(|row| (row.text(0).to_owned(), row.text(1).to_owned())).collect()
}

/// A name as the server writes one that needs quotes.
pub(super) fn quoted(dialect: Dialect, name: &str) -> String {
    let quote = dialect.facts().quote;
    format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")))
}

/// Notes that a schema is to stay.
pub(super) fn keep_owned<L: ServerLink>(link: &mut L, schema: &str) -> Answer<()> {
    let schema = quoted(L::DIALECT, schema);
    link.run(&format!("UPDATE {schema}.{RECORD} SET value = 'yes' WHERE name = 'kept'"))
}

/// That something in the way is not ours.
pub fn in_the_way(what: &str, name: &str, why: &str) -> Error {
    Error::environment(
        format!("{what} {name} exists and was not created by this load: {why}; it was not changed"),
        "specify another with --schema (an empty one of this account is used and left empty), \
         or rename or drop it yourself",
    )
}

/// That what is ours holds what is not.
pub(super) fn holds_foreign(name: &str, foreign: &[String]) -> Error {
    let shown: Vec<&str> = foreign.iter().take(5).map(String::as_str).collect();
    let more = if foreign.len() > shown.len() { ", …" } else { "" };
    Error::environment(
        format!(
            "{name} is not dropped: Assay did not create {}{more}, which would be dropped with it",
            shown.join(", ")
        ),
        "move or drop it yourself, then run `assay runs clean ADDRESS`",
    )
}

/// That another program is at it.
pub(super) fn in_use(name: &str) -> Error {
    Error::environment(
        format!("another program is using {name}"),
        "wait until it ends, or specify another schema or server",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_nothing_else_is_one() {
        let rows = |changed: &str, to: &str| -> Vec<(String, String)> {
            let id = "0123456789abcdef0123456789abcdef";
            let all =
                [("form", FORM), ("id", id), ("kind", "oltp"), ("kept", "no"), ("place", "7")];
            let put = |(name, value): (&str, &str)| {
                (name.to_owned(), if name == changed { to } else { value }.to_owned())
            };
            all.into_iter().map(put).collect()
        };
        let read = SchemaOwner::of(&rows("", "")).unwrap();
        assert_eq!(
            (read.kind, read.is_kept, read.place.as_str()),
            (OwnedKind::Load(LoadKind::Oltp), false, "7")
        );
        assert!(SchemaOwner::of(&rows("kept", "yes")).unwrap().is_kept && !read.is_given);
        assert!(SchemaOwner::of(&rows("form", GIVEN_FORM)).unwrap().is_given);
        for (name, value) in [("form", "ASSAY OWNER 3"), ("id", ""), ("id", "x"), ("kind", "mine")]
        {
            assert_eq!(SchemaOwner::of(&rows(name, value)), None, "{name} {value}");
        }
        assert_eq!(SchemaOwner::of(&[]), None);
        assert_ne!(
            SchemaOwner::new(OwnedKind::Load(LoadKind::Dss)).unwrap().id,
            SchemaOwner::new(OwnedKind::Load(LoadKind::Dss)).unwrap().id
        );
    }

    #[test]
    fn a_name_in_quotes_holds_its_own_quotes_twice() {
        assert_eq!(quoted(Dialect::Postgres, "a\"b"), "\"a\"\"b\"");
        assert_eq!(quoted(Dialect::Mariadb, "a`b"), "`a``b`");
    }
}
