//! How fast each backend forwards, and how long frames take, beside the kernel's bridge.
//!
//! `cargo run --release -p laxity-linux --example measure [rate|latency|all] [ROUNDS]`, as root on
//! a machine with two cores that has little else to do. Everything happens in namespaces of its own:
//!
//! ```text
//! sender eth --- a [forwarder] b --- eth receiver
//! ```
#![cfg(target_os = "linux")]

mod forward;
mod latency;
mod place;
mod rate;

use laxity_linux::Error;

/// What forwards between `a` and `b`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    KernelBridge,
    Mmsg { bypass_qdisc: bool },
    Ring { bypass_qdisc: bool },
    Xdp { native: bool },
}

impl Way {
    const ALL: [Way; 7] = [
        Way::KernelBridge,
        Way::Mmsg { bypass_qdisc: false },
        Way::Mmsg { bypass_qdisc: true },
        Way::Ring { bypass_qdisc: false },
        Way::Ring { bypass_qdisc: true },
        Way::Xdp { native: false },
        Way::Xdp { native: true },
    ];

    fn name(self) -> &'static str {
        match self {
            Way::KernelBridge => "kernel bridge",
            Way::Mmsg { bypass_qdisc: false } => "recvmmsg",
            Way::Mmsg { bypass_qdisc: true } => "recvmmsg, past the qdisc",
            Way::Ring { bypass_qdisc: false } => "TPACKET_V2",
            Way::Ring { bypass_qdisc: true } => "TPACKET_V2, past the qdisc",
            Way::Xdp { native: false } => "AF_XDP, generic",
            Way::Xdp { native: true } => "AF_XDP, native",
        }
    }
}

/// Who sends is on this core, as are the interrupts with which frames arrive at the forwarder.
const SENDERS_CORE: usize = 0;
/// Another one.
const OTHER_CORE: usize = 1;

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let what = words.next().unwrap_or_else(|| "all".into());
    let rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(3);
    if what != "latency" {
        rate::measure(rounds)?;
    }
    if what != "rate" {
        latency::measure(rounds, OTHER_CORE)?;
        latency::measure(rounds, SENDERS_CORE)?;
    }
    Ok(())
}
