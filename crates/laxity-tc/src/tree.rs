//! The traffic control of one interface as the kernel has it: disciplines, classes and filters with their
//! numbers, in the kernel's own units.
//!
//! A [`Tree`] is data only. [`of`] makes it of a plan; the text of `tc` and messages of netlink are
//! two ways to write it down, and what is proved of a plan under Linux is proved of the tree's numbers.
//!
//! Two trees that the kernel could not tell apart are equal: where it rounds, a tree has the least number that it
//! rounds so, and [`units`] finds it (sources: Linux, include/uapi/linux/pkt_sched.h and pkt_cls.h).

pub(crate) mod build;
mod filters;
mod queues;
pub(crate) mod text;
pub(crate) use filters::policers;
mod numbers;
pub mod units;

use std::fmt;
use std::net::IpAddr;

use laxity_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::linux::{Linux, Refusal, carried};

/// The handle of a discipline or class: `1:10` is `Handle(0x0001_0010)` (TC_H_MAJ, TC_H_MIN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle(pub u32);

impl Handle {
    /// What the parent of a root is (TC_H_ROOT).
    pub const ROOT: Handle = Handle(0xffff_ffff);

    /// Of its two halves.
    pub const fn new(major: u16, minor: u16) -> Handle {
        Handle((major as u32) << 16 | minor as u32)
    }

    /// The number of the discipline.
    pub const fn major(self) -> u16 {
        (self.0 >> 16) as u16
    }

    /// The number of the class in it; zero for the discipline itself.
    pub const fn minor(self) -> u16 {
        self.0 as u16
    }
}

impl fmt::Display for Handle {
    /// As `tc` reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, self.minor()) {
            (Handle::ROOT, _) => f.write_str("root"),
            (_, 0) => write!(f, "{:x}:", self.major()),
            (_, minor) => write!(f, "{:x}:{minor:x}", self.major()),
        }
    }
}

/// All of one interface, each list in an order in which it can be added: what something hangs at stands
/// before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The disciplines; the first is at the root.
    pub qdiscs: Vec<Qdisc>,
    /// The classes that disciplines have because they were added (those of prio are there by themselves).
    pub classes: Vec<Class>,
    /// The filters, by priority: the first that matches decides.
    pub filters: Vec<Filter>,
}

/// What the kernel is given for a plan: the same that [`carried`] proves.
///
/// # Errors
/// If the kernel has no such thing.
pub fn of(plan: &Plan, linux: &Linux) -> Result<Tree, Refusal> {
    carried(plan, linux).map(|carried| carried.tree)
}

/// A discipline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Qdisc {
    /// Its own, with minor 0.
    pub handle: Handle,
    /// [`Handle::ROOT`] or the class that it serves.
    pub parent: Handle,
    /// What it is.
    pub kind: QdiscKind,
    /// How it counts lengths. On the root only.
    pub stab: Option<Stab>,
}

/// A class that was added to a discipline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class {
    /// Its own.
    pub handle: Handle,
    /// The class or discipline that it is part of.
    pub parent: Handle,
    /// Its parameters.
    pub kind: ClassKind,
    /// The name of the class of the plan that it stands for; `None` for one that is the link itself. The kernel has
    /// no names: a tree that is read from it has none.
    pub name: Option<String>,
}

/// Disciplines with their parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QdiscKind {
    /// `hfsc`: what no filter takes goes to the class with this minor number, or is dropped if it is 0
    /// (`tc_hfsc_qopt`).
    Hfsc {
        /// `defcls`.
        default: u16,
    },
    /// `htb` (`tc_htb_glob`).
    Htb {
        /// `defcls`; with 0, what no filter takes is sent unshaped.
        default: u32,
        /// `rate2quantum`, 10 unless it is said.
        r2q: u32,
    },
    /// `drr`: what no filter takes is dropped.
    Drr,
    /// `qfq`: what no filter takes is dropped.
    Qfq,
    /// `prio` (`tc_prio_qopt`).
    Prio {
        /// From 2 to 16.
        bands: u8,
        /// The band of what no filter takes, by the packet's priority.
        priomap: [u8; 16],
    },
    /// `tbf` with a discipline of its own at class 1 (`tc_tbf_qopt`).
    Tbf(Tbf),
    /// `fq_codel`.
    FqCodel(FqCodel),
    /// `codel`.
    CoDel(CoDel),
    /// `pie`.
    Pie(Pie),
    /// `red` (`tc_red_qopt`), counted in bytes.
    Red(Red),
    /// `choke` (`tc_red_qopt`), counted in packets.
    Choke(Red),
    /// `pfifo`: so many packets (`tc_fifo_qopt`).
    Pfifo {
        /// Packets.
        limit: u32,
    },
    /// `bfifo`: so many bytes (`tc_fifo_qopt`).
    Bfifo {
        /// Bytes.
        limit: u32,
    },
}

