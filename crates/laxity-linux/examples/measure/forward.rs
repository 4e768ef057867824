//! The forwarder that is measured: it looks at nothing and keeps nothing back.

use std::sync::atomic::{AtomicBool, Ordering};

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_linux::priority;
use laxity_linux::wait::Waiter;
use laxity_linux::xdp::{self, Xdp};

use crate::place::Place;
use crate::rate::Flood;
use crate::{OTHER_CORE, Way};

/// What is done with a backend, whichever it is.
trait Use {
    type Result;
    fn with(self, backend: impl Backend + Send) -> Self::Result;
}

fn open<U: Use>(way: Way, place: &Place, what: U) -> Result<Option<U::Result>, Error> {
    let [a, b] = place.ends()?;
    let ends = [&a, &b];
    let packets = |bypass_qdisc| packet::Options { bypass_qdisc, ..packet::Options::default() };
    Ok(Some(match way {
        Way::KernelBridge => return Ok(None),
        Way::Mmsg { bypass_qdisc } => {
            let open = || Mmsg::open(ends, &packets(bypass_qdisc));
            what.with(place.between.run(open)??)
        }
        Way::Ring { bypass_qdisc } => {
            let open = || Ring::open(ends, &packets(bypass_qdisc));
            what.with(place.between.run(open)??)
        }
        Way::Xdp { native } => {
            let options = xdp::Options { native, ..xdp::Options::default() };
            what.with(place.between.run(|| Xdp::open(ends, &options))??)
        }
    }))
}

/// Runs something while the way forwards on a core.
pub fn during<T>(
    way: Way,
    core: usize,
    place: &Place,
    something: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    if way == Way::KernelBridge {
        place.between.bridge("bridge", &["a", "b"])?;
        // Its ports need a moment to open.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let result = something();
        place.between.remove("bridge")?;
        return result;
    }
    struct Beside<F>(F, usize);
    impl<T, F: FnOnce() -> T> Use for Beside<F> {
        type Result = T;
        fn with(self, backend: impl Backend + Send) -> T {
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let (Beside(something, core), stop) = (self, &stop);
                scope.spawn(move || forward(backend, core, stop));
                let result = something();
                stop.store(true, Ordering::Relaxed);
                result
            })
        }
    }
    open(way, place, Beside(something, core))?.expect("only a bridge has no backend")
}

fn forward(mut backend: impl Backend, core: usize, stop: &AtomicBool) {
    for prepared in [priority::pin(core), priority::real_time(50)] {
        prepared.unwrap_or_else(|error| println!("{error}"));
    }
    let mut waiter = Waiter::default();
    let mut frames = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if Side::BOTH.into_iter().map(|side| pass(&mut backend, side, &mut frames)).sum::<u64>()
            == 0
        {
            let descriptors = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
            let until = Clock::Monotonic.now() + Nanos(10_000_000);
            waiter.wait(descriptors, Some(until)).expect("waited");
        }
    }
}

/// Forwards what waits at a side, at most a batch.
fn pass(
    backend: &mut impl Backend,
    from: Side,
    frames: &mut Vec<laxity_linux::frames::Handle>,
) -> u64 {
    let received = backend.receive(from, frames).expect("received");
    frames.drain(..).for_each(|frame| backend.send(from.other(), frame));
    backend.flush(from.other()).expect("sent");
    received as u64
}

/// Forwards frames that wait already, again and again, and says how many and how long it was busy
/// with that.
pub fn waiting(way: Way, place: &Place, flood: Flood) -> Result<(u64, Nanos), Error> {
    struct Waiting(Flood);
    impl Use for Waiting {
        type Result = (u64, Nanos);
        fn with(self, mut backend: impl Backend + Send) -> Self::Result {
            for prepared in [priority::pin(OTHER_CORE), priority::real_time(50)] {
                prepared.unwrap_or_else(|error| println!("{error}"));
            }
            let (mut frames, mut count, mut busy) = (Vec::new(), 0, 0);
            for _ in 0..200 {
                let mut left: u64 = (0..16).map(|_| self.0.send()).sum();
                let began = Clock::Monotonic.now();
                while left > 0 {
                    let passed = pass(&mut backend, Side::A, &mut frames);
                    (left, count) = (left.saturating_sub(passed), count + passed);
                    if passed == 0 {
                        break;
                    }
                }
                busy += (Clock::Monotonic.now() - began).0;
                // Nothing else would run otherwise.
                Clock::Monotonic.sleep_until(Clock::Monotonic.now() + Nanos(1_000_000));
            }
            (count, Nanos(busy))
        }
    }
    let run = || open(way, place, Waiting(flood));
    let counted = std::thread::scope(|scope| scope.spawn(run).join().expect("it forwards"))?;
    Ok(counted.unwrap_or_default())
}
