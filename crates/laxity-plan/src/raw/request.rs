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
    pub every: Option<At<Distribution<Nanos>>>,
    /// How long each lasts from its begin.
    pub holding: Option<At<Distribution<Nanos>>>,
    /// A file of recorded calls in place of `every` and `holding`: CSV with the columns `at_ns` and
    /// `holding_ns`, and `class` if it has calls of others. `laxity run --out` writes one.
    pub calls: Option<At<String>>,
}
