//! `[[source]]`.

use laxity::units::{Bytes, Nanos, Rate};

use super::dist::Distribution;
use super::host::HostPair;
use super::values::{At, Count, Number, Quantity, Word};
use super::way::Way;
use crate::keys::{kinds, table};
use crate::model::{TcpCongestion, TcpRecovery, TcpSlowStart, TcpVariant};

kinds! {
    pub(crate), "ModelKind", "`model = …`.",
    /// Inside a burst as fast as the class's arrival curve allows, between bursts not at all.
    Greedy: "greedy";
    /// One packet after another at a constant rate.
    Constant: "constant";
    /// Independent exponential gaps, whatever the packets' lengths.
    Poisson: "poisson";
    /// Exponential gaps in proportion to the lengths of the packets behind them.
    Correlated: "correlated";
    /// Constant rate while on, silent while off.
    OnOff: "on-off";
    /// On-off with Pareto periods.
    ParetoOnOff: "pareto-on-off";
    /// Always a packet waiting.
    Backlogged: "backlogged";
    /// Connections over a network, each with an endpoint at both ends of the path.
    Tcp: "tcp";
    /// A pcap or pcapng file.
    Capture: "capture";
    /// A CSV file with the columns time_ns, class, length and optionally flow.
    Csv: "csv";
}

table! {
    /// Traffic: a model that feeds one class, or a recording. Which keys apply depends on `model`.
    pub(crate) struct Source {
        /// The class that it feeds; models only, a recording is sorted by the classes' `match`.
        pub class: Option<At<String>>,
        /// When it sends.
        pub model: At<Word<Kind>>,
        /// Lengths of its packets.
        pub packet: Option<At<Distribution<Bytes>>>,
        /// How many independent copies there are. Default as many as the class has streams.
        pub count: Option<At<Count>>,
        /// Between which hosts its packets go, by any names: who sends them and who receives them,
        /// such as ["laptop", "internet"]. `cake` shares by hosts. Default hosts that nobody knows.
        pub hosts: Option<At<HostPair>>,
        /// When it begins. Default 0s.
        pub start: Option<Quantity<Nanos>>,
        /// The time over which the beginnings of its copies, or of its connections, are spread at
        /// random. Default 0s.
        pub stagger: Option<Quantity<Nanos>>,
        /// When it ends. Default never.
        pub stop: Option<Quantity<Nanos>>,
        /// `greedy`: length of a burst.
        pub burst: Option<At<Distribution<Nanos>>>,
        /// `greedy`: pause between bursts.
        pub spacing: Option<At<Distribution<Nanos>>>,
        /// `constant`, `poisson`, `correlated`: the mean rate. `on-off`, `pareto-on-off`: the rate
        /// while on.
        pub rate: Option<Quantity<Rate>>,
        /// `constant`: by how much each packet is later than the rate has it, though never before
        /// another one. Default not at all. `tcp`: the time from when a sender may send until it
        /// does. Default uniform, from none to what a segment takes on the slowest link of the
        /// path.
        pub jitter: Option<At<Distribution<Nanos>>>,
        /// `on-off`: length of an on period. `pareto-on-off`: its mean.
        pub on: Option<At<Distribution<Nanos>>>,
        /// `on-off`: length of an off period. `pareto-on-off`: its mean.
        pub off: Option<At<Distribution<Nanos>>>,
        /// `pareto-on-off`: shape of both periods, more than 1. Default 1.5.
        pub shape: Option<At<Number>>,
        /// `backlogged`: how many packets it keeps queued, in a network at its first output.
        /// Default 2. `tcp`: the receiver's window in segments. Default 4000.
        pub window: Option<At<Count>>,
        /// In a network: the nodes that its packets pass, from the first to the last, or
        /// "shortest".
        pub path: Option<At<Way>>,
        /// Where the shortest path begins.
        pub from: Option<At<String>>,
        /// Where the shortest path ends.
        pub to: Option<At<String>>,
        /// How often its packets pass the path, which then ends where it begins. Default 1.
        pub laps: Option<At<Count>>,
        /// `tcp`: how losses are found and windows grow. Default cubic.
        pub variant: Option<At<Word<TcpVariant>>>,
        /// `tcp`: how losses are found. Default what `variant` says, and that is `sack` by default;
        /// under `congestion = "bbr"` `rack-tlp`.
        pub loss_detection: Option<At<Word<TcpRecovery>>>,
        /// `tcp`: how windows grow and shrink. Default what `variant` says, and that is `cubic` by
        /// default.
        pub congestion: Option<At<Word<TcpCongestion>>>,
        /// `tcp`: length of an acknowledgement. Default the link's `min-packet`.
        pub ack: Option<Quantity<Bytes>>,
        /// `tcp`: how much one transfer holds. Default without end.
        pub transfer: Option<At<Distribution<Bytes>>>,
        /// `tcp`: the time between two transfers of a connection; needs `transfer`. Default 0s.
        pub pause: Option<At<Distribution<Nanos>>>,
        /// `tcp`: the time from one transfer that a connection is asked for to the next, done or
        /// not; exponential for a Poisson process; needs `transfer`, in place of `pause`.
        pub every: Option<At<Distribution<Nanos>>>,
        /// `tcp`: the initial window in segments. Default 10.
        pub initial_window: Option<At<Count>>,
        /// `tcp`: how the first slow start ends. Default standard.
        pub slow_start: Option<At<Word<TcpSlowStart>>>,
        /// `tcp`: whether segments leave one by one at a rate. Default false, under `congestion =
        /// "bbr"` true.
        pub pacing: Option<At<bool>>,
        /// `tcp`: whether only every second segment is acknowledged. Default true.
        pub delayed_acks: Option<At<bool>>,
        /// `tcp`: whether the first two duplicate acknowledgements let a new segment go. Default
        /// true.
        pub limited_transmit: Option<At<bool>>,
        /// `tcp`: whether queues may mark segments instead of dropping them. Default false, under
        /// `congestion = "dctcp"` true.
        pub ecn: Option<At<bool>>,
        /// `tcp`: whether segments say ECT(1), by which L4S is known (RFC 9331), instead of ECT(0);
        /// `congestion = "dctcp"` only. Default false.
        pub l4s: Option<At<bool>>,
        /// `tcp`: how much longer than the smoothed round trip the retransmission timeout is at
        /// least. Default 200ms.
        pub min_timeout: Option<Quantity<Nanos>>,
        /// `tcp`: one tick of a coarse retransmission timer, in place of `min-timeout`.
        pub tick: Option<Quantity<Nanos>>,
        /// `capture`, `csv`: the recording; a relative path counts from the plan's folder.
        pub file: Option<At<String>>,
        /// `capture`: which frames take part, such as `udp`. Default all.
        pub r#match: Option<At<String>>,
        /// `capture`, `csv`: whether it is read whole and sorted by time before anything arrives,
        /// for recordings whose clock stepped back. Default false.
        pub sort: Option<At<bool>>,
    }
}
