//! What forwards.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_forward::{Forwarder, Settings};
use laxity_linux::clock::Clock;
use laxity_linux::frames::Backend;
use laxity_linux::host_link::{Hooks, HostLink};
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_linux::priority;
use laxity_linux::xdp::{self, Xdp};
use laxity_live::{Bridge, Forwarding, Options, Way as Order};
use laxity_plan::Plan;

use crate::place::Place;
use crate::sender::{Lengths, Receivers, Sender};
use crate::{Interfaces, OTHER_CORE, Way, circuits};

/// How often frames wait before it is measured what they take: all receivers are known then.
const WARM_UP: usize = 70;
/// How often it is measured.
const ROUNDS: usize = 200;

/// The word by which this program is the guardian of another.
pub(crate) const GUARD: &str = "guard";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn plan() -> Plan {
    Plan::parse(include_str!("plan.toml"), "plan.toml", Path::new("")).expect("a plan")
}

fn orders(way: Way) -> [Order; 2] {
    match way {
        Way::KernelBridge | Way::Plain(_) => [Order::Plain, Order::Plain],
        Way::Circuits(_, upper, count) => [circuits::order(upper, count), Order::Plain],
        Way::Edf(at) => {
            let forwarder = Forwarder::new(plan(), Settings::default()).expect("a plan for a link");
            let scheduled = Order::Scheduled(Box::new(forwarder));
            match at {
                Interfaces::Ingress => [Order::Plain, scheduled],
                _ => [scheduled, Order::Plain],
            }
        }
    }
}

/// What is done with a backend, whichever it is.
trait Use {
    type Result;
    fn with(self, backend: impl Backend + Send + 'static) -> Result<Self::Result>;
}

fn open<U: Use>(at: Interfaces, place: &Place, what: U) -> Result<U::Result> {
    let [a, b] = place.ends()?;
    let ends = [&a, &b];
    let options = packet::Options::default();
    match at {
        Interfaces::Mmsg => what.with(place.between.run(|| Mmsg::open(ends, &options))??),
        Interfaces::Ring => what.with(place.between.run(|| Ring::open(ends, &options))??),
        Interfaces::Xdp => {
            what.with(place.between.run(|| Xdp::open(ends, &xdp::Options::default()))??)
        }
        Interfaces::Egress | Interfaces::Ingress => {
            let is_ingress = at == Interfaces::Ingress;
            let end = if is_ingress { &a } else { &b };
            bridged(place, || {
                let mut guardian = Command::new(std::env::current_exe()?);
                guardian.arg(GUARD);
                let without_tcx = std::env::var_os("LAXITY_WITHOUT_TCX").is_some();
                let hooks = Hooks { guardian, without_tcx };
                let open = || HostLink::open(end, is_ingress, &options, &[], hooks);
                let mut link = place.between.run(open)??;
                link.take_hold()?;
                what.with(link)
            })
        }
    }
}

/// Does something while the kernel's bridge forwards.
fn bridged<T>(place: &Place, something: impl FnOnce() -> Result<T>) -> Result<T> {
    place.between.bridge("bridge", &["a", "b"])?;
    // Its ports need a moment to open.
    std::thread::sleep(Duration::from_millis(100));
    let result = something()?;
    place.between.remove("bridge")?;
    Ok(result)
}

/// Runs `something` while `way` forwards frames, on a thread with the options `thread`.
///
/// `something` receives a function that reads the events so far, as a program that records them
/// would.
pub(crate) fn during<T>(
    way: Way,
    thread: Options,
    place: &Place,
    something: impl FnOnce(&mut dyn FnMut()) -> Result<T>,
) -> Result<T> {
    struct Beside<F>(Way, Options, F);
    impl<T, F: FnOnce(&mut dyn FnMut()) -> Result<T>> Use for Beside<F> {
        type Result = T;
        fn with(self, backend: impl Backend + Send + 'static) -> Result<T> {
            let Beside(way, thread, something) = self;
            let bridge = Bridge::new(backend, orders(way));
            let (forwarding, mut recorder) = Forwarding::start(bridge, thread)?;
            if let Some(cost) = forwarding.cost_of_no_priority() {
                println!("{cost}");
            }
            let result = something(&mut || recorder.read(|_| {}))?;
            forwarding.drain(Nanos(1_000_000_000))?;
            Ok(result)
        }
    }
    match way {
        Way::KernelBridge => bridged(place, || something(&mut || {})),
        Way::Plain(at) | Way::Edf(at) | Way::Circuits(at, ..) => {
            open(at, place, Beside(way, thread, something))
        }
    }
}

/// Forwards frames that wait already, again and again, and says how many and how long that took.
pub(crate) fn waiting(
    way: Way,
    to: Receivers,
    lengths: Lengths,
    place: &Place,
) -> Result<(u64, Nanos)> {
    struct Waiting<'a>(Way, Sender, &'a Place);
    impl Use for Waiting<'_> {
        type Result = (u64, Nanos);
        fn with(mut self, backend: impl Backend + Send + 'static) -> Result<(u64, Nanos)> {
            priority::pin(OTHER_CORE)?;
            let mut bridge = Bridge::new(backend, orders(self.0));
            let clock = &mut || Clock::Monotonic.now();
            let (mut before, mut busy) = (0, Nanos(0));
            for round in 0..WARM_UP + ROUNDS {
                if round == WARM_UP {
                    (before, busy) = (self.2.arrived()?, Nanos(0));
                }
                for _ in 0..16 {
                    self.1.batch();
                }
                let began = clock();
                loop {
                    let turn = bridge.turn(clock, &mut ())?;
                    if !turn.more && turn.next.is_none() {
                        break;
                    }
                }
                busy += clock() - began;
            }
            Ok((self.2.arrived()? - before, busy))
        }
    }
    match way {
        Way::KernelBridge => Ok((0, Nanos(1))),
        Way::Plain(at) | Way::Edf(at) | Way::Circuits(at, ..) => {
            open(at, place, Waiting(way, Sender::new(place, to, lengths)?, place))
        }
    }
}
