//! `laxity live` on the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use laxity::units::Nanos;
use laxity_live::FrameSockets;
use laxity_live::file::CaptureFile;
use laxity_live::routers::PortName;

use super::control::{Monitoring, address};
use super::demo::Demo;
use crate::args::value::{duration, whole};

/// `laxity live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: laxity live --demo
          laxity live examples/home-uplink.toml --in eth1 --out eth0
          laxity live up.toml --dev eth0 --ingress down.toml
          laxity live examples/live-ring.toml --port r1:h1=eth0 --port r1:r2=eth1 --port r1:r4=eth2

Bridges two interfaces; with --dev orders what this host itself sends and receives at an interface; with --port
runs nodes of the plan's network. Interfaces that are bridged should have no addresses, as the kernel's own stack
sees the frames too; with --dev everything stays as it is. Where the plan has the link's `rate` found, its
reflectors are sent pings, and time stamps of TCP are watched. SIGHUP reloads the plans without losing a packet;
SIGTERM and SIGINT send what is queued and end. Needs CAP_NET_RAW, with --dev CAP_NET_ADMIN and CAP_BPF, and
CAP_SYS_NICE to be on time; gives up all privileges once the interfaces are open.

Guides: docs/live.md, docs/router.md")]
pub(crate) struct Live {
    /// The plan of what is sent at --out, or of a network.
    #[arg(required_unless_present_any = ["demo", "guard"])]
    pub plan: Option<PathBuf>,
    /// Where the frames arrive that the plan is for.
    #[arg(long = "in", value_name = "INTERFACE", required_unless_present_any = ["dev", "port", "demo", "guard"])]
    pub from: Option<String>,
    /// Where they leave: the interface before the link.
    #[arg(long = "out", value_name = "INTERFACE", required_unless_present_any = ["dev", "port", "demo", "guard"])]
    pub to: Option<String>,
    /// A plan for the way back. Without one frames go as they come.
    #[arg(long, value_name = "PLAN")]
    pub back: Option<PathBuf>,
    /// An interface of this host, such as a router's uplink: the plan is for what leaves there. The
    /// interface keeps its addresses, and the host its routes, firewall and connections.
    #[arg(long, value_name = "INTERFACE", conflicts_with_all = ["from", "to", "back", "port", "backend"])]
    pub dev: Option<String>,
    /// With --dev: a plan for what arrives there. Without one it arrives as it comes.
    #[arg(long, value_name = "PLAN", requires = "dev")]
    pub ingress: Option<PathBuf>,
    /// In a network: the interface at which a node's link to a neighbour is; one for every link of
    /// the node.
    #[arg(long, value_name = "NODE:NEIGHBOUR=INTERFACE[@NAMESPACE]", conflicts_with_all = ["from", "to", "back"])]
    pub port: Vec<PortName>,
    #[command(flatten)]
    pub running: Running,
    /// End after this time, such as 60s.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub duration: Option<Nanos>,
    /// Keep what each class got in the last hour, day and week, and when promises were in danger,
    /// in this file of fixed size, for the page and for `laxity status --history`. A history of the
    /// same classes goes on; one of others is kept, and a new one gets a number.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "demo"])]
    pub history: Option<PathBuf>,
    /// Take reservations while it runs (see laxity reserve), and keep them in this file. Those that
    /// are there hold again from the begin. With --port along paths of the network, which must have
    /// no time frames.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "history"])]
    pub reservations: Option<PathBuf>,
    /// With --reservations: take them over HTTP at this address, too, from those of --clients.
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires_all = ["reservations", "clients"])]
    pub reserve_at: Option<SocketAddr>,
    /// The clients: a TOML file with a table [client.NAME] for each, and [tls] for TLS.
    #[arg(long, value_name = "FILE", requires = "reserve_at")]
    pub clients: Option<PathBuf>,
    /// Ask the machine's resolver, which may ask DNS, for the names of hosts that are shown.
    /// Without this nobody is asked.
    #[arg(long, conflicts_with_all = ["port", "demo"])]
    pub names: bool,
    #[command(flatten)]
    pub monitoring: Monitoring,
    #[command(flatten)]
    pub demo: Demo,
    /// With --in and --out: have the kernel bridge the interfaces whenever this process does not
    /// forward, as after a kill or a hang. The bridge stays after the end, until the next start
    /// with --bypass. Needs CAP_NET_ADMIN.
    #[arg(long, requires = "to")]
    pub bypass: bool,
    /// With --dev: take frames as on a kernel before 6.6.
    #[arg(long, hide = true, requires = "dev")]
    pub clsact: bool,
    /// Be the process that takes programs off an interface, or bridges --in and --out while another
    /// does not forward.
    #[arg(long, hide = true, conflicts_with_all = ["plan", "dev", "port", "demo"])]
    pub guard: bool,
}

/// How a link runs, and what is kept of it.
#[derive(Args, Debug)]
pub(crate) struct Running {
    /// How frames are taken in and sent.
    #[arg(long, value_name = "BACKEND", default_value = "ring")]
    pub backend: FrameBackend,
    /// The real-time priority of the thread that forwards; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = whole::<u8>(0..=99))]
    pub priority: u8,
    /// Keep that thread on this core; best the one that takes the interfaces' interrupts.
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
    /// Keep all cores of the machine awake: frames are sent some 30 us sooner, and it takes
    /// electricity.
    #[arg(long)]
    pub awake: bool,
    /// Write down everything that happens on a link into a file in this folder, for
    /// `laxity replay`.
    #[arg(long, value_name = "DIR")]
    pub ledger: Option<PathBuf>,
    /// Write the frames of the ways that have a plan, or of all ports of routers, into this pcapng
    /// file, each with its class and delay as a comment, for Wireshark. A file of this name that is
    /// there already is kept: the new one gets a number, as in frames-2.pcapng.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Where frames are captured. With arrival, `laxity run --arrivals FILE --sort` repeats what
    /// came to the link.
    #[arg(long, value_name = "WHERE", default_value = "departure", requires = "capture")]
    pub capture_at: CaptureAt,
}

/// Where frames are captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CaptureAt {
    /// Sent frames where they leave, dropped ones where they arrived, when they were dropped.
    Departure,
    /// All frames where they arrived, when they did.
    Arrival,
}

impl Running {
    /// The capture that is asked for.
    pub(crate) fn capture(&self) -> Option<CaptureFile> {
        let at = match self.capture_at {
            CaptureAt::Departure => laxity_live::file::CaptureAt::Departure,
            CaptureAt::Arrival => laxity_live::file::CaptureAt::Arrival,
        };
        self.capture.clone().map(|path| CaptureFile { path, at })
    }
}

/// How frames are taken in and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FrameBackend {
    /// AF_PACKET sockets with a receive ring: any interface, any frame.
    Ring,
    /// AF_PACKET sockets without one.
    Packet,
    /// AF_XDP sockets: the fastest; who sends to the interfaces must have offloads off.
    Xdp,
}

impl From<FrameBackend> for FrameSockets {
    fn from(backend: FrameBackend) -> Self {
        match backend {
            FrameBackend::Ring => FrameSockets::Ring,
            FrameBackend::Packet => FrameSockets::Packet,
            FrameBackend::Xdp => FrameSockets::Xdp,
        }
    }
}
