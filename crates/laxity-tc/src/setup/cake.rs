//! `cake` with its parameters (`tc-cake(8)`; include/uapi/linux/pkt_sched.h, TCA_CAKE_*).

use laxity::overhead::{Framing, Overhead};
pub use laxity::sched::cake::AckFilter;
use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::{Nanos, Rate};

/// `cake`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cake {
    /// `bandwidth`; 0 if it does not shape.
    pub rate: Rate,
    /// How packets are sorted into tins by their DSCP.
    pub diffserv: Diffserv,
    /// What shares a tin.
    pub isolation: Isolation,
    /// `rtt`, in whole microseconds.
    pub rtt: Nanos,
    /// Whether hosts are told by the addresses inside of NAT.
    pub nat: bool,
    /// Whether the DSCP of what leaves is cleared.
    pub wash: bool,
    /// Which acknowledgements are dropped.
    pub ack_filter: AckFilter,
    /// Whether frames of several segments are taken apart.
    pub split_gso: bool,
    /// Whether dropped packets count as sent.
    pub ingress: bool,
    /// What the link adds to frames; `None` for what the interface says (`raw`).
    pub overhead: Option<Overhead>,
    /// `memlimit` in bytes; 0 for what the kernel takes.
    pub memory: u32,
    /// The bits of a packet's mark that say its tin; 0 for none.
    pub fwmark: u32,
}

/// The bytes of an Ethernet header. `cake` counts overheads from the IP packet, plans from the
/// frame.
pub(crate) const HEADER: i32 = 14;
/// The overheads and least lengths that `cake` takes, from the IP packet on.
pub(crate) const OVERHEADS: std::ops::RangeInclusive<i32> = -64..=256;

/// Every filter with its word, in the order of the kernel's numbers (CAKE_ACK_*).
pub(crate) const ACK_FILTER: [(&str, AckFilter); 3] = [
    ("no-ack-filter", AckFilter::Off),
    ("ack-filter", AckFilter::On),
    ("ack-filter-aggressive", AckFilter::Aggressive),
];
/// The same of CAKE_ATM_*.
pub(crate) const FRAMING: [(&str, Framing); 3] =
    [("noatm", Framing::Whole), ("atm", Framing::Atm), ("ptm", Framing::Ptm)];

impl Cake {
    /// What Linux takes by default.
    pub const DEFAULT: Cake = Cake {
        rate: Rate(0),
        diffserv: Diffserv::Diffserv3,
        isolation: Isolation::TripleIsolate,
        rtt: Nanos(100_000_000),
        nat: false,
        wash: false,
        ack_filter: AckFilter::Off,
        split_gso: true,
        ingress: false,
        overhead: None,
        memory: 0,
        fwmark: 0,
    };

    /// The overhead and the least length from the IP packet on.
    pub(crate) fn from_ip(overhead: &Overhead) -> (i32, u32) {
        (overhead.bytes + HEADER, overhead.at_least)
    }
}

/// The word of a value.
pub(crate) fn word<T: Copy + PartialEq>(all: &[(&'static str, T)], value: T) -> &'static str {
    all.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

/// The number that the kernel has for a value.
pub(crate) fn number<T: Copy + PartialEq>(all: &[(&'static str, T)], value: T) -> u32 {
    all.iter().position(|(_, known)| *known == value).unwrap_or_default() as u32
}
