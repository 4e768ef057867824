//! The tables of which a plan has many: classes, by name, and sources.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{At, Class, Source, Table};

/// `[class.NAME]` tables in the order of the file.
#[derive(Debug, Default)]
pub struct Classes(pub Vec<(At<String>, Table<Class>)>);

/// `[[source]]` tables.
#[derive(Debug, Default)]
pub struct Sources(pub Vec<At<Table<Source>>>);

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ClassesVisitor;

        impl<'de> Visitor<'de> for ClassesVisitor {
            type Value = Classes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("tables `[class.NAME]`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Classes, A::Error> {
                let mut classes = Vec::new();
                while let Some(class) = map.next_entry()? {
                    classes.push(class);
                }
                Ok(Classes(classes))
            }
        }

        from.deserialize_any(ClassesVisitor)
    }
}

impl<'de> Deserialize<'de> for Sources {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct SourcesVisitor;

        impl<'de> Visitor<'de> for SourcesVisitor {
            type Value = Sources;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("tables `[[source]]` with two brackets")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Sources, A::Error> {
                let mut sources = Vec::new();
                while let Some(source) = seq.next_element()? {
                    sources.push(source);
                }
                Ok(Sources(sources))
            }
        }

        from.deserialize_any(SourcesVisitor)
    }
}

/// Gives a type the schema of another.
macro_rules! schema_as {
    ($($name:ident: $like:ty),*) => {$(
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$like>::json_schema(generator)
            }
        }
    )*};
}

schema_as!(Classes: BTreeMap<String, Class>, Sources: Vec<Source>);
