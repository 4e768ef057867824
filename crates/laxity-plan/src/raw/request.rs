//! `[[request]]`.

use laxity::units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use super::dist::Distribution;
use super::values::At;

/// Calls that come and go in a simulation: each asks for a reservation, a class like one of the
/// plan, and sends what that class's sources say while it has it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Request {
    /// The class that each asks for. It is there as often as calls have it, at times not at all.
    pub class: At<String>,
    /// The time from one call to the next; exponential for a Poisson process, such as
    /// { exponential = "2s" }.
    pub every: At<Distribution<Nanos>>,
    /// How long each lasts from when it asks.
    pub holding: At<Distribution<Nanos>>,
}
