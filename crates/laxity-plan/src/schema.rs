//! The JSON Schema of a plan: what a plan may contain, with what every key means to each kind of
//! its table.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

use crate::discipline::Kind;
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
        if let Some(Ok(table)) = table.map(TryInto::try_into) {
            describe(table, &kinds);
        }
    }
    if let Some(Ok(class)) = root.pointer_mut("/$defs/Class").map(TryInto::try_into) {
        of_disciplines(class);
    }
}

/// Says of each key of a class to which disciplines it means something, where that is not all.
fn of_disciplines(class: &mut Schema) {
    let Some(properties) = class.get_mut("properties").and_then(|all| all.as_object_mut()) else {
        return;
    };
    for (name, property) in properties.iter_mut() {
        let takes = |kind: &&Kind| kind.room().takes_of_classes(name);
        let words = Kind::ALL.iter().filter(takes).map(|kind| format!("`{}`", kind.word()));
        let words = words.collect::<Vec<_>>().join(", ");
        if words.is_empty() {
            continue;
        }
        let Some(property) = property.as_object_mut() else { continue };
        let about = property.get("description").and_then(|about| about.as_str()).unwrap_or("");
        let about = format!("{about} For {words}.");
        property.insert("description".into(), about.into());
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
            && let Some(reference) = one.get_mut("$ref")
        {
            let reference = reference.take();
            schema.remove("anyOf");
            schema.insert("$ref".into(), reference);
        }
    }
}
