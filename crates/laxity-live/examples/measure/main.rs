//! How fast a bridge forwards the smallest frames, what a frame takes of the processor, and how
//! long frames take, beside the kernel's bridge.
//!
//! `cargo run --profile dist -p laxity-live --example measure [rate|circuits|latency] [ROUNDS]`,
//! as root on a machine with two cores that has little else to do. Everything happens in namespaces
//! of its own:
//!
//! ```text
//! sender eth --- a [bridge] b --- eth receiver
//! ```
//!
//! At a host's own interface the kernel's bridge forwards, and Laxity orders what that sends at
//! `b` ("egress") or what arrives at `a` ("ingress").

#[cfg(target_os = "linux")]
mod circuits;
#[cfg(target_os = "linux")]
mod forward;
#[cfg(target_os = "linux")]
mod latency;
#[cfg(target_os = "linux")]
mod place;
#[cfg(target_os = "linux")]
mod rate;
#[cfg(target_os = "linux")]
mod sender;

#[cfg(target_os = "linux")]
use circuits::provider::Upper;

/// What brings frames to a bridge of Laxity's and away from it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interfaces {
    Mmsg,
    Ring,
    Xdp,
    /// Those of the host itself, at the interface where frames leave.
    Egress,
    /// The same at the interface where they arrive.
    Ingress,
}

/// What forwards between `a` and `b`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    KernelBridge,
    /// Frames go as they come.
    Plain(Interfaces),
    /// Four classes under `edf/exact`, on a link that is never the narrow place.
    Edf(Interfaces),
    /// A number of circuits of a provider under a discipline.
    Circuits(Interfaces, Upper, usize),
}

impl Interfaces {
    fn name(self) -> &'static str {
        match self {
            Interfaces::Mmsg => "recvmmsg",
            Interfaces::Ring => "TPACKET_V2",
            Interfaces::Xdp => "AF_XDP",
            Interfaces::Egress => "egress",
            Interfaces::Ingress => "ingress",
        }
    }
}

impl Way {
    const ALL: [Way; 11] = [
        Way::KernelBridge,
        Way::Plain(Interfaces::Mmsg),
        Way::Edf(Interfaces::Mmsg),
        Way::Plain(Interfaces::Ring),
        Way::Edf(Interfaces::Ring),
        Way::Plain(Interfaces::Xdp),
        Way::Edf(Interfaces::Xdp),
        Way::Plain(Interfaces::Egress),
        Way::Edf(Interfaces::Egress),
        Way::Plain(Interfaces::Ingress),
        Way::Edf(Interfaces::Ingress),
    ];

    fn name(self) -> String {
        match self {
            Way::KernelBridge => "kernel bridge".into(),
            Way::Plain(at) => format!("{}, plainly", at.name()),
            Way::Edf(at) => format!("{}, EDF", at.name()),
            Way::Circuits(at, upper, count) => format!("{}, {count} under {upper:?}", at.name()),
        }
    }
}

/// Who sends is on this core, as are the interrupts with which frames arrive at the bridge.
const SENDERS_CORE: usize = 0;
/// Another one.
const OTHER_CORE: usize = 1;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let what = words.next().unwrap_or_else(|| "all".into());
    if what == forward::GUARD {
        return Ok(laxity_linux::host_link::guard()?);
    }
    let rounds = words.next().and_then(|word| word.parse().ok()).unwrap_or(3);
    let is_wanted = |part| what == part || what == "all";
    if is_wanted("rate") {
        rate::measure(rounds)?;
    }
    if is_wanted("circuits") {
        circuits::measure(rounds)?;
    }
    if is_wanted("latency") {
        latency::measure(rounds)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}

/// The median of some figures, the least and the greatest; of at least one.
#[cfg(target_os = "linux")]
fn spread(figures: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    [sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1]]
}
