//! What classes of alike streams may lose, and how DWCS orders them.

use std::borrow::Cow;
use std::fmt;

use laxity::sched::dwcs;
use laxity::window;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};

use super::values::LONGEST_UNIT;

/// `loss = "1/80"`: of any 80 consecutive packets at most one may be late or lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss(pub window::Loss);

impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LossVisitor;

        impl Visitor<'_> for LossVisitor {
            type Value = Loss;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a loss tolerance such as \"1/80\", one of any 80 packets")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Loss, E> {
                if text.len() > LONGEST_UNIT {
                    return Err(E::custom(
                        "this text is too long for a loss tolerance: write one such as \"1/80\"",
                    ));
                }
                text.parse().map(Loss).map_err(E::custom)
            }
        }

        from.deserialize_any(LossVisitor)
    }
}

impl JsonSchema for Loss {
    fn schema_name() -> Cow<'static, str> {
        "Loss".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A loss tolerance such as \"1/80\": of any 80 consecutive packets at most one may be late or lost.",
            "pattern": "^[0-9]+/[0-9]+$",
        })
    }
}

/// Words that stand for those of the scheduler.
macro_rules! words {
    ($(#[$about:meta] $name:ident { $(#[$meaning:meta] $word:ident),* })*) => {$(
        #[$about]
        #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$meaning] $word),*
        }

        impl From<$name> for dwcs::$name {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$word => dwcs::$name::$word),*
                }
            }
        }
    )*};
}

words! {
    /// `late = …`.
    Late {
        /// A packet whose deadline has passed is dropped.
        Drop,
        /// It is sent all the same, and its deadline moves on by a gap.
        Send
    }

    /// `precedence = …`.
    Precedence {
        /// The lowest current loss tolerance first (West, Schwan, Poellabauer 1999, Table 1).
        LossFirst,
        /// The earliest deadline first (West, Zhang, Schwan, Poellabauer 2004).
        DeadlineFirst
    }

    /// `violation = …`.
    Violation {
        /// Whoever has lost more than it may is preferred until that is made good: method 1.
        Favour,
        /// Its window begins anew: method 2.
        Reset
    }
}
