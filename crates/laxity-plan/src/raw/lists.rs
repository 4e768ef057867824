//! The tables that a plan has many times.
//!
//! They are classes, links and nodes of a network, by name, and sources.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{At, Class, NetworkLink, Node, Source, Table};

/// Tables by name, in the order of the file.
macro_rules! named {
    ($($(#[$about:meta])* $name:ident: $table:ty, $expected:literal;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(crate) struct $name(pub(crate) Vec<(At<String>, Table<$table>)>);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct NamedVisitor;

                impl<'de> Visitor<'de> for NamedVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut tables = Vec::new();
                        while let Some(table) = map.next_entry()? {
                            tables.push(table);
                        }
                        Ok($name(tables))
                    }
                }

                from.deserialize_any(NamedVisitor)
            }
        }
    )*};
}

named! {
    /// `[class.NAME]` tables.
    Classes: Class, "tables `[class.NAME]`";
    /// `[network.NAME]` tables.
    Links: NetworkLink, "tables `[network.NAME]`";
    /// `[node.NAME]` tables.
    Nodes: Node, "tables `[node.NAME]`";
}

/// `[[source]]` tables.
#[derive(Debug, Default)]
pub(crate) struct Sources(pub Vec<At<Table<Source>>>);

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

schema_as!(
    Classes: BTreeMap<String, Class>,
    Links: BTreeMap<String, NetworkLink>,
    Nodes: BTreeMap<String, Node>,
    Sources: Vec<Source>
);
