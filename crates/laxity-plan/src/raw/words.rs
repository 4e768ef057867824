//! Words of a plan that are those of the library.

use laxity::sched::{cake, dwcs};
use laxity::{aqm, overhead, police};
use schemars::JsonSchema;
use serde::Deserialize;

/// Words that stand for values of the library.
macro_rules! words {
    ($(#[$about:meta] $library:ident::$name:ident { $(#[$meaning:meta] $word:ident),* })*) => {$(
        #[$about]
        #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name {
            $(#[$meaning] $word),*
        }

        impl From<$name> for $library::$name {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$word => $library::$name::$word),*
                }
            }
        }
    )*};
}

words! {
    /// `police = …`: what happens to a packet that breaks its class's arrival curve.
    police::Police {
        /// It is counted and travels on.
        Count,
        /// It travels as best effort.
        Demote,
        /// It is dropped.
        Drop
    }

    /// `spacing = …`.
    aqm::Spacing {
        /// At a probability p, 1 to 1/p packets from one drop to the next, all alike.
        Uniform,
        /// 1/p to 2/p packets, all alike.
        Wait
    }

    /// What frames are cut into.
    overhead::Framing {
        /// They are sent whole.
        Whole,
        /// Cells of 53 bytes for 48.
        Atm,
        /// Code words of 65 bytes for 64.
        Ptm
    }

    /// `late = …`.
    dwcs::Late {
        /// A packet whose deadline has passed is dropped.
        Drop,
        /// It is sent all the same, and its deadline moves on by a gap.
        Send
    }

    /// `diffserv = …`: how classes are sorted into tins by their `dscp`.
    cake::Diffserv {
        /// One tin.
        Besteffort,
        /// Bulk, best effort and voice.
        Diffserv3,
        /// Bulk, best effort, video and voice.
        Diffserv4,
        /// Eight tins of twelve classes of traffic (RFC 4594).
        Diffserv8,
        /// Eight tins by the three highest bits.
        Precedence
    }

    /// `isolation = …`: what shares a tin.
    cake::Isolation {
        /// All packets are one flow.
        Flowblind,
        /// What a host sends is one flow.
        Srchost,
        /// What a host receives is one flow.
        Dsthost,
        /// What goes from one host to another is one flow.
        Hosts,
        /// Flows.
        Flows,
        /// Sending hosts, and flows within each.
        DualSrchost,
        /// Receiving hosts, and flows within each.
        DualDsthost,
        /// Hosts that send and hosts that receive, and flows within each.
        TripleIsolate
    }

    /// `ack-filter = …`: which acknowledgements are dropped that later ones make superfluous.
    cake::AckFilter {
        /// None.
        Off,
        /// The first of two that a third one makes superfluous.
        On,
        /// The first that another one makes superfluous.
        Aggressive
    }

    /// `precedence = …`.
    dwcs::Precedence {
        /// The lowest current loss tolerance first (West, Schwan, Poellabauer 1999, Table 1).
        LossFirst,
        /// The earliest deadline first (West, Zhang, Schwan, Poellabauer 2004).
        DeadlineFirst
    }

    /// `violation = …`.
    dwcs::Violation {
        /// A stream that loses more than it may is preferred until that is made good: method 1.
        Favour,
        /// Its window begins anew: method 2.
        Reset
    }
}
