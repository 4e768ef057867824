//! The traffic control of one interface: disciplines, classes and filters with their parameters.
//!
//! A [`Setup`] is data only, and the one model of the crate. Commands of `tc`, what `tc` shows and
//! messages of netlink are read into its types. Plans are drafted from them, and scripts, JSON and
//! netlink are written from them. What is proved of a plan under Linux is proved of these numbers.
//!
//! Where the kernel rounds, a set-up that is made of a plan has the least number that rounds to the
//! same: see [`units`]. (Linux, include/uapi/linux/pkt_sched.h and pkt_cls.h.)

pub(crate) mod cake;
mod class;
mod closest;
mod filter;
mod handle;
mod numbers;
mod parameter;
mod qdisc;
pub mod units;

pub use cake::{AckFilter, Cake};
pub use class::{Class, ClassKind, HfscCurve, HfscCurves, Htb};
pub(crate) use closest::closest;
pub(crate) use filter::MOST_FILTERS;
pub use filter::{
    Filter, FilterKind, Flower, Mark, Police, Ports, Protocol, Test, U32, U32Hash, U32Key,
};
pub use handle::Handle;
pub(crate) use parameter::Value;
pub use qdisc::{CoDel, FqCodel, Pie, Prio, Qdisc, QdiscKind, Red, SizeTable, Tbf};

/// All of one interface. Each list is in an order in which it can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The disciplines; the first is at the root.
    pub qdiscs: Vec<Qdisc>,
    /// The classes that were added. Those that prio and others make by themselves are not here.
    pub classes: Vec<Class>,
    /// The filters, by priority: the first that matches decides.
    pub filters: Vec<Filter>,
}

/// A discipline, a class or a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A discipline.
    Qdisc(Qdisc),
    /// A class.
    Class(Class),
    /// A filter.
    Filter(Filter),
}
