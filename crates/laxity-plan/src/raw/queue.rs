//! `queue = { kind = … }`.

use laxity::units::Nanos;
use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::values::{At, Count, Number, Quantity, Word, span};
use crate::keys::Written;
use crate::model::queue::Kind;

/// Who gets into a queue, and how much of it there may be. Which keys apply depends on `kind`.
// What the keys of some kinds mean is said in the rooms of these kinds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Queue {
    /// Who gets in.
    pub kind: Word<Kind>,
    /// How much fits: packets as in 100, or bytes as in "64kB".
    pub limit: At<Limit>,
    pub mark: Option<At<Limit>>,
    pub min: Option<At<Limit>>,
    pub max: Option<At<Limit>>,
    pub max_p: Option<At<Number>>,
    pub weight: Option<At<Number>>,
    pub gentle: Option<At<bool>>,
    pub spacing: Option<At<Word<Spacing>>>,
    pub candidates: Option<At<Count>>,
    pub target: Option<Quantity<Nanos>>,
    pub interval: Option<Quantity<Nanos>>,
    pub update: Option<Quantity<Nanos>>,
    pub alpha: Option<At<Number>>,
    pub beta: Option<At<Number>>,
    pub burst: Option<Quantity<Nanos>>,
    pub ecn: Option<At<bool>>,
}

impl Queue {
    /// The keys that not every kind takes, and where they stand.
    pub(crate) fn options(&self) -> [Written<'_>; 15] {
        // Taken apart, so that none is forgotten.
        let Queue {
            kind: _,
            limit: _,
            mark,
            min,
            max,
            max_p,
            weight,
            gentle,
            spacing,
            candidates,
            target,
            interval,
            update,
            alpha,
            beta,
            burst,
            ecn,
        } = self;
        [
            ("mark", span(mark)),
            ("min", span(min)),
            ("max", span(max)),
            ("max-p", span(max_p)),
            ("weight", span(weight)),
            ("gentle", span(gentle)),
            ("spacing", span(spacing)),
            ("candidates", span(candidates)),
            ("target", span(target)),
            ("interval", span(interval)),
            ("update", span(update)),
            ("alpha", span(alpha)),
            ("beta", span(beta)),
            ("burst", span(burst)),
            ("ecn", span(ecn)),
        ]
    }
}

/// `spacing = …`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Spacing {
    /// At a probability p, 1 to 1/p packets from one drop to the next, all alike.
    Uniform,
    /// 1/p to 2/p packets, all alike.
    Wait,
}