impl QdiscKind {
    /// The kernel's name of it (TCA_KIND).
    pub fn name(&self) -> &'static str {
        match self {
            QdiscKind::Hfsc { .. } => "hfsc",
            QdiscKind::Htb { .. } => "htb",
            QdiscKind::Drr => "drr",
            QdiscKind::Qfq => "qfq",
            QdiscKind::Prio { .. } => "prio",
            QdiscKind::Tbf(_) => "tbf",
            QdiscKind::FqCodel(_) => "fq_codel",
            QdiscKind::CoDel(_) => "codel",
            QdiscKind::Pie(_) => "pie",
            QdiscKind::Red(_) => "red",
            QdiscKind::Choke(_) => "choke",
            QdiscKind::Pfifo { .. } => "pfifo",
            QdiscKind::Bfifo { .. } => "bfifo",
        }
    }
}

/// Classes with their parameters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassKind {
    /// Of `hfsc`.
    Hfsc(HfscCurves),
    /// Of `htb`.
    Htb(Htb),
    /// Of `drr`.
    Drr {
        /// Bytes a turn.
        quantum: u32,
    },
    /// Of `qfq`.
    Qfq {
        /// From 1 to 1024.
        weight: u32,
        /// `lmax`, the largest packet: from 512 to 65 536 bytes.
        lmax: u32,
    },
}

impl ClassKind {
    /// The kernel's name of its discipline (TCA_KIND).
    pub fn name(&self) -> &'static str {
        match self {
            ClassKind::Hfsc(_) => "hfsc",
            ClassKind::Htb(_) => "htb",
            ClassKind::Drr { .. } => "drr",
            ClassKind::Qfq { .. } => "qfq",
        }
    }
}

/// A curve of `hfsc` (`tc_service_curve`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HfscCurve {
    /// The first slope in bytes a second.
    pub m1: u32,
    /// How long it lasts, in microseconds.
    pub d: u32,
    /// The second slope in bytes a second.
    pub m2: u32,
}

/// The curves of a class of `hfsc`; at least one of the first two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HfscCurves {
    /// Real-time (TCA_HFSC_RSC).
    pub rsc: Option<HfscCurve>,
    /// Link-sharing (TCA_HFSC_FSC).
    pub fsc: Option<HfscCurve>,
    /// Upper limit (TCA_HFSC_USC).
    pub usc: Option<HfscCurve>,
}

/// A class of `htb` (`tc_htb_opt`). Bursts are those that the kernel can hold: see [`whole_ticks`](units::whole_ticks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Htb {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes a second.
    pub ceil: u64,
    /// Bytes at `rate`.
    pub burst: u32,
    /// Bytes at `ceil`.
    pub cburst: u32,
    /// Bytes a turn.
    pub quantum: u32,
    /// From 0, which goes first, to 7.
    pub prio: u32,
}

/// `tbf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tbf {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes; one that the kernel can hold: see [`whole_ticks`](units::whole_ticks).
    pub burst: u32,
    /// Bytes of the queue that it has while it has no other discipline at its class.
    pub limit: u32,
}

/// `fq_codel`. The kernel holds its times in 1024 ns: see [`codel_time`](units::codel_time).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FqCodel {
    /// Packets.
    pub limit: u32,
    /// How many queues flows are hashed into. It cannot be changed.
    pub flows: u32,
    /// Bytes a turn.
    pub quantum: u32,
    /// Microseconds.
    pub target: u32,
    /// Microseconds.
    pub interval: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// `codel`, with times as [`FqCodel`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoDel {
    /// Packets.
    pub limit: u32,
    /// Microseconds.
    pub target: u32,
    /// Microseconds.
    pub interval: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// `pie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pie {
    /// Packets.
    pub limit: u32,
    /// Microseconds.
    pub target: u32,
    /// Microseconds; the kernel holds it in its jiffies.
    pub tupdate: u32,
    /// In sixteenths, at most 32.
    pub alpha: u32,
    /// In sixteenths, at most 32.
    pub beta: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// `red` in bytes or `choke` in packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Red {
    /// What is never exceeded.
    pub limit: u32,
    /// `qth_min`.
    pub min: u32,
    /// `qth_max`.
    pub max: u32,
    /// `Wlog`: an arrival counts for 2 to the power of minus this in the average.
    pub wlog: u8,
    /// `Plog`: the probability at `max` is `(max - min)` times 2 to the power of minus this, for kernels without
    /// `max_p`.
    pub plog: u8,
    /// `Scell_log`: idle time is looked up in steps of 2 to the power of this, in ticks.
    pub cell_log: u8,
    /// TCA_RED_MAX_P: the probability at `max` in 2^-32.
    pub max_p: u32,
    /// The packet that the weight and the idle time were computed for, in bytes. The kernel does not keep it: a tree
    /// that is read from it has what `cell_log` comes from, or 0.
    pub packet: u32,
    /// Whether packets are marked instead of dropped (TC_RED_ECN).
    pub ecn: bool,
}

