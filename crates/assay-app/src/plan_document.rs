//! The plan as a document of its run: what was wanted, kept before anything is measured.

use assay_dbserver::redacted;
use assay_model::run::RunKind;
use assay_model::{Error, Result};
use assay_store::{RunReader, RunWriter, StoredDocument};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};

/// The newest form.
const FORMAT: u32 = 1;

/// A plan as text, ready to be kept.
#[derive(Clone, Debug)]
pub struct PlanDocument(String);

/// The form in which plans are kept.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept<P> {
    format: u32,
    plan: P,
}

impl PlanDocument {
    /// A plan; what it holds of passwords its own fields leave out.
    pub fn new(plan: &impl Serialize) -> Result<Self> {
        let text = serde_json::to_string_pretty(&Kept { format: FORMAT, plan });
        text.map(|text| Self(text + "\n")).map_err(|error| {
            Error::environment(format!("writing the plan: {error}"), "report this as a bug")
        })
    }

    /// As text.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// A plan that came as text.
    ///
    /// # Errors
    /// An environment error when another version wrote it.
    pub(crate) fn parse<P: DeserializeOwned>(text: &str) -> Result<P> {
        let kept: serde_json::Result<Kept<P>> = serde_json::from_str(text);
        kept.map(|kept| kept.plan).map_err(|error| {
            Error::environment(format!("reading the plan: {error}"), "report this as a bug")
        })
    }

    /// Keeps it in a run.
    pub fn keep(&self, writer: &RunWriter) -> Result<()> {
        writer.put(StoredDocument::Plan, &self.0)
    }
}

/// The plan of a run of this kind; nothing where it has none.
pub fn read_plan<P: DeserializeOwned>(run: &RunReader, kind: RunKind) -> Result<Option<P>> {
    if run.manifest().kind != kind {
        return Ok(None);
    }
    Ok(run.json::<Kept<P>>(StoredDocument::Plan)?.map(|kept| kept.plan))
}

/// Writes an address without its password; a path is itself.
pub(crate) fn without_password<S: Serializer>(
    target: &str,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&redacted(target))
}

/// The same of several.
pub(crate) fn without_passwords<S: Serializer>(
    targets: &[String],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(targets.iter().map(|target| redacted(target)))
}
