//! Networks as a plan writes them.

use laxity::units::{Nanos, Rate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Quantity, Scheduler, Table};

/// A link of a network, for both directions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NetworkLink {
    /// The two nodes that it joins, such as ["r1", "r2"].
    #[schemars(extend("minItems" = 2, "maxItems" = 2))]
    pub between: At<Vec<At<String>>>,
    /// Its rate in each direction. Default that of `[link]`.
    pub rate: Option<Quantity<Rate>>,
    /// Its propagation delay. Default that of `[link]`.
    pub delay: Option<Quantity<Nanos>>,
    /// Whether every flow has such a link of its own, as hosts have access links. Default false.
    pub private: Option<bool>,
    /// The discipline at both of its ends. Default that of `[scheduler]`, and fifo for a private
    /// link.
    pub scheduler: Option<At<Table<Scheduler>>>,
}
