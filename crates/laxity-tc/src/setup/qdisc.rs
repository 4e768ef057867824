//! Disciplines with their parameters.

use laxity::units::{Nanos, Rate};

use super::cake::Cake;
use super::handle::Handle;

/// A discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Its number, with minor 0; [`Handle::NONE`] if it is given none.
    pub handle: Handle,
    /// [`Handle::ROOT`] or the class that it serves.
    pub parent: Handle,
    /// Its kind and parameters.
    pub kind: QdiscKind,
    /// How it counts lengths. On the root only.
    pub stab: Option<SizeTable>,
}

/// Kinds of disciplines with their parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QdiscKind {
    /// `hfsc` (`tc_hfsc_qopt`).
    Hfsc {
        /// `defcls`: the class of what no filter takes. With 0 that is dropped.
        default: u32,
    },
    /// `htb` (`tc_htb_glob`).
    Htb {
        /// `defcls`: the class of what no filter takes. With 0 that is sent unshaped.
        default: u32,
        /// `rate2quantum`; 10 by default.
        r2q: u32,
    },
    /// `drr`. What no filter takes is dropped.
    Drr,
    /// `qfq`. What no filter takes is dropped.
    Qfq,
    /// `prio`.
    Prio(Prio),
    /// `tbf`, with a discipline of its own at class 1.
    Tbf(Tbf),
    /// `fq_codel`.
    FqCodel(FqCodel),
    /// `cake`.
    Cake(Cake),
    /// `codel`.
    CoDel(CoDel),
    /// `pie`.
    Pie(Pie),
    /// `red`, which counts in bytes.
    Red(Red),
    /// `choke`, which counts in packets.
    Choke(Red),
    /// `pfifo` (`tc_fifo_qopt`).
    Pfifo {
        /// Packets; `None` for the interface's `txqueuelen`.
        limit: Option<u32>,
    },
    /// `bfifo` (`tc_fifo_qopt`).
    Bfifo {
        /// Bytes.
        limit: u32,
    },
    /// `mq`, which has a class for each queue of the interface.
    Mq,
    /// `netem`, with its words as they are written.
    Netem(String),
    /// Another discipline, with its limit at most.
    Other {
        /// The kernel's name of it.
        name: String,
        /// Packets, if it is said.
        limit: Option<u32>,
    },
}

impl QdiscKind {
    /// The kernel's name of the kind (TCA_KIND).
    pub fn name(&self) -> &str {
        match self {
            QdiscKind::Hfsc { .. } => "hfsc",
            QdiscKind::Htb { .. } => "htb",
            QdiscKind::Drr => "drr",
            QdiscKind::Qfq => "qfq",
            QdiscKind::Prio(_) => "prio",
            QdiscKind::Tbf(_) => "tbf",
            QdiscKind::FqCodel(_) => "fq_codel",
            QdiscKind::Cake(_) => "cake",
            QdiscKind::CoDel(_) => "codel",
            QdiscKind::Pie(_) => "pie",
            QdiscKind::Red(_) => "red",
            QdiscKind::Choke(_) => "choke",
            QdiscKind::Pfifo { .. } => "pfifo",
            QdiscKind::Bfifo { .. } => "bfifo",
            QdiscKind::Mq => "mq",
            QdiscKind::Netem(_) => "netem",
            QdiscKind::Other { name, .. } => name,
        }
    }
}

/// `prio` (`tc_prio_qopt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prio {
    /// From 2 to 16.
    pub bands: u8,
    /// The band of what no filter takes, by the packet's priority.
    pub priomap: [u8; 16],
}

impl Prio {
    /// The fewest and the most bands (TCQ_MIN_PRIO_BANDS, TCQ_PRIO_BANDS).
    pub const BANDS: (u8, u8) = (2, 16);
    /// What `tc` takes by default.
    pub const DEFAULT: Prio =
        Prio { bands: 3, priomap: [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1] };
}

/// `tbf` (`tc_tbf_qopt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tbf {
    /// The rate at which tokens come.
    pub rate: Rate,
    /// Bytes. The kernel holds it in ticks: see [`whole_ticks`](super::units::whole_ticks).
    pub burst: u32,
    /// Bytes of the queue while no other discipline hangs at its class; 0 if it is not said.
    pub limit: u32,
}

