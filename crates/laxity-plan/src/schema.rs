//! The JSON Schema of a plan: what a plan may contain, with what every key means to each kind of its
//! table.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

use crate::keys::{Keys, describe};
use crate::{aqm, raw, source};

/// The JSON Schema of a plan, for editors that complete and check TOML.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .with_transform(with_meanings)
        .with_transform(RecursiveTransform(without_null))
        .into_generator()
        .into_root_schema_for::<raw::Plan>()
}

/// Says of each key what it means to the kinds that take it.
fn with_meanings(root: &mut Schema) {
    let tables: [(&str, Vec<(&str, Keys)>); 2] =
        [("Queue", aqm::keys()), ("Source", source::keys())];
    for (table, kinds) in tables {
        let table = root.pointer_mut(&format!("/$defs/{table}"));
        if let Some(Ok(table)) = table.map(|table| table.try_into()) {
            describe(table, &kinds);
        }
    }
}

/// Takes `null`, which TOML has not, out of what an optional key may be.
fn without_null(schema: &mut Schema) {
    if let Some(kinds) = schema.get_mut("type").and_then(|kinds| kinds.as_array_mut()) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            schema.insert("type".into(), kind);
        }
    }
    if let Some(any) = schema.get_mut("anyOf").and_then(|any| any.as_array_mut()) {
        any.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
        if let [one] = &mut any[..]
            && let Some(reference) = one.get_mut("$ref").map(|reference| reference.take())
        {
            schema.remove("anyOf");
            schema.insert("$ref".into(), reference);
        }
    }
}
