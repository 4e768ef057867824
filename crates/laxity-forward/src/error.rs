//! Why a plan cannot be forwarded by.

use thiserror::Error;

/// What is wrong with a plan; the forwarder goes on by the one it has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is of a network.
    #[error("the plan is of a network; one link is forwarded over: take out `[network]`")]
    Network,
    /// Its discipline is one for networks.
    #[error("`kind = \"{0}\"` is for networks: a link is shared under any other kind of scheduler")]
    OfNetworks(&'static str),
    /// Nothing takes the frames that no match holds for.
    #[error(
        "no class takes the frames that no `match` holds for: leave one class without `match` and \
         `deadline`, or give one `match = \"any\"`"
    )]
    NoDefault,
    /// A class that has classes below it takes frames.
    #[error("class `{0}` has classes below it and no packets of its own: `match` belongs to those")]
    NotALeaf(String),
    /// A packet that is queued is longer than all that the new plan expects of its class.
    #[error(
        "a packet of {length} bytes is queued for class `{class}`, whose longest is of {limit}: accepted \
         once it is sent, or with longer packets in the plan"
    )]
    Queued {
        /// Its length in bytes.
        length: u32,
        /// The longest that is expected.
        limit: u64,
        /// Of this class.
        class: String,
    },
}
