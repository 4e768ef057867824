//! When a promise was in danger.

use serde::{Deserialize, Serialize};

/// Seconds that follow one another in which a class used more than 80 % of its bound. Figures are
/// those of the second in which it used most.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct MomentStatus {
    /// The class.
    pub class: String,
    /// When it began, in seconds of 1970.
    pub from_s: u64,
    /// When it was over, in seconds of 1970.
    pub until_s: u64,
    /// The largest delay, in ns.
    pub max_ns: u64,
    /// The bound, in ns.
    pub bound_ns: u64,
    /// What delayed packets of the class most.
    pub cause: DangerCause,
}

/// What delayed the packets of a class most in a second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "as for `Status`")]
pub enum DangerCause {
    /// The class sent more than its `arrival`.
    Contract,
    /// The link was late: at least half of the largest delay is due to that.
    Late {
        /// How much of that delay is, in ns.
        late_ns: u64,
    },
    /// Packets of a class were sent, its own or another's.
    Class {
        /// The class.
        class: String,
        /// For this share of the time in which packets waited, in percent.
        percent: u64,
    },
    /// Nothing was sent: the link woke up late, or the discipline held packets back.
    Idle {
        /// For this share of the time in which packets waited, in percent.
        percent: u64,
    },
    /// It was not counted: the plan has too many classes, or events were lost.
    Unknown,
}

impl MomentStatus {
    /// Whether the bound was broken.
    pub fn is_broken(&self) -> bool {
        self.max_ns > self.bound_ns
    }
}
