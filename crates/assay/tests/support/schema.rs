//! As much of JSON Schema (draft 2020-12) as the schemas that ship use.

use serde_json::Value;

/// What of a document is not as the schema of this name says; `schema` prints the schema of a name.
pub fn problems(name: &str, document: &Value, schema: &dyn Fn(&str) -> Value) -> Vec<String> {
    let root = schema(name);
    let mut found = Vec::new();
    Judge { root: &root, schema }.judge(&root, document, name, &mut found);
    found
}

struct Judge<'a> {
    root: &'a Value,
    schema: &'a dyn Fn(&str) -> Value,
}

impl Judge<'_> {
    fn judge(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        if let Some(reference) = schema["$ref"].as_str() {
            self.follow(reference, value, place, found);
        }
        if !is_of_type(&schema["type"], value) {
            found.push(format!("{place}: {value} is not {}", schema["type"]));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(all) = schema[key].as_array()
                && !all.iter().any(|one| self.fits(one, value))
            {
                found.push(format!("{place}: {value} is none of {key}"));
            }
        }
        if !schema["const"].is_null() && schema["const"] != *value {
            found.push(format!("{place}: {value} is not {}", schema["const"]));
        }
        if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
            found.push(format!("{place}: {value} is none of {}", schema["enum"]));
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.judge(&schema["items"], item, &format!("{place}[{index}]"), found);
        }
        self.keys(schema, value, place, found);
    }

    fn keys(&self, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
        let Some(object) = value.as_object() else { return };
        for needed in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(needed.as_str().unwrap()) {
                found.push(format!("{place}: {needed} is missing"));
            }
        }
        for (key, value) in object {
            let place = format!("{place}.{key}");
            match &schema["properties"][key] {
                Value::Null if schema["additionalProperties"] == false => {
                    found.push(format!("{place}: the schema has no such key"));
                }
                Value::Null => {
                    self.judge(&schema["additionalProperties"], value, &place, found);
                }
                known => self.judge(known, value, &place, found),
            }
        }
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.judge(schema, value, "", &mut found);
        found.is_empty()
    }

    /// `#/$defs/Name` of this schema, `other.schema.json` or a part of it.
    fn follow(&self, reference: &str, value: &Value, place: &str, found: &mut Vec<String>) {
        let (file, path) = reference.split_once('#').unwrap_or((reference, ""));
        let part =
            |root: &Value| root.pointer(path).unwrap_or_else(|| panic!("{reference}")).clone();
        if file.is_empty() {
            return self.judge(&part(self.root), value, place, found);
        }
        let root = (self.schema)(file);
        Judge { root: &root, schema: self.schema }.judge(&part(&root), value, place, found);
    }
}

fn is_of_type(kind: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "array" => value.is_array(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "object" => value.is_object(),
        _ => value.is_string(),
    };
    match kind {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}
