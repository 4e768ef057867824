//! What classes of alike streams may lose.

use std::fmt;

use laxity::window;
use schemars::json_schema;
use serde::de::Error;

use super::form::{Form, schema};
use super::values::LONGEST_UNIT;

/// `loss = "1/80"`: of any 80 consecutive packets at most one may be late or lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss(pub window::Loss);

impl Form<'_> for Loss {
    fn expected(f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a loss tolerance such as \"1/80\", one of any 80 packets")
    }
    fn text<E: Error>(text: &str) -> Result<Self, E> {
        if text.len() > LONGEST_UNIT {
            return Err(E::custom(
                "this text is too long for a loss tolerance: write one such as \"1/80\"",
            ));
        }
        text.parse().map(Loss).map_err(E::custom)
    }
}

schema!(Loss, "Loss", _ => json_schema!({
    "type": "string",
    "description": "A loss tolerance such as \"1/80\": of any 80 consecutive packets at most one may be late or lost.",
    "pattern": "^[0-9]+/[0-9]+$",
}));
