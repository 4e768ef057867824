//! `topology = …`: a file, or a table that says what is drawn.

use std::fmt;

use laxity::units::{Nanos, Rate};
use schemars::json_schema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};

use super::form::{Form, schema};
use super::values::{At, Count, Quantity, Word};
use crate::keys::{kinds, table};

/// A file of links, or a network that is drawn by a rule.
#[derive(Debug)]
pub(crate) enum Topology {
    File(String),
    Drawn(Drawn),
}

table! {
    /// A network that is drawn by a rule.
    pub(crate) struct Drawn {
        /// What is drawn.
        #[schemars(with = "At<Word<Kind>>")]
        pub kind: Option<At<Word<Kind>>>,
        /// `fat-tree`: the ports of a switch, an even number.
        pub k: Option<At<Count>>,
        /// `dumbbell`: the hosts on each side.
        pub hosts: Option<At<Count>>,
        /// The rate of links, in a dumbbell of that between the routers. Default that of `[link]`.
        pub rate: Option<Quantity<Rate>>,
        /// Their propagation delay. Default that of `[link]`.
        pub delay: Option<Quantity<Nanos>>,
        /// `dumbbell`: the rate of the hosts' links. Default that of `[link]`.
        pub access_rate: Option<Quantity<Rate>>,
        /// `dumbbell`: their propagation delay. Default that of `[link]`.
        pub access_delay: Option<Quantity<Nanos>>,
    }
}

kinds! {
    pub(crate), "Shape", "`kind = …` of a topology.",
    /// Hosts on both sides of one link.
    Dumbbell: "dumbbell";
    /// Three layers of switches, all with as many ports.
    FatTree: "fat-tree";
}

impl<'de> Form<'de> for Topology {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file such as \"network.graphml\", or a table with a `kind`")
    }
    fn text<E: Error>(file: &str) -> Result<Self, E> {
        Ok(Topology::File(file.to_owned()))
    }
    fn table<A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        Drawn::deserialize(MapAccessDeserializer::new(table)).map(Topology::Drawn)
    }
}

schema!(Topology, "Topology", generator => {
    let drawn = generator.subschema_for::<Drawn>();
    json_schema!({ "anyOf": [{ "type": "string" }, drawn] })
});