/// `fq_codel`. The kernel holds its times in 1024 ns: see [`codel_time`](super::units::codel_time).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodel {
    /// Packets.
    pub limit: u32,
    /// How many queues flows are hashed into. The kernel does not change it later.
    pub flows: u32,
    /// Bytes a turn.
    pub quantum: u32,
    /// The delay that is tolerated.
    pub target: Nanos,
    /// For how long the delay may be above the target.
    pub interval: Nanos,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

impl FqCodel {
    /// What Linux takes by default, on an interface of Ethernet.
    pub const DEFAULT: FqCodel = FqCodel {
        limit: 10_240,
        flows: 1024,
        quantum: 1514,
        target: Nanos(5_000_000),
        interval: Nanos(100_000_000),
        ecn: true,
    };
    /// Linux raises a quantum below this one to it, in bytes.
    pub const LEAST_QUANTUM: u32 = 256;
}

/// `codel`. Its times are held as those of [`FqCodel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    /// Packets.
    pub limit: u32,
    /// The delay that is tolerated.
    pub target: Nanos,
    /// For how long the delay may be above the target.
    pub interval: Nanos,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// `pie`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    /// Packets.
    pub limit: u32,
    /// The delay that is aimed at.
    pub target: Nanos,
    /// How often the probability is moved. The kernel holds it in its jiffies.
    pub tupdate: Nanos,
    /// In sixteenths, at most 32.
    pub alpha: u32,
    /// In sixteenths, at most 32.
    pub beta: u32,
    /// Whether packets are marked instead of dropped.
    pub ecn: bool,
}

/// `red` in bytes or `choke` in packets (`tc_red_qopt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Red {
    /// The length that is never exceeded.
    pub limit: u32,
    /// `qth_min`.
    pub min: u32,
    /// `qth_max`.
    pub max: u32,
    /// `Wlog`: an arrival counts for 2^-wlog in the average. 0 if it is not said.
    pub wlog: u8,
    /// `Plog`, for kernels without `max_p`: the probability at `max` is `(max - min)` 2^-plog.
    pub plog: u8,
    /// `Scell_log`: idle time is looked up in steps of 2^cell_log ticks.
    pub cell_log: u8,
    /// TCA_RED_MAX_P: the probability at `max` in 2^-32.
    pub max_p: u32,
    /// The packet that the weight and the idle time were computed for, in bytes; 0 if it is not
    /// known. The kernel does not keep it.
    pub packet: u32,
    /// Whether packets are marked instead of dropped (TC_RED_ECN).
    pub ecn: bool,
}

impl Red {
    /// The probability at `max`, with the fewest digits that the kernel holds alike.
    pub fn probability(&self) -> f64 {
        let exact = f64::from(self.max_p) / Self::ONE;
        let rounded = (1..17).filter_map(|digits| format!("{exact:.digits$e}").parse().ok());
        rounded.into_iter().find(|short| Self::max_p(*short) == self.max_p).unwrap_or(exact)
    }

    /// A probability as the kernel holds it.
    pub fn max_p(probability: f64) -> u32 {
        (probability * Self::ONE).round() as u32
    }

    const ONE: f64 = 4_294_967_296.0;
}

/// `stab`: how lengths are counted (`tc_sizespec`). The table itself follows from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeTable {
    /// Bytes that every frame takes beyond its own.
    pub overhead: i32,
    /// The least that any frame takes.
    pub mpu: u32,
    /// Whether frames are cut into cells of ATM (TC_LINKLAYER_ATM).
    pub atm: bool,
    /// The longest frame that the table has an entry for; 0 without a table.
    pub mtu: u32,
    /// How many entries the table has; 0 without a table.
    pub tsize: u32,
}

impl SizeTable {
    /// Its options in the words of `tc`: those that say something, or `in_full` also the overhead
    /// and the layer of the link that hold by default.
    pub fn words(&self, in_full: bool) -> String {
        let SizeTable { overhead, mpu, atm, mtu, tsize } = *self;
        let layer = if atm { "atm" } else { "ethernet" };
        let options = [
            (mtu > 0, format!("mtu {mtu}")),
            (tsize > 0, format!("tsize {tsize}")),
            (mpu > 0, format!("mpu {mpu}")),
            (in_full || overhead != 0, format!("overhead {overhead}")),
            (in_full || atm, format!("linklayer {layer}")),
        ];
        let said = options.into_iter().filter(|(is_said, _)| *is_said);
        said.map(|(_, words)| words).collect::<Vec<_>>().join(" ")
    }
}
