//! The JSON Schema of a plan: what a plan may contain, with what every key means.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

use crate::discipline::Kind;
use crate::raw;

/// The JSON Schema of a plan, for editors that complete and check TOML.
pub fn schema() -> Schema {
    SchemaSettings::draft2020_12()
        .with_transform(with_disciplines)
        .with_transform(RecursiveTransform(without_null))
        .with_transform(RecursiveTransform(in_one_line))
        .into_generator()
        .into_root_schema_for::<raw::Plan>()
}

/// Says of each key of a class to which disciplines it means something, where that is not all.
fn with_disciplines(root: &mut Schema) {
    let properties = root.pointer_mut("/$defs/Class/properties");
    let Some(properties) = properties.and_then(|all| all.as_object_mut()) else { return };
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

/// Joins the lines of a description: where they end is a matter of the source.
fn in_one_line(schema: &mut Schema) {
    if let Some(about) = schema.get("description").and_then(|about| about.as_str()) {
        let about = about.replace('\n', " ");
        schema.insert("description".into(), about.into());
    }
}
