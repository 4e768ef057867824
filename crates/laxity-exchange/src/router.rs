//! Routers that shape a link today: what their settings say of the link and of its traffic.
//!
//! | reader | whose | what it reads |
//! | --- | --- | --- |
//! | [`cake()`] | `tc-cake(8)` | command lines of `cake` and `cake_mq`, as words |
//! | [`sqm()`] | sqm-scripts | `/etc/config/sqm` of OpenWrt |
//! | [`qosify()`] | qosify | `/etc/config/qosify` of OpenWrt |
//! | [`qosmate()`] | QoSmate | `/etc/config/qosmate` of OpenWrt |
//!
//! All give [`Router`]. A setting that it has no place for is a note that names the setting.

mod cake;
mod qosify;
mod qosmate;
mod rates;
mod sqm;
mod tins;
mod uci;

use laxity::overhead::Overhead;
use laxity::sched::cake::{CakeSettings, Diffserv};
use laxity::units::{Nanos, Rate};
use laxity_plan::model::CakeSpec;

pub use cake::cake;
pub use qosify::qosify;
pub use qosmate::qosmate;
pub(crate) use rates::tc_rate;
pub use sqm::sqm;

/// What the settings of a router say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Router {
    /// The interface that is shaped, if it is named.
    pub interface: Option<String>,
    /// What is sent.
    pub up: Shaper,
    /// What is received.
    pub down: Shaper,
    /// Traffic that the settings give a class to.
    pub rules: Vec<Rule>,
    /// Notes on what is expressed differently or left out, each with its line.
    pub notes: Vec<String>,
}

/// The shaper of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaper {
    /// The rate; `None` if this direction is not shaped, or its rate is not said.
    pub rate: Option<Rate>,
    /// What the link adds to frames.
    pub overhead: Overhead,
    /// How packets are sorted into tins by their DSCP, and what is done with flows there. The rate
    /// is said above.
    pub queues: CakeSpec,
    /// The promise to the most urgent traffic, where the settings say it.
    pub promise: Option<RouterPromise>,
}

impl Default for Shaper {
    fn default() -> Shaper {
        Shaper {
            rate: None,
            overhead: Overhead::NONE,
            queues: CakeSpec {
                settings: CakeSettings { diffserv: Diffserv::Besteffort, ..CakeSettings::USUAL },
                ..CakeSpec::USUAL
            },
            promise: None,
        }
    }
}

/// A promise to the most urgent traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a plan is made from both")]
pub struct RouterPromise {
    /// What it may send.
    pub rate: Rate,
    /// How long its packets may wait.
    pub delay: Nanos,
}

/// How urgent the traffic of a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a plan has a class for each")]
pub enum Urgency {
    /// Within a deadline.
    RealTime,
    /// With a share of its own.
    Video,
    /// Behind everything else.
    Bulk,
}

/// Traffic that the settings give a class to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it is called.
    pub name: String,
    /// A test in the match language, for packets in both directions.
    pub matching: String,
    /// How urgent it is.
    pub urgency: Urgency,
}
