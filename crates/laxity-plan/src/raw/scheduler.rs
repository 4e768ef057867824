//! `[scheduler]`, or the scheduler of a class, a link or a node.

use laxity::units::{Bytes, Nanos, Rate};

use super::queue::Queue;
use super::values::{At, Count, Number, Quantity, Table, Word};
use super::words::{AckFilter, Diffserv, Isolation, Late, Precedence, Violation};
use crate::keys::table;
use crate::model::scheduler::Kind;
use crate::model::{Assignment, BestEffort, BestEffortOrder, QueueLimit};

table! {
    /// The discipline that shares the link.
    pub(crate) struct Scheduler {
        /// Which discipline.
        pub kind: Word<Kind>,
        /// How best-effort packets get deadlines; `edf` only. Default exact.
        pub best_effort: Option<At<Word<BestEffort>>>,
        /// How best-effort classes are ordered among themselves; `edf`, `tdp`. Default wfq.
        pub best_effort_order: Option<At<Word<BestEffortOrder>>>,
        /// What becomes of real-time packets whose deadline or frame is over; `edf`, `tdp`. Default
        /// send.
        pub late: Option<At<Word<Late>>>,
        /// The queue that all classes share that have none of their own. Default no limit.
        pub queue: Option<At<Table<Queue>>>,
        /// What goes first; `dwcs` only. Default loss-first.
        pub precedence: Option<At<Word<Precedence>>>,
        /// What becomes of a stream that has lost more than it may; `dwcs` only. Default reset.
        pub violation: Option<At<Word<Violation>>>,
        /// After how many services it looks for passed deadlines; `dwcs` only. Default 1.
        pub check_every: Option<At<Count>>,
        /// `fq-codel`: how much a flow may send in its turn. Default 1514b.
        pub quantum: Option<Quantity<Bytes>>,
        /// `fq-codel`, `dualpi2`, `cake`: how much may be queued in all, in packets or bytes.
        /// Default 10240, 10000, or what the link carries in four `rtt`, 4 MiB at least.
        pub limit: Option<At<QueueLimit>>,
        /// `fq-codel`, `dualpi2`: how long a flow's, or classic packets may wait in the long run.
        /// Default 5ms or 15ms.
        pub target: Option<Quantity<Nanos>>,
        /// `fq-codel`: for how long they may wait longer. Default 100ms.
        pub interval: Option<Quantity<Nanos>>,
        /// `fq-codel`, `cake`: how many queues the flows are hashed into; under `cake` in each tin,
        /// a multiple of 8. Default 1024.
        pub flows: Option<At<Count>>,
        /// `fq-codel`: whether packets are marked that allow it, instead of dropped. Default true.
        pub ecn: Option<At<bool>>,
        /// `dualpi2`: how often the probability of marks and drops is moved. Default 16ms.
        pub update: Option<Quantity<Nanos>>,
        /// `dualpi2`: what a second of waiting above `target` adds to it. Default 0.16.
        pub alpha: Option<At<Number>>,
        /// `dualpi2`: what a second by which waiting has grown adds to it. Default 3.2.
        pub beta: Option<At<Number>>,
        /// `dualpi2`: how many times more likely L4S packets are marked. Default 2.
        pub coupling: Option<At<Count>>,
        /// `dualpi2`: L4S packets that have waited for longer are marked. Default 1ms.
        pub threshold: Option<Quantity<Nanos>>,
        /// `dualpi2`: the share of the link that classic packets get at least, 0 to 1. Default 0.1.
        pub classic_share: Option<At<Number>>,
        /// `cake`: how classes are sorted into tins by their `dscp`. Default diffserv3.
        pub diffserv: Option<At<Word<Diffserv>>>,
        /// `cake`: what shares a tin. Default triple-isolate.
        pub isolation: Option<At<Word<Isolation>>>,
        /// `cake`: the usual round-trip time of the traffic. Default 100ms.
        pub rtt: Option<Quantity<Nanos>>,
        /// `cake`: holds all packets back to this rate; tins have parts of it. Default not at all,
        /// and tins have parts of the link's.
        pub rate: Option<Quantity<Rate>>,
        /// `cake`: whether what it drops counts as sent, for a link behind the bottleneck. Default
        /// false.
        pub ingress: Option<At<bool>>,
        /// `cake`: which acknowledgements of TCP are dropped that later ones make superfluous.
        /// Default off.
        pub ack_filter: Option<At<Word<AckFilter>>>,
        /// `cake`: whether the code point of what is sent is cleared; its ECN stays. Default false.
        pub wash: Option<At<bool>>,
        /// `tdp`: how long a time frame is, such as "250us".
        pub frame: Option<Quantity<Nanos>>,
        /// `tdp`: how many frames make a cycle: 3 to 65536.
        pub frames: Option<At<Count>>,
        /// `tdp`: how many cycles make a super cycle, after which reservations repeat. Default 1.
        pub cycles: Option<At<Count>>,
        /// `tdp`: how many frames after the previous node a node sends a packet. Default the fewest
        /// that its links allow.
        pub forwarding_delay: Option<At<Count>>,
        /// `tdp`: by how many more frames a node may delay the packets of a flow, as its
        /// reservation says. Default 0, which is immediate forwarding.
        pub spare: Option<At<Count>>,
        /// `tdp`: by how much best effort may run into a reserved frame. Default 0s.
        pub guard: Option<Quantity<Nanos>>,
        /// `tdp`: the error of nodes' clocks that the network is to bear. Default the largest that
        /// the nodes' clocks have.
        pub clock_error: Option<Quantity<Nanos>>,
        /// `tdp`: how frames are assigned to flows. Default quick.
        pub assignment: Option<At<Word<Assignment>>>,
    }
}
