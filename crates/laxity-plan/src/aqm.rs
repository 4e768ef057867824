//! Queue managements: the keys that each takes, and what it does to a queue.
//!
//! To add one, add its word and its variant next to [`QueueSpec`]. The matches below do not compile
//! without them.

mod read;
mod red;

use laxity::aqm::{Choke, Limit, Policy};

use crate::keys::Keys;
pub use crate::model::queue::Kind;
use crate::model::{LinkSpec, QueueSpec};
pub(crate) use read::{limit, millionths, queue};

impl Kind {
    /// The keys of `queue` that it takes besides `kind` and `limit`.
    pub(crate) fn keys(self) -> Keys {
        const RED: &[&str] = &["min", "max", "max-p", "weight", "gentle", "spacing", "ecn"];
        match self {
            Kind::Droptail => &[&["mark"]],
            Kind::Red => &[RED],
            Kind::Choke => &[RED, &["candidates"]],
            Kind::Codel => &[&["target", "interval", "ecn"]],
            Kind::Pie => &[&["target", "update", "alpha", "beta", "burst", "ecn"]],
        }
    }

    /// Whether it drops by chance, so that a run depends on its seed.
    pub fn draws(self) -> bool {
        match self {
            Kind::Red | Kind::Choke | Kind::Pie => true,
            Kind::Droptail | Kind::Codel => false,
        }
    }

    /// Whether it drops nothing but what exceeds its limit.
    pub fn is_a_limit(self) -> bool {
        self == Kind::Droptail
    }
}

impl QueueSpec {
    /// What the queue never exceeds.
    pub fn limit(&self) -> Limit {
        match self {
            QueueSpec::DropTail(droptail) => droptail.limit.into(),
            QueueSpec::Red(red) | QueueSpec::Choke(Choke { red, .. }) => red.limit,
            QueueSpec::CoDel(codel) => codel.limit,
            QueueSpec::Pie(pie) => pie.limit,
        }
    }

    /// The policy that stands in front of a scheduler.
    pub(crate) fn policy(&self) -> Policy {
        match *self {
            QueueSpec::DropTail(droptail) => Policy::DropTail {
                limit: self.limit(),
                mark: droptail.mark.map_or(Limit::None, Limit::from),
            },
            QueueSpec::Red(red) => Policy::Red(red),
            QueueSpec::Choke(choke) => Policy::Choke(choke),
            QueueSpec::CoDel(codel) => Policy::CoDel(codel),
            QueueSpec::Pie(pie) => Policy::Pie(pie),
        }
    }

    /// The same on another link, whose packets take another time.
    pub(crate) fn on(self, link: &LinkSpec) -> QueueSpec {
        match self {
            QueueSpec::Red(red) => QueueSpec::Red(red::on(&red, link)),
            QueueSpec::Choke(choke) => {
                QueueSpec::Choke(Choke { red: red::on(&choke.red, link), ..choke })
            }
            QueueSpec::DropTail(_) | QueueSpec::CoDel(_) | QueueSpec::Pie(_) => self,
        }
    }
}