/// How lengths are counted (`tc_sizespec`); the table follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stab {
    /// Bytes that every frame takes beyond its own.
    pub overhead: i32,
    /// The least that any frame takes.
    pub mpu: u32,
    /// Whether it is cut into cells of ATM (TC_LINKLAYER_ATM).
    pub atm: bool,
    /// The longest frame that the table has an entry for; 0 where there is no table, for bytes that are added alone need
    /// none.
    pub mtu: u32,
    /// How many entries the table has; 0 where there is none.
    pub tsize: u32,
}

/// A filter at a discipline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filter {
    /// The discipline or class that it hangs at.
    pub parent: Handle,
    /// Its place in the order, from 1: a lower one is asked first. Those of one have one kind and one protocol, and are
    /// asked in the order of their numbers.
    pub priority: u16,
    /// Its own number at its priority, from 1 (flower, matchall); of u32, the item in table 800:0.
    pub number: u32,
    /// What kind of frame it looks at.
    pub protocol: Protocol,
    /// Which packets it takes.
    pub kind: FilterKind,
    /// The class that they go to (TCA_FLOWER_CLASSID and so on).
    pub class: Handle,
    /// What they have to keep to, each in turn (`action police`).
    pub police: Vec<Police>,
}

/// The protocol of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Every frame (ETH_P_ALL).
    All,
    /// IPv4 (ETH_P_IP).
    Ip,
    /// IPv6 (ETH_P_IPV6).
    Ipv6,
    /// Frames with a tag (ETH_P_8021Q).
    Vlan,
}

impl Protocol {
    /// The EtherType, in the order of the host.
    pub const fn ether_type(self) -> u16 {
        match self {
            Protocol::All => 0x0003,
            Protocol::Ip => 0x0800,
            Protocol::Ipv6 => 0x86dd,
            Protocol::Vlan => 0x8100,
        }
    }

    /// What `tc` calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::All => "all",
            Protocol::Ip => "ip",
            Protocol::Ipv6 => "ipv6",
            Protocol::Vlan => "802.1Q",
        }
    }
}

/// Which packets a filter takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterKind {
    /// All of its protocol.
    Matchall,
    /// Those with these fields.
    Flower(Flower),
    /// Those of which all these words are so.
    U32(Vec<U32Key>),
}

impl FilterKind {
    /// The kernel's name of it (TCA_KIND).
    pub fn name(&self) -> &'static str {
        match self {
            FilterKind::Matchall => "matchall",
            FilterKind::Flower(_) => "flower",
            FilterKind::U32(_) => "u32",
        }
    }
}

/// The fields of `flower`; what is `None` is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flower {
    /// TCA_FLOWER_KEY_VLAN_ID; the protocol is [`Protocol::Vlan`].
    pub vlan: Option<u16>,
    /// TCA_FLOWER_KEY_VLAN_PRIO, under the same protocol.
    pub pcp: Option<u8>,
    /// Under [`Protocol::Vlan`]: the protocol behind the tag (TCA_FLOWER_KEY_VLAN_ETH_TYPE).
    pub inner: Option<Protocol>,
    /// TCA_FLOWER_KEY_IP_PROTO.
    pub ip_proto: Option<u8>,
    /// TCA_FLOWER_KEY_IPV4_SRC or IPV6_SRC, and how many leading bits count.
    pub source: Option<(IpAddr, u8)>,
    /// TCA_FLOWER_KEY_IPV4_DST or IPV6_DST, and how many leading bits count.
    pub destination: Option<(IpAddr, u8)>,
    /// First and last source port: TCA_FLOWER_KEY_TCP_SRC and so on if they are the same, TCA_FLOWER_KEY_PORT_SRC_MIN
    /// and MAX if not.
    pub source_port: Option<(u16, u16)>,
    /// First and last destination port.
    pub destination_port: Option<(u16, u16)>,
    /// TCA_FLOWER_KEY_IP_TOS and its mask.
    pub tos: Option<(u8, u8)>,
}

/// A key of `u32` (`tc_u32_key`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct U32Key {
    /// What the word is, in the order of the host; no bit outside of `mask`.
    pub value: u32,
    /// Which bits count.
    pub mask: u32,
    /// Where the word is, counted from the IP header: a multiple of 4.
    pub offset: i32,
}

/// `action police` (`tc_police`): what keeps to it goes on to the next, and after the last to its class (TC_ACT_PIPE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Police {
    /// The action's own number: filters with the same one share its bucket.
    pub index: u32,
    /// Bytes a second.
    pub rate: u64,
    /// Bytes; one that the kernel can hold: see [`whole_ticks`](units::whole_ticks).
    pub burst: u32,
    /// The longest packet, in bytes.
    pub mtu: u32,
    /// Whether what exceeds it is asked of the next filters (TC_ACT_UNSPEC, `continue`) instead of being dropped
    /// (TC_ACT_SHOT).
    pub demote: bool,
}
