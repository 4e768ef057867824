//! Routers as a process.

use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_forward::{Refusal, Settings};
use laxity_linux::clock::{Clock, tai_offset};
use laxity_linux::frames::{BATCH, Backend, Port};
use laxity_linux::sandbox::Sandbox;
use laxity_plan::Plan;
use laxity_plan::tdp::Assigned;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::host::Host;
use super::measured::Measured;
use super::running::Running;
use super::time::Common;
use super::wiring::Wired;
use crate::daemon::LiveError;
use crate::forwarding::Options;

/// The nodes of a plan's network that are run here.
pub struct Service<'a> {
    /// The network, with its frames assigned.
    pub on: &'a Assigned<'a>,
    /// The nodes, with their interfaces.
    pub wired: &'a [Wired],
    /// How the thread runs.
    pub options: Options,
    /// It ends by itself after so long.
    pub duration: Option<Nanos>,
}

/// What is left at the end.
pub struct Ended {
    /// What was measured.
    pub measured: Measured,
    /// How long it ran.
    pub lasted: Nanos,
    /// What was told too fast to be counted.
    pub missed: u64,
}

/// So often what happened is read.
const LOOK: Duration = Duration::from_millis(20);

impl Service<'_> {
    /// Forwards until a signal asks for the end, or the time is over.
    ///
    /// # Errors
    /// If the plan is not for this, or the system refuses what it takes.
    pub fn run<B: Backend + Send + 'static>(
        self,
        backend: B,
        say: &mut dyn FnMut(&str),
    ) -> Result<Ended, LiveError> {
        // Before there are other threads, so that these leave signals to this one.
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        let host = self.host(backend)?;
        if self.on.framing.is_some() && tai_offset().is_ok_and(|offset| offset == 0) {
            say(
                "nobody has told the kernel how far TAI is ahead of UTC: the common time is that of UTC",
            );
        }
        let (running, mut reports) = Running::start(host, self.options)?;
        if let Some(error) = &running.not_real_time {
            say(&format!("{error}. Without it frames are skipped when others work"));
        }
        Sandbox::new().terminal().enter()?;
        let names: Vec<&str> = self.wired.iter().map(|wired| self.name(wired)).collect();
        say(&format!("forwarding at {}", names.join(", ")));
        let mut measured = Measured::new(self.on);
        let begin = Clock::Monotonic.now();
        let end = self.duration.map(|duration| begin.saturating_add(duration));
        while running.is_running() && end.is_none_or(|end| Clock::Monotonic.now() < end) {
            thread::sleep(LOOK);
            reports.read(|happened| measured.add(happened));
            let heard: Vec<i32> = signals.pending().collect();
            if heard.iter().any(|signal| *signal != SIGHUP) {
                break;
            }
            if !heard.is_empty() {
                say("the plan of a network is not read again while it runs");
            }
        }
        let lasted = Clock::Monotonic.now() - begin;
        running.end()?;
        reports.read(|happened| measured.add(happened));
        Ok(Ended { measured, lasted, missed: reports.missed })
    }

    /// The routers over a backend.
    ///
    /// # Errors
    /// If they cannot follow the plan.
    pub fn host<B: Backend>(&self, backend: B) -> Result<Host<B>, Refusal> {
        let plan: &Plan = self.on.plan;
        let mut settings = Settings { seed: plan.run.seed, ..Settings::default() };
        settings.secret = crate::daemon::unguessed();
        // What is being taken in needs places, too, or the kernel drops frames whatever their class.
        let packets = backend.pool().room(Port(0)).saturating_sub(4 * BATCH);
        settings.backlog.packets = settings.backlog.packets.min(packets);
        let time = Common::new(self.on.framing.as_ref().map(|framing| framing.framed.spec.time));
        Host::new(self.on, self.wired, backend, settings, time)
    }

    fn name(&self, wired: &Wired) -> &str {
        &self.on.network.nodes[wired.node as usize].name
    }
}
