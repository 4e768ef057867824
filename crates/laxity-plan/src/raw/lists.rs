//! The tables that a plan has many times.
//!
//! They are classes, links and nodes of a network, by name, and sources and requests.

use std::collections::BTreeMap;
use std::fmt;

use laxity::units::Nanos;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, MapAccess, SeqAccess};

use super::form::{Form, schema};
use super::request::Request;
use super::{At, Class, Count, NetworkLink, Node, Quantity, Source, Table};

/// Values by name, in the order of the file.
macro_rules! named {
    ($($(#[$about:meta])* $name:ident: $value:ty, $expected:literal;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(crate) struct $name(pub(crate) Vec<(At<String>, $value)>);

        impl<'de> Form<'de> for $name {
            fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expected)
            }
            fn table<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = map.next_entry()? {
                    values.push(value);
                }
                Ok($name(values))
            }
        }
    )*};
}

named! {
    /// `[class.NAME]` tables.
    Classes: Table<Class>, "tables `[class.NAME]`";
    /// `[network.NAME]` tables.
    Links: Table<NetworkLink>, "tables `[network.NAME]`";
    /// `[node.NAME]` tables.
    Nodes: Table<Node>, "tables `[node.NAME]`";
    /// Times by the names of links.
    LinkTimes: Quantity<Nanos>, "times by the names of links, such as { backbone = \"2ms\" }";
    /// Time frames by the names of links.
    LinkFrames: At<Count>, "time frames by the names of links, such as { backbone = 3 }";
}

/// `[[source]]` tables.
#[derive(Debug, Default)]
pub(crate) struct Sources(pub Vec<At<Table<Source>>>);

impl<'de> Form<'de> for Sources {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tables `[[source]]` with two brackets")
    }
    fn list<A: SeqAccess<'de>>(sources: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sources)).map(Sources)
    }
}

/// `[[request]]` tables.
#[derive(Debug, Default)]
pub(crate) struct Requests(pub Vec<At<Table<Request>>>);

impl<'de> Form<'de> for Requests {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tables `[[request]]` with two brackets")
    }
    fn list<A: SeqAccess<'de>>(requests: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(requests)).map(Requests)
    }
}

schema!(Classes, generator => <BTreeMap<String, Class>>::json_schema(generator));
schema!(Links, generator => <BTreeMap<String, NetworkLink>>::json_schema(generator));
schema!(Nodes, generator => <BTreeMap<String, Node>>::json_schema(generator));
schema!(LinkTimes, generator => <BTreeMap<String, Quantity<Nanos>>>::json_schema(generator));
schema!(LinkFrames, generator => <BTreeMap<String, Count>>::json_schema(generator));
schema!(Sources, generator => <Vec<Source>>::json_schema(generator));
schema!(Requests, generator => <Vec<Request>>::json_schema(generator));
