//! The options of a load by their names, as studies and other programs set them, and its run.

use super::LoadPlan;
use crate::context::Context;
use crate::finish::FinishedRun;
use crate::plan_document::PlanDocument;
use assay_model::document::nearest;
use assay_model::study::FactorValue;
use assay_model::{Error, Result};
use serde_json::Value;

/// Other names of options: those that studies have for them, and those of earlier versions.
const ALIASES: [(&str, &str); 5] = [
    ("left", "partial_data"),
    ("memory", "buffer_pool"),
    ("parallelism", "parallel"),
    ("shared_buffers", "buffer_pool"),
    ("users", "sessions"),
];

impl LoadPlan {
    /// Carries it out as a run of its own.
    pub fn run(&self, context: &Context) -> Result<FinishedRun> {
        self.load().check()?;
        self.load().run(&PlanDocument::new(self)?, context)
    }

    /// The options of its verb, as fields of the plan are called.
    pub fn options(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        collect(&self.as_value()?, &mut names);
        Ok(names)
    }

    /// The name of an option as its verb spells it, where the load has it.
    ///
    /// # Errors
    /// A usage error with the nearest name.
    pub fn spelled(&self, name: &str) -> Result<String> {
        Ok(self.field(name)?.replace('_', "-"))
    }

    /// Sets an option by its name, or the name that studies have for it, to a value as a study writes it.
    ///
    /// # Errors
    /// A usage error when there is no such option, or the value is not one of it.
    pub fn set(&mut self, name: &str, value: &FactorValue) -> Result<()> {
        let field = self.field(name)?;
        let whole = self.as_value()?;
        let mut why = String::new();
        for written in written(value) {
            let mut changed = whole.clone();
            if let Some(place) = find(&mut changed, &field) {
                *place = written;
            }
            match serde_json::from_value::<Self>(changed) {
                Ok(mut plan) => {
                    // A password of the address is not written.
                    let (new, old) = (plan.load_mut().parts(), self.load_mut().parts());
                    std::mem::swap(new.target, old.target);
                    if let (Some(new), Some(old)) = (new.other_targets, old.other_targets) {
                        std::mem::swap(new, old);
                    }
                    *self = plan;
                    return Ok(());
                }
                Err(error) if why.is_empty() => why = error.to_string(),
                Err(_) => (),
            }
        }
        let kind = self.load().kind().name();
        Err(Error::usage(
            format!("--{}: '{value}' cannot be read: {why}", field.replace('_', "-")),
            format!("see `assay bench {kind} --help`"),
        ))
    }

    /// The field that a name means.
    fn field(&self, name: &str) -> Result<String> {
        let (known, spelled) = (self.options()?, name.replace('-', "_"));
        let other = ALIASES.iter().find(|(alias, _)| *alias == spelled).map(|(_, other)| *other);
        let found = [Some(spelled.as_str()), other].into_iter().flatten();
        let found = found.into_iter().find(|name| known.iter().any(|known| known == name));
        found.map(str::to_owned).ok_or_else(|| {
            let near = nearest(&spelled, &known)
                .map(|near| format!("did you mean '{}'? ", near.replace('_', "-")))
                .unwrap_or_default();
            let kind = self.load().kind().name();
            Error::usage(
                format!("the load '{kind}' has no '{name}'"),
                format!("{near}see `assay bench {kind} --help`"),
            )
        })
    }

    fn as_value(&self) -> Result<Value> {
        let value = serde_json::to_value(self);
        value.map_err(|error| {
            Error::environment(format!("writing the plan: {error}"), "report this as a bug")
        })
    }
}

/// Names of all options; groups of them are not options themselves, nor is the target.
fn collect(value: &Value, names: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => collect(value, names),
            _ if name == "target" || name == "other_targets" => (),
            _ => names.push(name.clone()),
        }
    }
}

/// The value of an option.
fn find<'a>(value: &'a mut Value, field: &str) -> Option<&'a mut Value> {
    let Value::Object(fields) = value else { return None };
    if fields.get(field).is_some_and(|value| !value.is_object()) {
        return fields.get_mut(field);
    }
    fields.values_mut().find_map(|value| find(value, field))
}

/// A value of a study in the ways in which a plan may hold it: as it is, as text, as a number, as a list.
fn written(value: &FactorValue) -> Vec<Value> {
    let text = value.to_string();
    let number = |text: &str| text.trim().parse::<serde_json::Number>().ok().map(Value::Number);
    let plain = match value {
        FactorValue::Flag(flag) => return vec![Value::Bool(*flag)],
        FactorValue::Whole(whole) => Value::from(*whole),
        FactorValue::Real(real) => Value::from(*real),
        FactorValue::Text(text) => Value::from(text.as_str()),
    };
    let list: Option<Vec<Value>> = text.split(',').map(number).collect();
    let mut ways = vec![plain];
    ways.extend(number(&text));
    ways.extend(list.map(Value::Array));
    ways.push(Value::String(text));
    ways
}
