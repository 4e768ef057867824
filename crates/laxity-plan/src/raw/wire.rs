//! What happens to packets under way, as a plan writes it.

use laxity::units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Distribution, Number};

/// Random losses under way, in runs of consecutive packets.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct WireLoss {
    /// The share of packets that are lost, more than 0 and less than 1.
    pub share: At<Number>,
    /// How many consecutive packets are lost at once, in the mean. Default as if every packet was
    /// lost by chance, whatever became of the one before.
    pub run: Option<At<Number>>,
}

/// Random packets that are passed by others.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Reorder {
    /// The share of packets that are held up, more than 0 and at most 1.
    pub share: At<Number>,
    /// How much longer they are under way.
    pub by: At<Distribution<Nanos>>,
}

/// Random packets that arrive twice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Duplicate {
    /// The share of packets that are copied, more than 0 and at most 1.
    pub share: At<Number>,
}
