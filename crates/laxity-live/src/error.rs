//! Why nothing is forwarded or watched.

use std::io;
use std::path::PathBuf;

use laxity::units::Bytes;
use laxity_forward::Refusal;
use thiserror::Error;

use crate::archive::ArchiveError;
use crate::reservations::JournalError;

/// Why a link or a network is not forwarded over or watched, or no longer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A link or a router cannot follow the plan.
    #[error(transparent)]
    Plan(#[from] Refusal),
    /// Routers need a plan with a network.
    #[error("the plan is of one link")]
    OneLink,
    /// AF_XDP sockets are for two interfaces.
    #[error("--backend xdp is for two interfaces: routers take ring or packet")]
    XdpRouters,
    /// Routers tell frames when they leave.
    #[error("--capture-at arrival is for two interfaces: routers capture frames at departure")]
    RouterArrivals,
    /// AF_XDP sockets have too little memory for a wire.
    #[error(
        "--backend xdp has no memory for frames on a wire that is emulated: take ring or packet"
    )]
    XdpWire,
    /// Both directions are served by the same threads.
    #[error(
        "the plans of the two ways have {0} and {1} `threads`: write the same number into both"
    )]
    UnequalThreads(u16, u16),
    /// A host's own packets come through one device.
    #[error("--dev takes a host's packets by one thread: leave `threads` out of the plan")]
    HostThreads,
    /// A ledger is of one scheduler.
    #[error(
        "--ledger writes down what one scheduler does, for `laxity replay`: leave it out, or `threads` out of the plan"
    )]
    LedgerThreads,
    /// The rate at which packets arrive at a host's own interface is to be found.
    #[error(
        "--ingress takes a plan that knows its `rate`: how fast packets are sent here cannot be told from those that \
         leave. Write what the link always carries, its `from`, as `rate`"
    )]
    ArrivingRate,
    /// The rate of a host's own interface is to be found, and nothing that comes back is heard.
    #[error(
        "the plan names no `reflectors` by which its rate is found: name some in `link.rate`, or have what arrives \
         pass a plan, too (--ingress), so that time stamps of TCP are heard"
    )]
    UnheardRate,
    /// A plan to be watched has a network.
    #[error("the plan is of a network: one link is watched, under a plan without `[network]`")]
    Network,
    /// Both interfaces are the same one.
    #[error("{0} is given twice: accepted are two interfaces, between which frames are forwarded")]
    OneInterface(String),
    /// The kernel passes frames of an interface on as well.
    #[error(
        "{interface} is part of {controller}, which passes its frames on, too, so that each would leave twice: take it \
         out (`ip link set {interface} nomaster`) before it is forwarded from"
    )]
    Member {
        /// The interface.
        interface: String,
        /// The bridge, bond or the like.
        controller: String,
    },
    /// The kernel routes between the interfaces as well.
    #[error(
        "this host routes {version} between {} and {}: it would pass packets on past the plan, and those that are \
         forwarded would leave a second time, without translated addresses. A router's uplink is shaped by \
         `laxity live --dev {}`; a bridge has no addresses (`ip addr flush dev {}`) or routes nothing \
         (`sysctl net.{version}.conf.all.forwarding=0`)",
        .between[0], .between[1], .between[1], .between[0]
    )]
    Routed {
        /// The interfaces.
        between: [String; 2],
        /// The version of IP, as the kernel's settings call it.
        version: &'static str,
    },
    /// A plan drops packets for what the link adds to them.
    #[error(
        "packets from {interface} may have {longest} on the link with its `overhead`, more than the plan's `max-packet`, \
         {limit}, which holds them without: they would be dropped as too-long. Write `max-packet = \"{}b\"`, or leave \
         it out",
        .longest.0
    )]
    Overhead {
        /// Where they arrive.
        interface: String,
        /// The longest packet.
        longest: Bytes,
        /// The plan's longest.
        limit: Bytes,
    },
    /// A class takes the packets of a control group that is not there.
    #[error(
        "class `{class}`: there is no control group {path} ({error}): name one by its path below the root, such as \
         system.slice/backup.service"
    )]
    Cgroup {
        /// The class.
        class: String,
        /// The control group.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// What is promised is not known.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// What is promised does not hold under the plan.
    #[error("what is promised in {} does not hold under the plan: {why}", .path.display())]
    Reservations {
        /// The journal.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Reservations are taken for the way out.
    #[error("--reservations are for a link with a plan for what leaves")]
    NoReservations,
    /// The system refuses.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// A thread does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The thread that forwards has ended.
    #[error(transparent)]
    Stopped(#[from] WorkerError),
    /// A ledger cannot be created in this folder.
    #[error("cannot begin a ledger in {}: {_1}", _0.display())]
    Ledger(PathBuf, io::Error),
    /// This capture cannot be created.
    #[error("cannot begin the capture {}: {_1}", _0.display())]
    Capture(PathBuf, io::Error),
    /// There is no history in a file.
    #[error(transparent)]
    History(#[from] ArchiveError),
    /// Signals cannot be received.
    #[error("signals cannot be heard: {0}")]
    Signals(io::Error),
    /// The taps of a watched link fail.
    #[error("frames cannot be looked at: {0}")]
    Frames(io::Error),
    /// A host of a demonstration does not send or receive.
    #[error("cannot exchange traffic between the hosts: {0}")]
    Hosts(io::Error),
}

/// Why a thread does not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The system has no thread left.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
    /// The thread gets no priority, core or sandbox.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// The thread ended at once.
    #[error("the forwarding thread ended at once")]
    Gone,
}

/// The thread that forwards has ended, for this reason if it failed.
#[derive(Debug, Error)]
#[error("forwarding has ended{}", .0.as_ref().map(|why| format!(": {why}")).unwrap_or_default())]
pub struct WorkerError(pub(crate) Option<io::Error>);

impl WorkerError {
    pub(crate) fn new(error: io::Error) -> Self {
        WorkerError(Some(error))
    }
}

/// Why the thread that forwards does not follow another plan.
#[derive(Debug, Error)]
pub enum ReloadError {
    /// The plan cannot be followed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Frames of this direction go as they come.
    #[error("frames of this direction go as they come: it has no plan")]
    Plain,
    /// The thread has ended.
    #[error(transparent)]
    Stopped(#[from] WorkerError),
}

/// Why an interface that has come back is not used.
#[derive(Debug, Error)]
pub enum ReattachError {
    /// The system refuses.
    #[error(transparent)]
    Refused(#[from] laxity_linux::Error),
    /// The thread that forwards has ended.
    #[error(transparent)]
    Stopped(#[from] WorkerError),
}
