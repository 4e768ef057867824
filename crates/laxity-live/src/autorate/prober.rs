//! The thread that finds the rate.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use laxity::autorate::Autorate;
use laxity::units::Nanos;
use laxity_linux::clock::{Clock, Stopwatch};
use laxity_linux::ping::Pinger;
use laxity_linux::sandbox::Sandbox;
use laxity_linux::wait::Waiter;
use laxity_plan::model::AutorateSpec;
use rtrb::Consumer;

use super::{FoundRate, TimedEcho};
use crate::confined;
use crate::error::StartError;

/// A controller with its sockets, not yet at work.
pub(super) struct Prober {
    found: FoundRate,
    autorate: Autorate,
    reflectors: Vec<IpAddr>,
    pinger: Pinger,
    echoes: Consumer<TimedEcho>,
    time: Stopwatch,
}

impl Prober {
    /// One for a plan. `pinger` has sockets for its reflectors.
    pub(super) fn new(
        spec: &AutorateSpec,
        found: FoundRate,
        echoes: Consumer<TimedEcho>,
        pinger: Pinger,
        time: Stopwatch,
    ) -> Prober {
        let reflectors = spec.reflectors.clone();
        let count = u32::try_from(reflectors.len()).unwrap_or(u32::MAX);
        let autorate = Autorate::new(spec.settings, count, time.elapsed());
        Prober { found, autorate, reflectors, pinger, echoes, time }
    }

    /// Starts the thread. It ends once nobody else is interested in the rate.
    pub(super) fn start(self) -> Result<(), StartError> {
        let sandbox = Sandbox::new().call(libc::SYS_recvfrom).call(libc::SYS_sendto);
        // It has nothing to return: nobody waits for it.
        confined::spawn("autorate", sandbox, || self.run()).map(drop)
    }

    fn run(mut self) {
        let mut waiter = Waiter::default();
        while Arc::strong_count(&self.found.0) > 1 {
            let now = self.time.elapsed();
            let carried = self.found.0.carried.load(Ordering::Relaxed);
            self.autorate.carries(carried.saturating_sub(self.autorate.carried()));
            if let Some(settings) = self.found.settings().take() {
                self.autorate.set_settings(settings, now);
            }
            self.hear(now);
            if let Some(probe) = self.autorate.poll(now) {
                let to = self.reflectors[probe.reflector as usize % self.reflectors.len()];
                // A probe that cannot be sent is one that is lost.
                let _ = self.pinger.send(to, probe.number);
            }
            self.found.0.rate.store(self.autorate.rate().0, Ordering::Relaxed);
            let sleeps = self.autorate.next_poll().saturating_sub(self.time.elapsed());
            let until = Clock::Monotonic.now().saturating_add(sleeps);
            if waiter.wait(self.pinger.descriptors(), Some(until)).is_err() {
                break;
            }
        }
        // What is still sent goes at what the link always carries.
        self.found.0.rate.store(self.autorate.settings().from.0, Ordering::Relaxed);
    }

    /// Hears of what came back.
    fn hear(&mut self, now: Nanos) {
        while let Ok(Some((_, number))) = self.pinger.receive() {
            let queueing = self.autorate.answered(now, number);
            queueing.into_iter().for_each(|queueing| self.note(queueing));
        }
        while let Ok((time, echo)) = self.echoes.pop() {
            let queueing =
                self.autorate.observe(time, echo.path, echo.is_new, echo.sent, echo.carried);
            self.note(queueing);
        }
    }

    fn note(&self, queueing: Nanos) {
        self.found.0.queueing.store(queueing.0, Ordering::Relaxed);
        self.found.0.answers.fetch_add(1, Ordering::Relaxed);
    }
}
