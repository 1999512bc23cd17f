//! Holds the scenario files against `scenario.schema.json`: the keywords that it uses, and no others.
//!
//! The runner itself would not notice a member that nobody reads, such as `expct`.

use std::fs;

use serde_json::{Map, Value};

use super::file::{folder, scenario_files};

/// What is not as the schema says, file by file.
///
/// # Panics
///
/// When a file cannot be read, or the schema uses a keyword that is not known here.
pub fn offences() -> Vec<String> {
    let schema = read(&folder().join("scenario.schema.json"));
    let check = Check { root: &schema };
    let of_file = |path: std::path::PathBuf| {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        check.offence(&schema, &read(&path), "").map(|offence| format!("{file}{offence}"))
    };
    scenario_files().into_iter().filter_map(of_file).collect()
}

fn read(path: &std::path::Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    /// The first thing in `value` that `schema` does not allow.
    fn offence(&self, schema: &Value, value: &Value, at: &str) -> Option<String> {
        let schema = schema.as_object().filter(|schema| !schema.is_empty())?;
        schema.iter().find_map(|(keyword, rule)| self.keyword(schema, keyword, rule, value, at))
    }

    fn keyword(
        &self,
        schema: &Map<String, Value>,
        name: &str,
        rule: &Value,
        value: &Value,
        at: &str,
    ) -> Option<String> {
        let refuse = |broken: bool| broken.then(|| format!("{at}: {value} breaks {name} {rule}"));
        match name {
            "$schema" | "$defs" | "title" | "description" | "pattern" | "additionalProperties" => None,
            "$ref" => self.offence(self.definition(rule), value, at),
            "oneOf" => self.one_of(rule, value, at),
            "const" => refuse(rule != value),
            "enum" => refuse(!list(rule).contains(value)),
            "type" => refuse(!list(rule).iter().chain([rule]).any(|name| is_of(value, name))),
            "minimum" => refuse(value.as_i64() < rule.as_i64()),
            "minItems" => refuse(value.as_array().is_some_and(|items| items.len() < count(rule))),
            "maxItems" => refuse(value.as_array().is_some_and(|items| items.len() > count(rule))),
            "required" => list(rule).iter().find_map(|name| {
                let missing =
                    value.as_object().is_some_and(|members| !members.contains_key(name.as_str().unwrap_or_default()));
                missing.then(|| format!("{at}: {name} is missing"))
            }),
            "items" => self.each(list(value).iter().map(|item| (rule, item)), at),
            "prefixItems" => self.each(list(rule).iter().zip(list(value)), at),
            "properties" => self.members(schema, rule, value, at),
            other => panic!("the schema uses {other}, which nothing here checks"),
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let name = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/")).unwrap_or_default();
        self.root["$defs"].get(name).unwrap_or_else(|| panic!("the schema defines no {reference}"))
    }

    /// At least one alternative; where none fits, the one that is meant says why.
    fn one_of(&self, alternatives: &Value, value: &Value, at: &str) -> Option<String> {
        let offences: Vec<_> =
            list(alternatives).iter().map(|schema| (schema, self.offence(schema, value, at))).collect();
        if offences.iter().any(|(_, offence)| offence.is_none()) {
            return None;
        }
        let meant = |schema: &Value| ["do", "call", "decision"].iter().any(|tag| is_meant(schema, value, tag));
        let told = offences.iter().find(|(schema, _)| meant(schema)).and_then(|(_, offence)| offence.clone());
        Some(told.unwrap_or_else(|| format!("{at}: {value} is none of the alternatives")))
    }

    fn each<'v>(&self, pairs: impl Iterator<Item = (&'v Value, &'v Value)>, at: &str) -> Option<String> {
        pairs.enumerate().find_map(|(index, (schema, item))| self.offence(schema, item, &format!("{at}/{index}")))
    }

    fn members(&self, schema: &Map<String, Value>, known: &Value, value: &Value, at: &str) -> Option<String> {
        let rest = schema.get("additionalProperties");
        value.as_object()?.iter().find_map(|(name, member)| {
            let at = format!("{at}/{name}");
            match known.get(name).or(rest) {
                Some(Value::Bool(false)) => Some(format!("{at}: no such member")),
                Some(schema) => self.offence(schema, member, &at),
                None => None,
            }
        })
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn count(value: &Value) -> usize {
    value.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
}

fn is_of(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    }
}

fn is_meant(schema: &Value, value: &Value, tag: &str) -> bool {
    let named = &schema["properties"][tag]["const"];
    !named.is_null() && *named == value[tag]
}
