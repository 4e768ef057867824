//! Reservations on a link that is forwarded over, or along the paths of a network.
//!
//! An [`Answer`] comes when the reservation is on disk and the plan with it is followed.

mod clients;
mod desk;
mod fullest;
mod journal;
mod openapi;
mod words;

use laxity::reserve::bookings::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use laxity_answers::reservations::{Granted, Offer};

pub(crate) use clients::Client;
#[cfg(test)]
pub(crate) use clients::authority;
pub use clients::{Clients, ClientsError};
pub(crate) use desk::{Desk, Explain, journal};
pub use journal::{Journal, JournalError};
pub use openapi::openapi;
pub(crate) use words::keys;

/// What is asked for. Times are in nanoseconds, those of the clock since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "order", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::exhaustive_enums, reason = "made by whoever asks")]
pub enum Order {
    /// A reservation.
    #[schemars(title = "Reserve")]
    Reserve(Box<Wish>),
    /// To grant one that is held.
    #[schemars(title = "Commit")]
    Commit {
        /// Its name.
        name: String,
    },
    /// To give one another class from now on.
    #[schemars(title = "Change")]
    Change {
        /// Its name.
        name: String,
        /// The keys of the class, in the words of plans.
        #[schemars(with = "openapi::ClassKeys")]
        class: serde_json::Map<String, serde_json::Value>,
    },
    /// To give one another end.
    #[schemars(title = "Renew")]
    Renew {
        /// Its name.
        name: String,
        /// How much longer it is to last from now on; until it is released if absent.
        for_ns: Option<u64>,
    },
    /// To end one.
    #[schemars(title = "Release")]
    Release {
        /// Its name.
        name: String,
    },
    /// All that there are.
    #[schemars(title = "List")]
    List,
}

/// A reservation that is wished for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever asks")]
pub struct Wish {
    /// Its name, and that of its class.
    pub name: String,
    /// Its keys, in the words of plans.
    #[schemars(with = "openapi::ClassKeys")]
    pub class: serde_json::Map<String, serde_json::Value>,
    /// In a network, the nodes of its path, or its two ends alone; absent on one link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// When it begins; now if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ns: Option<u64>,
    /// How long it lasts from then on; until it is released if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_ns: Option<u64>,
    /// How long it is only held, unless it is committed; it is granted at once if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ns: Option<u64>,
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "read by whoever asked")]
pub enum Answer {
    /// A reservation is granted, or held.
    #[schemars(title = "Granted")]
    Granted(Granted),
    /// A reservation has another class from now on.
    #[schemars(title = "Changed")]
    Changed(Granted),
    /// It is done.
    #[schemars(title = "Done")]
    Done,
    /// All reservations, by name.
    #[schemars(title = "Listed")]
    Listed {
        /// Each of them.
        reservations: Vec<Reservation>,
    },
    /// It is not done.
    #[schemars(title = "Refused")]
    Refused(Refused),
}

impl Answer {
    /// Its name, under which it is counted; `None` for a list, which changes nothing.
    pub(crate) fn name(&self) -> Option<&'static str> {
        match self {
            Answer::Granted(_) => Some("granted"),
            Answer::Changed(_) => Some("changed"),
            Answer::Done => Some("done"),
            Answer::Listed { .. } => None,
            Answer::Refused(refused) => Some(refused.reason.name()),
        }
    }

    pub(crate) fn refused(reason: Why, message: impl Into<String>) -> Answer {
        Answer::Refused(Refused { reason, message: message.into(), offer: Box::default() })
    }

    /// Where no reservations are taken.
    pub(crate) fn none_taken() -> Answer {
        let why = "reservations are not taken here: see laxity live --reservations";
        Answer::refused(Why::Unavailable, why)
    }
}

/// Why an order is not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asked")]
pub struct Refused {
    /// What sort of reason it is.
    pub reason: Why,
    /// The reason in a sentence.
    pub message: String,
    /// What would fit.
    #[serde(default)]
    pub offer: Box<Offer>,
}

/// Sorts of reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "each has a status of HTTP")]
pub enum Why {
    /// The order makes no sense.
    Senseless,
    /// There is no such reservation.
    Unknown,
    /// There is one of this name.
    Exists,
    /// It does not fit beside what is promised.
    NoRoom,
    /// There are too many orders or reservations.
    TooMany,
    /// Reservations are not taken here, or cannot be kept now.
    Unavailable,
}

impl Why {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Why::Senseless => "senseless",
            Why::Unknown => "unknown",
            Why::Exists => "exists",
            Why::NoRoom => "no-room",
            Why::TooMany => "too-many",
            Why::Unavailable => "unavailable",
        }
    }
}

/// A reservation that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever asked")]
pub struct Reservation {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub state: Stage,
    /// Its keys, as in a plan.
    pub keys: String,
    /// The nodes of its path through a network; absent on one link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// When its first packet may come, in ns since 1970.
    pub from_ns: u64,
    /// When no packet may come any more; absent if it lasts until it is released.
    pub until_ns: Option<u64>,
    /// Until when it is held.
    pub held_until_ns: Option<u64>,
}

impl From<State> for Stage {
    fn from(state: State) -> Self {
        match state {
            State::Ahead => Stage::Ahead,
            State::Held => Stage::Held,
            State::Active => Stage::Active,
            State::Leaving => Stage::Leaving,
        }
    }
}

impl Stage {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Ahead => "ahead",
            Stage::Held => "held",
            Stage::Active => "active",
            Stage::Leaving => "leaving",
        }
    }
}

/// Where a reservation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "a reservation goes through these")]
pub enum Stage {
    /// It begins later.
    Ahead,
    /// It is held, and may send.
    Held,
    /// It may send.
    Active,
    /// It may not send any more, and is still felt by others.
    Leaving,
}
